"""Fit all parameters of a sequence of steps together, global or masked.

Steps fitted one after the other lock each other in; fitted together they do not. Each round linearizes the
steps in all their parameters (finite differences on a sample of the pixels), solves least squares reweighted
towards least absolute error, and accepts what lowers the loss. The reweighting starts forgiving and becomes
strict, which keeps early rounds from settling on whatever is nearly right already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from ..kernels.fitting import fill_normal_equations, mean_absolute_difference, mean_huber_loss, perturb_curves
from ..operations import get_published_operation
from ..operations.paper import CURVE_PIECES, CURVES
from ..recipe import Step
from .masked import PixelSample
from .pictures import L1Cost, Picture, StepSequence, apply_step, reads_neighbours, render_intermediates
from .segments import Region

INITIAL_DELTA, FINAL_DELTA, DELTA_DECAY = 0.1, 0.006, 0.55
"""Residuals below delta count squared; delta decays from round to round."""
_INITIAL_DAMPING, _MIN_DAMPING = 1e-3, 1e-6
_DAMPING_ATTEMPTS = 4
"""Dampings tried in a round, each ten times the last."""
_DIAGONAL_FLOOR = 1e-5
"""Added to the diagonal for each residual, for parameters that change nothing."""

JOINT_SAMPLE = 1024
"""Pixels on which `JointFitter` linearizes; its cost is always that of all pixels."""
_JOINT_ROUNDS, _JOINT_MIN_GAIN = 25, 3e-5
RIDGE_WEIGHT = 5e-5
"""Cost of a parameter's squared distance from its default in `JointFitter`: of equally good explanations the
one that changes least is taken, and steps do not undo each other."""

MASKED_SAMPLE = 1024
"""Pixels on which `MaskedFitter` linearizes and measures."""
_MASKED_ROUNDS, _MASKED_MIN_GAIN = 15, 1e-5


@dataclass(frozen=True)
class FittedSteps:
    """Steps and their mean absolute difference from the target."""

    steps: StepSequence
    cost: float


@dataclass(frozen=True)
class GaussNewton:
    """Damped Gauss-Newton on the Huber loss between rendered steps and a goal.

    `render` gives the pictures at first and after each step, `flatten` the values (N,) of a picture that
    are compared with `goal` (N,). `linearize` takes steps and their pictures and gives the Jacobian (P, K)
    and the residual (K,), on as many values as it likes. A strict round that gains less than `min_gain` is
    the last.
    """

    render: Callable[[StepSequence], list[Picture]]
    flatten: Callable[[Picture], np.ndarray]
    linearize: Callable[[StepSequence, list[Picture]], tuple[np.ndarray, np.ndarray]]
    goal: np.ndarray
    min_gain: float
    ridge: float = 0.0
    """Weight of the squared distance of the parameters from their defaults."""
    keep_damping: bool = False
    """Whether a round that fails leaves its raised damping to the next."""

    def minimize(self, steps: StepSequence, rounds: int, delta: float = INITIAL_DELTA) -> FittedSteps:
        """The steps with better parameters, never worse than given; `delta` is that of the first round."""
        pictures = self.render(steps)
        best = FittedSteps(steps, self._measure(pictures[-1]))
        lowest = best.cost + self._penalty(steps)
        damping = _INITIAL_DAMPING
        for _ in range(rounds if steps else 0):
            strict = delta <= FINAL_DELTA
            moved, damping = self._improve(steps, pictures, delta, damping)
            if moved is not None:
                steps, pictures = moved
                fit = FittedSteps(steps, self._measure(pictures[-1]))
                total = fit.cost + self._penalty(steps)
                gain = lowest - total
                if gain > 0:
                    best, lowest = fit, total
            if strict and (moved is None or gain < self.min_gain):
                break
            delta = max(delta * DELTA_DECAY, FINAL_DELTA)
        return best

    def _improve(
        self, steps: StepSequence, pictures: list[Picture], delta: float, damping: float
    ) -> tuple[tuple[StepSequence, list[Picture]] | None, float]:
        """Steps with a lower loss and their pictures, or None; and the damping for the next round."""
        jacobian, residual = self.linearize(steps, pictures)
        count = len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        fill_normal_equations(jacobian, residual, np.float32(delta), np.empty_like(residual), matrix, vector)
        if self.ridge:
            matrix += 2 * self.ridge * residual.size * np.eye(count)
            vector += 2 * self.ridge * residual.size * np.concatenate([_offsets(step) for step in steps])
        loss, tried = self._loss(steps, pictures[-1], delta), damping
        for _ in range(_DAMPING_ATTEMPTS):
            damped = matrix + np.diag(tried * np.diag(matrix) + _DIAGONAL_FLOOR * residual.size)
            moved = move_parameters(steps, -np.linalg.solve(damped, vector))
            rendered = self.render(moved)
            if self._loss(moved, rendered[-1], delta) < loss:
                return (moved, rendered), max(tried / 5, _MIN_DAMPING)
            tried *= 10
        return None, tried if self.keep_damping else damping

    def _measure(self, picture: Picture) -> float:
        return float(mean_absolute_difference(self.flatten(picture), self.goal))

    def _loss(self, steps: StepSequence, picture: Picture, delta: float) -> float:
        huber = mean_huber_loss(self.flatten(picture), self.goal, np.float32(delta))
        return float(huber) + self._penalty(steps)

    def _penalty(self, steps: StepSequence) -> float:
        """Cost of the distance from the defaults."""
        if not self.ridge:
            return 0.0
        return self.ridge * sum(float(offsets @ offsets) for offsets in map(_offsets, steps))


class JointFitter:
    """Fits steps that turn one picture into the target of `cost`; linearizes on about `sample` pixels."""

    def __init__(self, start: Picture, cost: L1Cost, sample: int = JOINT_SAMPLE) -> None:
        self.start, self.cost = start, cost
        self._sample = sample
        self._goal = sample_pixels(cost.target, sample)

    def fit(
        self, steps: Sequence[Step], rounds: int = _JOINT_ROUNDS, delta: float = INITIAL_DELTA
    ) -> FittedSteps:
        """The steps with better parameters, never worse than given; nearly right ones may begin stricter."""
        solver = GaussNewton(
            render=partial(render_intermediates, start=self.start),
            flatten=np.ravel,
            linearize=self._linearize,
            goal=self.cost.target.reshape(-1),
            min_gain=_JOINT_MIN_GAIN,
            ridge=RIDGE_WEIGHT,
        )
        return solver.minimize(tuple(steps), rounds, delta)

    def _linearize(self, steps: StepSequence, pictures: list[Picture]) -> tuple[np.ndarray, np.ndarray]:
        """How the sampled result moves with each parameter (P, 3 K), and its residual (3 K,)."""
        samples = [sample_pixels(picture, self._sample) for picture in pictures]
        columns = [self._differentiate(steps, pictures, samples, at) for at in range(len(steps))]
        jacobian = np.concatenate(columns, axis=1).transpose(1, 0, 2)
        residual = (samples[-1] - self._goal).reshape(-1)
        return np.ascontiguousarray(jacobian).reshape(len(jacobian), -1), residual

    def _differentiate(
        self, steps: StepSequence, pictures: list[Picture], samples: list[Picture], at: int
    ) -> np.ndarray:
        """(3, parameters of step `at`, K): each perturbed, and the later steps run on all at once."""
        step = steps[at]
        changes = choose_perturbations(step)
        if reads_neighbours(step.operation):
            moved = (_add_to_parameters(step, change) for change in np.diag(changes))
            edited = [sample_pixels(apply_step(one, pictures[at]), self._sample) for one in moved]
            results = np.concatenate(edited, axis=1)
        else:
            results = _apply_perturbed(step, changes, samples[at])
        for later in range(at + 1, len(steps)):
            if reads_neighbours(steps[later].operation):
                # A smooth change passes through sharpening almost unchanged.
                results += samples[later + 1] - samples[later]
            else:
                results = apply_step(steps[later], results, overwrite=True)
        shares = (changes / parameter_units(step.operation)).astype(np.float32)
        derivatives: np.ndarray = (results - samples[-1]) / shares[None, :, None]
        return derivatives


class MaskedFitter:
    """Fits masked steps that turn one picture into another, on a sample of the pixels `where` (H, W) is true.

    The sample keeps `reach` neighbours around each pixel: one for each step that reads neighbours.
    """

    def __init__(self, start: Picture, target: Picture, where: Region, reach: int) -> None:
        self.sample = PixelSample.inside(where, reach, MASKED_SAMPLE)
        self.start, self.goal = self.sample.take(start), self._flatten(self.sample.take(target))

    def fit(self, steps: StepSequence, weights: Sequence[np.ndarray]) -> FittedSteps:
        """The steps with better parameters, never worse than given.

        `weights` (H, W) in [0, 1], one for each step, say how much of it each pixel takes.
        """
        sampled = [self.sample.take(weight) for weight in weights]
        solver = GaussNewton(
            render=partial(self._render, sampled),
            flatten=self._flatten,
            linearize=partial(self._linearize, sampled),
            goal=self.goal,
            min_gain=_MASKED_MIN_GAIN,
            keep_damping=True,
        )
        return solver.minimize(steps, _MASKED_ROUNDS)

    def _render(self, weights: Sequence[np.ndarray], steps: StepSequence) -> list[Picture]:
        """The sampled squares at first and after each step."""
        pictures = [self.start]
        for step, weight in zip(steps, weights, strict=True):
            pictures.append(_blend(pictures[-1], apply_step(step, pictures[-1]), weight))
        return pictures

    def _linearize(
        self, weights: Sequence[np.ndarray], steps: StepSequence, pictures: list[Picture]
    ) -> tuple[np.ndarray, np.ndarray]:
        result = self._flatten(pictures[-1])
        rows = [self._differentiate(weights, steps, pictures, at) for at in range(len(steps))]
        return np.concatenate(rows), result - self.goal

    def _differentiate(
        self, weights: Sequence[np.ndarray], steps: StepSequence, pictures: list[Picture], at: int
    ) -> np.ndarray:
        """(parameters of step `at`, 3 K): each perturbed, and the later steps run on all at once."""
        step, before, changes = steps[at], pictures[at], choose_perturbations(steps[at])
        edited = [apply_step(_add_to_parameters(step, change), before) for change in np.diag(changes)]
        results = np.concatenate([_blend(before, one, weights[at]) for one in edited], axis=1)
        for later in range(at + 1, len(steps)):
            results = _blend(results, apply_step(steps[later], results), weights[later])
        rows = self.sample.centres(results).transpose(1, 0, 2).reshape(len(changes), -1)
        shares = (changes / parameter_units(step.operation)).astype(np.float32)
        derivatives: np.ndarray = (rows - self._flatten(pictures[-1])) / shares[:, None]
        return np.ascontiguousarray(derivatives)

    def _flatten(self, squares: Picture) -> np.ndarray:
        """(3 K,): the centres of the squares."""
        return np.ascontiguousarray(self.sample.centres(squares)).reshape(-1)


def sample_pixels(picture: Picture, count: int) -> Picture:
    """(3, 1, K): about `count` pixels on an even grid, as a picture of one row."""
    return make_sketch(picture, count).reshape(3, 1, -1)


def make_sketch(picture: Picture, count: int) -> Picture:
    """(3, h, w): about `count` pixels on an even grid."""
    stride = max(1, round((picture[0].size / count) ** 0.5))
    rows, columns = (slice(min(stride, size) // 2, None, stride) for size in picture.shape[1:])
    return np.ascontiguousarray(picture[:, rows, columns])


def choose_perturbations(step: Step) -> np.ndarray:
    """(P,): a small change of each parameter, upwards or, at the top of its range, downwards."""
    values = np.asarray(step.parameters)
    sizes = 0.05 * values if step.operation in CURVES else parameter_units(step.operation) / 100
    return np.where(values + sizes > _parameter_bounds(step.operation)[1], -sizes, sizes)


def move_parameters(steps: StepSequence, by: np.ndarray) -> StepSequence:
    """The steps with all their parameters moved `by` units, within their ranges and in canonical form."""
    moved, first = [], 0
    for step in steps:
        low, high = _parameter_bounds(step.operation)
        changes = by[first : first + len(low)] * parameter_units(step.operation)
        values = np.clip(step.parameters + changes, low, high)
        canonical = get_published_operation(step.operation).canonical(tuple(values.tolist()))
        moved.append(Step.from_trusted(step.operation, tuple(np.clip(canonical, low, high).tolist())))
        first += len(low)
    return tuple(moved)


def _add_to_parameters(step: Step, changes: np.ndarray) -> Step:
    return Step.from_trusted(step.operation, tuple((step.parameters + changes).tolist()))


def _offsets(step: Step) -> np.ndarray:
    """(P,): parameters minus their defaults, in their units."""
    offsets: np.ndarray = (step.parameters - _default_values(step.operation)) / parameter_units(
        step.operation
    )
    return offsets


@cache
def parameter_units(operation: str) -> np.ndarray:
    """(P,): a hundred steps of each parameter, so that parameters of any range weigh the same in a fit."""
    return np.array([100 * slot.step for slot in get_published_operation(operation).slots])


@cache
def _default_values(operation: str) -> np.ndarray:
    return np.array(get_published_operation(operation).defaults)


@cache
def _parameter_bounds(operation: str) -> tuple[np.ndarray, np.ndarray]:
    slots = get_published_operation(operation).slots
    return np.array([slot.low for slot in slots]), np.array([slot.high for slot in slots])


def _apply_perturbed(step: Step, changes: np.ndarray, sample: Picture) -> Picture:
    """(3, P, K): the sample (3, 1, K) after the step with each of its parameters perturbed in turn."""
    if step.operation in CURVES:
        return apply_perturbed_curves(np.asarray(step.parameters), changes, sample)
    moved = [apply_step(_add_to_parameters(step, change), sample) for change in np.diag(changes)]
    return np.ascontiguousarray(np.concatenate(moved, axis=1))


def apply_perturbed_curves(values: np.ndarray, changes: np.ndarray, picture: Picture) -> np.ndarray:
    """(3, P, N): all pixels of a picture after curves (P,) with each of their values changed in turn."""
    rises, nudges = (one.reshape(-1, CURVE_PIECES).astype(np.float32) for one in (values, changes))
    results = np.empty((3, rises.size, picture[0].size), np.float32)
    perturb_curves(picture.reshape(3, -1), rises, nudges, results)
    return results


def _blend(before: Picture, after: Picture, weight: np.ndarray) -> Picture:
    """`after` over `before` by a weight (D, D K); the pictures may have many rows of such squares."""
    blended: Picture = before + np.tile(weight, (before.shape[1] // len(weight), 1)) * (after - before)
    return blended
