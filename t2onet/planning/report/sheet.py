"""The report as one picture: cells in rows, on dark grey."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Sequence

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from .contents import Contents, Curve, Shot, Slider, StepShown
from .palette import DIAGONAL, FAINT, GRID, SURROUND, TEXT, TRACK, WELL, ink

CELL, GAP, COLUMNS = 360, 24, 4
WIDTH = COLUMNS * (CELL + GAP) + GAP

_PLOT = 220
"""Side of a curve's plot."""
_FINE = 2
"""Lines are drawn this many times as large, then averaged."""
_HEAD, _BODY, _SMALL = 30, 20, 16


def picture(contents: Contents) -> bytes:
    """The sheet as a PNG."""
    overview = [_shot(shot) for shot in (*contents.overview, contents.residual)]
    steps = [_step(step) for step in contents.steps]
    rows = [
        _words(contents.title, _BODY, WIDTH - 2 * GAP, FAINT),
        _words(contents.headline, _HEAD, WIDTH - 2 * GAP),
        _words(contents.costs, _BODY, WIDTH - 2 * GAP),
        *(_row(cells) for cells in _by_columns([*overview, *steps])),
        _words(contents.footnote, _SMALL, WIDTH - 2 * GAP, FAINT),
    ]
    stream = io.BytesIO()
    _framed(_stacked(rows, GAP)).save(stream, "PNG")
    return stream.getvalue()


def _by_columns(cells: list[PIL.Image.Image]) -> Iterator[list[PIL.Image.Image]]:
    yield from (cells[first : first + COLUMNS] for first in range(0, len(cells), COLUMNS))


def _canvas(width: int, height: int) -> PIL.Image.Image:
    return PIL.Image.new("RGB", (width, height), SURROUND)


def _stacked(parts: Sequence[PIL.Image.Image], gap: int) -> PIL.Image.Image:
    """One below the other."""
    height = sum(part.height for part in parts) + gap * (len(parts) - 1)
    whole = _canvas(max(part.width for part in parts), height)
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height + gap
    return whole


def _row(cells: list[PIL.Image.Image]) -> PIL.Image.Image:
    row = _canvas(WIDTH - 2 * GAP, max(cell.height for cell in cells))
    for column, cell in enumerate(cells):
        row.paste(cell, (column * (CELL + GAP), 0))
    return row


def _framed(inside: PIL.Image.Image) -> PIL.Image.Image:
    whole = _canvas(WIDTH, inside.height + 2 * GAP)
    whole.paste(inside, (GAP, GAP))
    return whole


def _step(step: StepShown) -> PIL.Image.Image:
    parts = [_shot(step.shot), *([_plot(step.curves)] if step.curves else ()), *map(_slider, step.sliders)]
    return _stacked(parts, 12)


def _shot(shot: Shot) -> PIL.Image.Image:
    width, height = shot.picture.size
    scale = CELL / max(width, height)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    fitted = shot.picture.resize(size, PIL.Image.Resampling.BICUBIC)
    texts = [_words(shot.caption, _BODY, CELL), _words(shot.detail, _SMALL, CELL, FAINT)]
    return _stacked([fitted, *texts], 6)


def _words(text: str, size: int, width: int, colour: str = TEXT) -> PIL.Image.Image:
    """Text in lines of at most that width; the font at hand knows ASCII only."""
    font = PIL.ImageFont.load_default(size)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    lines = list(_lines(plain.split(), font, width))
    height = round(1.35 * size)
    canvas = _canvas(width, height * len(lines))
    draw = PIL.ImageDraw.Draw(canvas)
    for number, line in enumerate(lines):
        draw.text((0, number * height), line, colour, font)
    return canvas


Font = PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont


def _lines(words: list[str], font: Font, width: int) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line} {word}".strip()
        if line and font.getlength(longer) > width:
            yield line
            line = word
        else:
            line = longer
    yield line


def _plot(curves: tuple[Curve, ...]) -> PIL.Image.Image:
    """Curves against the diagonal, dark to light from left to right and from bottom to top."""
    side = _FINE * _PLOT
    canvas = PIL.Image.new("RGB", (side, side), WELL)
    draw = PIL.ImageDraw.Draw(canvas)
    for at in range(0, 5):
        place = round(at * (side - 1) / 4)
        draw.line([(place, 0), (place, side)], GRID, 2)
        draw.line([(0, place), (side, place)], GRID, 2)
    draw.line([(0, side), (side, 0)], DIAGONAL, 2)
    for curve in curves:
        points = [(side * x, side - side * y) for x, y in curve.points]
        draw.line(points, ink(curve.name), 4, joint="curve")
    plot = canvas.resize((_PLOT, _PLOT), PIL.Image.Resampling.BOX)
    if len(curves) == 1:
        return plot
    legend = [_words(curve.name, _SMALL, CELL - _PLOT - 12, ink(curve.name)) for curve in curves]
    whole = _canvas(CELL, _PLOT)
    whole.paste(plot, (0, 0))
    whole.paste(_stacked(legend, 4), (_PLOT + 12, 0))
    return whole


def _slider(slider: Slider) -> PIL.Image.Image:
    """A line over the declared range, a mark where nothing changes, a knob at the value."""
    width, middle, radius = _FINE * CELL, _FINE * 10, _FINE * 7
    canvas = _canvas(width, 2 * middle)
    draw = PIL.ImageDraw.Draw(canvas)
    default, value = (radius + (width - 2 * radius) * slider.share(v) for v in (slider.default, slider.value))
    draw.line([(radius, middle), (width - radius, middle)], TRACK, 6)
    draw.line([(default, 4), (default, 2 * middle - 4)], FAINT, 3)
    draw.line([(default, middle), (value, middle)], TEXT, 6)
    draw.ellipse([value - radius, middle - radius, value + radius, middle + radius], TEXT)
    track = canvas.resize((CELL, canvas.height // _FINE), PIL.Image.Resampling.BOX)
    ends = _words(f"{slider.low:g}", _SMALL, CELL, FAINT)
    high = f"{slider.high:g}"
    draw = PIL.ImageDraw.Draw(ends)
    draw.text((CELL, 0), high, FAINT, PIL.ImageFont.load_default(_SMALL), anchor="ra")
    return _stacked([_words(slider.label, _SMALL, CELL), track, ends], 4)
