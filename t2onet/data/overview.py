"""A dataset at a glance: distributions, charts and contact sheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from ..errors import DataError, T2OError
from ..image import Image
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
    stack_horizontally,
    stack_vertically,
    to_png_bytes,
    to_printable,
)
from ..image.pixels import to_uint8
from .dataset import Dataset, Sample

if TYPE_CHECKING:
    from .plans import DatasetPlans
    from .plans.run import PlanTotals, RankedPlan

# How a dataset is distributed: lengths of requests, what they ask for, what their plans use and cost.

_MAX_WORDS = 30
"""Requests of more words are counted together."""
_COST_STEP = 0.01
_COST_BINS = 30


@dataclass(frozen=True)
class Distribution:
    """Counts of some things, in series that share their labels; `total` is what shares are shares of.

    `ordered` labels are steps along an axis, others are names.
    """

    title: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]
    total: int
    ordered: bool = False
    note: str = ""


def compute_distributions(samples: Sequence[Sample], plans: DatasetPlans | None = None) -> list[Distribution]:
    """Those that the samples, and their plans where given, have something to say about."""
    found = [_count_request_lengths(samples), _count_splits(samples), _count_intents(samples)]
    if plans is not None:
        found += _count_plans(plans)
    return [distribution for distribution in found if distribution.total]


def _count_request_lengths(samples: Sequence[Sample]) -> Distribution:
    lengths = [len(request.split()) for sample in samples for request in sample.requests]
    counts = np.bincount(np.minimum(np.array(lengths, int), _MAX_WORDS + 1), minlength=_MAX_WORDS + 2)[1:]
    labels = (*map(str, range(1, _MAX_WORDS + 1)), f"{_MAX_WORDS + 1}+")
    note = f"{len(lengths)} requests, {np.median(lengths):g} words in the middle" if lengths else ""
    return _from_counts("Words in a request", labels, counts.tolist(), len(lengths), ordered=True, note=note)


def _count_splits(samples: Sequence[Sample]) -> Distribution:
    counts = Counter(sample.split for sample in samples)
    return _from_counter("Samples in a split", counts, len(samples), f"{len(samples)} samples")


def _count_intents(samples: Sequence[Sample]) -> Distribution:
    known = [sample for sample in samples if sample.intents is not None or sample.unanswerable]
    counts: Counter[str] = Counter()
    for sample in known:
        wanted = {f"{'more' if i.sign > 0 else 'less'} {i.attribute.value}" for i in sample.intents or ()}
        counts.update(wanted or {"unanswerable" if sample.unanswerable else "nothing nameable"})
    note = f"known for {len(known)} of {len(samples)} samples"
    return _from_counter("What is asked for", counts, len(known), note)


def _count_plans(plans: DatasetPlans) -> list[Distribution]:
    used: Counter[str] = Counter()
    steps: Counter[int] = Counter()
    costs = []
    for planned in plans.values():
        used.update({step.operation for step in planned.recipe.steps})
        steps[len(planned.recipe)] += 1
        costs.append((planned.start_cost, planned.cost))
    most = max(steps, default=0)
    return [
        _from_counter("Plans that use an operation", used, len(plans), f"{len(plans)} samples have a plan"),
        _from_counts(
            "Steps of a plan",
            tuple(map(str, range(most + 1))),
            [steps[count] for count in range(most + 1)],
            len(plans),
            ordered=True,
        ),
        _count_costs(costs),
    ]


def _count_costs(costs: Sequence[tuple[float, float]]) -> Distribution:
    """Before and after planning, in bins of a hundredth."""
    columns = np.array(costs).reshape(-1, 2).T
    bins = np.minimum(columns / _COST_STEP, _COST_BINS).astype(int)
    counts = [tuple(np.bincount(column, minlength=_COST_BINS + 1).tolist()) for column in bins]
    labels = [f"{_COST_STEP * at:.2f}" for at in range(_COST_BINS + 1)]
    note = "mean {:.4f} before, {:.4f} after".format(*columns.mean(axis=1)) if costs else ""
    series = (("before", counts[0]), ("after planning", counts[1]))
    ends = (*labels[:-1], f"{labels[-1]}+")
    return Distribution("Mean difference from the target", ends, series, len(costs), True, note)


def _from_counter(title: str, counts: Counter[str], total: int, note: str) -> Distribution:
    """The most frequent first."""
    pairs = counts.most_common()
    labels = tuple(label for label, _ in pairs)
    return _from_counts(title, labels, [count for _, count in pairs], total if pairs else 0, note=note)


def _from_counts(
    title: str,
    labels: tuple[str, ...],
    counts: Iterable[int],
    total: int,
    *,
    ordered: bool = False,
    note: str = "",
) -> Distribution:
    return Distribution(title, labels, (("", tuple(counts)),), total, ordered, note)


# Distributions as one picture: columns along an axis, or a bar for each name, on dark grey.

_CHART_WIDTH, _CHART_HEIGHT, _CHART_GAP, _CHARTS_PER_ROW = 620, 260, 36, 2
_BAR_HEIGHT = 30
_NAMES_WIDTH = 210
"""Width for the names beside bars."""
_COUNTS_WIDTH = 56
"""Width for the counts beside columns."""
_AXIS_HEIGHT = 26
_SERIES_COLOURS = (curve_colour("blue"), curve_colour("green"))


def draw_distributions(title: str, distributions: Sequence[Distribution]) -> bytes:
    """All of them on one sheet, as a PNG."""
    cells = [_draw_chart(distribution) for distribution in distributions]
    rows = [
        stack_horizontally(cells[at : at + _CHARTS_PER_ROW], _CHART_GAP)
        for at in range(0, len(cells), _CHARTS_PER_ROW)
    ]
    width = _CHARTS_PER_ROW * (_CHART_WIDTH + _CHART_GAP) + _CHART_GAP
    return to_png_bytes(
        add_margin(
            stack_vertically([draw_text(title, HEADING_SIZE, width - 2 * _CHART_GAP), *rows], _CHART_GAP),
            width,
            _CHART_GAP,
        )
    )


def _draw_chart(distribution: Distribution) -> PIL.Image.Image:
    drawn = _draw_columns(distribution) if distribution.ordered else _draw_bars(distribution)
    note = distribution.note or " "
    return stack_vertically(
        [
            draw_text(distribution.title, BODY_SIZE, _CHART_WIDTH),
            draw_text(note, SMALL_SIZE, _CHART_WIDTH, MUTED_COLOUR),
            drawn,
        ],
        8,
    )


def _draw_columns(distribution: Distribution) -> PIL.Image.Image:
    """Columns, those of several series side by side, over lines at round counts."""
    whole = new_canvas(_CHART_WIDTH, _CHART_HEIGHT + _AXIS_HEIGHT + 6)
    draw = PIL.ImageDraw.Draw(whole)
    draw.rectangle([_COUNTS_WIDTH, 0, _CHART_WIDTH, _CHART_HEIGHT], INSET_COLOUR)
    top = max(max(counts) for _, counts in distribution.series)
    unit = (_CHART_HEIGHT - _AXIS_HEIGHT) / top
    _draw_grid_lines(draw, unit, top)
    room = (_CHART_WIDTH - _COUNTS_WIDTH) / len(distribution.labels)
    thick = 0.8 * room / len(distribution.series)
    for number, (_, counts) in enumerate(distribution.series):
        for at, count in enumerate(counts):
            left = _COUNTS_WIDTH + (at + 0.1) * room + number * thick
            box = [left, _CHART_HEIGHT - max(1, unit * count), left + thick - 1, _CHART_HEIGHT]
            if count:
                draw.rectangle(box, _SERIES_COLOURS[number])
    _draw_axis(draw, distribution.labels, room)
    _draw_legend(draw, distribution)
    return whole


def _draw_grid_lines(draw: PIL.ImageDraw.ImageDraw, unit: float, top: int) -> None:
    """Across the plot, with their counts beside it."""
    font = PIL.ImageFont.load_default(SMALL_SIZE)
    for count in _round_counts(top):
        height = _CHART_HEIGHT - unit * count
        draw.line([(_COUNTS_WIDTH, height), (_CHART_WIDTH, height)], GRID_COLOUR)
        draw.text((_COUNTS_WIDTH - 8, height), str(count), MUTED_COLOUR, font, anchor="rm")


def _round_counts(top: int) -> list[int]:
    """Up to four of them, one, two or five times a power of ten apart."""
    steps = (factor * 10**power for power in range(12) for factor in (1, 2, 5))
    step = next(step for step in steps if top / step < 5)
    return list(range(step, top + 1, step))


def _draw_axis(draw: PIL.ImageDraw.ImageDraw, labels: Sequence[str], room: float) -> None:
    """As many labels as fit, and always the last."""
    font = PIL.ImageFont.load_default(SMALL_SIZE)
    widest = max(font.getlength(label) for label in labels) + 14
    every = max(1, -int(-widest // room))
    last = len(labels) - 1
    for at, label in enumerate(labels):
        if at == last or (at % every == 0 and (last - at) * room >= widest):
            at_end = at == last and every > 1
            place = _CHART_WIDTH if at_end else _COUNTS_WIDTH + (at + 0.5) * room
            draw.text((place, _CHART_HEIGHT + 6), label, MUTED_COLOUR, font, anchor="ra" if at_end else "ma")


def _draw_legend(draw: PIL.ImageDraw.ImageDraw, distribution: Distribution) -> None:
    font = PIL.ImageFont.load_default(SMALL_SIZE)
    for number, (name, _) in enumerate(distribution.series):
        draw.text(
            (_CHART_WIDTH - 12, 10 + 24 * number),
            to_printable(name),
            _SERIES_COLOURS[number],
            font,
            anchor="ra",
        )


def _draw_bars(distribution: Distribution) -> PIL.Image.Image:
    """A bar for each name, as long as its share of the longest, with count and share of all."""
    counts = distribution.series[0][1]
    whole = new_canvas(_CHART_WIDTH, _BAR_HEIGHT * len(counts))
    draw = PIL.ImageDraw.Draw(whole)
    font = PIL.ImageFont.load_default(SMALL_SIZE)
    room = _CHART_WIDTH - _NAMES_WIDTH - 110
    for at, (label, count) in enumerate(zip(distribution.labels, counts, strict=True)):
        middle = _BAR_HEIGHT * at + _BAR_HEIGHT / 2
        draw.text((_NAMES_WIDTH - 12, middle), to_printable(label), TEXT_COLOUR, font, anchor="rm")
        length = max(2, room * count / max(counts))
        draw.rectangle([_NAMES_WIDTH, middle - 10, _NAMES_WIDTH + room, middle + 10], INSET_COLOUR)
        draw.rectangle([_NAMES_WIDTH, middle - 10, _NAMES_WIDTH + length, middle + 10], _SERIES_COLOURS[0])
        told = f"{count}  {100 * count / distribution.total:.0f} %"
        draw.text((_NAMES_WIDTH + room + 10, middle), told, MUTED_COLOUR, font, anchor="lm")
    return whole


# Contact sheets: pairs with their requests, and the best and the worst of their plans.

_PHOTO_SIDE, _CELL_GAP, _PAIRS_PER_ROW = 250, 24, 3
_CELL_WIDTH = 2 * _PHOTO_SIDE + 6
SHEET_WIDTH = _PAIRS_PER_ROW * (_CELL_WIDTH + _CELL_GAP) + _CELL_GAP
_MAX_REQUESTS = 5
"""The most requests that are printed below a pair."""
_MAX_REQUEST_LENGTH = 220
"""Characters of a request, the rest is left out."""


def choose_samples(samples: Sequence[Sample], count: int, seed: int) -> list[Sample]:
    """That many samples by chance, in their own order."""
    if not samples:
        raise DataError("there is no sample to show; check the dataset and the split")
    picked = np.random.default_rng(seed).permutation(len(samples))[:count]
    return [samples[at] for at in sorted(picked)]


def draw_pairs_sheet(dataset: Dataset, samples: Sequence[Sample], total: int) -> bytes:
    """Before and after side by side, with what was asked for below; as a PNG."""
    from ..image.drawing import (
        BODY_SIZE,
        HEADING_SIZE,
        MUTED_COLOUR,
        add_margin,
        draw_text,
        stack_horizontally,
        stack_vertically,
        to_png_bytes,
    )

    cells = [_draw_pair(sample) for sample in samples]
    rows = [
        stack_horizontally(cells[at : at + _PAIRS_PER_ROW], _CELL_GAP)
        for at in range(0, len(cells), _PAIRS_PER_ROW)
    ]
    subtitle = f"{len(samples)} of {total} samples, before and after"
    inside = SHEET_WIDTH - 2 * _CELL_GAP
    title = [
        draw_text(dataset.root.name or dataset.layout, HEADING_SIZE, inside),
        draw_text(subtitle, BODY_SIZE, inside, MUTED_COLOUR),
    ]
    return to_png_bytes(
        add_margin(stack_vertically([stack_vertically(title, 4), *rows], _CELL_GAP), SHEET_WIDTH, _CELL_GAP)
    )


def _draw_pair(sample: Sample) -> PIL.Image.Image:
    from ..image.drawing import (
        BODY_SIZE,
        MUTED_COLOUR,
        SMALL_SIZE,
        draw_text,
        stack_horizontally,
        stack_vertically,
    )

    try:
        parts = [stack_horizontally([_fit_square(photo) for photo in sample.photos()], 6)]
    except T2OError as error:
        parts = [draw_text(str(error), SMALL_SIZE, _CELL_WIDTH, MUTED_COLOUR)]
    said = [
        draw_text(f'"{_shorten_request(request)}"', BODY_SIZE, _CELL_WIDTH)
        for request in sample.requests[:_MAX_REQUESTS]
    ]
    more = len(sample.requests) - _MAX_REQUESTS
    note = f"{sample.name}, {sample.split}" + (f", and {more} requests more" if more > 0 else "")
    return stack_vertically([*parts, *said, draw_text(note, SMALL_SIZE, _CELL_WIDTH, MUTED_COLOUR)], 6)


def _shorten_request(text: str) -> str:
    words = " ".join(text.split())
    return (
        words if len(words) <= _MAX_REQUEST_LENGTH else f"{words[:_MAX_REQUEST_LENGTH].rsplit(' ', 1)[0]} ..."
    )


def draw_plans_sheet(tally: PlanTotals) -> bytes:
    """The worst plans and the best: before, planned, target, and the recipe in words; as a PNG."""
    from ..image.drawing import HEADING_SIZE, add_margin, draw_text, stack_vertically, to_png_bytes

    width = 3 * _PHOTO_SIDE + 2 * 6 + _CELL_GAP + _CELL_WIDTH
    parts = []
    for title, shown in (("Worst plans", tally.worst), ("Best plans", tally.best)):
        if shown:
            parts += [draw_text(title, HEADING_SIZE, width), *_draw_plans(shown)]
    return to_png_bytes(add_margin(stack_vertically(parts, _CELL_GAP), width + 2 * _CELL_GAP, _CELL_GAP))


def _draw_plans(shown: Iterable[RankedPlan]) -> list[PIL.Image.Image]:
    from ..executor import apply
    from ..image.drawing import (
        BODY_SIZE,
        MUTED_COLOUR,
        SMALL_SIZE,
        draw_text,
        stack_horizontally,
        stack_vertically,
    )
    from ..planning.report import format_cost

    rows = []
    for _, _, sample, planned in shown:
        before, after = sample.photos()
        photos = (before, apply(planned.recipe, before), after)
        pictures = [
            stack_vertically(
                [_fit_square(photo), draw_text(caption, SMALL_SIZE, _PHOTO_SIDE, MUTED_COLOUR)], 6
            )
            for photo, caption in zip(photos, ("before", "planned", "target"), strict=True)
        ]
        costs = f"off by {format_cost(planned.start_cost)} before, {format_cost(planned.cost)} after"
        said = [
            draw_text(planned.recipe.describe(), BODY_SIZE, _CELL_WIDTH),
            draw_text(costs, SMALL_SIZE, _CELL_WIDTH),
            draw_text(sample.name, SMALL_SIZE, _CELL_WIDTH, MUTED_COLOUR),
        ]
        rows.append(
            stack_horizontally([stack_horizontally(pictures, 6), stack_vertically(said, 8)], _CELL_GAP)
        )
    return rows


def _fit_square(image: Image) -> PIL.Image.Image:
    """The photo as it looks on a screen, centred in a square."""
    from ..image.drawing import new_canvas, scale_to_square

    small = scale_to_square(
        PIL.Image.fromarray(to_uint8(image.resized(_PHOTO_SIDE).to_srgb().pixels)), _PHOTO_SIDE
    )
    whole = new_canvas(_PHOTO_SIDE, _PHOTO_SIDE)
    whole.paste(small, ((_PHOTO_SIDE - small.width) // 2, (_PHOTO_SIDE - small.height) // 2))
    return whole
