"""Routes: requests in words, recipes by hand, plans from two photos, and files of results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter
from starlette.responses import FileResponse, Response, StreamingResponse

from ..editor import Edit, WishEntry
from ..errors import RequestError
from ..image import Image
from ..operations import REFERENCE_SHORT_SIDE
from ..options import Mode
from ..recipe import Mask, Recipe, Step
from ..recipe.where import Where
from .errors import Refused, invalid_request, not_found, too_large
from .photo_routes import to_photo_response
from .photos import SessionPhoto, describe_history, move_in_history
from .results import BatchJob, BatchPhoto, RecipeChooser, ResultFile, create_result, stream_zip
from .schemas import (
    BatchItemResponse,
    BatchResponse,
    EditRequest,
    EditResponse,
    ExportRequest,
    ExportResponse,
    HistoryResponse,
    MoveToEditRequest,
    PhotoResponse,
    PlanRequest,
    PlanResponse,
    PutRecipeRequest,
    ResourceId,
    SetStrengthRequest,
    StartBatchRequest,
    UndoRedoRequest,
    VariantResponse,
    VariantsRequest,
    VariantsResponse,
    count_mask_bytes,
    parse_part,
    parse_recipe,
    parse_step,
    reuse_masks,
    to_recipe_json,
    to_step_responses,
)
from .session import Session
from .sessions import DarkroomDep, DarkroomService, PhotoDep, SessionDep
from .settings import MIB

request_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["requests"])


@request_router.post("/requests")
def answer_request(
    body: EditRequest, photo: PhotoDep, session: SessionDep, darkroom: DarkroomDep
) -> EditResponse:
    """Answer a request, or a follow-up to the current edit.

    A request that cannot be done is answered with `answered` false and an explanation, and changes nothing.
    With `where` or `mask`, what it asks of the whole photo is done in that part.
    """
    sentence = check_request(body.request, darkroom)
    where, mask = _parse_part(body, darkroom)
    if mask is not None:
        _check_mask_memory([Step(operation="exposure", parameters=(0.0,), mask=mask)], session)
    with darkroom.hold_slot(), photo.change(body.revision) as editor:
        ask = editor.ask if body.fresh else editor.follow
        edit = ask(sentence, mode=body.mode, where=where, mask=mask)
    unplaced = [" ".join(wish.words) for wish in edit.unplaced]
    return EditResponse(**_describe_answer(edit), point_at=unplaced, state=to_photo_response(photo))


def _parse_part(
    body: EditRequest | VariantsRequest, darkroom: DarkroomService
) -> tuple[Where | None, Mask | None]:
    """The part of the photo that a request is for."""
    with darkroom.hold_decoding_slot({"steps": [] if body.mask is None else [{"mask": body.mask}]}):
        return parse_part(body.where, body.mask, darkroom.settings)


@request_router.post("/variants")
def make_variants(body: VariantsRequest, photo: PhotoDep, darkroom: DarkroomDep) -> VariantsResponse:
    """Several answers to a request about the photo as it was opened; the first is the one without variation.

    Nothing changes; to apply a variant, put its recipe.
    """
    sentence = check_request(body.request, darkroom)
    where, mask = _parse_part(body, darkroom)
    with darkroom.hold_slot():
        edits = photo.open_editor().variants(
            sentence, body.count, mode=body.mode, seed=body.seed, where=where, mask=mask
        )
    first = edits[0]
    variants = [_to_variant_response(edit) for edit in edits] if first.answered else []
    return VariantsResponse(**_describe_answer(first), variants=variants)


def _describe_answer(edit: Edit) -> dict[str, Any]:
    """What every response to a request says of the answer."""
    return {
        "answered": edit.answered,
        "verdict": edit.verdict,
        "answer": edit.explain() if edit.answered else edit.reply,
        "declined": list(edit.declined),
        "limits": list(edit.limits),
        "wishes": list(map(WishEntry.from_wish, edit.wishes)),
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
    recipe = reuse_masks(recipe, photo.list_history_steps())
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
    kept = [step for one in photos for step in one.list_history_steps()]
    if count_mask_bytes([*steps, *kept]) > MIB * session.settings.masks_mb:
        raise too_large("the masks of this session take too much memory; begin another")


plan_router = APIRouter(prefix="/sessions/{session}", tags=["plans"])


@plan_router.post("/plans")
def plan_look(body: PlanRequest, session: SessionDep, darkroom: DarkroomDep) -> PlanResponse:
    """Find the recipe that turns one photo into another. Nothing changes; to apply it, put it on a photo."""
    from ..planning import plan

    before, after = session.get_photo(body.before), session.get_photo(body.after)
    with darkroom.hold_slot():
        planned = plan(
            *_resize_alike(before.open(), after.open()), operations=body.operations, steps=body.steps
        )
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
    return before.resize(REFERENCE_SHORT_SIDE), after.resize(REFERENCE_SHORT_SIDE)


export_router = APIRouter(prefix="/sessions/{session}", tags=["exports"])


@export_router.post("/photos/{photo}/exports", status_code=201)
def export_photo(
    body: ExportRequest, photo: PhotoDep, session: SessionDep, darkroom: DarkroomDep
) -> ExportResponse:
    """Write the current edit, or a given recipe, to a file; download it from `url`.

    A photo that no step changes is copied byte for byte, unless another format or quality is requested.
    """
    with darkroom.hold_decoding_slot(body.recipe):
        recipe = photo.recipe if body.recipe is None else parse_recipe(body.recipe, darkroom.settings)
    with darkroom.hold_slot():
        result = create_result(session, photo, recipe, body)
    return ExportResponse(
        result=result.id,
        name=result.name,
        bytes=result.bytes,
        notes=list(result.notes),
        url=f"/api/v1/sessions/{session.id}/results/{result.id}",
    )


@export_router.get("/results/{result}", response_class=FileResponse)
def fetch_result(result: ResourceId, session: SessionDep) -> FileResponse:
    """The file."""
    with session.lock:
        stored = session.results.get(result)
    return make_download(stored)


def make_download(result: ResultFile | None) -> FileResponse:
    """A download under the name of the result."""
    if result is None or not result.path.is_file():
        raise not_found("result")
    return FileResponse(result.path, media_type="application/octet-stream", filename=result.name)


batch_router = APIRouter(prefix="/sessions/{session}", tags=["batches"])


@batch_router.post("/batches", status_code=202)
def start_batch(body: StartBatchRequest, session: SessionDep, darkroom: DarkroomDep) -> BatchResponse:
    """Apply a recipe or a request to many photos of the session. One batch runs at a time."""
    recipe_for = _make_recipe_chooser(body, darkroom)
    with session.lock:
        if body.photos == []:
            raise invalid_request("no photo was chosen; choose some, or leave `photos` out for all")
        ids = session.photos if body.photos is None else body.photos
        photos = [session.get_photo(one) for one in dict.fromkeys(ids)]
        if not photos:
            raise invalid_request("there is no photo to work on; bring some first")
        if any(batch.running for batch in session.batches.values()):
            raise Refused(409, "busy", "a batch is running in this session; wait for it or cancel it")
        items = [BatchPhoto(photo) for photo in photos]
        batch = BatchJob(items, recipe_for, body.format, session.make_folder(), session, darkroom)
        for old in list(session.batches)[: len(session.batches) + 1 - darkroom.settings.batches]:
            session.batches.pop(old).remove()
        session.batches[batch.id] = batch
        batch.start()
    return _to_batch_response(batch)


def _make_recipe_chooser(body: StartBatchRequest, darkroom: DarkroomService) -> RecipeChooser:
    if (body.recipe is None) == (body.request is None):
        raise invalid_request("give either a recipe or a request")
    if body.recipe is not None:
        with darkroom.hold_decoding_slot(body.recipe):
            recipe = parse_recipe(body.recipe, darkroom.settings)
        return lambda photo: (recipe, ())
    request, mode = check_request(body.request or "", darkroom), body.mode
    return lambda photo: _answer_for_photo(photo, request, mode)


def _answer_for_photo(photo: SessionPhoto, request: str, mode: Mode) -> tuple[Recipe, tuple[str, ...]]:
    (edit,) = photo.open_editor().variants(request, 1, mode=mode)
    if not edit.answered or (edit.command and not edit.recipe.steps):  # "undo" alone is about an earlier edit
        raise RequestError(edit.reply)
    return edit.recipe, edit.remarks


@batch_router.get("/batches/{batch}")
def show_batch(batch: ResourceId, session: SessionDep) -> BatchResponse:
    """The progress of a batch."""
    return _to_batch_response(_find_batch(session, batch))


@batch_router.post("/batches/{batch}/cancel")
def cancel_batch(batch: ResourceId, session: SessionDep) -> BatchResponse:
    """Stop a batch. Results that are complete are kept; nothing is left half-written."""
    job = _find_batch(session, batch)
    job.cancel()
    return _to_batch_response(job)


@batch_router.get("/batches/{batch}/results/{number}", response_class=FileResponse)
def fetch_batch_result(batch: ResourceId, number: int, session: SessionDep) -> FileResponse:
    """One result, by its position among the items."""
    items = _find_batch(session, batch).items
    return make_download(items[number].result if 0 <= number < len(items) else None)


@batch_router.get("/batches/{batch}/archive.zip", response_class=StreamingResponse)
def fetch_batch_archive(batch: ResourceId, session: SessionDep) -> Response:
    """All results so far as one ZIP file."""
    job = _find_batch(session, batch)
    headers = {"Content-Disposition": 'attachment; filename="edited.zip"'}
    return StreamingResponse(stream_zip(job), media_type="application/zip", headers=headers)


def _find_batch(session: Session, batch: str) -> BatchJob:
    with session.lock:
        if batch not in session.batches:
            raise not_found("batch")
        return session.batches[batch]


def _to_batch_response(batch: BatchJob) -> BatchResponse:
    running = batch.running
    address = f"/api/v1/sessions/{batch.session.id}/batches/{batch.id}"
    items = list(_to_item_responses(batch, address))
    fetched = not running and any(item.url for item in items)
    return BatchResponse(
        batch=batch.id,
        running=running,
        cancelled=batch.is_cancelled,
        total=len(items),
        done=sum(item.outcome == "done" for item in items),
        share=sum(item.share for item in batch.items) / len(batch.items),
        items=items,
        archive=f"{address}/archive.zip" if fetched else None,
    )


def _to_item_responses(batch: BatchJob, address: str) -> Iterator[BatchItemResponse]:
    for number, item in enumerate(batch.items):
        yield BatchItemResponse(
            photo=item.photo.id,
            name=item.photo.name,
            outcome=item.outcome,
            notes=[*item.remarks, *(item.result.notes if item.result else ())],
            error=item.error,
            url=f"{address}/results/{number}" if item.result else None,
        )
