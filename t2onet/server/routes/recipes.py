"""The recipe that stands: adjust it by hand, set its strength, go back and forth."""

from __future__ import annotations

from fastapi import APIRouter

from ...recipe import Step as RecipeStep
from ..darkroom import Chosen, Room, Visit
from ..errors import too_large
from ..history import go, lines
from ..recipes import checked, checked_step, weight
from ..schemas import GoTo, History, PhotoState, PutRecipe, SetStrength, Step
from ..sessions import Session
from ..settings import MIB
from .photos import state

router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["recipes"])


@router.put("/recipe")
def put(asked: PutRecipe, chosen: Chosen, visit: Visit, room: Room) -> PhotoState:
    """The recipe as adjusted: parameters, order, steps added, removed or put `aside`; or a `new` one."""
    if len(asked.aside) > room.settings.steps:
        raise too_large(f"at most {room.settings.steps} steps can be put aside")
    with room.reading(asked.recipe, {"steps": [one.step for one in asked.aside]}):
        recipe = checked(asked.recipe, room.settings)
        aside = [(one.position, checked_step(one.step, room.settings)) for one in asked.aside]
    _check_masks([*recipe.steps, *(step for _, step in aside)], visit)
    with chosen.changing(asked.revision) as editor:
        editor.put(recipe, aside=aside, new=asked.new)
    return state(chosen)


@router.post("/strength")
def strength(asked: SetStrength, chosen: Chosen) -> PhotoState:
    """The edit weaker (0 to 1) or stronger (up to 4); set again, it is about the same edit."""
    with chosen.changing(asked.revision) as editor:
        editor.at(asked.strength)
    return state(chosen)


@router.post("/undo")
def undo(asked: Step, chosen: Chosen) -> PhotoState:
    """Back to what was before the last change."""
    with chosen.changing(asked.revision) as editor:
        editor.undo()
    return state(chosen)


@router.post("/redo")
def redo(asked: Step, chosen: Chosen) -> PhotoState:
    """Forward again."""
    with chosen.changing(asked.revision) as editor:
        editor.redo()
    return state(chosen)


@router.get("/history")
def history(chosen: Chosen) -> History:
    """All that undo and redo lead to, in words."""
    revision, place, edits = chosen.past()
    return History(revision=revision, place=place, edits=list(lines(edits)))


@router.post("/history")
def go_to(asked: GoTo, chosen: Chosen) -> PhotoState:
    """Back or forward to a place in the history; 0 is the photo as it was opened."""
    with chosen.changing(asked.revision) as editor:
        go(editor, asked.place)
    return state(chosen)


def _check_masks(steps: list[RecipeStep], session: Session) -> None:
    """Histories hold masks, and memory is not endless."""
    with session.lock:
        photos = list(session.photos.values())
    if weight(steps) + sum(weight(one.history()) for one in photos) > MIB * session.settings.masks_mb:
        raise too_large("the masks of this session take too much memory; begin another")
