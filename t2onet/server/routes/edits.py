"""Routes: requests in words, recipes by hand, and plans from two photos."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from ...editor import Edit
from ...image import Image
from ...operations import REFERENCE_SHORT_SIDE
from ...recipe import Step
from ..darkroom import DarkroomDep, DarkroomService, PhotoDep, SessionDep
from ..errors import too_large
from ..photos import describe_history, move_in_history
from ..schemas import (
    EditRequest,
    EditResponse,
    HistoryResponse,
    MoveToEditRequest,
    PhotoResponse,
    PlanRequest,
    PlanResponse,
    PutRecipeRequest,
    SetStrengthRequest,
    UndoRedoRequest,
    VariantResponse,
    VariantsRequest,
    VariantsResponse,
    count_mask_bytes,
    parse_recipe,
    parse_step,
    to_recipe_json,
    to_step_responses,
)
from ..sessions import Session
from ..settings import MIB
from .photos import to_photo_response

# Requests in words: asked and followed up, or answered in several ways to choose from.

request_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["requests"])


@request_router.post("/requests")
def answer_request(asked: EditRequest, chosen: PhotoDep, room: DarkroomDep) -> EditResponse:
    """Say what you want, or what you think of the edit there is.

    What cannot be done is answered with `answered` false and an explanation, and changes nothing.
    """
    sentence = check_request(asked.request, room)
    with room.working(), chosen.changing(asked.revision) as editor:
        ask = editor.ask if asked.fresh else editor.follow
        edit = ask(sentence, mode=asked.mode)

    return EditResponse(**_describe_answer(edit), state=to_photo_response(chosen))


@request_router.post("/variants")
def make_variants(asked: VariantsRequest, chosen: PhotoDep, room: DarkroomDep) -> VariantsResponse:
    """Several answers to a request about the photo as it was opened; the first is the plain one.

    Nothing changes: put the recipe that you choose.
    """
    sentence = check_request(asked.request, room)
    with room.working():
        found = chosen.editor.variants(sentence, asked.count, mode=asked.mode, seed=asked.seed)
    first = found[0]
    shown = [_to_variant_response(one) for one in found] if first.answered else []
    return VariantsResponse(**_describe_answer(first), variants=shown)


def _describe_answer(edit: Edit) -> dict[str, Any]:
    """What every response to a request says of the answer."""
    return {
        "answered": edit.answered,
        "verdict": edit.verdict,
        "answer": edit.explain(),
        "declined": list(edit.declined),
        "limits": list(edit.limits),
    }


def _to_variant_response(edit: Edit) -> VariantResponse:
    return VariantResponse(
        recipe=to_recipe_json(edit.recipe),
        description=edit.recipe.describe(),
        steps=to_step_responses(edit.recipe, edit.reasons),
    )


def check_request(sentence: str, room: DarkroomService) -> str:
    most = room.settings.request_characters
    if len(sentence) > most:
        raise too_large(f"a request has at most {most} characters here; say it shorter")
    return sentence


# The recipe that stands: adjust it by hand, set its strength, go back and forth.

recipe_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["recipes"])


@recipe_router.put("/recipe")
def put_recipe(
    asked: PutRecipeRequest, chosen: PhotoDep, visit: SessionDep, room: DarkroomDep
) -> PhotoResponse:
    """The recipe as adjusted: parameters, order, steps added, removed or put `aside`; or a `new` one."""
    if len(asked.aside) > room.settings.steps:
        raise too_large(f"at most {room.settings.steps} steps can be put aside")
    with room.reading(asked.recipe, {"steps": [one.step for one in asked.aside]}):
        recipe = parse_recipe(asked.recipe, room.settings)
        aside = [(one.position, parse_step(one.step, room.settings)) for one in asked.aside]
    _check_mask_memory([*recipe.steps, *(step for _, step in aside)], visit)
    with chosen.changing(asked.revision) as editor:
        editor.put(recipe, aside=aside, new=asked.new)
    return to_photo_response(chosen)


@recipe_router.post("/strength")
def set_strength(asked: SetStrengthRequest, chosen: PhotoDep) -> PhotoResponse:
    """The edit weaker (0 to 1) or stronger (up to 4); set again, it is about the same edit."""
    with chosen.changing(asked.revision) as editor:
        editor.at(asked.strength)
    return to_photo_response(chosen)


@recipe_router.post("/undo")
def undo_edit(asked: UndoRedoRequest, chosen: PhotoDep) -> PhotoResponse:
    """Back to what was before the last change."""
    with chosen.changing(asked.revision) as editor:
        editor.undo()
    return to_photo_response(chosen)


@recipe_router.post("/redo")
def redo_edit(asked: UndoRedoRequest, chosen: PhotoDep) -> PhotoResponse:
    """Forward again."""
    with chosen.changing(asked.revision) as editor:
        editor.redo()
    return to_photo_response(chosen)


@recipe_router.get("/history")
def show_history(chosen: PhotoDep) -> HistoryResponse:
    """All that undo and redo lead to, in words."""
    revision, place, edits = chosen.past()
    return HistoryResponse(revision=revision, place=place, edits=list(describe_history(edits)))


@recipe_router.post("/history")
def move_to_edit(asked: MoveToEditRequest, chosen: PhotoDep) -> PhotoResponse:
    """Back or forward to a place in the history; 0 is the photo as it was opened."""
    with chosen.changing(asked.revision) as editor:
        move_in_history(editor, asked.place)
    return to_photo_response(chosen)


def _check_mask_memory(steps: list[Step], session: Session) -> None:
    """Histories hold masks, and memory is not endless."""
    with session.lock:
        photos = list(session.photos.values())
    if (
        count_mask_bytes(steps) + sum(count_mask_bytes(one.history()) for one in photos)
        > MIB * session.settings.masks_mb
    ):
        raise too_large("the masks of this session take too much memory; begin another")


# Match a look: two photos of the session, before and after, to the recipe between them.

plan_router = APIRouter(prefix="/sessions/{session}", tags=["plans"])


@plan_router.post("/plans")
def plan_look(asked: PlanRequest, visit: SessionDep, room: DarkroomDep) -> PlanResponse:
    """The recipe behind an edit. Nothing changes: put it on the photo that is to have the look."""
    from ...planning import plan

    before, after = visit.photo(asked.before), visit.photo(asked.after)
    with room.working():
        found = plan(*_resize_alike(before.open(), after.open()), steps=asked.steps)
    return PlanResponse(
        recipe=to_recipe_json(found.recipe),
        description=found.recipe.describe(),
        steps=to_step_responses(found.recipe),
        start_cost=found.start_cost,
        cost=found.cost,
        explained=found.accounts_for_edit,
    )


def _resize_alike(before: Image, after: Image) -> tuple[Image, Image]:
    """At the size that parameters refer to, where both are alike; planning sees no more of them."""
    if (before.height, before.width) != (after.height, after.width):
        return before, after
    return before.resized(REFERENCE_SHORT_SIDE), after.resized(REFERENCE_SHORT_SIDE)
