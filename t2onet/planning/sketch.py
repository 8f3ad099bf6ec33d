"""Fit the darkroom's operations jointly on a sketch: a small copy of the pictures, pixels picked evenly.

Damped Gauss-Newton like that of `fit`, with three differences: numbers at the ends of their ranges are held
there and the others make up for it; a pull towards the defaults begins strong and fades, so that steps which
can imitate each other do not run away; and single numbers of an operation can be held. Steps at a place are
blended in by its mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from ..kernels import KERNELS, decode_tile, encode_tile
from ..kernels.fitting import fill_normal_equations, mean_absolute_difference, mean_huber_loss
from ..operations import Frame, get_operation
from ..operations.paper import CURVE_PIECES, CURVES
from ..recipe import Step
from ..recipe.where import Where
from .fit import (
    DELTA_DECAY,
    FINAL_DELTA,
    INITIAL_DELTA,
    RIDGE_WEIGHT,
    FittedSteps,
    apply_perturbed_curves,
)
from .pictures import Picture, StepSequence, apply_step

_RIDGE_PER_DELTA = 0.2
"""The pull towards the defaults, for each squared unit of delta, while that is above `RIDGE_WEIGHT`."""
_INITIAL_DAMPING, _MIN_DAMPING, _MAX_DAMPING = 1e-3, 1e-6, 1.0
_DAMPING_ATTEMPTS = 5
_DIAGONAL_FLOOR = 1e-7
_MIN_GAIN = 1e-5
"""A strict round that gains less is the last."""
_BOUND_PASSES = 4
_NUDGE = 1 / 512
"""By how much a channel is moved to measure slopes."""

StepKey = tuple[str, Where | None]
"""Operation and `where`: what tells the steps of one fit from each other."""
FreePlaces = dict[StepKey, tuple[int, ...]]
"""Step -> the places of its numbers that are fitted; all of them where it is not listed."""


def get_key(step: Step) -> StepKey:
    return step.operation, step.where


@dataclass(frozen=True)
class Chart:
    """The coordinates in which the numbers of an operation are fitted, as many as it has numbers."""

    units: np.ndarray
    """A hundred steps of each number, so that all weigh the same."""
    low: np.ndarray
    high: np.ndarray
    defaults: np.ndarray
    to_coordinates: Callable[[np.ndarray], np.ndarray] = np.asarray
    to_values: Callable[[np.ndarray], np.ndarray] = np.asarray


@cache
def get_chart(operation: str) -> Chart:
    slots = get_operation(operation).slots
    units = np.array([100 * slot.step for slot in slots])
    low, high, defaults = (
        np.array([getattr(slot, name) for slot in slots]) for name in ("low", "high", "default")
    )
    if operation == "grading":
        ends = np.concatenate([high[3:6], high[3:6], high[6:]])
        return Chart(units, -ends, ends, defaults, _from_polar, _to_polar)
    if operation in CURVES:
        return Chart(units, low, high, defaults, to_values=_normalize_rises)
    return Chart(units, low, high, defaults)


def _from_polar(values: np.ndarray) -> np.ndarray:
    """Hue and strength of three zones as points of a plane, where strength 0 is nothing special."""
    angles, strengths = np.radians(values[:3]), values[3:6]
    return np.concatenate([strengths * np.cos(angles), strengths * np.sin(angles), values[6:]])


def _to_polar(coordinates: np.ndarray) -> np.ndarray:
    x, y = coordinates[:3], coordinates[3:6]
    hues = np.degrees(np.arctan2(y, x)) % 360
    return np.concatenate([hues, np.minimum(np.hypot(x, y), 100), coordinates[6:]])


def _normalize_rises(rises: np.ndarray) -> np.ndarray:
    rows = rises.reshape(-1, CURVE_PIECES)
    slot = get_operation(CURVES[0]).slots[0]
    shares: np.ndarray = np.clip(rows / rows.mean(axis=1, keepdims=True), slot.low, slot.high)
    return shares.reshape(-1)


class PredictedDrop(NamedTuple):
    """Steps without some of their numbers, and by how much the loss is predicted to grow."""

    steps: StepSequence
    loss: float


@dataclass(frozen=True)
class SketchFitter:
    """Fits steps that turn `start` into `target`, pictures (3, h, w) of which every pixel counts."""

    start: Picture
    target: Picture
    free: FreePlaces = field(default_factory=dict)
    weights: Mapping[Where, np.ndarray] = field(default_factory=dict)
    """`where` of a step -> how much of it each pixel takes, (h, w) from 0 to 1."""

    def render(self, steps: Sequence[Step]) -> list[Picture]:
        """The start and the picture after each step."""
        pictures = [self.start]
        for step in steps:
            before, after = pictures[-1], apply_step(step, pictures[-1])
            if step.where is not None:
                after = before + self.weights[step.where] * (after - before)
            pictures.append(after)
        return pictures

    def fit(self, steps: Sequence[Step], rounds: int, delta: float = INITIAL_DELTA) -> FittedSteps:
        """The steps with better parameters, never worse than given; `delta` is that of the first round."""
        steps = tuple(steps)
        numbers, bounds = self.gather_numbers(steps), self._gather_bounds(steps)
        pictures = self.render(steps)
        best = FittedSteps(steps, self.measure(pictures[-1]))
        lowest, damping = best.cost + RIDGE_WEIGHT * numbers @ numbers, _INITIAL_DAMPING
        for _ in range(rounds if len(numbers) else 0):
            strict, gain = delta <= FINAL_DELTA, 0.0
            ridge = max(RIDGE_WEIGHT, _RIDGE_PER_DELTA * delta**2)
            matrix, vector = self._normal_equations(steps, pictures, delta, ridge)
            vector += 2 * ridge * numbers
            loss = self._loss(pictures[-1], numbers, delta, ridge)
            for _ in range(_DAMPING_ATTEMPTS):
                trial = self._place_numbers(steps, _solve_within(matrix, vector, numbers, bounds, damping))
                rendered = self.render(trial)
                moved = self.gather_numbers(trial)
                if self._loss(rendered[-1], moved, delta, ridge) < loss:
                    steps, pictures, numbers = trial, rendered, moved
                    damping = max(damping / 5, _MIN_DAMPING)
                    cost = self.measure(pictures[-1])
                    gain = lowest - cost - RIDGE_WEIGHT * numbers @ numbers
                    if gain > 0:
                        best, lowest = FittedSteps(steps, cost), lowest - gain
                    break
                damping *= 10
            if strict and gain < _MIN_GAIN:
                break
            delta, damping = max(delta * DELTA_DECAY, FINAL_DELTA), min(damping, _MAX_DAMPING)
        return best

    def drop_steps(self, steps: StepSequence, groups: Sequence[Sequence[int]]) -> list[PredictedDrop]:
        """The steps without each group of them in turn."""
        inverse, numbers = self._invert_hessian(steps), self.find_numbers(steps)
        drops = []
        for group in groups:
            drop = self._predict_drop(steps, inverse, np.concatenate([numbers[at] for at in group]))
            kept = tuple(step for at, step in enumerate(drop.steps) if at not in group)
            drops.append(drop._replace(steps=kept))
        return drops

    def drop_numbers(self, steps: StepSequence, groups: Sequence[np.ndarray]) -> list[PredictedDrop]:
        """The steps with each group of numbers in turn at their defaults."""
        inverse = self._invert_hessian(steps)
        return [self._predict_drop(steps, inverse, group) for group in groups]

    def _predict_drop(self, steps: StepSequence, inverse: np.ndarray, dropped: np.ndarray) -> PredictedDrop:
        """These numbers at their defaults, the others moved to make up for it, by a quadratic model."""
        numbers, (low, high) = self.gather_numbers(steps), self._gather_bounds(steps)
        pressure = np.linalg.solve(inverse[np.ix_(dropped, dropped)], numbers[dropped])
        moved = np.clip(numbers - inverse[:, dropped] @ pressure, low, high)
        moved[dropped] = 0
        return PredictedDrop(self._place_numbers(steps, moved), 0.5 * float(numbers[dropped] @ pressure))

    def find_numbers(self, steps: StepSequence) -> list[np.ndarray]:
        """Where the fitted numbers of each step are among all of them."""
        counts = [len(self.free_places(step)) for step in steps]
        return np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1]) if counts else []

    def measure(self, picture: Picture) -> float:
        return float(mean_absolute_difference(picture.reshape(-1), self.target.reshape(-1)))

    def gather_numbers(self, steps: StepSequence) -> np.ndarray:
        """(P,): the fitted numbers minus their defaults, in their units."""
        return self._gather(steps, lambda step, chart: chart.to_coordinates(np.asarray(step.parameters)))

    def _gather_bounds(self, steps: StepSequence) -> tuple[np.ndarray, np.ndarray]:
        return self._gather(steps, lambda _, chart: chart.low), self._gather(steps, lambda _, c: c.high)

    def _gather(self, steps: StepSequence, read: Callable[[Step, Chart], np.ndarray]) -> np.ndarray:
        parts = [np.empty(0)]
        for step in steps:
            chart = get_chart(step.operation)
            offsets = (read(step, chart) - chart.defaults) / chart.units
            parts.append(offsets[self.free_places(step)])
        return np.concatenate(parts)

    def _place_numbers(self, steps: StepSequence, numbers: np.ndarray) -> StepSequence:
        moved, first = [], 0
        for step in steps:
            chart, places = get_chart(step.operation), self.free_places(step)
            own = numbers[first : first + len(places)]
            coordinates = np.array(chart.to_coordinates(np.asarray(step.parameters)), float)
            coordinates[places] = chart.defaults[places] + own * chart.units[places]
            moved.append(_make_step(step, coordinates))
            first += len(places)
        return tuple(moved)

    def free_places(self, step: Step) -> np.ndarray:
        return _find_places(step.operation, self.free.get(get_key(step)))

    def _loss(self, picture: Picture, numbers: np.ndarray, delta: float, ridge: float) -> float:
        huber = mean_huber_loss(picture.reshape(-1), self.target.reshape(-1), np.float32(delta))
        return float(huber + ridge * numbers @ numbers)

    def _normal_equations(
        self, steps: StepSequence, pictures: list[Picture], delta: float, ridge: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Second derivatives of the mean loss (P, P), and first ones (P,) without those of the ridge."""
        jacobian = self._linearize(steps, pictures)
        residual = (pictures[-1] - self.target).reshape(-1)
        count = len(jacobian)
        matrix, vector = np.empty((count, count)), np.empty(count)
        fill_normal_equations(jacobian, residual, np.float32(delta), np.empty_like(residual), matrix, vector)
        floor = 2 * ridge + _DIAGONAL_FLOOR
        return matrix / residual.size + floor * np.eye(count), vector / residual.size

    def _invert_hessian(self, steps: StepSequence) -> np.ndarray:
        pictures = self.render(steps)
        return np.linalg.inv(self._normal_equations(steps, pictures, FINAL_DELTA, RIDGE_WEIGHT)[0])

    def _linearize(self, steps: StepSequence, pictures: list[Picture]) -> np.ndarray:
        """(P, 3 h w): how the result moves with each fitted number, in its units.

        Steps act on single pixels, so each one is differentiated on its own, and slopes of 3 x 3 for each
        pixel carry its moves through the later ones.
        """
        moves: list[np.ndarray] = []
        slopes: np.ndarray | None = None
        for at in reversed(range(len(steps))):
            step, before = steps[at], pictures[at]
            after = pictures[at + 1] if step.where is None else apply_step(step, before)
            own = self._differentiate(step, before, after)
            moves.insert(0, own if slopes is None else _chain(slopes, own))
            if at:
                through = self._measure_slopes(step, before, after)
                slopes = through if slopes is None else _chain(slopes, through)
        rows = np.concatenate(moves, axis=1).transpose(1, 0, 2)
        return np.ascontiguousarray(rows).reshape(len(rows), -1)

    def _differentiate(self, step: Step, before: Picture, after: Picture) -> np.ndarray:
        """(3, P, h w): how the picture after a step moves with each of its fitted numbers, in its units.

        `after` is the picture that has taken all of the step.
        """
        chart, places = get_chart(step.operation), self.free_places(step)
        if not len(places):
            return np.empty((3, 0, before[0].size), np.float32)
        coordinates = np.array(chart.to_coordinates(np.asarray(step.parameters)), float)
        sizes = 0.05 * coordinates[places] if step.operation in CURVES else chart.units[places] / 100
        sizes = np.where(coordinates[places] + sizes > chart.high[places], -sizes, sizes)
        stack = _apply_perturbed(step.operation, coordinates, places, sizes, before)
        shares = (sizes / chart.units[places]).astype(np.float32)
        moves: np.ndarray = (stack.reshape(3, len(places), -1) - after.reshape(3, 1, -1)) / shares[:, None]
        if step.where is not None:
            moves *= self.weights[step.where].reshape(-1)
        return moves

    def _measure_slopes(self, step: Step, before: Picture, after: Picture) -> np.ndarray:
        """(3, 3, h w): how each channel after a step moves with each one before it."""
        slopes = _measure_slopes(step, before, after)
        if step.where is not None:
            weight = self.weights[step.where].reshape(-1)
            slopes *= weight
            slopes[range(3), range(3)] += 1 - weight
        return slopes


def _measure_slopes(step: Step, before: Picture, after: Picture) -> np.ndarray:
    """The slopes of a step that every pixel takes in full."""
    nudges = np.where(before > 0.5, -_NUDGE, _NUDGE).astype(np.float32)
    stack = np.repeat(before[:, None], 3, axis=1)
    stack[range(3), range(3)] += nudges
    result = _apply_to_stack(step, stack.reshape(3, -1, before.shape[2]), before.shape[1])
    slopes: np.ndarray = (result.reshape(3, 3, -1) - after.reshape(3, 1, -1)) / nudges.reshape(3, -1)
    return slopes


def _chain(slopes: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Moves (3, P, N) of a picture as moves of the one that follows from it by slopes (3, 3, N)."""
    chained: np.ndarray = slopes[:, 0, None] * moves[0]
    chained += slopes[:, 1, None] * moves[1]
    chained += slopes[:, 2, None] * moves[2]
    return chained


@cache
def _find_places(operation: str, free: tuple[int, ...] | None) -> np.ndarray:
    return np.array(range(len(get_chart(operation).units)) if free is None else free, int)


def _make_step(step: Step, coordinates: np.ndarray) -> Step:
    chart = get_chart(step.operation)
    values = chart.to_values(np.clip(coordinates, chart.low, chart.high))
    return Step.from_trusted(step.operation, tuple(values.tolist()), step.where)


def _apply_perturbed(
    operation: str, coordinates: np.ndarray, places: np.ndarray, sizes: np.ndarray, picture: Picture
) -> Picture:
    """(3, P h, w): the picture after the operation, once for each of `places`, which is moved by its size."""
    if operation in CURVES and len(places) == len(coordinates):
        results = apply_perturbed_curves(coordinates, sizes, picture)
        return results.reshape(3, -1, picture.shape[2])
    rows = np.repeat(coordinates[None], len(places), axis=0)
    rows[np.arange(len(places)), places] += sizes
    chart, declared = get_chart(operation), get_operation(operation)
    values = np.array([chart.to_values(row) for row in np.clip(rows, chart.low, chart.high)])
    if kernel := KERNELS.get(operation):
        linear, frame = declared.space == "linear", Frame(picture.shape[1], picture.shape[2], 1.0)
        tile = decode_tile(picture.copy()) if linear else picture
        stack = np.concatenate([kernel(row)(tile.copy(), frame) for row in values], axis=1)
        return encode_tile(stack) if linear else stack
    batch = declared.run(picture[None], values.astype(np.float32), Frame.around(picture))
    return np.ascontiguousarray(np.moveaxis(batch, 1, 0)).reshape(3, -1, picture.shape[2])


def _apply_to_stack(step: Step, stack: Picture, height: int) -> Picture:
    """Pictures of this height on top of each other, each after the step."""
    if not get_operation(step.operation).uses_position:
        return apply_step(step, stack, overwrite=True)
    tops = range(0, stack.shape[1], height)
    parts = [np.ascontiguousarray(stack[:, top : top + height]) for top in tops]
    return np.concatenate([apply_step(step, part) for part in parts], axis=1)


def _solve_within(
    matrix: np.ndarray,
    vector: np.ndarray,
    numbers: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    damping: float,
) -> np.ndarray:
    """The next numbers; those that would leave their range stop at its end, and the others make up for it."""
    low, high = bounds
    damped = matrix + damping * np.diag(np.diag(matrix))
    move = np.zeros_like(numbers)
    free = ~(((numbers <= low) & (vector > 0)) | ((numbers >= high) & (vector < 0)))
    for _ in range(_BOUND_PASSES):
        right = vector[free] + damped[np.ix_(free, ~free)] @ move[~free]
        move[free] = -np.linalg.solve(damped[np.ix_(free, free)], right)
        ends = np.clip(numbers + move, low, high)
        beyond = free & (ends != numbers + move)
        if not beyond.any():
            break
        move[beyond] = (ends - numbers)[beyond]
        free &= ~beyond
    clipped: np.ndarray = np.clip(numbers + move, low, high)
    return clipped
