"""Match a look: two photos of the session, before and after, to the recipe between them."""

from __future__ import annotations

from fastapi import APIRouter

from ...image import Image
from ...operations import REFERENCE_SHORT_SIDE
from ..darkroom import Room, Visit
from ..recipes import data, told
from ..schemas import Planned, WantPlan

router = APIRouter(prefix="/sessions/{session}", tags=["plans"])
_SEEN = 0.004
"""Mean difference that can be seen, of 1."""
_LITTLE = 0.5
"""Share of the difference that may remain for the recipe to account for it."""


@router.post("/plans")
def plan_look(asked: WantPlan, visit: Visit, room: Room) -> Planned:
    """The recipe behind an edit. Nothing changes: put it on the photo that is to have the look."""
    from ...planning import plan

    before, after = visit.photo(asked.before), visit.photo(asked.after)
    with room.working():
        found = plan(*_sized(before.open(), after.open()), steps=asked.steps)
    left = found.start_cost <= _SEEN or found.cost <= _LITTLE * found.start_cost
    return Planned(
        recipe=data(found.recipe),
        description=found.recipe.describe(),
        steps=told(found.recipe.steps),
        start_cost=found.start_cost,
        cost=found.cost,
        explained=left,
    )


def _sized(before: Image, after: Image) -> tuple[Image, Image]:
    """At the size that parameters refer to, where both are alike; planning sees no more of them."""
    if (before.height, before.width) != (after.height, after.width):
        return before, after
    return before.resized(REFERENCE_SHORT_SIDE), after.resized(REFERENCE_SHORT_SIDE)
