"""Many photos at once: begin, watch, stop, fetch."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from starlette.responses import FileResponse, Response, StreamingResponse

from ...editor import Mode
from ...errors import RequestError
from ...recipe import Recipe
from ..batches import Batch, Item, RecipeFor, archive
from ..darkroom import Darkroom, Room, Visit
from ..errors import Refused, invalid, not_found
from ..photos import Photo
from ..recipes import checked
from ..schemas import BatchItem, BatchState, Name, StartBatch
from ..sessions import Session
from .exports import sent
from .requests import checked_request

router = APIRouter(prefix="/sessions/{session}", tags=["batches"])


@router.post("/batches", status_code=202)
def begin(asked: StartBatch, visit: Visit, room: Room) -> BatchState:
    """Apply a recipe to photos of the session, or ask the same of each of them. One batch runs at a time."""
    recipe_for = _recipe_for(asked, room)
    with visit.lock:
        if asked.photos == []:
            raise invalid("no photo was chosen; choose some, or leave `photos` out for all")
        wanted = visit.photos if asked.photos is None else asked.photos
        chosen = [visit.photo(one) for one in dict.fromkeys(wanted)]
        if not chosen:
            raise invalid("there is no photo to work on; bring some first")
        if any(batch.running for batch in visit.batches.values()):
            raise Refused(409, "busy", "a batch is running in this session; wait for it or cancel it")
        items = [Item(photo) for photo in chosen]
        batch = Batch(items, recipe_for, asked.format, visit.place(), visit, room)
        for old in list(visit.batches)[: len(visit.batches) + 1 - room.settings.batches]:
            visit.batches.pop(old).remove()
        visit.batches[batch.id] = batch
        batch.start()
    return _state(batch)


def _recipe_for(asked: StartBatch, room: Darkroom) -> RecipeFor:
    if (asked.recipe is None) == (asked.request is None):
        raise invalid("give either a recipe or a request")
    if asked.recipe is not None:
        with room.reading(asked.recipe):
            recipe = checked(asked.recipe, room.settings)
        return lambda photo: (recipe, ())
    request, mode = checked_request(asked.request or "", room), asked.mode
    return lambda photo: _answered(photo, request, mode)


def _answered(photo: Photo, request: str, mode: Mode) -> tuple[Recipe, tuple[str, ...]]:
    (edit,) = photo.editor.variants(request, 1, mode=mode)
    if not edit.answered:
        raise RequestError(edit.explain())
    return edit.recipe, edit.remarks


@router.get("/batches/{batch}")
def look(batch: Name, visit: Visit) -> BatchState:
    """How far a batch is."""
    return _state(_found(visit, batch))


@router.post("/batches/{batch}/cancel")
def cancel(batch: Name, visit: Visit) -> BatchState:
    """Stop a batch: what is being written becomes whole or goes, nothing new begins, what is done stays."""
    found = _found(visit, batch)
    found.cancel()
    return _state(found)


@router.get("/batches/{batch}/results/{number}", response_class=FileResponse)
def fetch(batch: Name, number: int, visit: Visit) -> FileResponse:
    """One result, by its position among the items."""
    items = _found(visit, batch).items
    return sent(items[number].result if 0 <= number < len(items) else None)


@router.get("/batches/{batch}/archive.zip", response_class=StreamingResponse)
def fetch_all(batch: Name, visit: Visit) -> Response:
    """All results that are there, in one file."""
    found = _found(visit, batch)
    headers = {"Content-Disposition": 'attachment; filename="edited.zip"'}
    return StreamingResponse(archive(found), media_type="application/zip", headers=headers)


def _found(visit: Session, batch: str) -> Batch:
    with visit.lock:
        if batch not in visit.batches:
            raise not_found("batch")
        return visit.batches[batch]


def _state(batch: Batch) -> BatchState:
    running = batch.running
    address = f"/api/v1/sessions/{batch.session.id}/batches/{batch.id}"
    items = list(_items(batch, address))
    fetched = not running and any(item.url for item in items)
    return BatchState(
        batch=batch.id,
        running=running,
        cancelled=batch.cancelled,
        total=len(items),
        done=sum(item.outcome == "done" for item in items),
        share=sum(item.share for item in batch.items) / len(batch.items),
        items=items,
        archive=f"{address}/archive.zip" if fetched else None,
    )


def _items(batch: Batch, address: str) -> Iterator[BatchItem]:
    for number, item in enumerate(batch.items):
        yield BatchItem(
            photo=item.photo.id,
            name=item.photo.name,
            outcome=item.outcome,
            notes=[*item.remarks, *(item.result.notes if item.result else ())],
            error=item.error,
            url=f"{address}/results/{number}" if item.result else None,
        )
