"""The sheet of docs/looks.md: every named look on every example photo. `python -m docs.looks` draws it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageOps

from t2onet import Image, apply, open_image
from t2onet.image.drawing import (
    BODY_SIZE,
    HEADING_SIZE,
    add_margin,
    draw_text,
    new_canvas,
    stack_horizontally,
    stack_vertically,
)
from t2onet.looks import looks

ROOT = Path(__file__).parent.parent
SHEET = ROOT / "docs" / "images" / "looks.jpg"
CELL = (120, 90)
NAME_WIDTH, GAP = 152, 4
_WORKING_SIDE = 300
"""Short side at which looks are applied: grain and the like are seen as on a screen."""


def main(path: Path = SHEET) -> None:
    open_image(np.asarray(draw_sheet())).save(path, quality=66, overwrite=True)


def draw_sheet() -> PIL.Image.Image:
    """A row for each look, below the photos as they are; families under headings."""
    photos = [open_image(path).resize(_WORKING_SIDE) for path in sorted((ROOT / "examples").glob("*.jpg"))]
    rows = [_draw_row("as they are", photos)]
    family = ""
    for look in looks().values():
        if look.family != family:
            family = look.family
            rows.append(draw_text(family, HEADING_SIZE, rows[0].width))
        rows.append(_draw_row(look.name, [apply(look.recipe, photo) for photo in photos]))
    return add_margin(stack_vertically(rows, GAP), rows[0].width + 2 * GAP, GAP)


def _draw_row(name: str, photos: list[Image]) -> PIL.Image.Image:
    title = new_canvas(NAME_WIDTH, CELL[1])
    title.paste(draw_text(name, BODY_SIZE, NAME_WIDTH), (0, CELL[1] // 3))
    return stack_horizontally([title, *map(_draw_cell, photos)], GAP)


def _draw_cell(photo: Image) -> PIL.Image.Image:
    """The photo cut to the shape of a cell; a little above the middle, where subjects are."""
    picture = PIL.Image.fromarray(np.asarray(photo))
    return PIL.ImageOps.fit(picture, CELL, PIL.Image.Resampling.LANCZOS, centering=(0.5, 0.35))


if __name__ == "__main__":
    main()
