"""Distributions as one picture: columns along an axis, or a bar for each name, on dark grey."""

from __future__ import annotations

from collections.abc import Sequence

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from ..planning.report.drawing import BODY, HEAD, SMALL, as_png, beside, canvas, framed, plain, stacked, words
from ..planning.report.palette import FAINT, GRID, TEXT, WELL, ink
from .distributions import Distribution

_WIDTH, _HEIGHT, _GAP, _COLUMNS = 620, 260, 36, 2
_BAR = 30
_NAMES = 210
"""Width for the names beside bars."""
_COUNTS = 56
"""Width for the counts beside columns."""
_AXIS = 26
_INKS = (ink("blue"), ink("green"))


def picture(title: str, distributions: Sequence[Distribution]) -> bytes:
    """All of them on one sheet, as a PNG."""
    cells = [_chart(distribution) for distribution in distributions]
    rows = [beside(cells[at : at + _COLUMNS], _GAP) for at in range(0, len(cells), _COLUMNS)]
    width = _COLUMNS * (_WIDTH + _GAP) + _GAP
    return as_png(framed(stacked([words(title, HEAD, width - 2 * _GAP), *rows], _GAP), width, _GAP))


def _chart(distribution: Distribution) -> PIL.Image.Image:
    drawn = _columns(distribution) if distribution.ordered else _bars(distribution)
    note = distribution.note or " "
    return stacked([words(distribution.title, BODY, _WIDTH), words(note, SMALL, _WIDTH, FAINT), drawn], 8)


def _columns(distribution: Distribution) -> PIL.Image.Image:
    """Columns, those of several series side by side, over lines at round counts."""
    whole = canvas(_WIDTH, _HEIGHT + _AXIS + 6)
    draw = PIL.ImageDraw.Draw(whole)
    draw.rectangle([_COUNTS, 0, _WIDTH, _HEIGHT], WELL)
    top = max(max(counts) for _, counts in distribution.series)
    unit = (_HEIGHT - _AXIS) / top
    _lines(draw, unit, top)
    room = (_WIDTH - _COUNTS) / len(distribution.labels)
    thick = 0.8 * room / len(distribution.series)
    for number, (_, counts) in enumerate(distribution.series):
        for at, count in enumerate(counts):
            left = _COUNTS + (at + 0.1) * room + number * thick
            box = [left, _HEIGHT - max(1, unit * count), left + thick - 1, _HEIGHT]
            if count:
                draw.rectangle(box, _INKS[number])
    _axis(draw, distribution.labels, room)
    _legend(draw, distribution)
    return whole


def _lines(draw: PIL.ImageDraw.ImageDraw, unit: float, top: int) -> None:
    """Across the plot, with their counts beside it."""
    font = PIL.ImageFont.load_default(SMALL)
    for count in _round_counts(top):
        height = _HEIGHT - unit * count
        draw.line([(_COUNTS, height), (_WIDTH, height)], GRID)
        draw.text((_COUNTS - 8, height), str(count), FAINT, font, anchor="rm")


def _round_counts(top: int) -> list[int]:
    """Up to four of them, one, two or five times a power of ten apart."""
    steps = (factor * 10**power for power in range(12) for factor in (1, 2, 5))
    step = next(step for step in steps if top / step < 5)
    return list(range(step, top + 1, step))


def _axis(draw: PIL.ImageDraw.ImageDraw, labels: Sequence[str], room: float) -> None:
    """As many labels as fit, and always the last."""
    font = PIL.ImageFont.load_default(SMALL)
    widest = max(font.getlength(label) for label in labels) + 14
    every = max(1, -int(-widest // room))
    last = len(labels) - 1
    for at, label in enumerate(labels):
        if at == last or (at % every == 0 and (last - at) * room >= widest):
            at_end = at == last and every > 1
            place = _WIDTH if at_end else _COUNTS + (at + 0.5) * room
            draw.text((place, _HEIGHT + 6), label, FAINT, font, anchor="ra" if at_end else "ma")


def _legend(draw: PIL.ImageDraw.ImageDraw, distribution: Distribution) -> None:
    font = PIL.ImageFont.load_default(SMALL)
    for number, (name, _) in enumerate(distribution.series):
        draw.text((_WIDTH - 12, 10 + 24 * number), plain(name), _INKS[number], font, anchor="ra")


def _bars(distribution: Distribution) -> PIL.Image.Image:
    """A bar for each name, as long as its share of the longest, with count and share of all."""
    counts = distribution.series[0][1]
    whole = canvas(_WIDTH, _BAR * len(counts))
    draw = PIL.ImageDraw.Draw(whole)
    font = PIL.ImageFont.load_default(SMALL)
    room = _WIDTH - _NAMES - 110
    for at, (label, count) in enumerate(zip(distribution.labels, counts, strict=True)):
        middle = _BAR * at + _BAR / 2
        draw.text((_NAMES - 12, middle), plain(label), TEXT, font, anchor="rm")
        length = max(2, room * count / max(counts))
        draw.rectangle([_NAMES, middle - 10, _NAMES + room, middle + 10], WELL)
        draw.rectangle([_NAMES, middle - 10, _NAMES + length, middle + 10], _INKS[0])
        told = f"{count}  {100 * count / distribution.total:.0f} %"
        draw.text((_NAMES + room + 10, middle), told, FAINT, font, anchor="lm")
    return whole
