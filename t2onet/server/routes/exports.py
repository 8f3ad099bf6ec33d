"""Routes: results to keep, for one photo or many."""

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

# Results to keep: the photo at full resolution, the recipe, or a colour table for another tool.

export_router = APIRouter(prefix="/sessions/{session}", tags=["exports"])


@export_router.post("/photos/{photo}/exports", status_code=201)
def export_photo(
    asked: ExportRequest, chosen: PhotoDep, visit: SessionDep, room: DarkroomDep
) -> ExportResponse:
    """Make a file of the edit that stands, or of the recipe that is given; fetch it from `url`.

    A photo that no step changes comes out byte for byte, unless another format or quality is asked for.
    """
    with room.reading(asked.recipe):
        recipe = chosen.recipe if asked.recipe is None else parse_recipe(asked.recipe, room.settings)
    with room.working():
        result = create_result(visit, chosen, recipe, asked)
    return ExportResponse(
        result=result.id,
        name=result.name,
        bytes=result.bytes,
        notes=list(result.notes),
        url=f"/api/v1/sessions/{visit.id}/results/{result.id}",
    )


@export_router.get("/results/{result}", response_class=FileResponse)
def fetch_result(result: ResourceId, visit: SessionDep) -> FileResponse:
    """The file."""
    with visit.lock:
        found = visit.results.get(result)
    return make_download(found)


def make_download(result: ResultFile | None) -> FileResponse:
    """As a download under its own name, whatever is in it."""
    if result is None or not result.path.is_file():
        raise not_found("result")
    return FileResponse(result.path, media_type="application/octet-stream", filename=result.name)


# Many photos at once: begin, watch, stop, fetch.

batch_router = APIRouter(prefix="/sessions/{session}", tags=["batches"])


@batch_router.post("/batches", status_code=202)
def start_batch(asked: StartBatchRequest, visit: SessionDep, room: DarkroomDep) -> BatchResponse:
    """Apply a recipe to photos of the session, or ask the same of each of them. One batch runs at a time."""
    recipe_for = _make_recipe_chooser(asked, room)
    with visit.lock:
        if asked.photos == []:
            raise invalid_request("no photo was chosen; choose some, or leave `photos` out for all")
        wanted = visit.photos if asked.photos is None else asked.photos
        chosen = [visit.photo(one) for one in dict.fromkeys(wanted)]
        if not chosen:
            raise invalid_request("there is no photo to work on; bring some first")
        if any(batch.running for batch in visit.batches.values()):
            raise Refused(409, "busy", "a batch is running in this session; wait for it or cancel it")
        items = [BatchPhoto(photo) for photo in chosen]
        batch = BatchJob(items, recipe_for, asked.format, visit.place(), visit, room)
        for old in list(visit.batches)[: len(visit.batches) + 1 - room.settings.batches]:
            visit.batches.pop(old).remove()
        visit.batches[batch.id] = batch
        batch.start()
    return _to_batch_response(batch)


def _make_recipe_chooser(asked: StartBatchRequest, room: DarkroomService) -> RecipeChooser:
    if (asked.recipe is None) == (asked.request is None):
        raise invalid_request("give either a recipe or a request")
    if asked.recipe is not None:
        with room.reading(asked.recipe):
            recipe = parse_recipe(asked.recipe, room.settings)
        return lambda photo: (recipe, ())
    request, mode = check_request(asked.request or "", room), asked.mode
    return lambda photo: _answer_for_photo(photo, request, mode)


def _answer_for_photo(photo: SessionPhoto, request: str, mode: Mode) -> tuple[Recipe, tuple[str, ...]]:
    (edit,) = photo.editor.variants(request, 1, mode=mode)
    if not edit.answered:
        raise RequestError(edit.explain())
    return edit.recipe, edit.remarks


@batch_router.get("/batches/{batch}")
def show_batch(batch: ResourceId, visit: SessionDep) -> BatchResponse:
    """How far a batch is."""
    return _to_batch_response(_find_batch(visit, batch))


@batch_router.post("/batches/{batch}/cancel")
def cancel_batch(batch: ResourceId, visit: SessionDep) -> BatchResponse:
    """Stop a batch: what is being written becomes whole or goes, nothing new begins, what is done stays."""
    found = _find_batch(visit, batch)
    found.cancel()
    return _to_batch_response(found)


@batch_router.get("/batches/{batch}/results/{number}", response_class=FileResponse)
def fetch_batch_result(batch: ResourceId, number: int, visit: SessionDep) -> FileResponse:
    """One result, by its position among the items."""
    items = _find_batch(visit, batch).items
    return make_download(items[number].result if 0 <= number < len(items) else None)


@batch_router.get("/batches/{batch}/archive.zip", response_class=StreamingResponse)
def fetch_batch_archive(batch: ResourceId, visit: SessionDep) -> Response:
    """All results that are there, in one file."""
    found = _find_batch(visit, batch)
    headers = {"Content-Disposition": 'attachment; filename="edited.zip"'}
    return StreamingResponse(stream_zip(found), media_type="application/zip", headers=headers)


def _find_batch(visit: Session, batch: str) -> BatchJob:
    with visit.lock:
        if batch not in visit.batches:
            raise not_found("batch")
        return visit.batches[batch]


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
