"""L1 against sigma over h: the table of sampling widths as a chart, beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from ...data.spreadsheet import from_csv
from ...errors import DataError
from ...planning.report.drawing import BODY, HEAD, SMALL, as_png, canvas, framed, stacked, words
from ...planning.report.palette import FAINT, GRID, TEXT, WELL, ink
from ..tables.paper import L1, SAMPLING_WIDTH, SIGMA
from .wish import Files, Wish

TABLE_FILE = "table.csv"
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 760, 460, 90, 50
_ROOM = 0.12
"""Share of the range that is left free at each side."""
_MARKS = 6
"""The most lines across the chart."""


class Point(NamedTuple):
    label: str
    sigma: float
    l1: float


def trade_off(wish: Wish) -> Files:
    """From what `t2o reproduce sampling-width` measured."""
    path = wish.results / SAMPLING_WIDTH.name / TABLE_FILE
    if not path.is_file():
        made = f"t2o reproduce {SAMPLING_WIDTH.name} DATASET"
        raise DataError(f"there is no {path}, which this picture shows; `{made}` makes it")
    lines = from_csv(path.read_text(encoding="utf-8"))
    series = {"here": _points(lines, "value"), "paper": _points(lines, "paper")}
    if not any(series.values()):
        raise DataError(f"{path} has no row with both {L1} and {SIGMA}; make the table with weights")
    return {"chart.png": _picture(series)}


def _points(lines: Sequence[Mapping[str, str]], column: str) -> list[Point]:
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        if line["system"].startswith("h = ") and line["figure"] in (L1, SIGMA) and line[column]:
            found.setdefault(line["system"], {})[line["figure"]] = float(line[column])
    return [Point(name, both[SIGMA], both[L1]) for name, both in found.items() if len(both) == 2]


def _picture(series: Mapping[str, Sequence[Point]]) -> bytes:
    title = words("L1 against sigma, by the width h of sampled parameters", HEAD, _WIDTH)
    note = "Nearer the expert is lower; more different answers to different requests is further right."
    chart = _chart(series)
    return as_png(framed(stacked([title, words(note, BODY, _WIDTH, FAINT), chart], 12), _WIDTH + 48, 24))


def _chart(series: Mapping[str, Sequence[Point]]) -> PIL.Image.Image:
    whole = canvas(_WIDTH, _HEIGHT)
    draw = PIL.ImageDraw.Draw(whole)
    font = PIL.ImageFont.load_default(SMALL)
    points = [point for one in series.values() for point in one]
    across = _Axis([point.sigma for point in points], _LEFT, _WIDTH)
    up = _Axis([point.l1 for point in points], _HEIGHT - _BOTTOM, SMALL)
    draw.rectangle([_LEFT, 0, _WIDTH, _HEIGHT - _BOTTOM], WELL)
    for value in across.marks():
        draw.line([(across(value), 0), (across(value), _HEIGHT - _BOTTOM)], GRID)
        draw.text((across(value), _HEIGHT - _BOTTOM + 6), f"{value:.3g}", FAINT, font, anchor="ma")
    for value in up.marks():
        draw.line([(_LEFT, up(value)), (_WIDTH, up(value))], GRID)
        draw.text((_LEFT - 8, up(value)), f"{value:.3g}", FAINT, font, anchor="rm")
    draw.text((_WIDTH, _HEIGHT - 4), "sigma x 100", TEXT, font, anchor="rd")
    draw.text((4, 4), "L1", TEXT, font)
    for number, (name, one) in enumerate(series.items()):
        colour = ink(("blue", "green")[number])
        places = [(across(point.sigma), up(point.l1)) for point in one]
        if len(places) > 1:
            draw.line(places, colour, 2)
        for point, (x, y), below in zip(one, places, _lines([y for _, y in places]), strict=True):
            draw.ellipse([x - 5, y - 5, x + 5, y + 5], colour)
            draw.text((x + 8, below), f"{point.label}, {name}", colour, font)
    return whole


def _lines(heights: Sequence[float]) -> list[float]:
    """Where the label of each point goes: a little below it, and below the label of the one above."""
    found, last = [0.0] * len(heights), -math.inf
    for at in sorted(range(len(heights)), key=heights.__getitem__):
        found[at] = last = max(heights[at] + 6, last + SMALL + 4)
    return found


class _Axis:
    """From figures to pixels between two places, with room at both ends."""

    def __init__(self, values: Sequence[float], first: int, last: int) -> None:
        spread = max(values) - min(values) or abs(max(values)) or 1.0
        self.low, self.high = min(values) - _ROOM * spread, max(values) + 2 * _ROOM * spread
        self.first, self.last = first, last

    def __call__(self, value: float) -> float:
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)

    def marks(self) -> list[float]:
        """Round figures, one, two or five times a power of ten apart."""
        steps = (factor * 10.0**power for power in range(-6, 6) for factor in (1, 2, 5))
        step = next(step for step in steps if (self.high - self.low) / step <= _MARKS)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]
