"""All parameters of masked steps at once.

Where masks overlap, a step that was fitted first has made up for what the next one does better. Each round
nudges every parameter on a sample of the pixels and solves for all of them together, as the joint fit of
whole pictures does (`joint.py`); the sample keeps neighbours, so what looks aside is seen as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels.fitting import mean_absolute, mean_huber, normal_equations
from .joint import FORGIVING, STRICT, TIGHTEN, _moved, _nudges
from .path import Path, Picture
from .places import SAMPLE, Sample
from .planner import looks_aside
from .segments import Region

_ROUNDS = 15
_PATIENCE = 4
"""Dampings tried in a round, each ten times the last."""


def fitted_together(
    path: Path, shares: Sequence[np.ndarray], start: Picture, target: Picture, where: Region
) -> Path:
    """The actions with better parameters, never worse over the sample, which lies `where` (H, W) says.

    `shares` (H, W) in [0, 1] say how much of each action every pixel takes.
    """
    if not path or not where.any():
        return path
    reach = sum(looks_aside(action.operation) for action in path)
    fit = _MaskedFit(start, target, shares, Sample.inside(where, reach, SAMPLE))
    best, delta, damping = path, FORGIVING, 1e-3
    for _ in range(_ROUNDS):
        path, damping = fit.step(path, delta, damping)
        best = min(best, path, key=fit.cost)
        delta = max(delta * TIGHTEN, STRICT)
    return best


class _MaskedFit:
    """One sample of one pair, and the steps' shares of it."""

    def __init__(self, start: Picture, target: Picture, shares: Sequence[np.ndarray], sample: Sample) -> None:
        self.sample, self.start = sample, sample.of(start)
        self.shares = [sample.of(share) for share in shares]
        self.goal = self._flat(sample.of(target))

    def cost(self, path: Path) -> float:
        return float(mean_absolute(self._flat(self._series(path)[-1]), self.goal))

    def step(self, path: Path, delta: float, damping: float) -> tuple[Path, float]:
        """The path after a damped Gauss-Newton step and the next damping; the path itself if none helps."""
        series = self._series(path)
        result = self._flat(series[-1])
        jacobian = np.concatenate([self._columns(path, series, at) for at in range(len(path))])
        residual, count = result - self.goal, len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        normal_equations(jacobian, residual, np.float32(delta), np.empty_like(residual), matrix, vector)
        floor = 1e-5 * residual.size
        for _ in range(_PATIENCE):
            damped = matrix + np.diag(damping * np.diag(matrix) + floor)
            moved = _moved(path, -np.linalg.solve(damped, vector))
            if self._huber(self._flat(self._series(moved)[-1]), delta) < self._huber(result, delta):
                return moved, max(damping / 5, 1e-6)
            damping *= 10
        return path, damping

    def _huber(self, result: np.ndarray, delta: float) -> float:
        return float(mean_huber(result, self.goal, np.float32(delta)))

    def _series(self, path: Path) -> list[Picture]:
        """The squares at first and after each action."""
        series = [self.start]
        for at, action in enumerate(path):
            series.append(self._blended(series[-1], action.applied(series[-1]), at))
        return series

    def _blended(self, before: Picture, after: Picture, at: int) -> Picture:
        """`before`, with action `at` done to its share; both may be many rows of squares."""
        share = np.tile(self.shares[at], (before.shape[1] // len(self.shares[at]), 1))
        blended: Picture = before + share * (after - before)
        return blended

    def _columns(self, path: Path, series: list[Picture], at: int) -> np.ndarray:
        """(parameters of action `at`, 3 K): each is nudged, and the rest of the path run on all at once."""
        action, nudges = path[at], _nudges(path[at])
        moved = [action._replace(values=action.values + nudge) for nudge in np.diag(nudges)]
        results = np.concatenate(
            [self._blended(series[at], one.applied(series[at]), at) for one in moved], axis=1
        )
        for later in range(at + 1, len(path)):
            results = self._blended(results, path[later].applied(results), later)
        rows = self.sample.middles(results).transpose(1, 0, 2).reshape(len(nudges), -1)
        columns: np.ndarray = (rows - self._flat(series[-1])) / nudges.astype(np.float32)[:, None]
        return np.ascontiguousarray(columns)

    def _flat(self, squares: Picture) -> np.ndarray:
        """(3 K,): the pixels in the middle."""
        return np.ascontiguousarray(self.sample.middles(squares)).reshape(-1)
