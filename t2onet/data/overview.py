"""An overview of a dataset: distributions as counts and charts, and contact sheets of its pairs and plans."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import PIL.Image

from ..errors import DataError, T2OError, needs_extra
from ..image import Image
from ..image.drawing import (
    BACKGROUND_COLOUR,
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
    scale_to_square,
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

_MAX_WORDS = 30
"""Longer requests are counted together."""
_COST_STEP = 0.01
_COST_BINS = 30
_CHARTS_PER_ROW = 2
_CHART_INCHES, _DPI = (6.5, 3.2), 100
_SERIES_COLOURS = (curve_colour("blue"), curve_colour("green"))
_PHOTO_SIDE, _CELL_GAP, _PAIRS_PER_ROW = 250, 24, 3
_CELL_WIDTH = 2 * _PHOTO_SIDE + 6
SHEET_WIDTH = _PAIRS_PER_ROW * (_CELL_WIDTH + _CELL_GAP) + _CELL_GAP
_MAX_REQUESTS = 5
"""The most requests printed below a pair."""
_MAX_REQUEST_LENGTH = 220
"""Characters after which a request is cut off."""


@dataclass(frozen=True)
class Distribution:
    """A histogram; its series share their labels, and shares are relative to `total`.

    The labels of an `ordered` distribution are values along an axis, others are names.
    """

    title: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]
    total: int
    ordered: bool = False
    note: str = ""


def compute_distributions(samples: Sequence[Sample], plans: DatasetPlans | None = None) -> list[Distribution]:
    """Distributions of the samples, and of their plans if given; without those that have no data."""
    distributions = [_count_request_lengths(samples), _count_splits(samples), _count_intents(samples)]
    if plans is not None:
        distributions += _count_plans(plans)
    return [distribution for distribution in distributions if distribution.total]


def _count_request_lengths(samples: Sequence[Sample]) -> Distribution:
    lengths = [len(request.split()) for sample in samples for request in sample.requests]
    counts = np.bincount(np.minimum(np.array(lengths, int), _MAX_WORDS + 1), minlength=_MAX_WORDS + 2)[1:]
    labels = (*map(str, range(1, _MAX_WORDS + 1)), f"{_MAX_WORDS + 1}+")
    note = f"{len(lengths)} requests, {np.median(lengths):g} words in the median" if lengths else ""
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
    """Costs before and after planning, in bins of 0.01."""
    columns = np.array(costs).reshape(-1, 2).T
    bins = np.minimum(columns / _COST_STEP, _COST_BINS).astype(int)
    counts = [tuple(np.bincount(column, minlength=_COST_BINS + 1).tolist()) for column in bins]
    labels = [f"{_COST_STEP * at:.2f}" for at in range(_COST_BINS + 1)]
    note = "mean {:.4f} before, {:.4f} after".format(*columns.mean(axis=1)) if costs else ""
    series = (("before", counts[0]), ("after planning", counts[1]))
    ends = (*labels[:-1], f"{labels[-1]}+")
    return Distribution("Mean difference from the target", ends, series, len(costs), True, note)


def _from_counter(title: str, counts: Counter[str], total: int, note: str) -> Distribution:
    """Sorted by count, the most frequent first."""
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


def check_matplotlib() -> None:
    """Raise a DataError if charts cannot be drawn."""
    with needs_extra(DataError, "charts need matplotlib", "train"):
        import matplotlib.figure  # noqa: F401


def draw_distributions(title: str, distributions: Sequence[Distribution]) -> bytes:
    """All charts in one PNG."""
    check_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    rows = -(-len(distributions) // _CHARTS_PER_ROW)
    size = (_CHART_INCHES[0] * _CHARTS_PER_ROW, _CHART_INCHES[1] * rows + 0.6)
    layout = ConstrainedLayoutEngine(w_pad=0.2, h_pad=0.2)
    figure = Figure(size, _DPI, facecolor=BACKGROUND_COLOUR, layout=layout)
    figure.suptitle(to_printable(title), color=TEXT_COLOUR, size=20, parse_math=False)
    axes = figure.subplots(rows, _CHARTS_PER_ROW, squeeze=False)
    for cell, distribution in zip_longest(axes.flat, distributions):
        if distribution is None:
            cell.set_axis_off()
        else:
            _draw_chart(cell, distribution)
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # drawn as a box
        figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def _draw_chart(axes: Any, distribution: Distribution) -> None:
    axes.set_facecolor(INSET_COLOUR)
    axes.tick_params(colors=MUTED_COLOUR, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_axisbelow(True)
    axes.set_title(f"{distribution.title}\n", color=TEXT_COLOUR, loc="left")
    axes.text(0, 1.03, distribution.note, color=MUTED_COLOUR, size=9, transform=axes.transAxes)
    (_draw_columns if distribution.ordered else _draw_bars)(axes, distribution)


def _draw_columns(axes: Any, distribution: Distribution) -> None:
    """A column for each label, those of several series side by side."""
    positions = np.arange(len(distribution.labels))
    width = 0.8 / len(distribution.series)
    for number, (name, counts) in enumerate(distribution.series):
        offset = (number - (len(distribution.series) - 1) / 2) * width
        axes.bar(positions + offset, counts, width, color=_SERIES_COLOURS[number], label=name)
    every = max(1, len(positions) // 10)
    shown = [at for at in positions if at % every == 0 and len(positions) - 1 - at >= every] + [positions[-1]]
    axes.set_xticks(shown, [distribution.labels[at] for at in shown])
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y", color=GRID_COLOUR)
    if len(distribution.series) > 1:
        axes.legend(facecolor=INSET_COLOUR, edgecolor=GRID_COLOUR, labelcolor=TEXT_COLOUR)


def _draw_bars(axes: Any, distribution: Distribution) -> None:
    """A horizontal bar for each name, with its count and its share of the total."""
    counts = distribution.series[0][1]
    bars = axes.barh([to_printable(label) for label in distribution.labels], counts, color=_SERIES_COLOURS[0])
    captions = [f"{count}  {100 * count / distribution.total:.0f} %" for count in counts]
    axes.bar_label(bars, captions, padding=6, color=MUTED_COLOUR)
    axes.set_xlim(0, 1.25 * max(counts))
    axes.set_xticks([])
    axes.invert_yaxis()


def choose_samples(samples: Sequence[Sample], count: int, seed: int) -> list[Sample]:
    """`count` random samples, in the order of the dataset."""
    if not samples:
        raise DataError("there is no sample to show; check the dataset and the split")
    chosen = np.random.default_rng(seed).permutation(len(samples))[:count]
    return [samples[at] for at in sorted(chosen)]


def draw_pairs_sheet(dataset: Dataset, samples: Sequence[Sample], total: int) -> bytes:
    """A PNG of pairs, before and after side by side, with their requests below."""
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
    try:
        parts = [stack_horizontally([_fit_square(photo) for photo in sample.open_photos()], 6)]
    except T2OError as error:
        parts = [draw_text(str(error), SMALL_SIZE, _CELL_WIDTH, MUTED_COLOUR)]
    requests = [
        draw_text(f'"{_shorten_request(request)}"', BODY_SIZE, _CELL_WIDTH)
        for request in sample.requests[:_MAX_REQUESTS]
    ]
    more = len(sample.requests) - _MAX_REQUESTS
    note = f"{sample.name}, {sample.split}" + (f", and {more} requests more" if more > 0 else "")
    return stack_vertically([*parts, *requests, draw_text(note, SMALL_SIZE, _CELL_WIDTH, MUTED_COLOUR)], 6)


def _shorten_request(text: str) -> str:
    words = " ".join(text.split())
    return (
        words if len(words) <= _MAX_REQUEST_LENGTH else f"{words[:_MAX_REQUEST_LENGTH].rsplit(' ', 1)[0]} ..."
    )


def draw_plans_sheet(totals: PlanTotals) -> bytes:
    """A PNG of the worst and the best plans: before, planned, target, and the recipe in words."""
    width = 3 * _PHOTO_SIDE + 2 * 6 + _CELL_GAP + _CELL_WIDTH
    parts = []
    for title, shown in (("Worst plans", totals.worst), ("Best plans", totals.best)):
        if shown:
            parts += [draw_text(title, HEADING_SIZE, width), *_draw_plans(shown)]
    return to_png_bytes(add_margin(stack_vertically(parts, _CELL_GAP), width + 2 * _CELL_GAP, _CELL_GAP))


def _draw_plans(shown: Iterable[RankedPlan]) -> list[PIL.Image.Image]:
    from ..executor import apply
    from ..planning.report import format_cost

    rows = []
    for _, _, sample, planned in shown:
        before, after = sample.open_photos()
        photos = (before, apply(planned.recipe, before), after)
        pictures = [
            stack_vertically(
                [_fit_square(photo), draw_text(caption, SMALL_SIZE, _PHOTO_SIDE, MUTED_COLOUR)], 6
            )
            for photo, caption in zip(photos, ("before", "planned", "target"), strict=True)
        ]
        costs = f"off by {format_cost(planned.start_cost)} before, {format_cost(planned.cost)} after"
        text = [
            draw_text(planned.recipe.describe(), BODY_SIZE, _CELL_WIDTH),
            draw_text(costs, SMALL_SIZE, _CELL_WIDTH),
            draw_text(sample.name, SMALL_SIZE, _CELL_WIDTH, MUTED_COLOUR),
        ]
        rows.append(
            stack_horizontally([stack_horizontally(pictures, 6), stack_vertically(text, 8)], _CELL_GAP)
        )
    return rows


def _fit_square(image: Image) -> PIL.Image.Image:
    """The photo in sRGB, centred in a square."""
    small = scale_to_square(
        PIL.Image.fromarray(to_uint8(image.resize(_PHOTO_SIDE).to_srgb().pixels)), _PHOTO_SIDE
    )
    whole = new_canvas(_PHOTO_SIDE, _PHOTO_SIDE)
    whole.paste(small, ((_PHOTO_SIDE - small.width) // 2, (_PHOTO_SIDE - small.height) // 2))
    return whole
