"""From a before/after pair to a recipe whose steps work in parts of the picture.

The paper's second algorithm: I' = o(I) M + I (1 - M), for every operation o and every mask candidate M, with
a beam of the best. Parameters are solved on the pixels inside a mask alone; only masks that fit the change
are tried. Among explanations that are nearly as good the simpler operation and the tighter mask win. Where no
operation explains a mask and its structure is gone, what was there has been removed (`removal.py`).
This module knows nothing of what the masks show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import operations
from ..errors import PlanError
from ..executor import Photo, intermediates
from ..operations import REFERENCE_SHORT_SIDE
from ..recipe import Mask, Recipe
from .costs import L1
from .pairs import Pair, check_content, paired
from .path import Action, Picture
from .planner import Plan, check_settings, checked_names, difference, looks_aside
from .removal import grown, removed, structure_lost
from .segments import Region, Segmenter, candidates, changed, changed_regions, overlap, regions_of_colour
from .solvers.fast import solve_inside

Masks = Sequence[Region] | Segmenter

NEARLY = 0.04
"""Share of a step's gain that a simpler operation or a tighter mask may cost."""
WORTH = 0.08
"""A step stays if it takes away at least this share of what was there to explain."""
FEATHER = 2.0
"""Softness of a planned mask, in pixels at the reference size."""
_MASKS = 8
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
class Place:
    """A candidate: its mask as given, and over the working picture with the smallest box around it."""

    region: Region | None
    inside: Region

    @cached_property
    def box(self) -> tuple[slice, slice]:
        """Rows and columns of the mask and, for operations that look aside, one more on each side."""
        rows, columns = np.flatnonzero(self.inside.any(axis=1)), np.flatnonzero(self.inside.any(axis=0))
        return (
            slice(max(0, rows[0] - 1), rows[-1] + 2),
            slice(max(0, columns[0] - 1), columns[-1] + 2),
        )

    @cached_property
    def area(self) -> float:
        """Share of the picture."""
        return float(self.inside.mean())


@dataclass(frozen=True)
class LocalStep:
    """An action, or a repair (which has no values), in a place."""

    action: Action
    place: Place

    @property
    def complexity(self) -> int:
        return self.action.values.size

    def applied(self, picture: Picture) -> Picture:
        """(3, H, W) with the place edited, its edge hard."""
        box, result = self.place.box, picture.copy()
        inside = self.place.inside[box]
        if repair := operations.repairs().get(self.action.operation):
            edited = repair.function(picture, self.place.inside.astype(np.float32))[:, *box]
        else:
            edited = self.action.applied(np.ascontiguousarray(picture[:, *box]))
        result[:, *box] = np.where(inside, edited, picture[:, *box])
        return result


@dataclass(frozen=True)
class State:
    """A picture on the way, its cost and the steps that led there."""

    picture: Picture
    cost: float
    steps: tuple[LocalStep, ...] = ()
    gain: float = 0.0
    """How much the last step lowered the cost."""

    @property
    def simplicity(self) -> tuple[int, float, float]:
        last = self.steps[-1]
        return last.complexity, last.place.area, self.cost


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
) -> LocalPlan:
    """The masked steps that best explain how `before` became `after` (photos, arrays or files).

    `masks` are boolean arrays (H, W) of any size or a segmenter; without, regions of like colour and of
    visible change are tried. `repair` is what explains a removal, None where nothing may be removed.
    Planning ends after `steps`, when nothing helps, or when the mean absolute difference over the changed
    pixels is below `tolerance`. `size` is the working short side; below the photos' own (and the reference
    size) sharpness is left out.
    """
    check_settings(tolerance, {"steps": (steps, 1), "beam": (beam, 1), "size": (size, 16)})
    pair = paired(before, after, alike=False)
    working = min(size, REFERENCE_SHORT_SIDE, pair.short_side)
    start, target = pair.at(working)
    if changed(start, target).mean() > _EVERYWHERE:
        check_content(pair)
    whole = working >= min(pair.short_side, REFERENCE_SHORT_SIDE)
    names = [name for name in checked_names(operations) if whole or not looks_aside(name)]
    places = _places(masks, start, target)
    search = LocalSearch(target, names, _checked_repair(repair), places, steps, beam, tolerance)
    return _reported(search.run(start).steps, pair, start, target)


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

    def run(self, start: Picture) -> State:
        """The best state found; the start itself where nothing helps."""
        best = State(start, self._cost(start))
        first, beam, enough = best.cost, [best], self.tolerance * changed(start, self.target).mean()
        for _ in range(self.steps):
            if best.cost <= enough:
                break
            reached = [after for state in beam for after in self._reached(state)]
            reached = [state for state in reached if state.gain >= WORTH * first]
            if not reached:
                break
            beam = _ranked(reached)[: self.beam]
            if beam[0].cost > best.cost - WORTH * first:
                break
            best = beam[0]
        return best

    def _cost(self, picture: Picture) -> float:
        return float(np.abs(picture - self.target).mean())

    def _reached(self, state: State) -> Iterator[State]:
        """What one more step makes of a state, for each place that fits what is still to explain."""
        differs = changed(state.picture, self.target)
        if not differs.any():
            return
        ranked = sorted(self.places, key=lambda place: -overlap(place.inside, differs))
        whole = [place for place in ranked[_MASKS:] if place.region is None]
        for place in (*ranked[:_MASKS], *whole):
            yield from self._explained(state, place, differs)

    def _explained(self, state: State, place: Place, differs: Region) -> Iterator[State]:
        """By each operation or, where something is gone that no operation takes away, by a repair."""
        reached = [self._after(state, self._solved(state, place, name)) for name in self.names]
        inside = place.inside & differs
        if not inside.any():
            return
        closest = min(reached, key=lambda found: found.cost)
        box = (slice(None), *place.box)
        now, best, goal = state.picture[box], closest.picture[box], self.target[box]
        if not structure_lost(now, best, goal, inside[place.box]):
            yield from reached
        elif place.region is not None and removed(now, goal, place.inside[place.box]):
            yield from self._repaired(state, place, differs)

    def _repaired(self, state: State, place: Place, differs: Region) -> Iterator[State]:
        """Something was removed there.

        What somebody filled the hole with is not ours to explain: where the picture changed it counts as met.
        """
        if self.repair is not None:
            step = LocalStep(Action(self.repair, np.empty(0)), place)
            filled = step.applied(state.picture)
            yield self._reached_by(state, step, np.where(place.inside & differs, self.target, filled))

    def _solved(self, state: State, place: Place, name: str) -> LocalStep:
        box = place.box
        before, after = (np.ascontiguousarray(p[:, *box]) for p in (state.picture, self.target))
        return LocalStep(solve_inside(name, before, after, place.inside[box]), place)

    def _after(self, state: State, step: LocalStep) -> State:
        return self._reached_by(state, step, step.applied(state.picture))

    def _reached_by(self, state: State, step: LocalStep, picture: Picture) -> State:
        """Only the box of the place can have changed, so only its cost is taken again."""
        box = (slice(None), *step.place.box)
        was, now = (float(np.abs(p[box] - self.target[box]).sum()) for p in (state.picture, picture))
        cost = state.cost - (was - now) / picture.size
        return State(picture, cost, (*state.steps, step), state.cost - cost)


def _ranked(reached: Sequence[State]) -> list[State]:
    """The simplest of those nearly as good as the best comes first, then the others by cost."""
    best = min(reached, key=lambda state: state.cost)
    near = [state for state in reached if state.cost <= best.cost + NEARLY * best.gain]
    first = min(near, key=lambda state: state.simplicity)
    return [first, *sorted((s for s in reached if s is not first), key=lambda state: state.cost)]


def _places(masks: Masks | None, start: Picture, target: Picture) -> list[Place]:
    """All candidates, the whole picture among them."""
    if masks is None:
        found = [*changed_regions(start, target), *regions_of_colour(start)]
    else:
        found = list(masks(start) if callable(masks) else masks)
    shape = start.shape[1:]
    pairs = candidates(found, *shape)
    places = [Place(region, inside) for region, inside in pairs if inside.mean() <= _WHOLE]
    return [*places, Place(None, np.ones(shape, bool))]


def _reported(steps: Sequence[LocalStep], pair: Pair, start: Picture, target: Picture) -> LocalPlan:
    recipe = Recipe.from_steps(_as_step(step) for step in steps)
    pixels = np.ascontiguousarray(start.transpose(1, 2, 0))
    later = (np.asarray(image).transpose(2, 0, 1) for image in intermediates(recipe, pixels))
    series = (start, *map(np.ascontiguousarray, later))
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


def _as_step(step: LocalStep) -> tuple[object, ...]:
    name, values = step.action.operation, step.action.values
    region = step.place.region
    if name in operations.repairs():
        assert region is not None
        return name, [], Mask.from_array(grown(region), FEATHER)
    rounded = operations.get(name).clipped(np.round(values, 5).tolist())
    return (name, rounded) if region is None else (name, rounded, Mask.from_array(region, FEATHER))


def _checked_repair(name: str | None) -> str | None:
    if name is not None and name not in operations.repairs():
        raise PlanError(f"there is no repair {name!r}; there are {', '.join(operations.repairs())}")
    return name
