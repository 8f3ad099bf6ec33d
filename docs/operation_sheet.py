"""The sheet of docs/operations.md: every operation at three strengths, on three photos.

`python -m docs.operation_sheet` draws it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import PIL.Image
import PIL.ImageOps

from t2onet import Image, Recipe, apply, open_image
from t2onet.image.drawing import (
    BACKGROUND_COLOUR,
    BODY_SIZE,
    SMALL_SIZE,
    add_margin,
    draw_text,
    stack_horizontally,
    stack_vertically,
)

ROOT = Path(__file__).parent.parent
PHOTOS = ("dogs", "meadow", "brushes")
SIDE, LABEL, GAP = 128, 150, 4
WORKING_SIDE = 400
"""Short side at which operations are applied."""

Values = float | tuple[float, ...] | dict[str, float]


class Row(NamedTuple):
    """An operation with its values at three strengths."""

    label: str
    operation: str
    values: tuple[Values, Values, Values]
    view: Literal["square", "whole", "close"] = "square"
    """What is shown: the middle square, the whole photo, or some pixels, for what is too fine otherwise."""
    noise: int = 0
    """Grain that the photo has before, for what removes it."""


def _vary(operation: str, name: str, *values: float, also: dict[str, float] | None = None) -> Row:
    """A row that varies one of several parameters."""
    label = f"{operation}, {name}".replace("_", " ")
    cells = tuple({**(also or {}), name: value} for value in values)
    return Row(f"{label} {', '.join(f'{value:g}' for value in values)}", operation, cells)  # type: ignore[arg-type]


def _grade(label: str, **zones: int) -> Row:
    """Grading of some zones by hue, at three strengths."""
    strengths = (20, 50, 100)
    cells = tuple(
        {
            f"{zone}_{name}": value
            for zone, hue in zones.items()
            for name, value in (("hue", hue), ("strength", s))
        }
        for s in strengths
    )
    return Row(f"grading, {label} 20, 50, 100", "grading", cells)  # type: ignore[arg-type]


_LIFT = (1.3, 1.2, 1.1, 1, 1, 0.9, 0.8, 0.7)
_SLOPE = (0.5, 0.8, 1.2, 1.5, 1.5, 1.2, 0.8, 0.5)
_FLAT = (1.0,) * 8

ROWS: dict[str, tuple[Row, ...]] = {
    "light": (
        Row("exposure -1, 0.5, 1.5", "exposure", (-1, 0.5, 1.5)),
        Row("contrast -0.4, 0.3, 0.7", "contrast", (-0.4, 0.3, 0.7)),
        Row("highlights -100, -50, 50", "highlights", (-100, -50, 50)),
        Row("shadows -50, 50, 100", "shadows", (-50, 50, 100)),
        Row("whites -60, 40, 100", "whites", (-60, 40, 100)),
        Row("blacks -60, 40, 100", "blacks", (-60, 40, 100)),
        Row("brightness -0.3, 0.2, 0.5", "brightness", (-0.3, 0.2, 0.5)),
        Row("tone: lowered, lifted, steep", "tone", (_LIFT[::-1], _LIFT, _SLOPE)),
    ),
    "colour": (
        _vary("white_balance", "temperature", -50, 25, 75),
        _vary("white_balance", "tint", -50, 25, 75),
        Row("vibrance -60, 40, 100", "vibrance", (-60, 40, 100)),
        Row("saturation -0.6, 0.3, 0.8", "saturation", (-0.6, 0.3, 0.8)),
        _vary("mixer", "orange_saturation", -100, 50, 100),
        _vary("mixer", "green_hue", -100, 50, 100),
        _vary("mixer", "blue_lightness", -100, -50, 60),
        _grade("teal shadows, orange highlights", shadows=195, highlights=35),
        _grade("magenta midtones", midtones=310),
        Row(
            "black and white: plain, orange 60, blue -80",
            "black_and_white",
            (100, {"amount": 100, "mix_orange": 60}, {"amount": 100, "mix_blue": -80}),
        ),
        Row(
            "color: warm, cool, warm lights on cool shadows",
            "color",
            (
                (*_LIFT, *_FLAT, *_LIFT[::-1]),
                (*_LIFT[::-1], *_FLAT, *_LIFT),
                (*_SLOPE, *_FLAT, *_SLOPE[4:], *_SLOPE[:4]),
            ),
        ),
    ),
    "detail": (
        Row("sharpness -0.2, 0.4, 1", "sharpness", (-0.2, 0.4, 1), view="close"),
        Row("clarity -60, 40, 100", "clarity", (-60, 40, 100)),
        Row("dehaze -50, 40, 80", "dehaze", (-50, 40, 80)),
        Row("denoise (of noise) 20, 50, 100", "denoise", (20, 50, 100), view="close", noise=70),
    ),
    "effects": (
        Row("vignette -80, -40, 50", "vignette", (-80, -40, 50), view="whole"),
        Row("grain 20, 50, 100", "grain", (20, 50, 100), view="close"),
    ),
    "geometry": (
        Row(
            "crop: the middle, left half, top half",
            "crop",
            ((0.2, 0.2, 0.8, 0.8), (0, 0, 0.5, 1), (0, 0, 1, 0.5)),
            view="whole",
        ),
        Row("straighten -8, 4, 15", "straighten", (-8, 4, 15), view="whole"),
        Row("rotate 90, 180, 270", "rotate", (90, 180, 270), view="whole"),
        Row("flip: across, down, both", "flip", ((1, 0), (0, 1), (1, 1)), view="whole"),
    ),
}
"""Rows by group."""


def main() -> None:
    open_image(np.asarray(draw_sheet())).save(
        ROOT / "docs" / "images" / "operations.jpg", quality=60, overwrite=True
    )


def draw_sheet() -> PIL.Image.Image:
    """A row for each operation under its group; each photo as it is, then at the three strengths."""
    photos = [open_image(ROOT / "examples" / f"{name}.jpg").resize(WORKING_SIDE) for name in PHOTOS]
    parts = []
    for group, rows in ROWS.items():
        drawn = [_draw_row(row, photos) for row in rows]
        parts += [draw_text(group.capitalize(), BODY_SIZE, drawn[0].width), *drawn]
    return add_margin(stack_vertically(parts, GAP), parts[-1].width + 2 * GAP, GAP)


def _draw_row(row: Row, photos: list[Image]) -> PIL.Image.Image:
    parts = [draw_text(row.label, SMALL_SIZE, LABEL)]
    for photo in photos:
        begin = apply(Recipe.from_steps([("grain", row.noise)]), photo) if row.noise else photo
        edited = [apply(Recipe.from_steps([(row.operation, value)]), begin) for value in row.values]
        cells = [_draw_cell(cell, row.view) for cell in (begin, *edited)]
        parts.append(stack_horizontally(cells, GAP))
    return stack_horizontally(parts, 3 * GAP)


def _draw_cell(photo: Image, view: str) -> PIL.Image.Image:
    picture, size = PIL.Image.fromarray(np.asarray(photo)), (SIDE, SIDE)
    if view == "close":
        left, top = (picture.width - SIDE) // 2, (picture.height - SIDE) // 2
        return picture.crop((left, top, left + SIDE, top + SIDE))
    if view == "whole":
        return PIL.ImageOps.pad(picture, size, PIL.Image.Resampling.BOX, BACKGROUND_COLOUR)
    return PIL.ImageOps.fit(picture, size, PIL.Image.Resampling.BOX)


if __name__ == "__main__":
    main()
