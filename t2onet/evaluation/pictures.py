"""The paper's pictures, drawn from data and runs of your own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from ..data import Sample
from ..data.spreadsheet import from_csv, to_csv
from ..errors import DataError
from ..image.drawing import (
    BODY_SIZE,
    GRID_COLOUR,
    HEADING_SIZE,
    INSET_COLOUR,
    MUTED_COLOUR,
    SMALL_SIZE,
    TEXT_COLOUR,
    add_margin,
    curve_colour,
    draw_text,
    new_canvas,
    stack_vertically,
    to_png_bytes,
)
from ..language.ten_requests import TEN_REQUESTS
from ..metrics.distances import answer_variance
from ..planning import Plan, plan
from .blocks import open_row_systems
from .paper_tables import L1, MAIN_TABLE, SAMPLING_WIDTH, SIGMA
from .resolution import draw_resolution
from .sheets import (
    PAIRS_SHEET,
    NamedFiles,
    PictureOptions,
    SheetCell,
    SheetPhoto,
    draw_sheet,
    draw_systems_sheet,
)
from .systems import Question

if TYPE_CHECKING:
    from ..models import DecodedVariant

# The paper's pictures, drawn from data and runs of your own.


# Answers of T2ONet: to ten requests by models of each width h, and several to one request.

SAMPLES_PER_REQUEST = 6
SAMPLED_WIDTHS = (0.1, 0.3)
"""How wide parameters are sampled: as far as the paper goes in training, and further."""


def draw_requests_by_width(wish: PictureOptions) -> NamedFiles:
    """The same photos under the paper's ten requests, a row for each h that has weights."""
    rows = [row for row in SAMPLING_WIDTH.rows if row.run is not None]
    systems, absent = open_row_systems(rows, wish.runs)
    if not systems:
        raise DataError(f"no model of any width has weights: {'; '.join(absent.values())}")
    shown = []
    for one in wish.asked:
        for system in systems:
            asked = [Question(one.photo, request, "literal") for request in TEN_REQUESTS]
            made = [answer.picture for answer in system.answer(asked)]
            told = f"{system.name}: sigma x 100 over these answers {100 * answer_variance(made):.3f}"
            captioned = zip(made, TEN_REQUESTS, strict=True)
            shown.append((told, [SheetCell(one.photo, "input"), *(SheetCell(*pair) for pair in captioned)]))
    note = "; ".join(absent.values())
    return {wish.sheet: draw_sheet("The same photo under different requests", note, shown)}


def draw_several_answers(wish: PictureOptions) -> NamedFiles:
    """Several samples of one request: parameters are sampled around the network's own."""
    path = wish.weights("paper")
    rows = []
    for one in wish.asked:
        for width in SAMPLED_WIDTHS:
            shots = [SheetCell(one.photo, "input")]
            for number, answer in enumerate(_sample_answers(path, one, width, wish.seed)):
                done = ", ".join(name for name, _ in answer.steps) or "nothing"
                shots.append(
                    SheetCell(answer.image.numpy(), f"sample {number}" if number else "its own", done)
                )
            rows.append((f'"{one.request}", parameters sampled with h = {width:g}', shots))
    return {wish.sheet: draw_sheet("Several answers to one request", "", rows)}


def _sample_answers(path: Path, one: SheetPhoto, width: float, seed: int) -> list[DecodedVariant]:
    import torch

    from ..models import RequestBatch as Batch
    from ..models import StepDecoder, decode_variants, load_network

    loaded = load_network(path)
    network = cast(StepDecoder, loaded.network)
    tokens = torch.tensor([loaded.vocabulary.encode(one.request)])
    photo = torch.from_numpy(np.ascontiguousarray(one.photo))[None]
    draws = torch.Generator().manual_seed(seed)
    return decode_variants(
        network, Batch(tokens, tokens != 0, photo), SAMPLES_PER_REQUEST, h=width, generator=draws
    )


def draw_side_by_side(wish: PictureOptions) -> NamedFiles:
    """All systems of the main table that have weights."""
    systems, absent = open_row_systems(MAIN_TABLE.rows, wish.runs, narrow=wish.narrow)
    sheet = draw_systems_sheet("All systems side by side", systems, wish.asked, "; ".join(absent.values()))
    return {wish.sheet: sheet}


# Planning trajectories: a pair, and the picture after each step of its plan.

TRAJECTORY_SHORT_SIDE = 256
"""Short side at which is planned."""


def draw_trajectories(wish: PictureOptions) -> NamedFiles:
    """By beam search with the solver `fast`."""
    plans = [(sample, _plan_sample(sample)) for sample in wish.samples(wish.count)]
    rows = [(found.recipe.describe(), list(_build_trajectory_cells(found))) for _, found in plans]
    lines: list[tuple[object, ...]] = [("pair", "step", "operation", "L1")]
    for sample, found in plans:
        names = ["", *(step.operation for step in found.recipe.steps)]
        for number, (name, cost) in enumerate(zip(names, found.costs, strict=True)):
            lines.append((sample.name, number, name, f"{cost:.6f}"))
    sheet = draw_sheet(
        "Planning trajectories",
        "After each step that the forward search found, with the distance to the target",
        rows,
    )
    return {PAIRS_SHEET: sheet, "figures.csv": to_csv(lines).encode()}


def _plan_sample(sample: Sample) -> Plan:
    return plan(sample.before, sample.after, way="beam", refine=False, size=TRAJECTORY_SHORT_SIDE)


def _build_trajectory_cells(found: Plan) -> Iterator[SheetCell]:
    captions = ["input", *(step.describe() for step in found.recipe.steps)]
    for picture, caption, cost in zip(found.pictures, captions, found.costs, strict=True):
        yield SheetCell(picture, caption, f"L1 {cost:.4f}")
    if found.target is not None:
        yield SheetCell(found.target, "target")


# L1 against sigma over h: the table of sampling widths as a chart, beside the paper's.

TABLE_FILE = "table.csv"
_CHART_WIDTH, _CHART_HEIGHT, _CHART_LEFT, _CHART_BOTTOM = 760, 460, 90, 50
_AXIS_MARGIN = 0.12
"""Share of the range that is left free at each side."""
_MAX_GRID_LINES = 6
"""The most lines across the chart."""


class TradeOffPoint(NamedTuple):
    label: str
    sigma: float
    l1: float


def draw_trade_off(wish: PictureOptions) -> NamedFiles:
    """From what `t2o reproduce sampling-width` measured."""
    path = wish.results / SAMPLING_WIDTH.name / TABLE_FILE
    if not path.is_file():
        made = f"t2o reproduce {SAMPLING_WIDTH.name} DATASET"
        raise DataError(f"there is no {path}, which this picture shows; `{made}` makes it")
    lines = from_csv(path.read_text(encoding="utf-8"))
    series = {"here": _read_points(lines, "value"), "paper": _read_points(lines, "paper")}
    if not any(series.values()):
        raise DataError(f"{path} has no row with both {L1} and {SIGMA}; make the table with weights")
    return {"chart.png": _draw_titled_chart(series)}


def _read_points(lines: Sequence[Mapping[str, str]], column: str) -> list[TradeOffPoint]:
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        if line["system"].startswith("h = ") and line["figure"] in (L1, SIGMA) and line[column]:
            found.setdefault(line["system"], {})[line["figure"]] = float(line[column])
    return [TradeOffPoint(name, both[SIGMA], both[L1]) for name, both in found.items() if len(both) == 2]


def _draw_titled_chart(series: Mapping[str, Sequence[TradeOffPoint]]) -> bytes:
    title = draw_text("L1 against sigma, by the width h of sampled parameters", HEADING_SIZE, _CHART_WIDTH)
    note = "Nearer the expert is lower; more different answers to different requests is further right."
    chart = _draw_chart(series)
    return to_png_bytes(
        add_margin(
            stack_vertically([title, draw_text(note, BODY_SIZE, _CHART_WIDTH, MUTED_COLOUR), chart], 12),
            _CHART_WIDTH + 48,
            24,
        )
    )


def _draw_chart(series: Mapping[str, Sequence[TradeOffPoint]]) -> PIL.Image.Image:
    whole = new_canvas(_CHART_WIDTH, _CHART_HEIGHT)
    draw = PIL.ImageDraw.Draw(whole)
    font = PIL.ImageFont.load_default(SMALL_SIZE)
    points = [point for one in series.values() for point in one]
    across = _ChartAxis([point.sigma for point in points], _CHART_LEFT, _CHART_WIDTH)
    up = _ChartAxis([point.l1 for point in points], _CHART_HEIGHT - _CHART_BOTTOM, SMALL_SIZE)
    draw.rectangle([_CHART_LEFT, 0, _CHART_WIDTH, _CHART_HEIGHT - _CHART_BOTTOM], INSET_COLOUR)
    for value in across.marks():
        draw.line([(across(value), 0), (across(value), _CHART_HEIGHT - _CHART_BOTTOM)], GRID_COLOUR)
        draw.text(
            (across(value), _CHART_HEIGHT - _CHART_BOTTOM + 6),
            f"{value:.3g}",
            MUTED_COLOUR,
            font,
            anchor="ma",
        )
    for value in up.marks():
        draw.line([(_CHART_LEFT, up(value)), (_CHART_WIDTH, up(value))], GRID_COLOUR)
        draw.text((_CHART_LEFT - 8, up(value)), f"{value:.3g}", MUTED_COLOUR, font, anchor="rm")
    draw.text((_CHART_WIDTH, _CHART_HEIGHT - 4), "sigma x 100", TEXT_COLOUR, font, anchor="rd")
    draw.text((4, 4), "L1", TEXT_COLOUR, font)
    for number, (name, one) in enumerate(series.items()):
        colour = curve_colour(("blue", "green")[number])
        places = [(across(point.sigma), up(point.l1)) for point in one]
        if len(places) > 1:
            draw.line(places, colour, 2)
        for point, (x, y), below in zip(one, places, _place_labels([y for _, y in places]), strict=True):
            draw.ellipse([x - 5, y - 5, x + 5, y + 5], colour)
            draw.text((x + 8, below), f"{point.label}, {name}", colour, font)
    return whole


def _place_labels(heights: Sequence[float]) -> list[float]:
    """Where the label of each point goes: a little below it, and below the label of the one above."""
    found, last = [0.0] * len(heights), -math.inf
    for at in sorted(range(len(heights)), key=heights.__getitem__):
        found[at] = last = max(heights[at] + 6, last + SMALL_SIZE + 4)
    return found


class _ChartAxis:
    """From figures to pixels between two places, with room at both ends."""

    def __init__(self, values: Sequence[float], first: int, last: int) -> None:
        spread = max(values) - min(values) or abs(max(values)) or 1.0
        self.low, self.high = min(values) - _AXIS_MARGIN * spread, max(values) + 2 * _AXIS_MARGIN * spread
        self.first, self.last = first, last

    def __call__(self, value: float) -> float:
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)

    def marks(self) -> list[float]:
        """Round figures, one, two or five times a power of ten apart."""
        steps = (factor * 10.0**power for power in range(-6, 6) for factor in (1, 2, 5))
        step = next(step for step in steps if (self.high - self.low) / step <= _MAX_GRID_LINES)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]


# The paper's pictures by name.


class PaperPicture(NamedTuple):
    """What it shows, and what draws it."""

    title: str
    draw: Callable[[PictureOptions], NamedFiles]


PAPER_PICTURES: dict[str, PaperPicture] = {
    "planning-trajectories": PaperPicture("Planning step by step", draw_trajectories),
    "trade-off": PaperPicture("L1 against sigma over h", draw_trade_off),
    "requests-by-width": PaperPicture(
        "The same photo under different requests for each h", draw_requests_by_width
    ),
    "several-answers": PaperPicture("Several samples of one request", draw_several_answers),
    "side-by-side": PaperPicture("All systems side by side", draw_side_by_side),
    "resolution": PaperPicture("The same request at 256 pixels and 24 megapixels", draw_resolution),
}


def get_paper_picture(name: str) -> PaperPicture:
    if name not in PAPER_PICTURES:
        raise DataError(f"there is no picture {name!r}; there are {', '.join(PAPER_PICTURES)}")
    return PAPER_PICTURES[name]
