"""Refine all parameters of a recipe together, global or masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from .. import operations
from ..kernels.fitting import fill_normal_equations, mean_absolute_difference, mean_huber_loss, perturb_curves
from ..operations.paper import CURVE_PIECES, CURVES
from .pictures import Action, L1Cost, Picture, StepSequence, render_intermediates
from .places import PixelSample
from .segments import Region

# All parameters of a path at once.
#
# Steps fitted one after the other lock each other in; fitted together they do not. Each round linearises the
# path in all its parameters (finite differences, on a sample of the pixels), solves least squares reweighted
# towards least absolute error, and accepts what lowers the true cost. The reweighting starts forgiving and
# becomes strict, which keeps early rounds from settling on whatever is nearly right already.

JOINT_SAMPLE = 1024
"""Pixels on which a path is linearised; its cost is always taken on all."""
INITIAL_DELTA, FINAL_DELTA, DELTA_DECAY = 0.1, 0.006, 0.55
"""Residuals below this count squared: at first, at last, and the factor from round to round."""
MIN_ROUND_GAIN = 3e-5
"""A round that lowers the cost by less was the last."""
RIDGE_WEIGHT = 5e-5
"""What a parameter's squared distance from its default costs: of explanations that are equally good, the one
that does least is taken, and steps do not undo each other."""


@dataclass(frozen=True)
class FittedSteps:
    """A path and its mean absolute difference from the target."""

    path: StepSequence
    cost: float


class JointFitter:
    """Fits paths from one picture to one target."""

    def __init__(self, start: Picture, cost: L1Cost, sample: int = JOINT_SAMPLE) -> None:
        self.start, self.cost = start, cost
        self._sample = sample
        self._goal = sample_pixels(cost.target, sample)

    def fit(self, path: Sequence[Action], rounds: int = 25, delta: float = INITIAL_DELTA) -> FittedSteps:
        """The path with better parameters, never worse than given; nearly right ones may begin stricter."""
        path = tuple(path)
        series = render_intermediates(path, self.start)
        best = FittedSteps(path, self.cost(series[-1]))
        least = best.cost + _ridge_penalty(path)
        damping = 1e-3
        for _ in range(rounds if path else 0):
            step = self._step(path, series, delta, damping)
            strict = delta <= FINAL_DELTA
            if step is None and strict:
                break
            if step is not None:
                path, series, damping = step
                found = FittedSteps(path, self.cost(series[-1]))
                gain = least - (found.cost + _ridge_penalty(path))
                if gain > 0:
                    best, least = found, least - gain
                if strict and gain < MIN_ROUND_GAIN:
                    break
            delta = max(delta * DELTA_DECAY, FINAL_DELTA)
        return best

    def _step(
        self, path: StepSequence, series: list[Picture], delta: float, damping: float
    ) -> tuple[StepSequence, list[Picture], float] | None:
        """The path after a damped Gauss-Newton step, its pictures, the next damping; None if none helps."""
        jacobian, residual = self._linearised(path, series)
        count = len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        scratch = np.empty(residual.size, np.float32)
        fill_normal_equations(jacobian, residual, np.float32(delta), scratch, matrix, vector)
        away = np.concatenate([_distance_from_defaults(action) for action in path])
        matrix += 2 * RIDGE_WEIGHT * residual.size * np.eye(count)
        vector += 2 * RIDGE_WEIGHT * residual.size * away
        floor = 1e-5 * residual.size
        before = self._huber(series[-1], delta) + _ridge_penalty(path)
        for _ in range(4):
            damped = matrix + np.diag(damping * np.diag(matrix) + floor)
            moved = move_parameters(path, -np.linalg.solve(damped, vector))
            after = render_intermediates(moved, self.start)
            if self._huber(after[-1], delta) + _ridge_penalty(moved) < before:
                return moved, after, max(damping / 5, 1e-6)
            damping *= 10
        return None

    def _huber(self, picture: Picture, delta: float) -> float:
        return float(mean_huber_loss(picture.reshape(-1), self.cost.target.reshape(-1), np.float32(delta)))

    def _linearised(self, path: StepSequence, series: list[Picture]) -> tuple[np.ndarray, np.ndarray]:
        """How the sampled result moves with each parameter (P, 3 K), and how far off it is (3 K,)."""
        samples = [sample_pixels(picture, self._sample) for picture in series]
        columns = [self._columns(path, series, samples, at) for at in range(len(path))]
        jacobian = np.concatenate(columns, axis=1).transpose(1, 0, 2)
        residual = (samples[-1] - self._goal).reshape(-1)
        return np.ascontiguousarray(jacobian).reshape(len(jacobian), -1), residual

    def _columns(
        self, path: StepSequence, series: list[Picture], samples: list[Picture], at: int
    ) -> np.ndarray:
        """(3, parameters of step `at`, K): each is nudged, and the rest of the path run on all at once."""
        action = path[at]
        nudges = choose_perturbations(action)
        if _step_reads_neighbours(action):
            moved = [Action(action.operation, action.values + nudge) for nudge in np.diag(nudges)]
            pictures = [sample_pixels(one.applied(series[at]), self._sample) for one in moved]
            results = np.concatenate(pictures, axis=1)
        else:
            results = _apply_perturbed(action, nudges, samples[at])
        for later in range(at + 1, len(path)):
            if _step_reads_neighbours(
                path[later]
            ):  # a smooth change passes through sharpening almost unchanged
                results += samples[later + 1] - samples[later]
            else:
                results = path[later].taking(results)
        shares = (nudges / parameter_units(action.operation)).astype(np.float32)
        moved_by: np.ndarray = (results - samples[-1]) / shares[None, :, None]
        return moved_by


def sample_pixels(picture: Picture, count: int) -> Picture:
    """(3, 1, K): about `count` pixels on an even grid as a picture of one row."""
    stride = max(1, round((picture[0].size / count) ** 0.5))
    rows, columns = (slice(min(stride, size) // 2, None, stride) for size in picture.shape[1:])
    return np.ascontiguousarray(picture[:, rows, columns]).reshape(3, 1, -1)


def _step_reads_neighbours(action: Action) -> bool:
    return operations.get_operation(action.operation).reach(1.0) > 0


def _ridge_penalty(path: StepSequence) -> float:
    """What doing something costs, in the unit of the cost."""
    away = [_distance_from_defaults(action) for action in path]
    return RIDGE_WEIGHT * sum(float(values @ values) for values in away)


def _distance_from_defaults(action: Action) -> np.ndarray:
    """(P,): in units of the parameters."""
    away = action.values - _default_values(action.operation)
    distance: np.ndarray = away / parameter_units(action.operation)
    return distance


@cache
def _default_values(operation: str) -> np.ndarray:
    return np.array(operations.get_operation(operation).defaults)


@cache
def parameter_units(operation: str) -> np.ndarray:
    """(P,): a hundred steps of each parameter, so that parameters of any range weigh alike in a fit."""
    return np.array([100 * slot.step for slot in operations.get_operation(operation).slots])


@cache
def _parameter_bounds(operation: str) -> tuple[np.ndarray, np.ndarray]:
    slots = operations.get_operation(operation).slots
    return np.array([slot.low for slot in slots]), np.array([slot.high for slot in slots])


def choose_perturbations(action: Action) -> np.ndarray:
    """(P,): a small change of each parameter, up or, at the top of its range, down."""
    curve = action.operation in CURVES
    sizes = 0.05 * action.values if curve else parameter_units(action.operation) / 100
    return np.where(action.values + sizes > _parameter_bounds(action.operation)[1], -sizes, sizes)


def _apply_perturbed(action: Action, nudges: np.ndarray, sample: Picture) -> Picture:
    """(3, P, K): the sample (3, 1, K) after the action with each of its parameters nudged in turn."""
    if action.operation in CURVES:
        rises, steps = (v.reshape(-1, CURVE_PIECES).astype(np.float32) for v in (action.values, nudges))
        results = np.empty((3, rises.size, sample.shape[2]), np.float32)
        perturb_curves(sample[:, 0], rises, steps, results)
        return results
    moved = [Action(action.operation, action.values + nudge) for nudge in np.diag(nudges)]
    return np.ascontiguousarray(np.concatenate([one.applied(sample) for one in moved], axis=1))


def move_parameters(path: StepSequence, by: np.ndarray) -> StepSequence:
    """The path with all its parameters moved by so many units, within their ranges, in canonical form."""
    moved, first = [], 0
    for action in path:
        low, high = _parameter_bounds(action.operation)
        moves = by[first : first + len(low)] * parameter_units(action.operation)
        values = np.clip(action.values + moves, low, high)
        same = operations.get_operation(action.operation).canonical(tuple(values.tolist()))
        moved.append(Action(action.operation, np.clip(same, low, high)))
        first += len(low)
    return tuple(moved)


# All parameters of masked steps at once.
#
# Where masks overlap, a step that was fitted first has made up for what the next one does better. Each round
# nudges every parameter on a sample of the pixels and solves for all of them together, as the joint fit of
# whole pictures does (`joint.py`); the sample keeps neighbours, so what looks aside is seen as it is.

MASKED_SAMPLE = 1024
"""Pixels on which steps are fitted together."""
_MASKED_FIT_ROUNDS = 15
_DAMPING_ATTEMPTS = 4
"""Dampings tried in a round, each ten times the last."""
_MIN_MASKED_ROUND_GAIN = 1e-5
"""A strict round that lowers the mean difference by less was the last."""


@dataclass(frozen=True)
class MaskedFitResult:
    """A path, and its mean absolute difference from the target over the sample."""

    path: StepSequence
    cost: float


class MaskedFitter:
    """Fits paths from one picture to one target, judged on a sample of the pixels `where` (H, W) says.

    `reach` is how many actions of a path look aside.
    """

    def __init__(self, start: Picture, target: Picture, where: Region, reach: int) -> None:
        self.sample = PixelSample.inside(where, reach, MASKED_SAMPLE)
        self.start, self.goal = self.sample.of(start), self._flat(self.sample.of(target))

    def share(self, share: np.ndarray) -> np.ndarray:
        """How much of an action each pixel (H, W) takes, in [0, 1], as paths need it: for the sample."""
        return self.sample.of(share)

    def fit(self, path: StepSequence, shares: Sequence[np.ndarray]) -> MaskedFitResult:
        """The actions with better parameters, never worse than given."""
        best, delta, damping = MaskedFitResult(path, self._cost(path, shares)), INITIAL_DELTA, 1e-3
        for _ in range(_MASKED_FIT_ROUNDS if path else 0):
            strict = delta <= FINAL_DELTA
            path, damping = self._step(path, shares, delta, damping)
            found = MaskedFitResult(path, self._cost(path, shares))
            gain, best = best.cost - found.cost, min(best, found, key=lambda fit: fit.cost)
            if strict and gain < _MIN_MASKED_ROUND_GAIN:
                break
            delta = max(delta * DELTA_DECAY, FINAL_DELTA)
        return best

    def _cost(self, path: StepSequence, shares: Sequence[np.ndarray]) -> float:
        return float(mean_absolute_difference(self._flat(self._series(path, shares)[-1]), self.goal))

    def _step(
        self, path: StepSequence, shares: Sequence[np.ndarray], delta: float, damping: float
    ) -> tuple[StepSequence, float]:
        """The path after a damped Gauss-Newton step and the next damping; the path itself if none helps."""
        series = self._series(path, shares)
        result = self._flat(series[-1])
        jacobian = np.concatenate([self._columns(path, shares, series, at) for at in range(len(path))])
        residual, count = result - self.goal, len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        fill_normal_equations(jacobian, residual, np.float32(delta), np.empty_like(residual), matrix, vector)
        floor = 1e-5 * residual.size
        for _ in range(_DAMPING_ATTEMPTS):
            damped = matrix + np.diag(damping * np.diag(matrix) + floor)
            moved = move_parameters(path, -np.linalg.solve(damped, vector))
            after = self._flat(self._series(moved, shares)[-1])
            if self._huber(after, delta) < self._huber(result, delta):
                return moved, max(damping / 5, 1e-6)
            damping *= 10
        return path, damping

    def _huber(self, result: np.ndarray, delta: float) -> float:
        return float(mean_huber_loss(result, self.goal, np.float32(delta)))

    def _series(self, path: StepSequence, shares: Sequence[np.ndarray]) -> list[Picture]:
        """The squares at first and after each action."""
        series = [self.start]
        for action, share in zip(path, shares, strict=True):
            series.append(_blend(series[-1], action.applied(series[-1]), share))
        return series

    def _columns(
        self, path: StepSequence, shares: Sequence[np.ndarray], series: list[Picture], at: int
    ) -> np.ndarray:
        """(parameters of action `at`, 3 K): each is nudged, and the rest of the path run on all at once."""
        action, nudges, before = path[at], choose_perturbations(path[at]), series[at]
        moved = [action._replace(values=action.values + nudge) for nudge in np.diag(nudges)]
        results = np.concatenate([_blend(before, one.applied(before), shares[at]) for one in moved], axis=1)
        for later in range(at + 1, len(path)):
            results = _blend(results, path[later].applied(results), shares[later])
        rows = self.sample.middles(results).transpose(1, 0, 2).reshape(len(nudges), -1)
        parts = (nudges / parameter_units(action.operation)).astype(np.float32)
        columns: np.ndarray = (rows - self._flat(series[-1])) / parts[:, None]
        return np.ascontiguousarray(columns)

    def _flat(self, squares: Picture) -> np.ndarray:
        """(3 K,): the pixels in the middle."""
        return np.ascontiguousarray(self.sample.middles(squares)).reshape(-1)


def _blend(before: Picture, after: Picture, share: np.ndarray) -> Picture:
    """`before`, with `after` in its share (D, D K) of it; both may be many rows of such squares."""
    blended: Picture = before + np.tile(share, (before.shape[1] // len(share), 1)) * (after - before)
    return blended
