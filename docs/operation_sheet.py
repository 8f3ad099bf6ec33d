"""The sheet of docs/operations.md: operations on light and colour at three strengths, on three photos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image

from t2onet import Image, Recipe, apply, open_image
from t2onet.image.drawing import SMALL_SIZE, add_margin, draw_text, stack_horizontally, stack_vertically

ROOT = Path(__file__).parent.parent
PHOTOS = ("dogs", "meadow", "brushes")
SIDE, LABEL, GAP = 128, 150, 4

Values = float | dict[str, float]
ROWS: tuple[tuple[str, str, tuple[Values, Values, Values]], ...] = (
    ("exposure -1, 0.5, 1.5", "exposure", (-1, 0.5, 1.5)),
    ("contrast -0.4, 0.3, 0.7", "contrast", (-0.4, 0.3, 0.7)),
    ("highlights -100, -50, 50", "highlights", (-100, -50, 50)),
    ("shadows -50, 50, 100", "shadows", (-50, 50, 100)),
    ("whites -60, 40, 100", "whites", (-60, 40, 100)),
    ("blacks -60, 40, 100", "blacks", (-60, 40, 100)),
    (
        "temperature -50, 25, 75",
        "white_balance",
        ({"temperature": -50}, {"temperature": 25}, {"temperature": 75}),
    ),
    ("tint -50, 25, 75", "white_balance", ({"tint": -50}, {"tint": 25}, {"tint": 75})),
    ("vibrance -60, 40, 100", "vibrance", (-60, 40, 100)),
    ("saturation -0.6, 0.3, 0.8", "saturation", (-0.6, 0.3, 0.8)),
    (
        "mixer, orange saturation -100, 50, 100",
        "mixer",
        ({"orange_saturation": -100}, {"orange_saturation": 50}, {"orange_saturation": 100}),
    ),
    (
        "mixer, green hue -100, 50, 100",
        "mixer",
        ({"green_hue": -100}, {"green_hue": 50}, {"green_hue": 100}),
    ),
    (
        "mixer, blue lightness -100, -50, 60",
        "mixer",
        ({"blue_lightness": -100}, {"blue_lightness": -50}, {"blue_lightness": 60}),
    ),
    (
        "grading, shadows teal and highlights orange: 20, 50, 100",
        "grading",
        tuple(
            {"shadows_hue": 195, "highlights_hue": 35, "shadows_strength": s, "highlights_strength": s}
            for s in (20, 50, 100)
        ),
    ),
    (
        "grading, midtones magenta 20, 50, 100",
        "grading",
        tuple({"midtones_hue": 310, "midtones_strength": s} for s in (20, 50, 100)),
    ),
    (
        "black and white: plain, orange 60, blue -80",
        "black_and_white",
        ({"amount": 100}, {"amount": 100, "mix_orange": 60}, {"amount": 100, "mix_blue": -80}),
    ),
)
"""A label, an operation, and its values at three strengths."""


def main() -> None:
    picture = draw_sheet()
    open_image(np.asarray(picture)).save(
        ROOT / "docs" / "images" / "operations.jpg", quality=70, overwrite=True
    )


def draw_sheet() -> PIL.Image.Image:
    """A row for each operation; each photo as it is, then at the three strengths."""
    photos = [open_image(ROOT / "examples" / f"{name}.jpg").resize(SIDE) for name in PHOTOS]
    rows = [_draw_row(label, name, values, photos) for label, name, values in ROWS]
    return add_margin(stack_vertically(rows, GAP), rows[0].width + 2 * GAP, GAP)


def _draw_row(label: str, name: str, values: tuple[Values, ...], photos: list[Image]) -> PIL.Image.Image:
    parts = [draw_text(label, SMALL_SIZE, LABEL)]
    for photo in photos:
        edited = [apply(Recipe.from_steps([(name, value)]), photo) for value in values]
        parts.append(stack_horizontally([_draw_cell(cell) for cell in (photo, *edited)], GAP))
    return stack_horizontally(parts, 3 * GAP)


def _draw_cell(photo: Image) -> PIL.Image.Image:
    """The middle square."""
    pixels = np.asarray(photo)
    top, left = (pixels.shape[0] - SIDE) // 2, (pixels.shape[1] - SIDE) // 2
    return PIL.Image.fromarray(np.ascontiguousarray(pixels[top : top + SIDE, left : left + SIDE]))


if __name__ == "__main__":
    main()
