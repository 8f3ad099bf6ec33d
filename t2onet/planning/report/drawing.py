"""Parts of a picture with text: words in lines, parts below and beside each other, on dark grey."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Sequence

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from .palette import SURROUND, TEXT

HEAD, BODY, SMALL = 30, 20, 16
"""Sizes of type, in pixels."""


def canvas(width: int, height: int) -> PIL.Image.Image:
    return PIL.Image.new("RGB", (width, height), SURROUND)


def stacked(parts: Sequence[PIL.Image.Image], gap: int) -> PIL.Image.Image:
    """One below the other."""
    height = sum(part.height for part in parts) + gap * (len(parts) - 1)
    whole = canvas(max(part.width for part in parts), height)
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height + gap
    return whole


def beside(parts: Sequence[PIL.Image.Image], gap: int) -> PIL.Image.Image:
    """One to the right of the other, level at the top."""
    width = sum(part.width for part in parts) + gap * (len(parts) - 1)
    whole = canvas(width, max(part.height for part in parts))
    left = 0
    for part in parts:
        whole.paste(part, (left, 0))
        left += part.width + gap
    return whole


def framed(inside: PIL.Image.Image, width: int, gap: int) -> PIL.Image.Image:
    """With a margin, on a sheet of that width."""
    whole = canvas(width, inside.height + 2 * gap)
    whole.paste(inside, (gap, gap))
    return whole


def fitted(picture: PIL.Image.Image, side: int) -> PIL.Image.Image:
    """As large as a square of that side allows."""
    scale = side / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, PIL.Image.Resampling.BICUBIC)


def words(text: str, size: int, width: int, colour: str = TEXT) -> PIL.Image.Image:
    """Text in lines of at most that width; the font at hand knows ASCII only."""
    font = PIL.ImageFont.load_default(size)
    lines = list(_lines(plain(text).split(), font, width))
    height = round(1.35 * size)
    whole = canvas(width, height * len(lines))
    draw = PIL.ImageDraw.Draw(whole)
    for number, line in enumerate(lines):
        draw.text((0, number * height), line, colour, font)
    return whole


def plain(text: str) -> str:
    """As near as ASCII comes to it."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


Font = PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont


def _lines(tokens: list[str], font: Font, width: int) -> Iterator[str]:
    line = ""
    for token in tokens:
        longer = f"{line} {token}".strip()
        if line and font.getlength(longer) > width:
            yield line
            line = token
        else:
            line = longer
    yield line


def as_png(picture: PIL.Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()
