"""The README's picture and the sheet of edits of docs/edits.md, made by the tool itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image

from t2onet import Image, edit, open_image
from t2onet.image.drawing import (
    BODY_SIZE,
    HEADING_SIZE,
    MUTED_COLOUR,
    SMALL_SIZE,
    add_margin,
    draw_text,
    stack_horizontally,
    stack_vertically,
)

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
HEIGHT, GAP = 540, 12
SHOWN, REQUEST = "trail", "a bit brighter, with richer colours"

REQUESTS = {
    "brushes": (
        *("make it black and white", "mute the colours", "half a stop darker", "soften it a little"),
        "fade it like an old print",
    ),
    "dandelion": (
        *("underexposed, please fix", "a lot warmer", "teal and orange", "make it pop"),
        "brighter but keep the highlights",
    ),
    "dogs": (
        *("a bit brighter and take the yellow out", "too bright, please darken", "warmer, but not too much"),
        *("crop to a square", "blur the background"),
    ),
    "drum": (
        *("a little brighter", "make it brighter", "make it a lot brighter", "noir"),
        "mkae it briter and sharpr",
    ),
    "fig": (
        *("auto", "boost the reds", "too green, add some red", "moody"),
        "remove the plate",
    ),
    "meadow": (
        *("make it brighter and warmer, with richer colours", "golden hour", "less green"),
        *("exposure +0.3, contrast +10, highlights -30, shadows +40", "everything grey except the greens"),
    ),
    "stream": (
        *("lift the shadows", "get rid of the haze", "push the greens towards yellow", "day for night"),
        "sharper and more contrast, but leave the colours alone",
    ),
    "sunset": (
        *("cooler by 20 mired", "orange highlights, blue shadows", "recover the highlights"),
        *("tone down the colours a lot", "mach es heller"),
    ),
}
"""Five for each of eight photos: what people ask for, well and badly spelt, and what cannot be done."""
_SIDE = 300


def main() -> None:
    _save(before_and_after(), "before-after.jpg")
    _save(sheet(), "edits.jpg")


def _save(picture: PIL.Image.Image, name: str) -> None:
    open_image(np.asarray(picture)).save(IMAGES / name, quality=86, overwrite=True)


def before_and_after() -> PIL.Image.Image:
    """One photo, the sentence, and what came of it."""
    photo = open_image(ROOT / "examples" / f"{SHOWN}.jpg")
    pictures = [PIL.Image.fromarray(_small(image, HEIGHT)) for image in (photo, edit(photo, REQUEST).image)]
    both = stack_horizontally(pictures, GAP)
    return add_margin(
        stack_vertically([both, draw_text(f'"{REQUEST}"', HEADING_SIZE, both.width)], GAP),
        both.width + 2 * GAP,
        GAP,
    )


def sheet() -> PIL.Image.Image:
    """A row for each photo: the photo, and its edits with what was asked for and done below."""
    rows = [_row(name, requests) for name, requests in REQUESTS.items()]
    return add_margin(stack_vertically(rows, 2 * GAP), rows[0].width + 2 * GAP, GAP)


def _row(name: str, requests: tuple[str, ...]) -> PIL.Image.Image:
    photo = open_image(ROOT / "examples" / f"{name}.jpg")
    cells = [_cell(photo, name, "as it was")]
    for request in requests:
        made = edit(photo, request)
        cells.append(_cell(made.image, f'"{request}"', made.explain().splitlines()[0]))
    return stack_horizontally(cells, GAP)


def _cell(photo: Image, title: str, note: str) -> PIL.Image.Image:
    picture = PIL.Image.fromarray(_small(photo, _SIDE))
    picture.thumbnail((_SIDE, _SIDE))
    return stack_vertically(
        [picture, draw_text(title, BODY_SIZE, _SIDE), draw_text(note, SMALL_SIZE, _SIDE, MUTED_COLOUR)], 4
    )


def _small(photo: Image, short: int) -> np.ndarray:
    return np.asarray(photo.resize(short))
