"""Bootstrap intervals of figures, and whether two figures differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .features import FeatureRows, frechet_distance

# How sure figures are: what they come to on other samples of the same kind, and whether two of them differ.
#
# A figure is a function of which samples are in it. Intervals are at 95 %, by SciPy's bootstrap.

SampleIndices = NDArray[np.int64]
"""(..., samples): which samples, a draw in each row, some of them several times."""
RESAMPLE_COUNT, SLOW_RESAMPLE_COUNT = 2000, 100
"""Draws for means, and for figures that are slow."""
_CONFIDENCE = 0.95
_Z_SCORE = 1.959964
"""Standard errors to both sides of the middle that a normal variable keeps within, at that confidence."""


class IntervalEstimate(NamedTuple):
    """A figure and its interval; a single sample has none (NaN)."""

    value: float
    low: float
    high: float


class PairedDifference(NamedTuple):
    """The other figure less the one, its interval, and the p of Wilcoxon's signed-rank test where it fits."""

    value: float
    low: float
    high: float
    p: float | None


class Statistic(Protocol):
    """A figure of named samples; of those `numbers` (..., samples) name, one figure for each row."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def slow(self) -> bool:
        """Whether only a few draws of it can be waited for."""

    def __call__(self, numbers: SampleIndices) -> NDArray[np.float64]: ...
    def scores(self) -> NDArray[np.float64] | None:
        """What each sample has to say, where that is a number."""


def mean_of_classes(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., classes) -> (...), classes without a sample (NaN) left out."""
    there = ~np.isnan(means)
    count = there.sum(-1)
    total = np.where(there, means, 0).sum(-1)
    found: NDArray[np.float64] = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return found


@dataclass(frozen=True, eq=False)
class MeanStatistic:
    """Means over samples in one class or several, `combine`d into one figure.

    `sums` and `counts` (samples, classes) are what each sample adds to each class.
    """

    names: tuple[str, ...]
    sums: NDArray[np.float64]
    counts: NDArray[np.float64]
    combine: Callable[[NDArray[np.float64]], NDArray[np.float64]] = mean_of_classes
    slow: bool = False

    def __call__(self, numbers: SampleIndices) -> NDArray[np.float64]:
        counts = self.counts[numbers].sum(-2)
        means = np.full(counts.shape, np.nan)
        return self.combine(np.divide(self.sums[numbers].sum(-2), counts, out=means, where=counts > 0))

    def scores(self) -> NDArray[np.float64] | None:
        """The mean of each sample over all that it adds, if the figure is about such a mean."""
        if self.combine is not mean_of_classes:
            return None
        return np.asarray(self.sums.sum(1) / self.counts.sum(1))


@dataclass(frozen=True, eq=False)
class FrechetStatistic:
    """The Frechet distance between what was made and what was wanted, features (samples, features) each."""

    names: tuple[str, ...]
    made: FeatureRows
    wanted: FeatureRows
    slow: bool = True
    _known: dict[bytes, float] = field(default_factory=dict)
    """Draws that were asked for before: an interval and every comparison ask for the same."""

    def __call__(self, numbers: SampleIndices) -> NDArray[np.float64]:
        rows = numbers.reshape(-1, numbers.shape[-1])
        return np.array([self._of(row) for row in rows]).reshape(numbers.shape[:-1])

    def _of(self, row: SampleIndices) -> float:
        key = row.tobytes()
        if key not in self._known:
            self._known[key] = frechet_distance(self.made[row], self.wanted[row])
        return self._known[key]

    def scores(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class AveragedStatistic:
    """The mean of the same figure of several runs, on the same samples."""

    parts: tuple[Statistic, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.parts[0].names

    @property
    def slow(self) -> bool:
        return self.parts[0].slow

    def __call__(self, numbers: SampleIndices) -> NDArray[np.float64]:
        return np.asarray(np.mean([part(numbers) for part in self.parts], axis=0))

    def scores(self) -> NDArray[np.float64] | None:
        scores = [part.scores() for part in self.parts]
        return None if any(one is None for one in scores) else np.asarray(np.mean(scores, axis=0))  # type: ignore[arg-type]

    def values(self) -> tuple[float, ...]:
        """The figure of each run, over all samples."""
        return tuple(float(part(np.arange(len(part.names)))) for part in self.parts)


@dataclass(frozen=True, eq=False)
class _DifferenceStatistic:
    """The other figure less the one, on the same samples."""

    one: Statistic
    other: Statistic

    @property
    def names(self) -> tuple[str, ...]:
        return self.one.names

    @property
    def slow(self) -> bool:
        return self.one.slow or self.other.slow

    def __call__(self, numbers: SampleIndices) -> NDArray[np.float64]:
        return self.other(numbers) - self.one(numbers)

    def scores(self) -> NDArray[np.float64] | None:
        one, other = self.one.scores(), self.other.scores()
        return None if one is None or other is None else other - one


def estimate_interval(statistic: Statistic, seed: int = 0) -> IntervalEstimate:
    """The figure of all samples, and its interval: the middle 95 % of what draws of as many samples come to.

    The few draws of a slow one tell its standard error: its interval is 1.96 of these to both sides.
    """
    count = len(statistic.names)
    value = float(statistic(np.arange(count))) if count else math.nan
    if count < 2 or not math.isfinite(value):
        return IntervalEstimate(value, math.nan, math.nan)
    drawn = _import_scipy_stats().bootstrap(
        (np.arange(count),),
        lambda numbers, axis: statistic(numbers),
        vectorized=True,
        batch=SLOW_RESAMPLE_COUNT,
        n_resamples=SLOW_RESAMPLE_COUNT if statistic.slow else RESAMPLE_COUNT,
        confidence_level=_CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    if statistic.slow:
        error = _Z_SCORE * float(drawn.standard_error)
        return IntervalEstimate(value, value - error, value + error)
    return IntervalEstimate(value, *map(float, drawn.confidence_interval))


def compare_statistics(one: Statistic, other: Statistic, seed: int = 0) -> PairedDifference:
    """The other less the one, on the same samples in each draw."""
    if one.names != other.names:
        raise DataError("two systems were measured on different samples; measure them in one go")
    apart = _DifferenceStatistic(one, other)
    return PairedDifference(*estimate_interval(apart, seed), _wilcoxon_p_value(apart.scores()))


def _wilcoxon_p_value(differences: NDArray[np.float64] | None) -> float | None:
    """The p of equal chances for up and down; samples without a difference say nothing."""
    if differences is None or not len(differences):
        return None
    moved = differences[differences != 0]
    return float(_import_scipy_stats().wilcoxon(moved).pvalue) if len(moved) else 1.0


def _import_scipy_stats() -> Any:
    try:
        from scipy import stats
    except ImportError:
        raise DataError("confidence intervals need SciPy: pip install 't2onet[train]'") from None
    return stats
