"""Plan a before/after pair: from two photos to the recipe between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from .. import operations
from ..errors import PlanError
from ..executor import PhotoLike, apply
from ..image import Image, open_image
from ..image.pixels import to_depth
from ..operations import REFERENCE_SHORT_SIDE
from ..recipe import Recipe
from .fit import FittedSteps, JointFitter, sample_pixels
from .pairs import PhotoPair, open_photo_pair
from .pictures import (
    Action,
    CostFunction,
    L1Cost,
    Picture,
    StepSequence,
    make_identity_step,
    render_intermediates,
    to_recipe,
)
from .solvers import Solver, check_solver, find_solver

# Forward search: operations one after the other, the parameters of each solved as it is tried.
#
# The paper's algorithm. From each picture of the beam every allowed operation is solved; the best results are
# the next beam; it ends at the tolerance, at the step limit, or when nothing helps any more.

SearchOrder = Literal["free", "fixed", "epsilon-greedy"]

FIXED_ORDER = ("brightness", "contrast", "saturation", "color", "tone", "sharpness")
EPSILON = 0.05
"""How often epsilon-greedy takes a random operation in place of the best."""


@dataclass(frozen=True)
class SearchNode:
    """A picture on the way, and how it was reached."""

    picture: Picture
    cost: float
    action: Action | None = None
    parent: SearchNode | None = None

    def backtracked(self) -> list[SearchNode]:
        """From the start to here."""
        return [*(self.parent.backtracked() if self.parent else ()), self]

    @property
    def path(self) -> StepSequence:
        return tuple(node.action for node in self.backtracked() if node.action is not None)


@dataclass(frozen=True)
class ForwardSearch:
    """One search and its settings."""

    cost: CostFunction
    solver: Solver
    operations: Sequence[str]
    beam: int = 3
    steps: int = 6
    tolerance: float = 0.01
    repeats: bool = False
    order: SearchOrder = "free"
    seed: int = 0
    random_beam: int = 1
    """The most pictures that epsilon-greedy goes on from after a random choice, in place of the beam."""

    def run(self, start: Picture) -> SearchNode:
        """The best node found; the start itself where nothing helps."""
        return deque(self.stages(start), maxlen=1).pop()

    def stages(self, start: Picture) -> Iterator[SearchNode]:
        """The best node with no step, with at most one, with at most two, ..."""
        rng = np.random.default_rng(self.seed)
        best = SearchNode(start, float(self.cost(start)))
        beam = [best]
        yield best
        for number in range(self.steps):
            if best.cost < self.tolerance:
                return
            reached = [self._reached(node, name) for node in beam for name in self._allowed(node, number)]
            if not reached:
                return
            beam = self._chosen(reached, rng)
            best = min(best, *beam, key=lambda node: node.cost)
            yield best

    def _allowed(self, node: SearchNode, number: int) -> Iterator[str]:
        if self.order == "fixed":
            ranked = sorted(self.operations, key=lambda name: (*FIXED_ORDER, name).index(name))
            yield from ranked[number : number + 1]
            return
        used = () if self.repeats else {action.operation for action in node.path}
        yield from (name for name in self.operations if name not in used)

    def _reached(self, node: SearchNode, name: str) -> SearchNode:
        action = self.solver(name, node.picture, self.cost)
        picture = action.applied(node.picture)
        return SearchNode(picture, float(self.cost(picture)), action, node)

    def _chosen(self, reached: list[SearchNode], rng: np.random.Generator) -> list[SearchNode]:
        ranked = sorted(reached, key=lambda node: node.cost)
        if self.order == "epsilon-greedy" and rng.random() < EPSILON:
            drawn = {int(rng.integers(len(ranked))) for _ in range(self.random_beam)}
            return [ranked[at] for at in sorted(drawn)]
        return ranked[: self.beam]


# From a before/after pair to a recipe.
#
# The way of our own, `joint`, fits all operations together in a few orders and drops what is not needed. A
# forward search like the paper's is there in its variants, with a solver of ours or the paper's Nelder-Mead,
# and can be refined by a joint fit too; without an edited photo it plans by any other cost. Planning works on
# area-averaged pictures; how far a recipe is from an edited photo is measured on the photos themselves.

PlanningMethod = Literal["joint", "beam", "fixed", "epsilon-greedy"]

WORKING_SIZE = 256
"""Short side, in pixels, at which operations on single pixels are planned."""
MIN_STEP_GAIN = 3e-4
"""A step stays if it lowers the cost by at least this much."""

CANDIDATE_ORDERS = (
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
_SKETCH_SAMPLE = 512
"""Pixels on which orders are compared."""
_ROWS_PER_BLOCK = 64
"""Rows of the photos that are compared at a time."""
_FINAL_SAMPLE = 2048
"""Pixels on which the last rounds linearise."""
_REFIT_DELTA = 0.02
"""Residuals that count squared when a fitted path is fitted again without one of its steps."""
_NEAR_EXACT_COST = 0.0075
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
    before: PhotoLike,
    after: PhotoLike | None = None,
    *,
    cost: CostFunction | None = None,
    way: PlanningMethod | None = None,
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
    check_planning_method(way)
    check_planning_settings(tolerance, numbers)
    names = check_operation_names(operations)
    if cost is not None:
        search = ForwardSearch(cost, find_solver(solver), names, beam, steps, tolerance, repeats, seed=seed)
        search = replace(search, random_beam=random_beam)
        return _plan_by_cost(search, open_image(before), way, size)
    assert after is not None
    check_solver(solver, way)
    pair = open_photo_pair(before, after)
    working = min(size, REFERENCE_SHORT_SIDE, pair.short_side)
    start, target = pair.at(working)
    whole = working >= min(pair.short_side, REFERENCE_SHORT_SIDE)
    usable = [name for name in names if whole or not reads_neighbours(name)]
    search = ForwardSearch(
        L1Cost(target), find_solver(solver), usable, beam, steps, tolerance, repeats, seed=seed
    )
    search = replace(search, random_beam=random_beam)
    path = _find_steps(search, start, way, solver == "fast" if refine is None else refine)
    if not whole and len(path) < steps:
        path = _append_neighbourhood_operations(
            path, [name for name in names if reads_neighbours(name)], pair, search.solver
        )
    if any(reads_neighbours(action.operation) for action in path):
        start, target = pair.at(REFERENCE_SHORT_SIDE)
    return _build_plan(path, pair, start, target)


def plan_pictures(
    start: Picture, target: Picture, steps: int = 6, names: Sequence[str] | None = None
) -> FittedSteps:
    """The joint way on working pictures (3, H, W) float32 as they are, without files and reports.

    Orders are compared on a few pixels, without what looks at neighbours; the best is fitted on all.
    """
    allowed = check_operation_names(names)
    aside = tuple(make_identity_step(name) for name in allowed if reads_neighbours(name))
    sketch = _fit_best_order(start, target, [name for name in allowed if not reads_neighbours(name)])
    fitter = JointFitter(start, L1Cost(target))
    best = fitter.fit((*sketch, *aside), rounds=10, delta=_REFIT_DELTA)
    if sketch and aside and _is_likely_exact(best):
        first = fitter.fit((*aside, *sketch), rounds=10, delta=_REFIT_DELTA)
        best = min(best, first, key=lambda fit: fit.cost)
    short = _prune_steps(fitter, best, steps)
    return JointFitter(start, fitter.cost, _FINAL_SAMPLE).fit(short.path, rounds=6, delta=_REFIT_DELTA)


def _fit_best_order(start: Picture, target: Picture, names: Sequence[str]) -> StepSequence:
    """The best of the usual orders on a few pixels; of all orders where an exact recipe is likely."""
    fitter = JointFitter(sample_pixels(start, _SKETCH_SAMPLE), L1Cost(sample_pixels(target, _SKETCH_SAMPLE)))
    best: FittedSteps | None = None
    for number, order in enumerate(CANDIDATE_ORDERS):
        if best is not None and number >= _USUAL_ORDERS and not _is_likely_exact(best):
            break
        fit = fitter.fit([make_identity_step(name) for name in _arrange_operations(order, names)])
        best = fit if best is None else min(best, fit, key=lambda one: one.cost)
    assert best is not None
    return best.path


def _is_likely_exact(fit: FittedSteps) -> bool:
    """Close enough for an exact recipe to exist, and not yet it."""
    return MIN_STEP_GAIN < fit.cost < _NEAR_EXACT_COST


def _arrange_operations(order: Sequence[str], names: Sequence[str]) -> list[str]:
    """The allowed operations in this order, and behind them those that it does not know."""
    return [name for name in order if name in names] + [name for name in names if name not in order]


def _prune_steps(fitter: JointFitter, fit: FittedSteps, steps: int) -> FittedSteps:
    """Without the steps that are not worth their place; at most `steps` of them."""
    if fit.cost < _NEAR_EXACT_COST:
        fit = _find_single_operation(fitter, fit) or fit
    while fit.path:
        shorter = min((_drop_step(fitter, fit, at) for at in range(len(fit.path))), key=lambda one: one.cost)
        if len(fit.path) <= steps and shorter.cost > fit.cost + 10 * MIN_STEP_GAIN:
            return fit
        refitted = fitter.fit(shorter.path, rounds=8, delta=_REFIT_DELTA)
        if len(fit.path) <= steps and refitted.cost > fit.cost + MIN_STEP_GAIN:
            return fit
        fit = refitted
    return fit


def _find_single_operation(fitter: JointFitter, fit: FittedSteps) -> FittedSteps | None:
    """One of the operations, where it does as well as all of them together."""
    alone = [
        fitter.fit([make_identity_step(action.operation)]) for action in fit.path if action.values.size == 1
    ]
    best = min(alone, key=lambda one: one.cost, default=fit)
    return best if len(best.path) == 1 and best.cost <= fit.cost + MIN_STEP_GAIN else None


def _drop_step(fitter: JointFitter, fit: FittedSteps, at: int) -> FittedSteps:
    """What is left; where it is nearly exact, the others get the chance to make up for it."""
    path = (*fit.path[:at], *fit.path[at + 1 :])
    if fit.cost < _NEAR_EXACT_COST:
        return fitter.fit(path, rounds=6, delta=_REFIT_DELTA)
    return FittedSteps(path, fitter.cost(render_intermediates(path, fitter.start)[-1]))


def _plan_by_cost(search: ForwardSearch, photo: Image, way: PlanningMethod, size: int) -> Plan:
    """By a cost of one's own, on a working picture of the photo."""
    if way == "joint":
        raise PlanError("the way 'joint' needs an edited photo; choose beam, fixed or epsilon-greedy")
    start, _ = PhotoPair(photo, photo).at(min(size, REFERENCE_SHORT_SIDE))
    whole = min(start.shape[1:]) >= min(photo.height, photo.width, REFERENCE_SHORT_SIDE)
    usable = [name for name in search.operations if whole or not reads_neighbours(name)]
    path = replace(search, operations=usable, order=_to_search_order(way)).run(start).path
    recipe = to_recipe(path)
    series = _render_recipe(recipe, start)
    costs = tuple(float(search.cost(picture)) for picture in series)
    return Plan(recipe, costs[-1], costs[0], costs, series, None)


def _to_search_order(way: Literal["beam", "fixed", "epsilon-greedy"]) -> SearchOrder:
    return "free" if way == "beam" else way


def _find_steps(search: ForwardSearch, start: Picture, way: PlanningMethod, refine: bool) -> StepSequence:
    assert isinstance(search.cost, L1Cost)
    if way == "joint":
        return plan_pictures(start, search.cost.target, search.steps, search.operations).path
    path = replace(search, order=_to_search_order(way)).run(start).path
    return JointFitter(start, search.cost).fit(path).path if refine and path else path


def _append_neighbourhood_operations(
    path: StepSequence, names: Sequence[str], pair: PhotoPair, solve: Solver
) -> StepSequence:
    """What looks at neighbouring pixels, solved last and on pictures as large as its meaning asks for."""
    start, target = pair.at(REFERENCE_SHORT_SIDE)
    cost: CostFunction = L1Cost(target)
    reached = render_intermediates(path, start)[-1]
    for name in names:
        action = solve(name, reached, cost)
        changed = action.applied(reached)
        if cost(changed) < cost(reached) - MIN_STEP_GAIN:
            path, reached = (*path, action), changed
    return path


def _build_plan(path: StepSequence, pair: PhotoPair, start: Picture, target: Picture) -> Plan:
    recipe = to_recipe(path)
    series = _render_recipe(recipe, start)
    costs = tuple(float(L1Cost(target)(picture)) for picture in series)
    return Plan(
        recipe, measure_difference(pair, recipe), measure_difference(pair, Recipe()), costs, series, target
    )


def _render_recipe(recipe: Recipe, start: Picture) -> tuple[Picture, ...]:
    """The start and the picture after each step, parameters as the recipe has them."""
    path = [Action(step.operation, np.array(step.parameters)) for step in recipe.steps]
    return tuple(render_intermediates(path, start))


def measure_difference(pair: PhotoPair, recipe: Recipe) -> float:
    """Mean absolute difference on the photos themselves, or at the smaller one's size where sizes differ."""
    edited = apply(recipe, pair.before)
    if edited.pixels.shape != pair.after.pixels.shape:
        one, other = PhotoPair(edited, pair.after).at(pair.short_side)
        return float(L1Cost(other)(one))
    rows = range(0, edited.height, _ROWS_PER_BLOCK)
    parts = [
        _sum_absolute_differences(
            edited.pixels[row : row + _ROWS_PER_BLOCK], pair.after.pixels[row : row + _ROWS_PER_BLOCK]
        )
        for row in rows
    ]
    return sum(parts) / edited.pixels.size


def _sum_absolute_differences(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(to_depth(one, np.float32) - to_depth(other, np.float32)).sum(dtype=np.float64))


def reads_neighbours(name: str) -> bool:
    """Whether an operation reads neighbouring pixels."""
    return operations.get_operation(name).reach(1.0) > 0


def check_operation_names(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return list(operations.PAPER)
    names = [names] if isinstance(names, str) else names
    if not names:
        raise PlanError("no operations to plan with; name at least one")
    return [operations.get_operation(name).name for name in names]


def check_planning_method(way: str) -> None:
    if way not in get_args(PlanningMethod):
        raise PlanError(f"there is no way {way!r} to plan; there are {', '.join(get_args(PlanningMethod))}")


def check_planning_settings(tolerance: float, numbers: dict[str, tuple[int, int]]) -> None:
    """`numbers` are settings with the least that each may be."""
    for name, (value, least) in numbers.items():
        if value < least:
            raise PlanError(f"{name} is {value}; it is at least {least}")
    if not tolerance >= 0:
        raise PlanError(f"tolerance is {tolerance:g}; it is 0 or more, a mean absolute difference")
