"""From a before/after pair to a recipe.

The way of our own, `joint`, fits all operations together in a few orders and drops what is not needed. A
forward search like the paper's is there in its variants, with a solver of ours or the paper's Nelder-Mead,
and can be refined by a joint fit too; without an edited photo it plans by any other cost. Planning works on
area-averaged pictures; how far a recipe is from an edited photo is measured on the photos themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from .. import operations
from ..errors import PlanError
from ..executor import Photo, apply
from ..image import Image, open_image
from ..image.depth import as_depth
from ..operations import REFERENCE_SHORT_SIDE
from ..recipe import Recipe
from .costs import L1, Cost
from .joint import Fit, JointFit, sampled
from .pairs import Pair, paired
from .path import Action, Path, Picture, as_recipe, idle, pictures
from .search import Order, Search
from .solvers import Solver, check_solver
from .solvers import solver as find_solver

Way = Literal["joint", "beam", "fixed", "epsilon-greedy"]

WORKING_SIZE = 256
"""Short side, in pixels, at which operations on single pixels are planned."""
WORTH = 3e-4
"""A step stays if it lowers the cost by at least this much."""

ORDERS = (
    ("brightness", "color", "saturation", "tone", "contrast"),
    ("saturation", "brightness", "color", "contrast", "tone"),
    ("saturation", "brightness", "contrast", "tone", "color"),
    ("brightness", "contrast", "color", "tone", "saturation"),
    ("color", "brightness", "contrast", "saturation", "tone"),
    ("tone", "saturation", "contrast", "brightness", "color"),
    ("contrast", "tone", "saturation", "color", "brightness"),
)
"""Orders of the operations on single pixels that are sketched, the most fruitful first (LOG.md)."""
_USUAL_ORDERS = 2
_SKETCHED = 512
"""Pixels on which orders are compared."""
_ROWS = 64
"""Rows of the photos that are compared at a time."""
_FINAL_SAMPLE = 2048
"""Pixels on which the last rounds linearise."""
_NEARLY_RIGHT = 0.02
"""Residuals that count squared when a fitted path is fitted again without one of its steps."""
_NEARLY_EXACT = 0.0075
"""Below this cost an exact recipe is likely, and more orders are tried for it."""


@dataclass(frozen=True)
class Plan:
    """A recipe that turns `before` into something close to `after`.

    `cost` and `start_cost` are mean absolute differences from `after` on the photos themselves, with and
    without the recipe. `pictures` are a smaller copy of `before` and what it is after each step, (3, H, W);
    `costs` are theirs; `target` is what they aim at. Planned by a cost of one's own there is no target, and
    all costs are what that says of the pictures.
    """

    recipe: Recipe
    cost: float
    start_cost: float
    costs: tuple[float, ...]
    pictures: tuple[Picture, ...]
    target: Picture | None

    @property
    def residual(self) -> Picture:
        """(3, H, W): what the operations cannot explain, as absolute difference."""
        if self.target is None:
            raise PlanError("this plan was made by a cost alone; there is no edited photo to differ from")
        unexplained: Picture = np.abs(self.pictures[-1] - self.target)
        return unexplained


def plan(
    before: Photo,
    after: Photo | None = None,
    *,
    cost: Cost | None = None,
    way: Way | None = None,
    operations: Sequence[str] | None = None,
    steps: int = 6,
    beam: int = 3,
    random_beam: int = 1,
    tolerance: float = 0.01,
    repeats: bool = False,
    solver: str | None = None,
    refine: bool | None = None,
    size: int = WORKING_SIZE,
    seed: int = 0,
) -> Plan:
    """The recipe that best explains how `before` became `after` (photos, arrays or files).

    A forward search goes on from `beam` pictures, an epsilon-greedy one from up to `random_beam` after a
    random choice.

    In place of `after` there may be a `cost`, from a picture (3, H, W) to a number that is to become small;
    a forward search then finds what to do to `before`.

    `way` is "joint" (the default), or a forward search like the paper's: "beam" (any order; the default with
    `repeats` or a solver other than "fast"), "fixed" (one order) or "epsilon-greedy". `steps` is the most it
    may take; `operations` those it may use. `tolerance`, `beam`, `repeats` and `solver` belong to a forward
    search; the default solver "fast" is ours, "nelder-mead" is the paper's and the default for a `cost`.
    `refine` fits the result of a search jointly, by default if the solver is "fast". `size` is the working
    short side.
    """
    if (after is None) == (cost is None):
        raise PlanError("there is an edited photo to plan for, or a cost to plan by; give one of them")
    solver = solver or ("fast" if cost is None else "nelder-mead")
    way = way or ("joint" if solver == "fast" and not repeats and cost is None else "beam")
    numbers = {"steps": (steps, 1), "beam": (beam, 1), "size": (size, 16), "seed": (seed, 0)}
    numbers["random_beam"] = (random_beam, 1)
    check_way(way)
    check_settings(tolerance, numbers)
    names = checked_names(operations)
    if cost is not None:
        search = Search(cost, find_solver(solver), names, beam, steps, tolerance, repeats, seed=seed)
        search = replace(search, random_beam=random_beam)
        return _by_cost(search, open_image(before), way, size)
    assert after is not None
    check_solver(solver, way)
    pair = paired(before, after)
    working = min(size, REFERENCE_SHORT_SIDE, pair.short_side)
    start, target = pair.at(working)
    whole = working >= min(pair.short_side, REFERENCE_SHORT_SIDE)
    usable = [name for name in names if whole or not looks_aside(name)]
    search = Search(L1(target), find_solver(solver), usable, beam, steps, tolerance, repeats, seed=seed)
    search = replace(search, random_beam=random_beam)
    path = _path(search, start, way, solver == "fast" if refine is None else refine)
    if not whole and len(path) < steps:
        path = _with_neighbours(path, [name for name in names if looks_aside(name)], pair, search.solver)
    if any(looks_aside(action.operation) for action in path):
        start, target = pair.at(REFERENCE_SHORT_SIDE)
    return _reported(path, pair, start, target)


def plan_pictures(start: Picture, target: Picture, steps: int = 6, names: Sequence[str] | None = None) -> Fit:
    """The joint way on working pictures (3, H, W) float32 as they are, without files and reports.

    Orders are compared on a few pixels, without what looks at neighbours; the best is fitted on all.
    """
    allowed = list(operations.operations()) if names is None else names
    aside = tuple(idle(name) for name in allowed if looks_aside(name))
    sketch = _sketched(start, target, [name for name in allowed if not looks_aside(name)])
    fitter = JointFit(start, L1(target))
    best = fitter.fit((*sketch, *aside), rounds=10, delta=_NEARLY_RIGHT)
    if sketch and aside and _likely_exact(best):
        first = fitter.fit((*aside, *sketch), rounds=10, delta=_NEARLY_RIGHT)
        best = min(best, first, key=lambda fit: fit.cost)
    short = _pruned(fitter, best, steps)
    return JointFit(start, fitter.cost, _FINAL_SAMPLE).fit(short.path, rounds=6, delta=_NEARLY_RIGHT)


def _sketched(start: Picture, target: Picture, names: Sequence[str]) -> Path:
    """The best of the usual orders on a few pixels; of all orders where an exact recipe is likely."""
    fitter = JointFit(sampled(start, _SKETCHED), L1(sampled(target, _SKETCHED)))
    best: Fit | None = None
    for number, order in enumerate(ORDERS):
        if best is not None and number >= _USUAL_ORDERS and not _likely_exact(best):
            break
        fit = fitter.fit([idle(name) for name in _in_order(order, names)])
        best = fit if best is None else min(best, fit, key=lambda one: one.cost)
    assert best is not None
    return best.path


def _likely_exact(fit: Fit) -> bool:
    """Close enough for an exact recipe to exist, and not yet it."""
    return WORTH < fit.cost < _NEARLY_EXACT


def _in_order(order: Sequence[str], names: Sequence[str]) -> list[str]:
    """The allowed operations in this order, and behind them those that it does not know."""
    return [name for name in order if name in names] + [name for name in names if name not in order]


def _pruned(fitter: JointFit, fit: Fit, steps: int) -> Fit:
    """Without the steps that are not worth their place; at most `steps` of them."""
    if fit.cost < _NEARLY_EXACT:
        fit = _single(fitter, fit) or fit
    while fit.path:
        shorter = min((_without(fitter, fit, at) for at in range(len(fit.path))), key=lambda one: one.cost)
        if len(fit.path) <= steps and shorter.cost > fit.cost + 10 * WORTH:
            return fit
        refitted = fitter.fit(shorter.path, rounds=8, delta=_NEARLY_RIGHT)
        if len(fit.path) <= steps and refitted.cost > fit.cost + WORTH:
            return fit
        fit = refitted
    return fit


def _single(fitter: JointFit, fit: Fit) -> Fit | None:
    """One of the operations, where it does as well as all of them together."""
    alone = [fitter.fit([idle(action.operation)]) for action in fit.path if action.values.size == 1]
    best = min(alone, key=lambda one: one.cost, default=fit)
    return best if len(best.path) == 1 and best.cost <= fit.cost + WORTH else None


def _without(fitter: JointFit, fit: Fit, at: int) -> Fit:
    """What is left; where it is nearly exact, the others get the chance to make up for it."""
    path = (*fit.path[:at], *fit.path[at + 1 :])
    if fit.cost < _NEARLY_EXACT:
        return fitter.fit(path, rounds=6, delta=_NEARLY_RIGHT)
    return Fit(path, fitter.cost(pictures(path, fitter.start)[-1]))


def _by_cost(search: Search, photo: Image, way: Way, size: int) -> Plan:
    """By a cost of one's own, on a working picture of the photo."""
    if way == "joint":
        raise PlanError("the way 'joint' needs an edited photo; choose beam, fixed or epsilon-greedy")
    start, _ = Pair(photo, photo).at(min(size, REFERENCE_SHORT_SIDE))
    whole = min(start.shape[1:]) >= min(photo.height, photo.width, REFERENCE_SHORT_SIDE)
    usable = [name for name in search.operations if whole or not looks_aside(name)]
    path = replace(search, operations=usable, order=_order(way)).run(start).path
    recipe = as_recipe(path)
    series = _series(recipe, start)
    costs = tuple(float(search.cost(picture)) for picture in series)
    return Plan(recipe, costs[-1], costs[0], costs, series, None)


def _order(way: Literal["beam", "fixed", "epsilon-greedy"]) -> Order:
    return "free" if way == "beam" else way


def _path(search: Search, start: Picture, way: Way, refine: bool) -> Path:
    assert isinstance(search.cost, L1)
    if way == "joint":
        return plan_pictures(start, search.cost.target, search.steps, search.operations).path
    path = replace(search, order=_order(way)).run(start).path
    return JointFit(start, search.cost).fit(path).path if refine and path else path


def _with_neighbours(path: Path, names: Sequence[str], pair: Pair, solve: Solver) -> Path:
    """What looks at neighbouring pixels, solved last and on pictures as large as its meaning asks for."""
    start, target = pair.at(REFERENCE_SHORT_SIDE)
    cost: Cost = L1(target)
    reached = pictures(path, start)[-1]
    for name in names:
        action = solve(name, reached, cost)
        changed = action.applied(reached)
        if cost(changed) < cost(reached) - WORTH:
            path, reached = (*path, action), changed
    return path


def _reported(path: Path, pair: Pair, start: Picture, target: Picture) -> Plan:
    recipe = as_recipe(path)
    series = _series(recipe, start)
    costs = tuple(float(L1(target)(picture)) for picture in series)
    return Plan(recipe, difference(pair, recipe), difference(pair, Recipe()), costs, series, target)


def _series(recipe: Recipe, start: Picture) -> tuple[Picture, ...]:
    """The start and the picture after each step, parameters as the recipe has them."""
    path = [Action(step.operation, np.array(step.parameters)) for step in recipe.steps]
    return tuple(pictures(path, start))


def difference(pair: Pair, recipe: Recipe) -> float:
    """Mean absolute difference on the photos themselves, or at the smaller one's size where sizes differ."""
    edited = apply(recipe, pair.before)
    if edited.pixels.shape != pair.after.pixels.shape:
        one, other = Pair(edited, pair.after).at(pair.short_side)
        return float(L1(other)(one))
    rows = range(0, edited.height, _ROWS)
    parts = [_sum(edited.pixels[row : row + _ROWS], pair.after.pixels[row : row + _ROWS]) for row in rows]
    return sum(parts) / edited.pixels.size


def _sum(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(as_depth(one, np.float32) - as_depth(other, np.float32)).sum(dtype=np.float64))


def looks_aside(name: str) -> bool:
    """Whether an operation reads neighbouring pixels."""
    return operations.get(name).reach(1.0) > 0


def checked_names(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return list(operations.operations())
    names = [names] if isinstance(names, str) else names
    if not names:
        raise PlanError("no operations to plan with; name at least one")
    return [operations.get(name).name for name in names]


def check_way(way: str) -> None:
    if way not in get_args(Way):
        raise PlanError(f"there is no way {way!r} to plan; there are {', '.join(get_args(Way))}")


def check_settings(tolerance: float, numbers: dict[str, tuple[int, int]]) -> None:
    """`numbers` are settings with the least that each may be."""
    for name, (value, least) in numbers.items():
        if value < least:
            raise PlanError(f"{name} is {value}; it is at least {least}")
    if not tolerance >= 0:
        raise PlanError(f"tolerance is {tolerance:g}; it is 0 or more, a mean absolute difference")
