"""Contact sheets: text in lines, pictures stacked and side by side, on a dark neutral background."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

BACKGROUND_COLOUR, PANEL_COLOUR, INSET_COLOUR = "#1f1f1f", "#292929", "#1a1a1a"
GRID_COLOUR, TRACK_COLOUR, DIAGONAL_COLOUR = "#3d3d3d", "#5a5a5a", "#8a8a8a"
TEXT_COLOUR, MUTED_COLOUR = "#dcdcdc", "#a8a8a8"

_CURVE_COLOURS = {"red": "#ff7b72", "green": "#63d489", "blue": "#79b4ff"}

HEADING_SIZE, BODY_SIZE, SMALL_SIZE = 30, 20, 16
"""Font sizes in pixels."""
Font = PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont

_SYSTEM_FONTS = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "LiberationSans-Regular.ttf",
    "Arial.ttf",
    "arial.ttf",
)
"""Common fonts; Pillow's own has no accents."""
_PLAIN_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
    }
)
_MISSING_CHARACTER = "\U0010ffff"
"""A character that no font has: what is drawn for it, a box, is drawn for every missing glyph."""


def curve_colour(curve: str) -> str:
    """The colour for a curve: that of its channel, or of text."""
    return _CURVE_COLOURS.get(curve, TEXT_COLOUR)


def new_canvas(width: int, height: int) -> PIL.Image.Image:
    return PIL.Image.new("RGB", (width, height), BACKGROUND_COLOUR)


def stack_vertically(parts: Sequence[PIL.Image.Image], gap: int) -> PIL.Image.Image:
    """Stack pictures, aligned at the left."""
    height = sum(part.height for part in parts) + gap * (len(parts) - 1)
    canvas = new_canvas(max(part.width for part in parts), height)
    top = 0
    for part in parts:
        canvas.paste(part, (0, top))
        top += part.height + gap
    return canvas


def stack_horizontally(parts: Sequence[PIL.Image.Image], gap: int) -> PIL.Image.Image:
    """Put pictures side by side, aligned at the top."""
    width = sum(part.width for part in parts) + gap * (len(parts) - 1)
    canvas = new_canvas(width, max(part.height for part in parts))
    left = 0
    for part in parts:
        canvas.paste(part, (left, 0))
        left += part.width + gap
    return canvas


def add_margin(picture: PIL.Image.Image, width: int, gap: int) -> PIL.Image.Image:
    """Put a picture on a canvas of `width`, with a margin of `gap` at the left, top and bottom."""
    canvas = new_canvas(width, picture.height + 2 * gap)
    canvas.paste(picture, (gap, gap))
    return canvas


def scale_to_square(picture: PIL.Image.Image, side: int) -> PIL.Image.Image:
    """Scale a picture to fit a square."""
    scale = side / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, PIL.Image.Resampling.BICUBIC)


def draw_text(text: str, size: int, width: int, colour: str = TEXT_COLOUR) -> PIL.Image.Image:
    """Draw text, wrapped to `width`; characters that no installed font has become boxes."""
    text = to_printable(text)
    font = choose_font(text, size)
    lines = list(_wrap_lines(text.split(), font, width))
    height = round(1.35 * size)
    canvas = new_canvas(width, height * len(lines))
    draw = PIL.ImageDraw.Draw(canvas)
    for number, line in enumerate(lines):
        draw.text((0, number * height), line, colour, font)
    return canvas


def to_printable(text: str) -> str:
    """Replace typographic quotes, dashes and spaces by ASCII, and unprintable characters by U+FFFD."""
    composed = unicodedata.normalize("NFC", text).translate(_PLAIN_PUNCTUATION)
    return "".join(map(_to_printable_character, composed))


def _to_printable_character(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) == "Cf" or character in "\ufe0e\ufe0f":  # invisible joiners
        return ""
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def choose_font(text: str, size: int) -> Font:
    """Pillow's own font if it has all characters of the text, otherwise the font that lacks the fewest."""
    letters = set(text) - {" "}
    if all(_has_glyph("", letter) for letter in letters):
        return _load_font("", size)
    return _load_font(
        min(_find_fonts(), key=lambda name: sum(not _has_glyph(name, letter) for letter in letters)), size
    )


@cache
def _find_fonts() -> tuple[str, ...]:
    """Names of the available fonts; "" is Pillow's own."""
    available = [""]
    for name in _SYSTEM_FONTS:
        with suppress(OSError):
            _load_font(name, SMALL_SIZE)
            available.append(name)
    return tuple(available)


@cache
def _load_font(name: str, size: int) -> Font:
    return PIL.ImageFont.truetype(name, size) if name else PIL.ImageFont.load_default(size)


@cache
def _has_glyph(name: str, letter: str) -> bool:
    """Whether the font has a glyph for the letter."""
    font = _load_font(name, SMALL_SIZE)
    return bytes(font.getmask(letter)) != bytes(font.getmask(_MISSING_CHARACTER))


def _wrap_lines(tokens: list[str], font: Font, width: int) -> Iterator[str]:
    line = ""
    for token in tokens:
        longer = f"{line} {token}".strip()
        if line and font.getlength(longer) > width:
            yield line
            line = token
        else:
            line = longer
    yield line


def to_png_bytes(picture: PIL.Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()
