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

request_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["requests"])


@request_router.post("/requests")
def answer_request(body: EditRequest, photo: PhotoDep, darkroom: DarkroomDep) -> EditResponse:
    """Answer a request, or a follow-up to the current edit.

    A request that cannot be done is answered with `answered` false and an explanation, and changes nothing.
    """
    sentence = check_request(body.request, darkroom)
    with darkroom.hold_slot(), photo.change(body.revision) as editor:
        ask = editor.ask if body.fresh else editor.follow
        edit = ask(sentence, mode=body.mode)

    return EditResponse(**_describe_answer(edit), state=to_photo_response(photo))


@request_router.post("/variants")
def make_variants(body: VariantsRequest, photo: PhotoDep, darkroom: DarkroomDep) -> VariantsResponse:
    """Several answers to a request about the photo as it was opened; the first is the one without variation.

    Nothing changes; to apply a variant, put its recipe.
    """
    sentence = check_request(body.request, darkroom)
    with darkroom.hold_slot():
        edits = photo.open_editor().variants(sentence, body.count, mode=body.mode, seed=body.seed)
    first = edits[0]
    variants = [_to_variant_response(edit) for edit in edits] if first.answered else []
    return VariantsResponse(**_describe_answer(first), variants=variants)


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


def check_request(sentence: str, darkroom: DarkroomService) -> str:
    max_length = darkroom.settings.request_characters
    if len(sentence) > max_length:
        raise too_large(f"a request has at most {max_length} characters here; make it shorter")
    return sentence


recipe_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["recipes"])


@recipe_router.put("/recipe")
def put_recipe(
    body: PutRecipeRequest, photo: PhotoDep, session: SessionDep, darkroom: DarkroomDep
) -> PhotoResponse:
    """Set the recipe: parameters, order, steps added, removed or put `aside`; or a `new` recipe."""
    if len(body.aside) > darkroom.settings.steps:
        raise too_large(f"at most {darkroom.settings.steps} steps can be put aside")
    with darkroom.hold_decoding_slot(body.recipe, {"steps": [one.step for one in body.aside]}):
        recipe = parse_recipe(body.recipe, darkroom.settings)
        aside = [(one.position, parse_step(one.step, darkroom.settings)) for one in body.aside]
    _check_mask_memory([*recipe.steps, *(step for _, step in aside)], session)
    with photo.change(body.revision) as editor:
        editor.put(recipe, aside=aside, new=body.new)
    return to_photo_response(photo)


@recipe_router.post("/strength")
def set_strength(body: SetStrengthRequest, photo: PhotoDep) -> PhotoResponse:
    """Make the edit weaker (0 to 1) or stronger (up to 4); a second call starts from the same edit."""
    with photo.change(body.revision) as editor:
        editor.at(body.strength)
    return to_photo_response(photo)


@recipe_router.post("/undo")
def undo_edit(body: UndoRedoRequest, photo: PhotoDep) -> PhotoResponse:
    """Undo the last change."""
    with photo.change(body.revision) as editor:
        editor.undo()
    return to_photo_response(photo)


@recipe_router.post("/redo")
def redo_edit(body: UndoRedoRequest, photo: PhotoDep) -> PhotoResponse:
    """Redo the change that was undone last."""
    with photo.change(body.revision) as editor:
        editor.redo()
    return to_photo_response(photo)


@recipe_router.get("/history")
def show_history(photo: PhotoDep) -> HistoryResponse:
    """The edits that undo and redo lead to, in words."""
    revision, place, edits = photo.get_history()
    return HistoryResponse(revision=revision, place=place, edits=list(describe_history(edits)))


@recipe_router.post("/history")
def move_to_edit(body: MoveToEditRequest, photo: PhotoDep) -> PhotoResponse:
    """Go to a place in the history; 0 is the photo as it was opened."""
    with photo.change(body.revision) as editor:
        move_in_history(editor, body.place)
    return to_photo_response(photo)


def _check_mask_memory(steps: list[Step], session: Session) -> None:
    """Refuse masks if those in the histories of a session take too much memory."""
    with session.lock:
        photos = list(session.photos.values())
    if (
        count_mask_bytes(steps) + sum(count_mask_bytes(one.list_history_steps()) for one in photos)
        > MIB * session.settings.masks_mb
    ):
        raise too_large("the masks of this session take too much memory; begin another")


plan_router = APIRouter(prefix="/sessions/{session}", tags=["plans"])


@plan_router.post("/plans")
def plan_look(body: PlanRequest, session: SessionDep, darkroom: DarkroomDep) -> PlanResponse:
    """Find the recipe that turns one photo into another. Nothing changes; to apply it, put it on a photo."""
    from ...planning import plan

    before, after = session.photo(body.before), session.photo(body.after)
    with darkroom.hold_slot():
        planned = plan(*_resize_alike(before.open(), after.open()), steps=body.steps)
    return PlanResponse(
        recipe=to_recipe_json(planned.recipe),
        description=planned.recipe.describe(),
        steps=to_step_responses(planned.recipe),
        start_cost=planned.start_cost,
        cost=planned.cost,
        explained=planned.accounts_for_edit,
    )


def _resize_alike(before: Image, after: Image) -> tuple[Image, Image]:
    """Photos of the same size, scaled to the reference size, which planning works at anyway."""
    if (before.height, before.width) != (after.height, after.width):
        return before, after
    return before.resized(REFERENCE_SHORT_SIDE), after.resized(REFERENCE_SHORT_SIDE)
