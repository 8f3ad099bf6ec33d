"""All parameters of masked steps at once.

Where masks overlap, a step that was fitted first has made up for what the next one does better. Each round
nudges every parameter on a sample of the pixels and solves for all of them together, as the joint fit of
whole pictures does (`joint.py`); the sample keeps neighbours, so what looks aside is seen as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels.fitting import mean_absolute, mean_huber, normal_equations
from .joint import FORGIVING, STRICT, TIGHTEN, small_changes, with_moved
from .path import Path, Picture
from .places import Sample
from .segments import Region

SAMPLE = 1024
"""Pixels on which steps are fitted together."""
_ROUNDS = 15
_PATIENCE = 4
"""Dampings tried in a round, each ten times the last."""
_ENOUGH = 1e-5
"""A strict round that lowers the mean difference by less was the last."""


@dataclass(frozen=True)
class Fitted:
    """A path, and its mean absolute difference from the target over the sample."""

    path: Path
    cost: float


class MaskedFit:
    """Fits paths from one picture to one target, judged on a sample of the pixels `where` (H, W) says.

    `reach` is how many actions of a path look aside.
    """

    def __init__(self, start: Picture, target: Picture, where: Region, reach: int) -> None:
        self.sample = Sample.inside(where, reach, SAMPLE)
        self.start, self.goal = self.sample.of(start), self._flat(self.sample.of(target))

    def share(self, share: np.ndarray) -> np.ndarray:
        """How much of an action each pixel (H, W) takes, in [0, 1], as paths need it: for the sample."""
        return self.sample.of(share)

    def fit(self, path: Path, shares: Sequence[np.ndarray]) -> Fitted:
        """The actions with better parameters, never worse than given."""
        best, delta, damping = Fitted(path, self._cost(path, shares)), FORGIVING, 1e-3
        for _ in range(_ROUNDS if path else 0):
            strict = delta <= STRICT
            path, damping = self._step(path, shares, delta, damping)
            found = Fitted(path, self._cost(path, shares))
            gain, best = best.cost - found.cost, min(best, found, key=lambda fit: fit.cost)
            if strict and gain < _ENOUGH:
                break
            delta = max(delta * TIGHTEN, STRICT)
        return best

    def _cost(self, path: Path, shares: Sequence[np.ndarray]) -> float:
        return float(mean_absolute(self._flat(self._series(path, shares)[-1]), self.goal))

    def _step(
        self, path: Path, shares: Sequence[np.ndarray], delta: float, damping: float
    ) -> tuple[Path, float]:
        """The path after a damped Gauss-Newton step and the next damping; the path itself if none helps."""
        series = self._series(path, shares)
        result = self._flat(series[-1])
        jacobian = np.concatenate([self._columns(path, shares, series, at) for at in range(len(path))])
        residual, count = result - self.goal, len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        normal_equations(jacobian, residual, np.float32(delta), np.empty_like(residual), matrix, vector)
        floor = 1e-5 * residual.size
        for _ in range(_PATIENCE):
            damped = matrix + np.diag(damping * np.diag(matrix) + floor)
            moved = with_moved(path, -np.linalg.solve(damped, vector))
            after = self._flat(self._series(moved, shares)[-1])
            if self._huber(after, delta) < self._huber(result, delta):
                return moved, max(damping / 5, 1e-6)
            damping *= 10
        return path, damping

    def _huber(self, result: np.ndarray, delta: float) -> float:
        return float(mean_huber(result, self.goal, np.float32(delta)))

    def _series(self, path: Path, shares: Sequence[np.ndarray]) -> list[Picture]:
        """The squares at first and after each action."""
        series = [self.start]
        for action, share in zip(path, shares, strict=True):
            series.append(_blended(series[-1], action.applied(series[-1]), share))
        return series

    def _columns(
        self, path: Path, shares: Sequence[np.ndarray], series: list[Picture], at: int
    ) -> np.ndarray:
        """(parameters of action `at`, 3 K): each is nudged, and the rest of the path run on all at once."""
        action, nudges, before = path[at], small_changes(path[at]), series[at]
        moved = [action._replace(values=action.values + nudge) for nudge in np.diag(nudges)]
        results = np.concatenate([_blended(before, one.applied(before), shares[at]) for one in moved], axis=1)
        for later in range(at + 1, len(path)):
            results = _blended(results, path[later].applied(results), shares[later])
        rows = self.sample.middles(results).transpose(1, 0, 2).reshape(len(nudges), -1)
        columns: np.ndarray = (rows - self._flat(series[-1])) / nudges.astype(np.float32)[:, None]
        return np.ascontiguousarray(columns)

    def _flat(self, squares: Picture) -> np.ndarray:
        """(3 K,): the pixels in the middle."""
        return np.ascontiguousarray(self.sample.middles(squares)).reshape(-1)


def _blended(before: Picture, after: Picture, share: np.ndarray) -> Picture:
    """`before`, with `after` in its share (D, D K) of it; both may be many rows of such squares."""
    blended: Picture = before + np.tile(share, (before.shape[1] // len(share), 1)) * (after - before)
    return blended
