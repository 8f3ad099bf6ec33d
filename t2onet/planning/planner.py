"""Plan a before/after pair: from two photos to the recipe between them.

The default method, `joint`, fits all operations together and drops what is not needed: those of the darkroom
in their usual order (`darkroom`), the paper's in a few orders. The others are forward searches like the
paper's, with a solver of ours or the paper's Nelder-Mead, optionally refined by a joint fit; without an
edited photo they minimize any other cost. Planning works on area-averaged pictures; the cost of a plan is
measured on the photos themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..errors import PlanError
from ..executor import PhotoLike, apply
from ..image import Image, open_image
from ..image.pixels import to_depth
from ..operations import PAPER, REFERENCE_SHORT_SIDE, get_operation
from ..recipe import Recipe, Step
from .darkroom import DARKROOM, DARKROOM_STEPS, plan_darkroom
from .fit import FittedSteps, JointFitter, sample_pixels
from .framing import open_framed_pair
from .pictures import (
    CostFunction,
    L1Cost,
    PhotoPair,
    Picture,
    StepSequence,
    apply_step,
    describe_remainder,
    make_identity_step,
    reads_neighbours,
    render_intermediates,
    to_recipe,
)
from .solvers import Solver, check_solver, find_solver

SearchMethod = Literal["beam", "fixed", "epsilon-greedy"]
"""How a forward search picks operations: the best ones, in `FIXED_ORDER`, or at times at random."""
PlanningMethod = Literal["joint", "beam", "fixed", "epsilon-greedy"]

OPERATION_SETS = {"darkroom": DARKROOM, "paper": PAPER}
"""Names that stand for several operations."""
PAPER_STEPS = 6
"""How many steps a plan in other operations than the darkroom's has by default, at most."""

FIXED_ORDER = ("brightness", "contrast", "saturation", "color", "tone", "sharpness")
EPSILON = 0.05
"""Probability that a step of epsilon-greedy is random."""
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
"""Orders of the operations on single pixels that a joint fit compares, the most fruitful first (LOG.md)."""
_USUAL_ORDERS = 2
"""Orders compared in any case; the others only where an exact recipe is likely."""
_SKETCH_SAMPLE = 512
"""Pixels on which orders are compared."""
_FINAL_SAMPLE = 2048
"""Pixels on which the last rounds linearize."""
_REFIT_DELTA = 0.02
"""Delta of the first round when fitted steps are fitted again, such as without one of them."""
_NEAR_EXACT_COST = 0.0075
"""Below this cost an exact recipe is likely, and more orders are tried for it."""
_ROWS_PER_BLOCK = 64
"""Rows of the photos that are compared at a time."""

_VISIBLE_COST, _ACCOUNTED_SHARE = 0.004, 0.5
"""A plan accounts for an edit if the difference was not visible, or at most this share of it remains."""
_CLEAR_COST, _UNEXPLAINED_SHARE = 0.01, 0.8
"""A plan explains little of an edit if the difference was clear, and more than this share of it remains."""


@dataclass(frozen=True)
class Plan:
    """A recipe that turns `before` into something close to `after`.

    `cost` and `start_cost` are mean absolute differences from `after` on the photos themselves, with and
    without the recipe. `pictures` are the working picture at first and after each step, (3, H, W), `costs`
    their differences from `target`. Geometry, such as a crop, comes first in the recipe; `start_cost` and the
    pictures are those of `before` framed like `after`. A plan for a custom cost has no target; its costs are
    those of the pictures.
    """

    recipe: Recipe
    cost: float
    start_cost: float
    costs: tuple[float, ...]
    pictures: tuple[Picture, ...]
    target: Picture | None

    @property
    def residual(self) -> Picture:
        """(3, H, W): the absolute difference that remains."""
        if self.target is None:
            raise PlanError("this plan was made by a cost alone; there is no edited photo to differ from")
        residual: Picture = np.abs(self.pictures[-1] - self.target)
        return residual

    @property
    def remainder(self) -> str:
        """What the remaining difference looks like, in words; empty where nothing can be said of it."""
        return "" if self.target is None else describe_remainder(self.pictures[-1], self.target)

    @property
    def accounts_for_edit(self) -> bool:
        """Whether at most half of a visible difference remains."""
        return self.start_cost <= _VISIBLE_COST or self.cost <= _ACCOUNTED_SHARE * self.start_cost

    @property
    def explains_little(self) -> bool:
        """Whether more than 80 % of a clear difference remains."""
        return self.start_cost > _CLEAR_COST and self.cost > _UNEXPLAINED_SHARE * self.start_cost


@dataclass(frozen=True)
class PlannerSettings:
    """How a pair is planned; `plan` explains the settings that it shares.

    With `detail_last`, operations that read neighbours are left out where the working size is too small for
    them and solved last, at the reference size. Without, they take part at any working size. `threads` limits
    the executor when photos are compared.
    """

    operations: Sequence[str]
    method: PlanningMethod = "joint"
    solver: str = "fast"
    steps: int = 6
    beam: int = 3
    random_beam: int = 1
    tolerance: float = 0.01
    repeats: bool = False
    refine: bool = False
    size: int = WORKING_SIZE
    seed: int = 0
    detail_last: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        check_planning_method(self.method)
        numbers = {"steps": (self.steps, 1), "beam": (self.beam, 1), "size": (self.size, 16)}
        numbers |= {"seed": (self.seed, 0), "random_beam": (self.random_beam, 1)}
        check_planning_settings(self.tolerance, numbers)
        check_solver(self.solver, self.method)

    def make_search(self, cost: CostFunction, names: Sequence[str]) -> ForwardSearch:
        """The forward search over these operations."""
        return ForwardSearch(
            cost,
            find_solver(self.solver),
            names,
            beam=self.beam,
            steps=self.steps,
            tolerance=self.tolerance,
            repeats=self.repeats,
            method="beam" if self.method == "joint" else self.method,
            seed=self.seed,
            random_beam=self.random_beam,
        )


def plan(
    before: PhotoLike,
    after: PhotoLike | None = None,
    *,
    cost: CostFunction | None = None,
    way: PlanningMethod | None = None,
    operations: Sequence[str] | None = None,
    steps: int | None = None,
    beam: int = 3,
    random_beam: int = 1,
    tolerance: float = 0.01,
    repeats: bool = False,
    solver: str | None = None,
    refine: bool | None = None,
    size: int = WORKING_SIZE,
    seed: int = 0,
) -> Plan:
    """Find the recipe that best explains how `before` became `after` (photos, arrays or files).

    Pass exactly one of `after` and `cost`, a function from a picture (3, H, W) to a number to minimize by a
    forward search.

    `way` is "joint" (the default), or a forward search like the paper's: "beam" (any order; the default
    with `repeats`, a `cost` or a solver other than "fast"), "fixed" (one order) or "epsilon-greedy".
    `operations` is what the recipe may use: "darkroom" (the default of "joint"), "paper" (that of a forward
    search) or names. `steps` limits its length, by default to 8, or 6 in the paper's operations. Where
    `after` is a part of `before`, turned or mirrored, the recipe begins with that geometry, which counts for
    neither. `size` is the short side of the working pictures.

    A forward search continues from the `beam` best pictures, and epsilon-greedy from up to `random_beam`
    after a random choice by `seed`. It ends below `tolerance`, a mean absolute difference. `repeats` lets
    it use an operation more than once. `solver` is "fast" (ours, the default), "nelder-mead" (the paper's,
    the default for a `cost`), "adam", "l-bfgs" or "newton". `refine` fits its result jointly, by default if
    the solver is "fast".
    """
    if (after is None) == (cost is None):
        raise PlanError("pass exactly one of after (an edited photo) and cost (a function to minimize)")
    solver = solver or ("fast" if cost is None else "nelder-mead")
    way = way or ("joint" if solver == "fast" and not repeats and cost is None else "beam")
    if cost is not None and way == "joint":
        raise PlanError("the way 'joint' needs an edited photo; choose beam, fixed or epsilon-greedy")
    names = check_operation_names("darkroom" if operations is None and way == "joint" else operations)
    settings = PlannerSettings(
        operations=names,
        method=way,
        solver=solver,
        steps=(PAPER_STEPS if _are_papers(names) else DARKROOM_STEPS) if steps is None else steps,
        beam=beam,
        random_beam=random_beam,
        tolerance=tolerance,
        repeats=repeats,
        refine=solver == "fast" if refine is None else refine,
        size=min(size, REFERENCE_SHORT_SIDE),
        seed=seed,
    )
    if cost is not None:
        return _plan_by_cost(open_image(before), cost, settings)
    assert after is not None
    framed = open_framed_pair(before, after)
    return plan_pair(framed.pair, settings, framed.framing)


def plan_pair(pair: PhotoPair, settings: PlannerSettings, framing: StepSequence = ()) -> Plan:
    """Find the recipe between the photos of a pair; `framing` are the steps that `before` went through."""
    start, target = pair.working_pictures(settings.size)
    postponed: list[str] = []
    if settings.detail_last and not shows_detail(settings.size, pair.short_side):
        postponed = [name for name in settings.operations if reads_neighbours(name)]
    search = settings.make_search(
        L1Cost(target), [name for name in settings.operations if name not in postponed]
    )
    steps = _find_steps(search, start, target, settings)
    if len(steps) < settings.steps:
        steps = _append_detail(steps, postponed, pair, search.solver)
    if settings.detail_last and any(reads_neighbours(step.operation) for step in steps):
        start, target = pair.working_pictures(REFERENCE_SHORT_SIDE)
    recipe = to_recipe(steps)
    pictures = tuple(render_intermediates(recipe.steps, start))
    cost = L1Cost(target)
    pictures = (start,) * len(framing) + pictures
    return Plan(
        Recipe(steps=(*framing, *recipe.steps)),
        measure_difference(pair, recipe, settings.threads),
        measure_difference(pair, Recipe(), settings.threads),
        tuple(float(cost(picture)) for picture in pictures),
        pictures,
        target,
    )


def _find_steps(
    search: ForwardSearch, start: Picture, target: Picture, settings: PlannerSettings
) -> StepSequence:
    if settings.method == "joint":
        plan_jointly = plan_pictures if _are_papers(search.operations) else plan_darkroom
        return plan_jointly(start, target, search.steps, search.operations).steps
    steps = search.run(start).steps
    return JointFitter(start, L1Cost(target)).fit(steps).steps if settings.refine and steps else steps


def _append_detail(steps: StepSequence, names: Sequence[str], pair: PhotoPair, solve: Solver) -> StepSequence:
    """Add the operations `names` where they help, solved on pictures of the reference size."""
    if not names:
        return steps
    start, target = pair.working_pictures(REFERENCE_SHORT_SIDE)
    cost = L1Cost(target)
    picture = render_intermediates(steps, start)[-1]
    for name in names:
        step = solve(name, picture, cost)
        edited = apply_step(step, picture)
        if cost(edited) < cost(picture) - MIN_STEP_GAIN:
            steps, picture = (*steps, step), edited
    return steps


def _plan_by_cost(photo: Image, cost: CostFunction, settings: PlannerSettings) -> Plan:
    """Plan for a custom cost, on a working picture of the photo."""
    start, _ = PhotoPair(photo, photo).working_pictures(settings.size)
    detailed = shows_detail(settings.size, min(photo.height, photo.width))
    names = [name for name in settings.operations if detailed or not reads_neighbours(name)]
    recipe = to_recipe(settings.make_search(cost, names).run(start).steps)
    pictures = tuple(render_intermediates(recipe.steps, start))
    costs = tuple(float(cost(picture)) for picture in pictures)
    return Plan(recipe, costs[-1], costs[0], costs, pictures, None)


def shows_detail(size: int, short_side: int) -> bool:
    """Whether operations that read neighbours mean the same at a working size as on a photo."""
    return size >= min(short_side, REFERENCE_SHORT_SIDE)


def plan_pictures(
    start: Picture, target: Picture, steps: int = 6, names: Sequence[str] | None = None
) -> FittedSteps:
    """Plan jointly on working pictures (3, H, W) float32 as they are; `names` are the operations allowed.

    Orders are compared on a few pixels, without operations that read neighbours; the best is fitted on all.
    """
    allowed = check_operation_names(names)
    detail = tuple(make_identity_step(name) for name in allowed if reads_neighbours(name))
    sketch = _fit_best_order(start, target, [name for name in allowed if not reads_neighbours(name)])
    fitter = JointFitter(start, L1Cost(target))
    best = fitter.fit((*sketch, *detail), rounds=10, delta=_REFIT_DELTA)
    if sketch and detail and _is_likely_exact(best):
        detail_first = fitter.fit((*detail, *sketch), rounds=10, delta=_REFIT_DELTA)
        best = min(best, detail_first, key=lambda fit: fit.cost)
    pruned = _prune_steps(fitter, best, steps)
    return JointFitter(start, fitter.cost, _FINAL_SAMPLE).fit(pruned.steps, rounds=6, delta=_REFIT_DELTA)


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
    return best.steps


def _is_likely_exact(fit: FittedSteps) -> bool:
    """Close enough for an exact recipe to exist, and not exact yet."""
    return MIN_STEP_GAIN < fit.cost < _NEAR_EXACT_COST


def _arrange_operations(order: Sequence[str], names: Sequence[str]) -> list[str]:
    """The allowed operations in this order, followed by those that are not part of it."""
    return [name for name in order if name in names] + [name for name in names if name not in order]


def _prune_steps(fitter: JointFitter, fit: FittedSteps, limit: int) -> FittedSteps:
    """Drop steps that gain less than `MIN_STEP_GAIN`, and more until at most `limit` are left."""
    if fit.cost < _NEAR_EXACT_COST:
        fit = _find_single_operation(fitter, fit) or fit
    while fit.steps and (shorter := _find_shorter(fitter, fit, limit)) is not None:
        fit = shorter
    return fit


def _find_shorter(fitter: JointFitter, fit: FittedSteps, limit: int) -> FittedSteps | None:
    """The fit without one of its steps, where that loses little or there are more than `limit`.

    The step that is missed least is tried; where an exact recipe is likely, the others in their turn.
    """
    shorter = (fit.steps[:at] + fit.steps[at + 1 :] for at in range(len(fit.steps)))
    rests = [FittedSteps(rest, fitter.cost(render_intermediates(rest, fitter.start)[-1])) for rest in shorter]
    rests.sort(key=lambda one: one.cost)
    is_near, is_long = fit.cost < _NEAR_EXACT_COST, len(fit.steps) > limit
    if not is_near and not is_long and rests[0].cost > fit.cost + 10 * MIN_STEP_GAIN:
        return None
    refitted = []
    for rest in rests if is_near else rests[:1]:
        refitted.append(fitter.fit(rest.steps, rounds=10, delta=_REFIT_DELTA))
        if refitted[-1].cost <= fit.cost + MIN_STEP_GAIN:
            return refitted[-1]
    return min(refitted, key=lambda one: one.cost) if is_long else None


def _find_single_operation(fitter: JointFitter, fit: FittedSteps) -> FittedSteps | None:
    """One of the operations with one parameter, where it does as well as all steps together."""
    single = [
        fitter.fit([make_identity_step(step.operation)]) for step in fit.steps if len(step.parameters) == 1
    ]
    best = min(single, key=lambda one: one.cost, default=fit)
    return best if len(best.steps) == 1 and best.cost <= fit.cost + MIN_STEP_GAIN else None


@dataclass(frozen=True)
class SearchNode:
    """A picture reached by a search: its cost, and the step and the node that led to it."""

    picture: Picture
    cost: float
    step: Step | None = None
    parent: SearchNode | None = None

    def trace(self) -> list[SearchNode]:
        """The nodes from the start to this one."""
        return [*(self.parent.trace() if self.parent else ()), self]

    @property
    def steps(self) -> StepSequence:
        return tuple(node.step for node in self.trace() if node.step is not None)


@dataclass(frozen=True)
class ForwardSearch:
    """The paper's search: steps one after the other, the parameters of each solved as it is tried.

    From each picture of the beam every allowed operation is solved, and the best results are the next beam.
    It ends at the tolerance, at the step limit, or when no operation is left.
    """

    cost: CostFunction
    solver: Solver
    operations: Sequence[str]
    beam: int = 3
    steps: int = 6
    tolerance: float = 0.01
    repeats: bool = False
    method: SearchMethod = "beam"
    seed: int = 0
    random_beam: int = 1
    """Nodes that epsilon-greedy continues from after a random choice, at most."""

    def run(self, start: Picture) -> SearchNode:
        """The best node; the start itself where no step helps."""
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
            candidates = [
                self._extend(node, name) for node in beam for name in self._iterate_allowed(node, number)
            ]
            if not candidates:
                return
            beam = self._select(candidates, rng)
            best = min(best, *beam, key=lambda node: node.cost)
            yield best

    def _iterate_allowed(self, node: SearchNode, number: int) -> Iterator[str]:
        if self.method == "fixed":
            ranked = sorted(self.operations, key=lambda name: (*FIXED_ORDER, name).index(name))
            yield from ranked[number : number + 1]
            return
        used = () if self.repeats else {step.operation for step in node.steps}
        yield from (name for name in self.operations if name not in used)

    def _extend(self, node: SearchNode, name: str) -> SearchNode:
        step = self.solver(name, node.picture, self.cost)
        picture = apply_step(step, node.picture)
        return SearchNode(picture, float(self.cost(picture)), step, node)

    def _select(self, candidates: list[SearchNode], rng: np.random.Generator) -> list[SearchNode]:
        ranked = sorted(candidates, key=lambda node: node.cost)
        if self.method == "epsilon-greedy" and rng.random() < EPSILON:
            drawn = {int(rng.integers(len(ranked))) for _ in range(self.random_beam)}
            return [ranked[at] for at in sorted(drawn)]
        return ranked[: self.beam]


def measure_difference(pair: PhotoPair, recipe: Recipe, threads: int | None = None) -> float:
    """Mean absolute difference between the edited `before` and `after`, at the smaller size of the two."""
    edited = apply(recipe, pair.before, threads=threads)
    if edited.pixels.shape != pair.after.pixels.shape:
        one, other = PhotoPair(edited, pair.after).working_pictures(pair.short_side)
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


def check_operation_names(names: Sequence[str] | None) -> list[str]:
    """The operations to plan with, by default the paper's; names of sets are replaced by their operations.

    PlanError for an empty list.
    """
    names = ["paper"] if names is None else [names] if isinstance(names, str) else names
    if not names:
        raise PlanError("no operations to plan with; name at least one")
    singles = (single for name in names for single in OPERATION_SETS.get(name, (name,)))
    return [get_operation(name).name for name in dict.fromkeys(singles)]


def _are_papers(names: Sequence[str]) -> bool:
    return set(names) <= set(PAPER)


def check_planning_method(method: str) -> None:
    if method not in get_args(PlanningMethod):
        raise PlanError(
            f"there is no way {method!r} to plan; there are {', '.join(get_args(PlanningMethod))}"
        )


def check_planning_settings(tolerance: float, numbers: dict[str, tuple[int, int]]) -> None:
    """Raise PlanError for a number below its minimum; `numbers` are name -> (value, minimum)."""
    for name, (value, minimum) in numbers.items():
        if value < minimum:
            raise PlanError(f"{name} is {value}; it is at least {minimum}")
    if not tolerance >= 0:
        raise PlanError(f"tolerance is {tolerance:g}; it is 0 or more, a mean absolute difference")
