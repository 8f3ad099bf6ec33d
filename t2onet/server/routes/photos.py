"""Photos: bring one, see it with its edit, take it away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ...editor import Mode
from ...recipe import Step
from ..darkroom import Chosen, Darkroom, Room, Visit
from ..errors import Refused, not_found, storing
from ..intake import NAMELESS, display_name, stored_suffix
from ..photos import Photo
from ..recipes import data, told
from ..schemas import Aside, Name, PhotoState
from ..sessions import Session

router = APIRouter(tags=["photos"])
_UPLOAD = re.compile(r"/api/v1/sessions/[^/]+/photos")


def is_upload(method: str, path: str) -> bool:
    """Whether this brings a photo."""
    return method == "POST" and _UPLOAD.fullmatch(path) is not None


@router.post(
    "/sessions/{session}/photos",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {"image/*": {}}}},
)
async def upload(
    request: Request,
    visit: Visit,
    room: Room,
    name: Annotated[str, Query(max_length=1000, description="Shown, and given to results.")] = NAMELESS,
) -> PhotoState:
    """Bring a photo: the body is the file itself, as it is. What it is, is told by its content."""
    with visit.usage.uploading(visit.uploaded):
        place = await run_in_threadpool(_place, visit, name)
        try:
            await _store_body(request, visit, place)
            return await run_in_threadpool(_added, visit, room, name, place)
        except BaseException as error:
            await run_in_threadpool(visit.discard, place.parent)
            if isinstance(error, ClientDisconnect):
                raise Refused(400, "bad_request", "the photo did not arrive whole") from None
            raise


def _place(session: Session, name: str) -> Path:
    """Where a new photo is put: the name gives nothing but one of the known endings."""
    session.usage.check()
    return session.place() / f"photo{stored_suffix(display_name(name))}"


async def _store_body(request: Request, session: Session, place: Path) -> None:
    """Write the body to a file; its size and duration were limited before."""
    with storing():
        try:
            with place.open("xb") as file:
                async for piece in request.stream():
                    session.usage.add(place.parent, len(piece))
                    await run_in_threadpool(file.write, piece)
        except FileNotFoundError:  # the session was closed meanwhile
            raise not_found("session") from None


def _added(session: Session, room: Darkroom, name: str, place: Path) -> PhotoState:
    photo = room.ready(room.photo(name, place, uploaded=True))
    return state(session.add(photo))


@router.get("/sessions/{session}/photos/{photo}")
def look(chosen: Chosen) -> PhotoState:
    """A photo and the edit that stands; one that was not opened yet is opened now."""
    return state(chosen)


@router.delete("/sessions/{session}/photos/{photo}", status_code=204)
def remove(photo: Name, visit: Visit) -> None:
    """Take a photo out of the session. A file of yours that was not uploaded stays where it is."""
    visit.remove(photo)


def state(photo: Photo) -> PhotoState:
    """A photo as JSON."""
    revision, edit, editor = photo.reading()
    facts = photo.facts
    assert facts is not None
    recipe = photo.recipe if edit is None else edit.recipe
    mode: Mode = "literal" if edit is None else edit.mode
    return PhotoState(
        photo=photo.id,
        name=photo.name,
        width=facts.width,
        height=facts.height,
        format=facts.format,
        bits=facts.bits,
        notes=list(facts.notes),
        revision=revision,
        can_undo=editor.can_undo,
        can_redo=editor.can_redo,
        request="" if edit is None else edit.request,
        mode=mode,
        manner=mode,
        strength=1.0 if edit is None else edit.turn.strength,
        recipe=data(recipe),
        description=recipe.describe(),
        steps=told(recipe.steps, () if edit is None else edit.reasons),
        aside=[] if edit is None else [Aside(position=at, step=_step(one)) for at, one in edit.aside],
        changes=[] if edit is None else edit.changes,
    )


def _step(step: Step) -> dict[str, Any]:
    return step.model_dump(mode="json", exclude_none=True)
