"""Plan a pair whose edit differs between parts of the picture."""

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
from ..recipe import Recipe
from .fit import MaskedFitter
from .pairs import PhotoPair, check_same_scene, open_photo_pair
from .pictures import Action, L1Cost, Picture, make_identity_step
from .places import (
    LocalStep,
    MaskCandidate,
    PixelSample,
    downsample_for_structure,
    is_removal,
    is_structure_lost,
    render_local_steps,
    subsample_region,
)
from .planner import (
    Plan,
    check_operation_names,
    check_planning_settings,
    measure_difference,
    reads_neighbours,
)
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

# From a before/after pair to a recipe whose steps work in parts of the picture.
#
# After the paper's second algorithm: I' = o(I) M + I (1 - M), for every operation o and mask candidate M,
# with
# a beam of the best; docs/local.md says where this one differs. Parameters are solved on the pixels inside a
# mask alone; only masks that fit the change are tried. Among explanations that are nearly as good the simpler
# operation and the tighter mask win. Where no operation explains a mask and its structure is gone, what was
# there has been removed (`removal.py`). This module knows nothing of what the masks show.

MaskSource = Sequence[Region] | Segmenter

_MIN_TRIAL_GAIN_SHARE = 0.01
"""A step is tried if it takes away this share of what was there to explain; to stay it must be worth more."""
MASK_LIMIT = 8
"""Mask candidates tried at each step, those that fit the change best."""
_GLOBAL_CHANGE_SHARE = 0.8
"""Of the picture: where less changed, the rest shows that both photos are of the same scene."""
_MAX_MASK_SHARE = 0.995
"""A mask that covers more of the picture than this is none."""


@dataclass(frozen=True)
class LocalPlan(Plan):
    """A plan whose steps may have masks; `regions` are the chosen candidates, None for the whole picture."""

    regions: tuple[Region | None, ...]


@dataclass(frozen=True)
class LocalSearchState:
    """A picture on the way, its cost and the steps that led there."""

    picture: Picture
    cost: float
    steps: tuple[LocalStep, ...] = ()


@dataclass(frozen=True)
class CandidateStep:
    """A step that a state may take, and by how much it lowers the cost, judged by a sample of the pixels."""

    state: LocalSearchState
    step: LocalStep
    gain: float
    picture: Picture | None = None
    """What it leads to, where that is known already."""

    @property
    def cost(self) -> float:
        return self.state.cost - self.gain

    @property
    def simplicity(self) -> tuple[int, float, float]:
        return self.step.complexity, self.step.place.area, self.cost

    def taken(self, target: Picture) -> LocalSearchState:
        """The state after it, its cost taken on all pixels."""
        picture = self.step.applied(self.state.picture) if self.picture is None else self.picture
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
    """The masked steps that best explain how `before` became `after` (photos, arrays or files).

    `masks` are boolean arrays (H, W) of any size or a segmenter; without, regions of like colour and of
    visible change are tried. At each step the whole picture is tried and, of the masks, the `mask_limit` that
    overlap best with what is still to explain. `repair` is what explains a removal, None where nothing may be
    removed. Planning ends after `steps`, when nothing helps, or when the mean absolute difference over the
    changed pixels is below `tolerance`. `size` is the working short side; below the photos' own (and the
    reference size) sharpness is left out.
    """
    numbers = {"steps": (steps, 1), "beam": (beam, 1), "size": (size, 16), "mask_limit": (mask_limit, 1)}
    check_planning_settings(tolerance, numbers)
    pair = open_photo_pair(before, after, alike=False)
    working = min(size, REFERENCE_SHORT_SIDE, pair.short_side)
    start, target = pair.at(working)
    if find_changed_pixels(start, target).mean() > _GLOBAL_CHANGE_SHARE:
        check_same_scene(pair)
    whole = working >= min(pair.short_side, REFERENCE_SHORT_SIDE)
    names = [name for name in check_operation_names(operations) if whole or not reads_neighbours(name)]
    places = _collect_mask_candidates(masks, start, target)
    search = LocalSearch(target, names, _check_repair(repair), places, steps, beam, tolerance, mask_limit)
    found = refine_local_steps(search.run(start).steps, start, target, names)
    return _build_local_plan(found, pair, start, target)


@dataclass(frozen=True)
class LocalSearch:
    """One search on working pictures, and its settings."""

    target: Picture
    names: Sequence[str]
    repair: str | None
    places: Sequence[MaskCandidate]
    steps: int
    beam: int
    tolerance: float
    mask_limit: int

    def run(self, start: Picture) -> LocalSearchState:
        """The best state found; the start itself where nothing helps."""
        best = LocalSearchState(start, float(L1Cost(self.target)(start)))
        first, beam, enough = (
            best.cost,
            [best],
            self.tolerance * find_changed_pixels(start, self.target).mean(),
        )
        for _ in range(self.steps):
            if best.cost <= enough:
                break
            moves = [
                move
                for state in beam
                for move in self._moves(state)
                if move.gain >= _MIN_TRIAL_GAIN_SHARE * first
            ]
            if not moves:
                break
            beam = [move.taken(self.target) for move in _rank_candidate_steps(moves)[: self.beam]]
            if beam[0].cost > best.cost - _MIN_TRIAL_GAIN_SHARE * first:
                break
            best = beam[0]
        return best

    def _moves(self, state: LocalSearchState) -> Iterator[CandidateStep]:
        """One more step, in each place that fits what is still to explain."""
        differs = find_changed_pixels(state.picture, self.target)
        if not differs.any():
            return
        thin = subsample_region(differs)
        ranked = sorted(self.places, key=lambda place: -intersection_over_union(place.small, thin))
        whole = [place for place in ranked[self.mask_limit :] if place.region is None]
        for place in (*ranked[: self.mask_limit], *whole):
            if place.inside.any():
                yield from self._explained(state, place, differs)

    def _explained(
        self, state: LocalSearchState, place: MaskCandidate, differs: Region
    ) -> Iterator[CandidateStep]:
        """By each operation or, where something is gone that no operation takes away, by a repair."""
        inside = place.inside[place.box]
        judged = inside & differs[place.box]
        if not judged.any():
            return
        moves = self._solved(state, place)
        closest = min(moves, key=lambda move: move.cost).step.action
        box = (slice(None), *place.box)
        now, goal = (np.ascontiguousarray(picture[box]) for picture in (state.picture, self.target))
        best = np.where(inside, closest.applied(now), now)
        now, best, goal, judged, inside = downsample_for_structure(
            (now, best, goal, judged, inside), min(place.shape)
        )
        if not is_structure_lost(now, best, goal, judged):
            yield from moves
        elif place.region is not None and is_removal(now, goal, inside):
            yield from self._repaired(state, place, differs)

    def _solved(self, state: LocalSearchState, place: MaskCandidate) -> list[CandidateStep]:
        """Each operation with its best parameters there."""
        sample = place.sample
        before, after = sample.of(state.picture), sample.of(self.target)
        was = self._off(sample, before, after)
        moves = []
        for name in self.names:
            action = solve_inside_mask(name, before, after, sample.middle)
            gain = place.area * (was - self._off(sample, action.applied(before), after))
            moves.append(CandidateStep(state, LocalStep(action, place), gain))
        return moves

    @staticmethod
    def _off(sample: PixelSample, picture: Picture, target: Picture) -> float:
        return float(np.abs(sample.middles(picture) - sample.middles(target)).mean())

    def _repaired(
        self, state: LocalSearchState, place: MaskCandidate, differs: Region
    ) -> Iterator[CandidateStep]:
        """Something was removed there.

        What somebody filled the hole with is not ours to explain: where the picture changed it counts as met.
        """
        if self.repair is not None:
            step = LocalStep(Action(self.repair, np.empty(0)), place)
            met = np.where(place.inside & differs, self.target, step.applied(state.picture))
            yield CandidateStep(state, step, state.cost - float(L1Cost(self.target)(met)), met)


def _rank_candidate_steps(moves: Sequence[CandidateStep]) -> list[CandidateStep]:
    """The simplest of those nearly as good as the best comes first, then the others by cost."""
    best = min(moves, key=lambda move: move.cost)
    near = [move for move in moves if move.cost <= best.cost + MAX_SIMPLIFICATION_LOSS * best.gain]
    first = min(near, key=lambda move: move.simplicity)
    return [first, *sorted((m for m in moves if m is not first), key=lambda move: move.cost)]


def _collect_mask_candidates(
    masks: MaskSource | None, start: Picture, target: Picture
) -> list[MaskCandidate]:
    """All candidates, the whole picture among them."""
    if masks is None:
        found = [*find_changed_regions(start, target), *segment_by_colour(start)]
    else:
        found = list(masks(start) if callable(masks) else masks)
    height, width = start.shape[1:]
    partial = [region for region in check_masks(found) if region.mean() <= _MAX_MASK_SHARE]
    return [MaskCandidate(region, (height, width)) for region in (*partial, None)]


def _build_local_plan(
    steps: Sequence[LocalStep], pair: PhotoPair, start: Picture, target: Picture
) -> LocalPlan:
    recipe, series = render_local_steps(steps, start)
    cost = L1Cost(target)
    return LocalPlan(
        recipe,
        measure_difference(pair, recipe),
        measure_difference(pair, Recipe()),
        tuple(float(cost(picture)) for picture in series),
        series,
        target,
        tuple(step.place.region for step in steps),
    )


def _check_repair(name: str | None) -> str | None:
    if name is not None and name not in operations.repairs():
        raise PlanError(f"there is no repair {name!r}; there are {', '.join(operations.repairs())}")
    return name


# What a forward search could not know: the steps it found, looked at together.
#
# Steps are chosen one after the other, and where their masks overlap the first ones make up for what comes
# later, often with more numbers than needed and in the wrong order. Here all parameters are fitted
# together, in
# other orders too; what the others can do without is dropped, and what a simpler operation does as well is
# replaced. Repairs stay where they are: around their holes they change nothing.

MAX_SIMPLIFICATION_LOSS = 0.04
"""Share of a step's gain that a simpler operation or a tighter mask may cost."""
MIN_GAIN_SHARE = 0.08
"""A step stays if it takes away at least this share of what was there to explain."""
_MAX_PERMUTED_STEPS = 3
"""Steps of which all orders are tried; of more, only exchanges of neighbours."""


@dataclass(frozen=True)
class RefinedSteps:
    """Steps other than repairs, and their mean difference over what was edited."""

    steps: tuple[LocalStep, ...]
    cost: float


def refine_local_steps(
    steps: Sequence[LocalStep], start: Picture, target: Picture, names: Sequence[str]
) -> list[LocalStep]:
    """Better steps of these operations, in the places of `steps` or fewer; repairs as they are."""
    edits = tuple(step for step in steps if not step.is_repair)
    revision = LocalRefinement(steps, start, target, names)
    if not revision.where.any():
        return list(steps)
    found = iter(revision.run(edits).steps)
    kept = [step if step.is_repair else next(found, None) for step in steps]
    return [step for step in kept if step is not None]


@dataclass(frozen=True)
class LocalRefinement:
    """One pair, the steps that were found for it, and the operations that may take their places."""

    steps: Sequence[LocalStep]
    start: Picture
    target: Picture
    names: Sequence[str]

    def run(self, edits: tuple[LocalStep, ...]) -> RefinedSteps:
        """The steps that are worth their place, in their best order."""
        versions = [self._fitted(order) for order in (edits, *_permute_steps(edits))]
        best = self._pruned(min(versions, key=lambda version: version.cost))
        for at in range(len(best.steps) if len(edits) > 1 else 0):
            best = self._simpler(best, at)
        return best

    @cached_property
    def _shares(self) -> dict[int, np.ndarray]:
        return {id(step.place): step.share for step in self.steps}

    @cached_property
    def where(self) -> Region:
        """(H, W): what was edited and not repaired, which is where versions are judged."""
        where = np.zeros(self.start.shape[1:], bool)
        for step in sorted(self.steps, key=lambda step: step.is_repair):
            share = self._shares[id(step.place)]
            where = where & (share == 0) if step.is_repair else where | (share > 0)
        return where

    @cached_property
    def _fits(self) -> dict[int, MaskedFitter]:
        """By how many actions look aside: the same pixels, with as many neighbours as those need."""
        return {}

    def _fitted(self, edits: Sequence[LocalStep]) -> RefinedSteps:
        reach = sum(reads_neighbours(step.action.operation) for step in edits)
        if reach not in self._fits:
            self._fits[reach] = MaskedFitter(self.start, self.target, self.where, reach)
        fit = self._fits[reach]
        shares = [fit.share(self._shares[id(step.place)]) for step in edits]
        found = fit.fit(tuple(step.action for step in edits), shares)
        moved = (replace(s, action=action) for s, action in zip(edits, found.path, strict=True))
        return RefinedSteps(tuple(moved), found.cost)

    def _pruned(self, best: RefinedSteps) -> RefinedSteps:
        """Without the steps that the others can make up for."""
        worth = MIN_GAIN_SHARE * float(L1Cost(self.target)(self.start)) / self.where.mean()
        while best.steps:
            shorter = min(self._shorter(best), key=lambda version: version.cost)
            if shorter.cost > best.cost + worth:
                break
            best = shorter
        return best

    def _shorter(self, best: RefinedSteps) -> Iterator[RefinedSteps]:
        for at in range(len(best.steps)):
            yield self._fitted((*best.steps[:at], *best.steps[at + 1 :]))

    def _simpler(self, best: RefinedSteps, at: int) -> RefinedSteps:
        """With an operation of fewer numbers at one place, if it does nearly as well."""
        step = best.steps[at]
        names = [name for name in self.names if operations.get_operation(name).size < step.complexity]
        if not names:
            return best
        before, after = best.steps[:at], best.steps[at + 1 :]
        spare = MAX_SIMPLIFICATION_LOSS * (self._fitted((*before, *after)).cost - best.cost)
        others = [
            self._fitted((*before, replace(step, action=make_identity_step(name)), *after)) for name in names
        ]
        near = [version for version in others if version.cost <= best.cost + spare]
        return min(near, key=lambda v: (v.steps[at].complexity, v.cost)) if near else best


def _permute_steps(edits: tuple[LocalStep, ...]) -> Iterator[tuple[LocalStep, ...]]:
    """Other orders of the same steps."""
    if len(edits) <= _MAX_PERMUTED_STEPS:
        yield from list(permutations(edits))[1:]
        return
    for at in range(len(edits) - 1):
        yield (*edits[:at], edits[at + 1], edits[at], *edits[at + 2 :])
