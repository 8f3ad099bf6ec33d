"""Routes: result files of one photo or of many."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from starlette.responses import FileResponse, Response, StreamingResponse

from ...errors import RequestError
from ...options import Mode
from ...recipe import Recipe
from ..darkroom import DarkroomDep, DarkroomService, PhotoDep, SessionDep
from ..errors import Refused, invalid_request, not_found
from ..photos import SessionPhoto
from ..results import BatchJob, BatchPhoto, RecipeChooser, ResultFile, create_result, stream_zip
from ..schemas import (
    BatchItemResponse,
    BatchResponse,
    ExportRequest,
    ExportResponse,
    ResourceId,
    StartBatchRequest,
    parse_recipe,
)
from ..sessions import Session
from .edits import check_request

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
        photos = [session.photo(one) for one in dict.fromkeys(ids)]
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
    if not edit.answered:
        raise RequestError(edit.explain())
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
        cancelled=batch.cancelled,
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
