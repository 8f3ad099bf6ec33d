"""Bootstrap intervals of statistics, and paired differences between two of them.

A statistic is a function of the samples drawn into it. Intervals are at 95 %. Needs NumPy alone; the p value
of a difference needs SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, needs_extra
from .distances import FeatureRows, frechet_distance

SampleIndices = NDArray[np.int64]
"""(..., samples): indices of samples, one draw with replacement in each row."""
RESAMPLE_COUNT, SLOW_RESAMPLE_COUNT = 2000, 100
"""Bootstrap draws for means, and for statistics that are slow to compute."""
CONFIDENCE = 0.95
Z_SCORE = 1.959964
"""Half width of the interval of a normal variable at that confidence, in standard errors."""


class IntervalEstimate(NamedTuple):
    """A value and its confidence interval, which is NaN for fewer than two samples."""

    value: float
    low: float
    high: float


class PairedDifference(NamedTuple):
    """A second statistic minus the first, its interval, and the p value of Wilcoxon's signed-rank test.

    `p` is None for statistics that are not means over samples.
    """

    value: float
    low: float
    high: float
    p: float | None


class Statistic(Protocol):
    """A function of samples, which are known by name."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def slow(self) -> bool:
        """Whether to make do with few bootstrap draws."""

    def __call__(self, indices: SampleIndices) -> NDArray[np.float64]:
        """Indices (..., samples) to one value for each row (...)."""

    def scores(self) -> NDArray[np.float64] | None:
        """The contribution of each sample (samples,), where the statistic is their mean."""


def mean_of_classes(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., classes) -> (...), ignoring classes without a sample (NaN)."""
    present = ~np.isnan(means)
    count = present.sum(-1)
    total = np.where(present, means, 0).sum(-1)
    mean: NDArray[np.float64] = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


@dataclass(frozen=True, eq=False)
class MeanStatistic:
    """Means over samples in one class or several, reduced to one value by `combine`.

    `sums` and `counts` (samples, classes) are what each sample adds to each class.
    """

    names: tuple[str, ...]
    sums: NDArray[np.float64]
    counts: NDArray[np.float64]
    combine: Callable[[NDArray[np.float64]], NDArray[np.float64]] = mean_of_classes
    slow: bool = False

    def __call__(self, indices: SampleIndices) -> NDArray[np.float64]:
        counts = self.counts[indices].sum(-2)
        means = np.full(counts.shape, np.nan)
        return self.combine(np.divide(self.sums[indices].sum(-2), counts, out=means, where=counts > 0))

    def scores(self) -> NDArray[np.float64] | None:
        """The mean of each sample over its classes, if that is what `combine` takes the mean of."""
        if self.combine is not mean_of_classes:
            return None
        return np.asarray(self.sums.sum(1) / self.counts.sum(1))


@dataclass(frozen=True, eq=False)
class FrechetStatistic:
    """The Frechet distance between outputs and targets, features (samples, features) each."""

    names: tuple[str, ...]
    outputs: FeatureRows
    targets: FeatureRows
    slow: bool = True
    _cache: dict[bytes, float] = field(default_factory=dict)
    """By draw: the interval and every comparison with the same seed use the same draws."""

    def __call__(self, indices: SampleIndices) -> NDArray[np.float64]:
        rows = indices.reshape(-1, indices.shape[-1])
        return np.array([self._compute(row) for row in rows]).reshape(indices.shape[:-1])

    def _compute(self, row: SampleIndices) -> float:
        key = row.tobytes()
        if key not in self._cache:
            self._cache[key] = frechet_distance(self.outputs[row], self.targets[row])
        return self._cache[key]

    def scores(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class AveragedStatistic:
    """The mean of one statistic over several training runs, on the same samples."""

    parts: tuple[Statistic, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.parts[0].names

    @property
    def slow(self) -> bool:
        return self.parts[0].slow

    def __call__(self, indices: SampleIndices) -> NDArray[np.float64]:
        return np.asarray(np.mean([part(indices) for part in self.parts], axis=0))

    def scores(self) -> NDArray[np.float64] | None:
        scores = [part.scores() for part in self.parts]
        return None if any(one is None for one in scores) else np.asarray(np.mean(scores, axis=0))  # type: ignore[arg-type]

    def values(self) -> tuple[float, ...]:
        """The statistic of each run, over all samples."""
        return tuple(float(part(np.arange(len(part.names)))) for part in self.parts)


@dataclass(frozen=True, eq=False)
class _DifferenceStatistic:
    """The second statistic minus the first, on the same samples."""

    first: Statistic
    second: Statistic

    @property
    def names(self) -> tuple[str, ...]:
        return self.first.names

    @property
    def slow(self) -> bool:
        return self.first.slow or self.second.slow

    def __call__(self, indices: SampleIndices) -> NDArray[np.float64]:
        return self.second(indices) - self.first(indices)

    def scores(self) -> NDArray[np.float64] | None:
        first, second = self.first.scores(), self.second.scores()
        return None if first is None or second is None else second - first


def estimate_interval(statistic: Statistic, seed: int = 0) -> IntervalEstimate:
    """The statistic of all samples, with its bootstrap interval.

    The interval is the middle 95 % of the statistic over resamples. A slow statistic has too few resamples
    for that: its interval is 1.96 standard errors to both sides.
    """
    count = len(statistic.names)
    value = float(statistic(np.arange(count))) if count else math.nan
    if count < 2 or not math.isfinite(value):
        return IntervalEstimate(value, math.nan, math.nan)
    resampled = _resample(statistic, SLOW_RESAMPLE_COUNT if statistic.slow else RESAMPLE_COUNT, seed)
    if statistic.slow:
        margin = Z_SCORE * float(resampled.std(ddof=1))
        return IntervalEstimate(value, value - margin, value + margin)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return IntervalEstimate(value, float(low), float(high))


def _resample(statistic: Statistic, draws: int, seed: int) -> NDArray[np.float64]:
    """(draws,) values of the statistic, each on as many samples drawn with replacement."""
    rng, count = np.random.default_rng(seed), len(statistic.names)
    batches = [SLOW_RESAMPLE_COUNT] * (draws // SLOW_RESAMPLE_COUNT)  # bounds the memory of one call
    return np.concatenate([statistic(rng.integers(0, count, (batch, count))) for batch in batches])


def estimate_mean(groups: Sequence[Sequence[float]], seed: int = 0) -> IntervalEstimate:
    """The mean over the values of all groups; groups are resampled whole, as their values are correlated."""
    sums = np.array([[sum(group)] for group in groups], np.float64).reshape(-1, 1)
    counts = np.array([[len(group)] for group in groups], np.float64).reshape(-1, 1)
    return estimate_interval(MeanStatistic(tuple(map(str, range(len(groups)))), sums, counts), seed)


def compare_statistics(first: Statistic, second: Statistic, seed: int = 0) -> PairedDifference:
    """The second statistic minus the first, on the same samples in each draw."""
    if first.names != second.names:
        raise DataError("two systems were measured on different samples; measure them in one go")
    difference = _DifferenceStatistic(first, second)
    return PairedDifference(*estimate_interval(difference, seed), _wilcoxon_p_value(difference.scores()))


def _wilcoxon_p_value(differences: NDArray[np.float64] | None) -> float | None:
    """The p value of differences that are positive as often as negative; equal samples are ignored."""
    if differences is None or not len(differences):
        return None
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 1.0
    with needs_extra(DataError, "the p value of a difference needs SciPy", "train"):
        from scipy.stats import wilcoxon
    return float(wilcoxon(nonzero).pvalue)
