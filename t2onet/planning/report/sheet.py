"""The report as one picture: cells in rows, on dark grey."""

from __future__ import annotations

from collections.abc import Iterator

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from .contents import Contents, Curve, Shot, Slider, StepShown
from .drawing import BODY, HEAD, SMALL, as_png, canvas, fitted, framed, stacked, words
from .palette import DIAGONAL, FAINT, GRID, TEXT, TRACK, WELL, ink

CELL, GAP, COLUMNS = 360, 24, 4
WIDTH = COLUMNS * (CELL + GAP) + GAP

_PLOT = 220
"""Side of a curve's plot."""
_FINE = 2
"""Lines are drawn this many times as large, then averaged."""


def picture(contents: Contents) -> bytes:
    """The sheet as a PNG."""
    overview = [_shot(shot) for shot in (*contents.overview, contents.residual)]
    steps = [cell for step in contents.steps for cell in _cells(step)]
    rows = [
        words(contents.title, BODY, WIDTH - 2 * GAP, FAINT),
        words(contents.headline, HEAD, WIDTH - 2 * GAP),
        words(contents.costs, BODY, WIDTH - 2 * GAP),
        *(_row(cells) for cells in _by_columns([*overview, *steps])),
        words(contents.footnote, SMALL, WIDTH - 2 * GAP, FAINT),
    ]
    return as_png(framed(stacked(rows, GAP), WIDTH, GAP))


def _by_columns(cells: list[PIL.Image.Image]) -> Iterator[list[PIL.Image.Image]]:
    yield from (cells[first : first + COLUMNS] for first in range(0, len(cells), COLUMNS))


def _row(cells: list[PIL.Image.Image]) -> PIL.Image.Image:
    row = canvas(WIDTH - 2 * GAP, max(cell.height for cell in cells))
    for column, cell in enumerate(cells):
        row.paste(cell, (column * (CELL + GAP), 0))
    return row


def _cells(step: StepShown) -> list[PIL.Image.Image]:
    """Where it works, in a plan with masks, and what comes of it."""
    return [*([] if step.place is None else [_shot(step.place)]), _step(step)]


def _step(step: StepShown) -> PIL.Image.Image:
    parts = [_shot(step.shot), *([_plot(step.curves)] if step.curves else ()), *map(_slider, step.sliders)]
    return stacked(parts, 12)


def _shot(shot: Shot) -> PIL.Image.Image:
    texts = [words(shot.caption, BODY, CELL), words(shot.detail, SMALL, CELL, FAINT)]
    return stacked([fitted(shot.picture, CELL), *texts], 6)


def _plot(curves: tuple[Curve, ...]) -> PIL.Image.Image:
    """Curves against the diagonal, dark to light from left to right and from bottom to top."""
    side = _FINE * _PLOT
    well = PIL.Image.new("RGB", (side, side), WELL)
    draw = PIL.ImageDraw.Draw(well)
    for at in range(0, 5):
        place = round(at * (side - 1) / 4)
        draw.line([(place, 0), (place, side)], GRID, 2)
        draw.line([(0, place), (side, place)], GRID, 2)
    draw.line([(0, side), (side, 0)], DIAGONAL, 2)
    for curve in curves:
        points = [(side * x, side - side * y) for x, y in curve.points]
        draw.line(points, ink(curve.name), 4, joint="curve")
    plot = well.resize((_PLOT, _PLOT), PIL.Image.Resampling.BOX)
    if len(curves) == 1:
        return plot
    legend = [words(curve.name, SMALL, CELL - _PLOT - 12, ink(curve.name)) for curve in curves]
    whole = canvas(CELL, _PLOT)
    whole.paste(plot, (0, 0))
    whole.paste(stacked(legend, 4), (_PLOT + 12, 0))
    return whole


def _slider(slider: Slider) -> PIL.Image.Image:
    """A line over the declared range, a mark where nothing changes, a knob at the value."""
    width, middle, radius = _FINE * CELL, _FINE * 10, _FINE * 7
    large = canvas(width, 2 * middle)
    draw = PIL.ImageDraw.Draw(large)
    default, value = (radius + (width - 2 * radius) * slider.share(v) for v in (slider.default, slider.value))
    draw.line([(radius, middle), (width - radius, middle)], TRACK, 6)
    draw.line([(default, 4), (default, 2 * middle - 4)], FAINT, 3)
    draw.line([(default, middle), (value, middle)], TEXT, 6)
    draw.ellipse([value - radius, middle - radius, value + radius, middle + radius], TEXT)
    track = large.resize((CELL, large.height // _FINE), PIL.Image.Resampling.BOX)
    ends = words(f"{slider.low:g}", SMALL, CELL, FAINT)
    high = f"{slider.high:g}"
    draw = PIL.ImageDraw.Draw(ends)
    draw.text((CELL, 0), high, FAINT, PIL.ImageFont.load_default(SMALL), anchor="ra")
    return stacked([words(slider.label, SMALL, CELL), track, ends], 4)
