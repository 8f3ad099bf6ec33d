"""How a dataset is distributed: lengths of requests, what they ask for, what their plans use and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .sample import Sample

if TYPE_CHECKING:
    from .plans import Plans

_LONG = 30
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


def distributions(samples: Sequence[Sample], plans: Plans | None = None) -> list[Distribution]:
    """Those that the samples, and their plans where given, have something to say about."""
    found = [_lengths(samples), _splits(samples), _intents(samples)]
    if plans is not None:
        found += _of_plans(plans)
    return [distribution for distribution in found if distribution.total]


def _lengths(samples: Sequence[Sample]) -> Distribution:
    lengths = [len(request.split()) for sample in samples for request in sample.requests]
    counts = np.bincount(np.minimum(np.array(lengths, int), _LONG + 1), minlength=_LONG + 2)[1:]
    labels = (*map(str, range(1, _LONG + 1)), f"{_LONG + 1}+")
    note = f"{len(lengths)} requests, {np.median(lengths):g} words in the middle" if lengths else ""
    return _single("Words in a request", labels, counts.tolist(), len(lengths), ordered=True, note=note)


def _splits(samples: Sequence[Sample]) -> Distribution:
    counts = Counter(sample.split for sample in samples)
    return _named("Samples in a split", counts, len(samples), f"{len(samples)} samples")


def _intents(samples: Sequence[Sample]) -> Distribution:
    known = [sample for sample in samples if sample.intents is not None or sample.unanswerable]
    counts: Counter[str] = Counter()
    for sample in known:
        wanted = {f"{'more' if i.sign > 0 else 'less'} {i.attribute.value}" for i in sample.intents or ()}
        counts.update(wanted or {"unanswerable" if sample.unanswerable else "nothing nameable"})
    note = f"known for {len(known)} of {len(samples)} samples"
    return _named("What is asked for", counts, len(known), note)


def _of_plans(plans: Plans) -> list[Distribution]:
    used: Counter[str] = Counter()
    steps: Counter[int] = Counter()
    costs = []
    for planned in plans.values():
        used.update({step.operation for step in planned.recipe.steps})
        steps[len(planned.recipe)] += 1
        costs.append((planned.start_cost, planned.cost))
    most = max(steps, default=0)
    return [
        _named("Plans that use an operation", used, len(plans), f"{len(plans)} samples have a plan"),
        _single(
            "Steps of a plan",
            tuple(map(str, range(most + 1))),
            [steps[count] for count in range(most + 1)],
            len(plans),
            ordered=True,
        ),
        _costs(costs),
    ]


def _costs(costs: Sequence[tuple[float, float]]) -> Distribution:
    """Before and after planning, in bins of a hundredth."""
    columns = np.array(costs).reshape(-1, 2).T
    bins = np.minimum(columns / _COST_STEP, _COST_BINS).astype(int)
    counts = [tuple(np.bincount(column, minlength=_COST_BINS + 1).tolist()) for column in bins]
    labels = [f"{_COST_STEP * at:.2f}" for at in range(_COST_BINS + 1)]
    note = "mean {:.4f} before, {:.4f} after".format(*columns.mean(axis=1)) if costs else ""
    series = (("before", counts[0]), ("after planning", counts[1]))
    ends = (*labels[:-1], f"{labels[-1]}+")
    return Distribution("Mean difference from the target", ends, series, len(costs), True, note)


def _named(title: str, counts: Counter[str], total: int, note: str) -> Distribution:
    """The most frequent first."""
    pairs = counts.most_common()
    labels = tuple(label for label, _ in pairs)
    return _single(title, labels, [count for _, count in pairs], total if pairs else 0, note=note)


def _single(
    title: str,
    labels: tuple[str, ...],
    counts: Iterable[int],
    total: int,
    *,
    ordered: bool = False,
    note: str = "",
) -> Distribution:
    return Distribution(title, labels, (("", tuple(counts)),), total, ordered, note)
