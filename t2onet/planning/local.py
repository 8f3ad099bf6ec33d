"""From a before/after pair to a recipe whose steps work in parts of the picture.

After the paper's second algorithm: I' = o(I) M + I (1 - M), for every operation o and mask candidate M, with
a beam of the best; docs/local.md says where this one differs. Parameters are solved on the pixels inside a
mask alone; only masks that fit the change are tried. Among explanations that are nearly as good the simpler
operation and the tighter mask win. Where no operation explains a mask and its structure is gone, what was
there has been removed (`removal.py`). This module knows nothing of what the masks show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .. import operations
from ..errors import PlanError
from ..executor import Photo
from ..operations import REFERENCE_SHORT_SIDE
from ..recipe import Recipe
from .costs import L1
from .masked import LocalStep, executed
from .pairs import Pair, check_content, paired
from .path import Action, Picture
from .places import Place, Sample, thinned
from .planner import Plan, check_settings, checked_names, difference, looks_aside
from .removal import coarse, removed, structure_lost
from .revision import NEARLY, revised
from .segments import Region, Segmenter, changed, changed_regions, checked, overlap, regions_of_colour
from .solvers.fast import solve_inside

Masks = Sequence[Region] | Segmenter

_TRIED = 0.01
"""A step is tried if it takes away this share of what was there to explain; to stay it must be worth more."""
MASK_LIMIT = 8
"""Mask candidates tried at each step, those that fit the change best."""
_EVERYWHERE = 0.8
"""Of the picture: where less changed, the rest shows that both photos are of the same scene."""
_WHOLE = 0.995
"""A mask that covers more of the picture than this is none."""


@dataclass(frozen=True)
class LocalPlan(Plan):
    """A plan whose steps may have masks; `regions` are the chosen candidates, None for the whole picture."""

    regions: tuple[Region | None, ...]


@dataclass(frozen=True)
class State:
    """A picture on the way, its cost and the steps that led there."""

    picture: Picture
    cost: float
    steps: tuple[LocalStep, ...] = ()


@dataclass(frozen=True)
class Move:
    """A step that a state may take, and by how much it lowers the cost, judged by a sample of the pixels."""

    state: State
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

    def taken(self, target: Picture) -> State:
        """The state after it, its cost taken on all pixels."""
        picture = self.step.applied(self.state.picture) if self.picture is None else self.picture
        return State(picture, float(L1(target)(picture)), (*self.state.steps, self.step))


def plan_local(
    before: Photo,
    after: Photo,
    *,
    masks: Masks | None = None,
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
    check_settings(tolerance, numbers)
    pair = paired(before, after, alike=False)
    working = min(size, REFERENCE_SHORT_SIDE, pair.short_side)
    start, target = pair.at(working)
    if changed(start, target).mean() > _EVERYWHERE:
        check_content(pair)
    whole = working >= min(pair.short_side, REFERENCE_SHORT_SIDE)
    names = [name for name in checked_names(operations) if whole or not looks_aside(name)]
    places = _places(masks, start, target)
    search = LocalSearch(target, names, _checked_repair(repair), places, steps, beam, tolerance, mask_limit)
    found = revised(search.run(start).steps, start, target, names)
    return _reported(found, pair, start, target)


@dataclass(frozen=True)
class LocalSearch:
    """One search on working pictures, and its settings."""

    target: Picture
    names: Sequence[str]
    repair: str | None
    places: Sequence[Place]
    steps: int
    beam: int
    tolerance: float
    mask_limit: int

    def run(self, start: Picture) -> State:
        """The best state found; the start itself where nothing helps."""
        best = State(start, float(L1(self.target)(start)))
        first, beam, enough = best.cost, [best], self.tolerance * changed(start, self.target).mean()
        for _ in range(self.steps):
            if best.cost <= enough:
                break
            moves = [move for state in beam for move in self._moves(state) if move.gain >= _TRIED * first]
            if not moves:
                break
            beam = [move.taken(self.target) for move in _ranked(moves)[: self.beam]]
            if beam[0].cost > best.cost - _TRIED * first:
                break
            best = beam[0]
        return best

    def _moves(self, state: State) -> Iterator[Move]:
        """One more step, in each place that fits what is still to explain."""
        differs = changed(state.picture, self.target)
        if not differs.any():
            return
        thin = thinned(differs)
        ranked = sorted(self.places, key=lambda place: -overlap(place.small, thin))
        whole = [place for place in ranked[self.mask_limit :] if place.region is None]
        for place in (*ranked[: self.mask_limit], *whole):
            if place.inside.any():
                yield from self._explained(state, place, differs)

    def _explained(self, state: State, place: Place, differs: Region) -> Iterator[Move]:
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
        now, best, goal, judged, inside = coarse((now, best, goal, judged, inside), min(place.shape))
        if not structure_lost(now, best, goal, judged):
            yield from moves
        elif place.region is not None and removed(now, goal, inside):
            yield from self._repaired(state, place, differs)

    def _solved(self, state: State, place: Place) -> list[Move]:
        """Each operation with its best parameters there."""
        sample = place.sample
        before, after = sample.of(state.picture), sample.of(self.target)
        was = self._off(sample, before, after)
        moves = []
        for name in self.names:
            action = solve_inside(name, before, after, sample.middle)
            gain = place.area * (was - self._off(sample, action.applied(before), after))
            moves.append(Move(state, LocalStep(action, place), gain))
        return moves

    @staticmethod
    def _off(sample: Sample, picture: Picture, target: Picture) -> float:
        return float(np.abs(sample.middles(picture) - sample.middles(target)).mean())

    def _repaired(self, state: State, place: Place, differs: Region) -> Iterator[Move]:
        """Something was removed there.

        What somebody filled the hole with is not ours to explain: where the picture changed it counts as met.
        """
        if self.repair is not None:
            step = LocalStep(Action(self.repair, np.empty(0)), place)
            met = np.where(place.inside & differs, self.target, step.applied(state.picture))
            yield Move(state, step, state.cost - float(L1(self.target)(met)), met)


def _ranked(moves: Sequence[Move]) -> list[Move]:
    """The simplest of those nearly as good as the best comes first, then the others by cost."""
    best = min(moves, key=lambda move: move.cost)
    near = [move for move in moves if move.cost <= best.cost + NEARLY * best.gain]
    first = min(near, key=lambda move: move.simplicity)
    return [first, *sorted((m for m in moves if m is not first), key=lambda move: move.cost)]


def _places(masks: Masks | None, start: Picture, target: Picture) -> list[Place]:
    """All candidates, the whole picture among them."""
    if masks is None:
        found = [*changed_regions(start, target), *regions_of_colour(start)]
    else:
        found = list(masks(start) if callable(masks) else masks)
    height, width = start.shape[1:]
    partial = [region for region in checked(found) if region.mean() <= _WHOLE]
    return [Place(region, (height, width)) for region in (*partial, None)]


def _reported(steps: Sequence[LocalStep], pair: Pair, start: Picture, target: Picture) -> LocalPlan:
    recipe, series = executed(steps, start)
    cost = L1(target)
    return LocalPlan(
        recipe,
        difference(pair, recipe),
        difference(pair, Recipe()),
        tuple(float(cost(picture)) for picture in series),
        series,
        target,
        tuple(step.place.region for step in steps),
    )


def _checked_repair(name: str | None) -> str | None:
    if name is not None and name not in operations.repairs():
        raise PlanError(f"there is no repair {name!r}; there are {', '.join(operations.repairs())}")
    return name
