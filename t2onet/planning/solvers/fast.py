"""Each operation solved for what it is, for the L1 cost.

One number is bracketed on a grid and found by golden section. A curve is a piecewise-linear least-absolute
fit: least squares with weights 1/|residual|, a tridiagonal system for its seven free knots, a few times over.
Both look at a sample of the pixels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import operations
from ...errors import PlanError
from ...kernels.fitting import curve_sums, mean_absolute
from ...operations import Operation, Parameter
from ...operations.curves import PIECES
from ..costs import L1, Cost
from ..path import Action, Picture
from . import Solver

_SAMPLE = 4096
_GRID = 9
_GOLDEN = (5**0.5 - 1) / 2
_NARROWINGS = 10
_REWEIGHTINGS = 6
_LEAST_RISE = 0.0025
"""Of a piece of a curve: its share of the whole, so that no parameter leaves its range."""
_SHARP = 0.004
"""Residuals below one 8-bit level weigh alike."""


def solve(name: str, picture: Picture, cost: Cost) -> Action:
    """The action of operation `name` that brings `picture` closest to the target of `cost`."""
    if not isinstance(cost, L1):
        raise PlanError("the solver 'fast' works for the L1 cost only; choose 'nelder-mead' for other costs")
    operation = operations.get(name)
    if operation.size == 1:
        return _number(operation, picture, cost)
    if operation.size % PIECES == 0:
        return _curves(operation, picture, cost)
    raise PlanError(f"the solver 'fast' does not know {name!r}; choose 'nelder-mead'")


def solve_inside(name: str, picture: Picture, target: Picture, inside: np.ndarray) -> Action:
    """The same, where only the pixels `inside` (H, W), a boolean mask, count; neighbours are still seen."""
    operation = operations.get(name)
    if not operation.reach(1.0):
        pixels, goals = (np.ascontiguousarray(p[:, inside])[:, None] for p in (picture, target))
        return solve(name, pixels, L1(goals))
    if operation.size != 1:
        raise PlanError(f"the solver 'fast' does not know {name!r} inside a mask")
    goal = target[:, inside].reshape(-1)

    def off(p: float) -> float:
        result = Action(name, np.array([p])).applied(picture)
        return float(mean_absolute(result[:, inside].reshape(-1), goal))

    return Action(name, np.array([_lowest(off, _grid(operation.slots[0]))]))


def _sampled(picture: Picture) -> Picture:
    stride = max(1, round((picture[0].size / _SAMPLE) ** 0.5))
    return np.ascontiguousarray(picture[:, ::stride, ::stride])


def _number(operation: Operation, picture: Picture, cost: L1) -> Action:
    """Any operation of one number."""
    goal = _sampled(cost.target).reshape(-1)
    aside = operation.reach(1.0) > 0
    start = picture if aside else _sampled(picture)

    def off(p: float) -> float:
        result = Action(operation.name, np.array([p])).applied(start)
        return float(mean_absolute((_sampled(result) if aside else result).reshape(-1), goal))

    return Action(operation.name, np.array([_lowest(off, _grid(operation.slots[0]))]))


def _grid(slot: Parameter) -> np.ndarray:
    """Even steps down to the lowest and up to the highest value, the default among them."""
    below = np.linspace(slot.low, slot.default, _GRID // 2 + 1)
    above = np.linspace(slot.default, slot.high, _GRID // 2 + 1)
    return np.unique(np.concatenate([below, above]))


def _lowest(off: Callable[[float], float], grid: np.ndarray) -> float:
    best = int(np.argmin([off(p) for p in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = off(left), off(right)
    for _ in range(_NARROWINGS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = off(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = off(right)
    return float(left if at_left < at_right else right)


def _curves(operation: Operation, picture: Picture, cost: L1) -> Action:
    """One curve over all channels, or one for each."""
    count = operation.size // PIECES
    inputs, targets = (_sampled(p).reshape(count, -1) for p in (picture, cost.target))
    rises = np.concatenate([_curve(x, t) for x, t in zip(inputs, targets, strict=True)])
    return Action(operation.name, np.array(operation.clipped(rises.tolist())))


def _curve(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The eight rises of the curve that takes `inputs` nearest to `targets`."""
    knots = np.linspace(0, 1, PIECES + 1)
    # A faint pull to the last knots settles those that no pixel falls near.
    pull = 1e-3 * inputs.size
    for _ in range(_REWEIGHTINGS):
        diagonal, upper, right = np.zeros(PIECES + 1), np.zeros(PIECES), np.zeros(PIECES + 1)
        curve_sums(inputs, targets, knots, _SHARP, diagonal, upper, right)
        system = np.diag(diagonal + pull) + np.diag(upper, 1) + np.diag(upper, -1)
        knots = _rising(system, right + pull * knots)
    return PIECES * np.diff(knots)


def _rising(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The knots from 0 to 1 that solve the system and rise everywhere.

    Pieces that would fall are tied to the least rise, the worst first, and the rest is solved again.
    """
    tied: set[int] = set()
    while True:
        knots = _tied_solution(system, right, tied)
        rises = np.diff(knots)
        rises[list(tied)] = np.inf
        worst = int(np.argmin(rises))
        if rises[worst] >= _LEAST_RISE or len(tied) == PIECES - 1:
            return knots
        tied.add(worst)


def _tied_solution(system: np.ndarray, right: np.ndarray, tied: set[int]) -> np.ndarray:
    """Knots in groups that move as one: the group of the first knot is fixed, so is that of the last."""
    group = np.cumsum([0, *(piece not in tied for piece in range(PIECES))])
    climbed = np.cumsum([0.0, *(_LEAST_RISE if piece in tied else 0.0 for piece in range(PIECES))])
    last = group[-1]
    start = np.array([climbed[group == g][0] for g in range(last + 1)])
    offset: np.ndarray = climbed - start[group]
    offset[group == last] += 1 - offset[-1]
    free = (group[:, None] == np.arange(1, last)).astype(float)
    if free.size:
        moved = np.linalg.solve(free.T @ system @ free, free.T @ (right - system @ offset))
        offset += free @ moved
    return offset


SOLVERS: dict[str, Solver] = {"fast": solve}
