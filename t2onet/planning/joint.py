"""All parameters of a path at once.

Steps fitted one after the other lock each other in; fitted together they do not. Each round linearises the
path in all its parameters (finite differences, on a sample of the pixels), solves least squares reweighted
towards least absolute error, and accepts what lowers the true cost. The reweighting starts forgiving and
becomes strict, which keeps early rounds from settling on whatever is nearly right already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from .. import operations
from ..kernels.fitting import mean_huber, normal_equations, nudged_curves
from ..operations.curves import PIECES
from .costs import L1
from .path import Action, Path, Picture, pictures

SAMPLE = 1024
"""Pixels on which a path is linearised; its cost is always taken on all."""
FORGIVING, STRICT, TIGHTEN = 0.1, 0.006, 0.55
"""Residuals below this count squared: at first, at last, and the factor from round to round."""
_CURVES = {"tone", "color"}
"""Operations whose nudged results are made all at once; any other is run once for each parameter."""
ENOUGH = 3e-5
"""A round that lowers the cost by less was the last."""
MODEST = 5e-5
"""What a parameter's squared distance from its default costs: of explanations that are equally good, the one
that does least is taken, and steps do not undo each other."""


@dataclass(frozen=True)
class Fit:
    """A path and its mean absolute difference from the target."""

    path: Path
    cost: float


class JointFit:
    """Fits paths from one picture to one target."""

    def __init__(self, start: Picture, cost: L1, sample: int = SAMPLE) -> None:
        self.start, self.cost = start, cost
        self._sample = sample
        self._goal = sampled(cost.target, sample)

    def fit(self, path: Sequence[Action], rounds: int = 25, delta: float = FORGIVING) -> Fit:
        """The path with better parameters, never worse than given; nearly right ones may begin stricter."""
        path = tuple(path)
        series = pictures(path, self.start)
        best = Fit(path, self.cost(series[-1]))
        least = best.cost + _effort(path)
        damping = 1e-3
        for _ in range(rounds if path else 0):
            step = self._step(path, series, delta, damping)
            strict = delta <= STRICT
            if step is None and strict:
                break
            if step is not None:
                path, series, damping = step
                found = Fit(path, self.cost(series[-1]))
                gain = least - (found.cost + _effort(path))
                if gain > 0:
                    best, least = found, least - gain
                if strict and gain < ENOUGH:
                    break
            delta = max(delta * TIGHTEN, STRICT)
        return best

    def _step(
        self, path: Path, series: list[Picture], delta: float, damping: float
    ) -> tuple[Path, list[Picture], float] | None:
        """The path after a damped Gauss-Newton step, its pictures, the next damping; None if none helps."""
        jacobian, residual = self._linearised(path, series)
        count = len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        scratch = np.empty(residual.size, np.float32)
        normal_equations(jacobian, residual, np.float32(delta), scratch, matrix, vector)
        away = np.concatenate([action.values - _defaults(action.operation) for action in path])
        matrix += 2 * MODEST * residual.size * np.eye(count)
        vector += 2 * MODEST * residual.size * away
        floor = 1e-5 * residual.size
        before = self._huber(series[-1], delta) + _effort(path)
        for _ in range(4):
            damped = matrix + np.diag(damping * np.diag(matrix) + floor)
            moved = with_moved(path, -np.linalg.solve(damped, vector))
            after = pictures(moved, self.start)
            if self._huber(after[-1], delta) + _effort(moved) < before:
                return moved, after, max(damping / 5, 1e-6)
            damping *= 10
        return None

    def _huber(self, picture: Picture, delta: float) -> float:
        return float(mean_huber(picture.reshape(-1), self.cost.target.reshape(-1), np.float32(delta)))

    def _linearised(self, path: Path, series: list[Picture]) -> tuple[np.ndarray, np.ndarray]:
        """How the sampled result moves with each parameter (P, 3 K), and how far off it is (3 K,)."""
        samples = [sampled(picture, self._sample) for picture in series]
        columns = [self._columns(path, series, samples, at) for at in range(len(path))]
        jacobian = np.concatenate(columns, axis=1).transpose(1, 0, 2)
        residual = (samples[-1] - self._goal).reshape(-1)
        return np.ascontiguousarray(jacobian).reshape(len(jacobian), -1), residual

    def _columns(self, path: Path, series: list[Picture], samples: list[Picture], at: int) -> np.ndarray:
        """(3, parameters of step `at`, K): each is nudged, and the rest of the path run on all at once."""
        action = path[at]
        nudges = small_changes(action)
        if _looks_aside(action):
            moved = Action(action.operation, action.values + nudges)
            results = sampled(moved.applied(series[at]), self._sample)
        else:
            results = _nudged(action, nudges, samples[at])
        for later in range(at + 1, len(path)):
            if _looks_aside(path[later]):  # a smooth change passes through sharpening almost unchanged
                results += samples[later + 1] - samples[later]
            else:
                results = path[later].taking(results)
        moved_by: np.ndarray = (results - samples[-1]) / nudges.astype(np.float32)[None, :, None]
        return moved_by


def sampled(picture: Picture, count: int) -> Picture:
    """(3, 1, K): about `count` pixels on an even grid as a picture of one row."""
    stride = max(1, round((picture[0].size / count) ** 0.5))
    rows, columns = (slice(min(stride, size) // 2, None, stride) for size in picture.shape[1:])
    return np.ascontiguousarray(picture[:, rows, columns]).reshape(3, 1, -1)


def _looks_aside(action: Action) -> bool:
    return operations.get(action.operation).reach(1.0) > 0


def _effort(path: Path) -> float:
    """What doing something costs, in the unit of the cost."""
    away = [action.values - _defaults(action.operation) for action in path]
    return MODEST * sum(float(values @ values) for values in away)


@cache
def _defaults(operation: str) -> np.ndarray:
    return np.array(operations.get(operation).defaults)


@cache
def _bounds(operation: str) -> tuple[np.ndarray, np.ndarray]:
    slots = operations.get(operation).slots
    return np.array([slot.low for slot in slots]), np.array([slot.high for slot in slots])


def small_changes(action: Action) -> np.ndarray:
    """(P,): a small change of each parameter, up or, at the top of its range, down."""
    sizes = 0.05 * action.values if len(action.values) > 1 else np.array([0.01])
    return np.where(action.values + sizes > _bounds(action.operation)[1], -sizes, sizes)


def _nudged(action: Action, nudges: np.ndarray, sample: Picture) -> Picture:
    """(3, P, K): the sample (3, 1, K) after the action with each of its parameters nudged in turn."""
    if action.operation in _CURVES:
        rises, steps = (v.reshape(-1, PIECES).astype(np.float32) for v in (action.values, nudges))
        results = np.empty((3, rises.size, sample.shape[2]), np.float32)
        nudged_curves(sample[:, 0], rises, steps, results)
        return results
    moved = [Action(action.operation, action.values + nudge) for nudge in np.diag(nudges)]
    return np.ascontiguousarray(np.concatenate([one.applied(sample) for one in moved], axis=1))


def with_moved(path: Path, by: np.ndarray) -> Path:
    """The path with all its parameters moved, within their ranges and in their canonical form."""
    moved, first = [], 0
    for action in path:
        low, high = _bounds(action.operation)
        values = np.clip(action.values + by[first : first + len(low)], low, high)
        same = operations.get(action.operation).canonical(tuple(values.tolist()))
        moved.append(Action(action.operation, np.clip(same, low, high)))
        first += len(low)
    return tuple(moved)
