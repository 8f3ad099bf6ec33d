"""Plan a pair whose edit differs between parts of the picture.

Named places come first (`at_places`): a recipe for the sky works on other photos too. What they do not
explain is planned in masks.

After the paper's second algorithm: I' = o(I) M + I (1 - M), for every operation o and mask candidate M,
with a beam of the best; docs/local.md lists the differences. Parameters are solved on the pixels inside a
mask; only masks that fit the change are tried. Among explanations that are nearly as good, the simpler
operation and the tighter mask win. Where no operation explains a mask and its structure is gone, something
was removed.

Steps chosen one after the other make up for what comes later where their masks overlap, often with more
parameters than needed and in the wrong order. So they are refined together afterwards: all parameters are
fitted at once, in other orders too; steps that the others can replace are dropped, and simpler operations
take the place of others. Repairs stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

import numpy as np

from .. import operations
from ..errors import PlanError
from ..executor import PhotoLike
from ..operations import REFERENCE_SHORT_SIDE
from ..recipe import Recipe, Step
from ..recipe.wording import label_where
from .at_places import choose_working_side, find_place_weights, plan_at_places
from .darkroom import BASIC
from .fit import MaskedFitter
from .masked import (
    LocalStep,
    MaskCandidate,
    PixelSample,
    describe_location,
    downsample_for_structure,
    is_removal,
    is_structure_lost,
    render_local_steps,
    render_recipe,
    subsample_region,
)
from .pictures import (
    L1Cost,
    PhotoPair,
    Picture,
    apply_step,
    check_same_scene,
    make_identity_step,
    open_photo_pair,
    reads_neighbours,
    to_recipe,
)
from .planner import Plan, check_operation_names, check_planning_settings, measure_difference, shows_detail
from .segments import (
    Region,
    Segmenter,
    check_masks,
    find_changed_pixels,
    find_changed_regions,
    intersection_over_union,
    segment_by_colour,
)
from .solvers import solve_inside_mask

MaskSource = Sequence[Region] | Segmenter

_MIN_TRIAL_GAIN_SHARE = 0.01
"""Share of the initial cost that a step must take away to be tried; to stay it needs `MIN_GAIN_SHARE`."""
MIN_GAIN_SHARE = 0.08
"""Share of the initial cost that a step must take away to stay."""
MAX_SIMPLIFICATION_LOSS = 0.04
"""Share of a step's gain that a simpler operation or a tighter mask may cost."""
_MAX_PERMUTED_STEPS = 3
"""Steps of which all orders are tried; of more, only exchanges of neighbours."""
MASK_LIMIT = 8
"""Mask candidates tried at each step, those that fit the change best."""
_GLOBAL_CHANGE_SHARE = 0.8
"""Share of changed pixels above which the photos are checked to show the same scene."""
_MAX_MASK_SHARE = 0.995
"""Masks that cover more of the picture than this are dropped."""
PLACES_EXPLAIN_SHARE = 0.2
"""Steps at places that leave at most this share of the difference explain it, and no masks are tried."""
BETTER_MASKS_SHARE = 0.7
"""Otherwise masks are preferred if they leave at most this share of what places leave."""


@dataclass(frozen=True)
class LocalPlan(Plan):
    """A plan whose steps may apply at places or in masks.

    `regions` are the places or the chosen mask candidates, None for the whole picture.
    """

    regions: tuple[Region | None, ...]

    def describe_places(self) -> list[str]:
        """Where each step works: "sky, 46 % of the picture, top"."""
        locations = map(describe_location, self.regions)
        pairs = zip(self.recipe.steps, locations, strict=True)
        return [text if step.where is None else f"{label_where(step.where)}, {text}" for step, text in pairs]


@dataclass(frozen=True)
class LocalSearchState:
    """A picture reached by the search, its cost and the steps that led to it."""

    picture: Picture
    cost: float
    steps: tuple[LocalStep, ...] = ()


@dataclass(frozen=True)
class CandidateStep:
    """A step that a state may take, and by how much it lowers the cost on a sample of the pixels."""

    state: LocalSearchState
    step: LocalStep
    gain: float
    picture: Picture | None = None
    """The picture after it, where that is known already."""

    @property
    def cost(self) -> float:
        return self.state.cost - self.gain

    @property
    def simplicity(self) -> tuple[int, float, float]:
        return self.step.complexity, self.step.place.area, self.cost

    def take(self, target: Picture) -> LocalSearchState:
        """The state after the step, its cost measured on all pixels."""
        picture = self.step.apply(self.state.picture) if self.picture is None else self.picture
        return LocalSearchState(picture, float(L1Cost(target)(picture)), (*self.state.steps, self.step))


def plan_local(
    before: PhotoLike,
    after: PhotoLike,
    *,
    masks: MaskSource | None = None,
    operations: Sequence[str] | None = None,
    repair: str | None = "inpaint",
    steps: int = 3,
    beam: int = 2,
    tolerance: float = 0.006,
    size: int = REFERENCE_SHORT_SIDE,
    mask_limit: int = MASK_LIMIT,
) -> LocalPlan:
    """Find the local steps that best explain how `before` became `after` (photos, arrays or files).

    Without `masks`, steps at the named places of the photo are planned first, in the darkroom's operations of
    light and colour; where they do not explain the difference, steps in masks are, in the paper's. `masks`
    are boolean arrays (H, W) of any size, or a segmenter; by default regions of similar colour and of visible
    change are tried. Each step tries the whole picture and the `mask_limit` masks that overlap best with what
    is still unexplained. `repair` names the repair that explains a removal, None for no removals. Planning in
    masks ends after `steps`, when nothing helps, or when the mean absolute difference over the changed pixels
    is below `tolerance`. `size` is the working short side for masks; below that of the photos (and the
    reference size) sharpness is left out. `operations` are used at places and in masks; those of the paper in
    masks alone.
    """
    numbers = {"steps": (steps, 1), "beam": (beam, 1), "size": (size, 16), "mask_limit": (mask_limit, 1)}
    check_planning_settings(tolerance, numbers)
    repair, names = _check_repair(repair), check_operation_names(operations)
    pair = open_photo_pair(before, after, same_scene=False)
    working = min(size, REFERENCE_SHORT_SIDE)
    start, target = pair.working_pictures(working)
    if find_changed_pixels(start, target).mean() > _GLOBAL_CHANGE_SHARE:
        check_same_scene(pair)
    basic = BASIC if operations is None else [name for name in names if name in BASIC]
    placed = _plan_at_places(pair, steps, basic) if masks is None and not _are_papers(basic) else None
    if placed is not None and placed.cost <= PLACES_EXPLAIN_SHARE * placed.start_cost:
        return placed
    detailed = shows_detail(working, pair.short_side)
    names = [name for name in names if detailed or not reads_neighbours(name)]
    try:
        candidates = _collect_mask_candidates(masks, start, target)
    except PlanError:  # an extra is missing
        if placed is None or not placed.recipe.steps:
            raise
        return placed
    search = LocalSearch(target, names, repair, candidates, steps, beam, tolerance, mask_limit)
    refined = refine_local_steps(search.run(start).steps, start, target, names)
    masked = _build_local_plan(refined, pair, start, target)
    if placed is not None and placed.recipe.steps and masked.cost > BETTER_MASKS_SHARE * placed.cost:
        return placed
    return masked


def _are_papers(names: Sequence[str]) -> bool:
    return set(names) <= set(operations.PAPER)


def _plan_at_places(pair: PhotoPair, steps: int, names: Sequence[str]) -> LocalPlan:
    """A plan of steps at the places of the photo and of steps for all of it."""
    start, target = pair.working_pictures(choose_working_side(pair))
    weights = find_place_weights(pair.before, start)
    found = plan_at_places(start, target, weights, steps, names)
    recipe, cost = to_recipe(found), L1Cost(target)
    pictures = render_recipe(recipe, start)
    return LocalPlan(
        recipe,
        measure_difference(pair, recipe),
        measure_difference(pair, Recipe()),
        tuple(float(cost(picture)) for picture in pictures),
        pictures,
        target,
        tuple(None if step.where is None else weights[str(step.where)] > 0.5 for step in recipe.steps),
    )


@dataclass(frozen=True)
class LocalSearch:
    """A beam search over operations and mask candidates on working pictures."""

    target: Picture
    names: Sequence[str]
    repair: str | None
    candidates: Sequence[MaskCandidate]
    steps: int
    beam: int
    tolerance: float
    mask_limit: int

    def run(self, start: Picture) -> LocalSearchState:
        """The best state; the start itself where nothing helps."""
        best = LocalSearchState(start, float(L1Cost(self.target)(start)))
        min_gain = _MIN_TRIAL_GAIN_SHARE * best.cost
        goal = self.tolerance * find_changed_pixels(start, self.target).mean()
        beam = [best]
        for _ in range(self.steps):
            if best.cost <= goal:
                break
            moves = [move for state in beam for move in self._find_moves(state) if move.gain >= min_gain]
            if not moves:
                break
            beam = [move.take(self.target) for move in _rank_candidate_steps(moves)[: self.beam]]
            if beam[0].cost > best.cost - min_gain:
                break
            best = beam[0]
        return best

    def _find_moves(self, state: LocalSearchState) -> Iterator[CandidateStep]:
        """One more step, in each mask that fits what is still unexplained."""
        differs = find_changed_pixels(state.picture, self.target)
        if not differs.any():
            return
        unexplained = subsample_region(differs)
        ranked = sorted(
            self.candidates, key=lambda place: -intersection_over_union(place.small_region, unexplained)
        )
        whole = [place for place in ranked[self.mask_limit :] if place.region is None]
        for place in (*ranked[: self.mask_limit], *whole):
            if place.inside.any():
                yield from self._explain(state, place, differs)

    def _explain(
        self, state: LocalSearchState, place: MaskCandidate, differs: Region
    ) -> Iterator[CandidateStep]:
        """Each operation in a mask or, where structure is gone that no operation takes away, a repair."""
        inside = place.inside[place.box]
        judged = inside & differs[place.box]
        if not judged.any():
            return
        moves = self._solve_operations(state, place)
        closest = min(moves, key=lambda move: move.cost).step.step
        box = (slice(None), *place.box)
        now, goal = (np.ascontiguousarray(picture[box]) for picture in (state.picture, self.target))
        best = np.where(inside, apply_step(closest, now), now)
        now, best, goal, judged, inside = downsample_for_structure(
            (now, best, goal, judged, inside), min(place.shape)
        )
        if not is_structure_lost(now, best, goal, judged):
            yield from moves
        elif place.region is not None and is_removal(now, goal, inside):
            yield from self._repair(state, place, differs)

    def _solve_operations(self, state: LocalSearchState, place: MaskCandidate) -> list[CandidateStep]:
        """Each operation with its best parameters in a mask."""
        sample = place.sample
        before, after = sample.take(state.picture), sample.take(self.target)
        initial = self._measure(sample, before, after)
        moves = []
        for name in self.names:
            step = solve_inside_mask(name, before, after, sample.is_centre)
            gain = place.area * (initial - self._measure(sample, apply_step(step, before), after))
            moves.append(CandidateStep(state, LocalStep(step, place), gain))
        return moves

    @staticmethod
    def _measure(sample: PixelSample, picture: Picture, target: Picture) -> float:
        return float(np.abs(sample.centres(picture) - sample.centres(target)).mean())

    def _repair(
        self, state: LocalSearchState, place: MaskCandidate, differs: Region
    ) -> Iterator[CandidateStep]:
        """A removal in a mask; changed pixels inside count as explained, however they were filled."""
        if self.repair is not None:
            step = LocalStep(Step.from_trusted(self.repair, ()), place)
            picture = np.where(place.inside & differs, self.target, step.apply(state.picture))
            yield CandidateStep(state, step, state.cost - float(L1Cost(self.target)(picture)), picture)


def _rank_candidate_steps(moves: Sequence[CandidateStep]) -> list[CandidateStep]:
    """The simplest of those nearly as good as the best, then the others by cost."""
    best = min(moves, key=lambda move: move.cost)
    near = [move for move in moves if move.cost <= best.cost + MAX_SIMPLIFICATION_LOSS * best.gain]
    first = min(near, key=lambda move: move.simplicity)
    return [first, *sorted((m for m in moves if m is not first), key=lambda move: move.cost)]


def _collect_mask_candidates(
    masks: MaskSource | None, start: Picture, target: Picture
) -> list[MaskCandidate]:
    """All candidates, the whole picture among them."""
    if masks is None:
        regions = [*find_changed_regions(start, target), *segment_by_colour(start)]
    else:
        regions = list(masks(start) if callable(masks) else masks)
    height, width = start.shape[1:]
    partial = [region for region in check_masks(regions) if region.mean() <= _MAX_MASK_SHARE]
    return [MaskCandidate(region, (height, width)) for region in (*partial, None)]


def _build_local_plan(
    steps: Sequence[LocalStep], pair: PhotoPair, start: Picture, target: Picture
) -> LocalPlan:
    recipe, pictures = render_local_steps(steps, start)
    cost = L1Cost(target)
    return LocalPlan(
        recipe,
        measure_difference(pair, recipe),
        measure_difference(pair, Recipe()),
        tuple(float(cost(picture)) for picture in pictures),
        pictures,
        target,
        tuple(step.place.region for step in steps),
    )


def _check_repair(name: str | None) -> str | None:
    if name is not None and name not in operations.repairs():
        raise PlanError(f"there is no repair {name!r}; there are {', '.join(operations.repairs())}")
    return name


@dataclass(frozen=True)
class RefinedSteps:
    """Steps other than repairs, and their mean difference over what was edited."""

    steps: tuple[LocalStep, ...]
    cost: float


def refine_local_steps(
    steps: Sequence[LocalStep], start: Picture, target: Picture, names: Sequence[str]
) -> list[LocalStep]:
    """Better steps of these operations, in the masks of `steps` or fewer; repairs as they are."""
    refinement = LocalRefinement(steps, start, target, names)
    if not refinement.where.any():
        return list(steps)
    edits = iter(refinement.run(tuple(step for step in steps if not step.is_repair)).steps)
    refined = [step if step.is_repair else next(edits, None) for step in steps]
    return [step for step in refined if step is not None]


@dataclass(frozen=True)
class LocalRefinement:
    """One pair, the steps that a search found for it, and the operations that may replace theirs."""

    steps: Sequence[LocalStep]
    start: Picture
    target: Picture
    names: Sequence[str]

    def run(self, edits: tuple[LocalStep, ...]) -> RefinedSteps:
        """The steps that are worth keeping, in their best order."""
        fits = [self._fit(order) for order in (edits, *_permute_steps(edits))]
        best = self._prune(min(fits, key=lambda fit: fit.cost))
        for at in range(len(best.steps) if len(edits) > 1 else 0):
            best = self._simplify(best, at)
        return best

    @cached_property
    def _weights(self) -> dict[int, np.ndarray]:
        return {id(step.place): step.weight for step in self.steps}

    @cached_property
    def where(self) -> Region:
        """(H, W): pixels that were edited and not repaired, on which fits are measured."""
        where = np.zeros(self.start.shape[1:], bool)
        for step in sorted(self.steps, key=lambda step: step.is_repair):
            weight = self._weights[id(step.place)]
            where = where & (weight == 0) if step.is_repair else where | (weight > 0)
        return where

    @cached_property
    def _fitters(self) -> dict[int, MaskedFitter]:
        """Number of steps that read neighbours -> a fitter with as many neighbours around its pixels."""
        return {}

    def _fit(self, edits: Sequence[LocalStep]) -> RefinedSteps:
        reach = sum(reads_neighbours(edit.operation) for edit in edits)
        if reach not in self._fitters:
            self._fitters[reach] = MaskedFitter(self.start, self.target, self.where, reach)
        weights = [self._weights[id(edit.place)] for edit in edits]
        fit = self._fitters[reach].fit(tuple(edit.step for edit in edits), weights)
        moved = (replace(edit, step=step) for edit, step in zip(edits, fit.steps, strict=True))
        return RefinedSteps(tuple(moved), fit.cost)

    def _prune(self, best: RefinedSteps) -> RefinedSteps:
        """Drop the steps that the others can make up for."""
        min_gain = MIN_GAIN_SHARE * float(L1Cost(self.target)(self.start)) / self.where.mean()
        while best.steps:
            shorter = min(self._drop_each(best), key=lambda fit: fit.cost)
            if shorter.cost > best.cost + min_gain:
                break
            best = shorter
        return best

    def _drop_each(self, best: RefinedSteps) -> Iterator[RefinedSteps]:
        for at in range(len(best.steps)):
            yield self._fit((*best.steps[:at], *best.steps[at + 1 :]))

    def _simplify(self, best: RefinedSteps, at: int) -> RefinedSteps:
        """Replace a step by an operation with fewer parameters, if that does nearly as well."""
        step = best.steps[at]
        names = [
            name for name in self.names if operations.get_published_operation(name).size < step.complexity
        ]
        if not names:
            return best
        before, after = best.steps[:at], best.steps[at + 1 :]
        allowed_loss = MAX_SIMPLIFICATION_LOSS * (self._fit((*before, *after)).cost - best.cost)
        simpler = [
            self._fit((*before, replace(step, step=make_identity_step(name)), *after)) for name in names
        ]
        near = [fit for fit in simpler if fit.cost <= best.cost + allowed_loss]
        return min(near, key=lambda fit: (fit.steps[at].complexity, fit.cost)) if near else best


def _permute_steps(edits: tuple[LocalStep, ...]) -> Iterator[tuple[LocalStep, ...]]:
    """Other orders of the same steps."""
    if len(edits) <= _MAX_PERMUTED_STEPS:
        yield from list(permutations(edits))[1:]
        return
    for at in range(len(edits) - 1):
        yield (*edits[:at], edits[at + 1], edits[at], *edits[at + 2 :])
