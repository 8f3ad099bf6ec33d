"""Parts of a picture with text: words in lines, parts below and beside each other, on dark grey."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from .palette import SURROUND, TEXT

HEAD, BODY, SMALL = 30, 20, 16
"""Sizes of type, in pixels."""
Font = PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont

_SYSTEM = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "arial.ttf")
"""Fonts that many machines have; Pillow's own has no accents."""
_PLAINER = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
    }
)
_ABSENT = "\U0010ffff"
"""A character that no font has: what is drawn for it, a box, is drawn for all that a font lacks."""


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
    """Text in lines of at most that width; what no font at hand has is a box."""
    said = plain(text)
    font = font_for(said, size)
    lines = list(_lines(said.split(), font, width))
    height = round(1.35 * size)
    whole = canvas(width, height * len(lines))
    draw = PIL.ImageDraw.Draw(whole)
    for number, line in enumerate(lines):
        draw.text((0, number * height), line, colour, font)
    return whole


def plain(text: str) -> str:
    """With the quotes, dashes and spaces of a typewriter; what cannot be printed is shown to be there."""
    composed = unicodedata.normalize("NFC", text).translate(_PLAINER)
    return "".join(map(_printable, composed))


def _printable(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) == "Cf" or character in "\ufe0e\ufe0f":  # shows nothing, only joins
        return ""
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def font_for(text: str, size: int) -> Font:
    """Pillow's own font; for a text that it lacks letters of, the first of the system that lacks fewest."""
    letters = set(text) - {" "}
    if all(_has("", letter) for letter in letters):
        return _font("", size)
    return _font(min(_fonts(), key=lambda name: sum(not _has(name, letter) for letter in letters)), size)


@cache
def _fonts() -> tuple[str, ...]:
    """The names of the fonts that are there; Pillow's own has none."""
    there = [""]
    for name in _SYSTEM:
        with suppress(OSError):
            _font(name, SMALL)
            there.append(name)
    return tuple(there)


@cache
def _font(name: str, size: int) -> Font:
    return PIL.ImageFont.truetype(name, size) if name else PIL.ImageFont.load_default(size)


@cache
def _has(name: str, letter: str) -> bool:
    """Whether that font draws a letter as more than a box."""
    font = _font(name, SMALL)
    return bytes(font.getmask(letter)) != bytes(font.getmask(_ABSENT))


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
