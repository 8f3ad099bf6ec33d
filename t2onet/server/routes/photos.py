"""Routes: sessions and their photos."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ...editor import Mode
from ...recipe import Step
from ..darkroom import DarkroomDep, DarkroomService, PhotoDep, SessionDep
from ..errors import Refused, not_found, refuse_storage_errors
from ..photos import DEFAULT_PHOTO_NAME, SessionPhoto, get_stored_suffix, to_display_name
from ..recipes import to_recipe_json, to_step_responses
from ..schemas import PhotoResponse, PhotoSummaryResponse, ResourceId, SessionResponse, SwitchedOffStep
from ..sessions import Session

# Sessions: begin one, see what is in it, end it.

session_router = APIRouter(tags=["sessions"])


@session_router.post("/sessions", status_code=201)
def begin_session(room: DarkroomDep) -> SessionResponse:
    """A new session. Its name is the key to it: whoever has it sees the photos."""
    return _to_session_response(room.sessions.create())


@session_router.get("/sessions/{session}")
def show_session(visit: SessionDep) -> SessionResponse:
    """The photos and batches of a session."""
    return _to_session_response(visit)


@session_router.delete("/sessions/{session}", status_code=204)
def end_session(visit: SessionDep, room: DarkroomDep) -> None:
    """Forget a session, and remove its files."""
    room.sessions.close(visit.id)


def _to_session_response(session: Session) -> SessionResponse:
    with session.lock:
        photos = [
            PhotoSummaryResponse(
                photo=one.id, name=one.name, opened=one.facts is not None, revision=one.revision
            )
            for one in session.photos.values()
        ]
        return SessionResponse(
            session=session.id,
            idle_minutes=session.settings.idle_minutes,
            photos=photos,
            batches=list(session.batches),
        )


# Photos: bring one, see it with its edit, take it away.

photo_router = APIRouter(tags=["photos"])
_UPLOAD_PATH = re.compile(r"/api/v1/sessions/[^/]+/photos")


def is_upload(method: str, path: str) -> bool:
    """Whether this brings a photo."""
    return method == "POST" and _UPLOAD_PATH.fullmatch(path) is not None


@photo_router.post(
    "/sessions/{session}/photos",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {"image/*": {}}}},
)
async def upload_photo(
    request: Request,
    visit: SessionDep,
    room: DarkroomDep,
    name: Annotated[
        str, Query(max_length=1000, description="Shown, and given to results.")
    ] = DEFAULT_PHOTO_NAME,
) -> PhotoResponse:
    """Bring a photo: the body is the file itself, as it is. What it is, is told by its content."""
    with visit.usage.uploading(visit.uploaded):
        place = await run_in_threadpool(_make_upload_path, visit, name)
        try:
            await _store_body(request, visit, place)
            return await run_in_threadpool(_add_photo, visit, room, name, place)
        except BaseException as error:
            await run_in_threadpool(visit.discard, place.parent)
            if isinstance(error, ClientDisconnect):
                raise Refused(400, "bad_request", "the photo did not arrive whole") from None
            raise


def _make_upload_path(session: Session, name: str) -> Path:
    """Where a new photo is put: the name gives nothing but one of the known endings."""
    session.usage.check()
    return session.place() / f"photo{get_stored_suffix(to_display_name(name))}"


async def _store_body(request: Request, session: Session, place: Path) -> None:
    """Write the body to a file; its size and duration were limited before."""
    with refuse_storage_errors():
        try:
            with place.open("xb") as file:
                async for piece in request.stream():
                    session.usage.add(place.parent, len(piece))
                    await run_in_threadpool(file.write, piece)
        except FileNotFoundError:  # the session was closed meanwhile
            raise not_found("session") from None


def _add_photo(session: Session, room: DarkroomService, name: str, place: Path) -> PhotoResponse:
    photo = room.ready(room.photo(name, place, uploaded=True))
    return to_photo_response(session.add(photo))


@photo_router.get("/sessions/{session}/photos/{photo}")
def show_photo(chosen: PhotoDep) -> PhotoResponse:
    """A photo and the edit that stands; one that was not opened yet is opened now."""
    return to_photo_response(chosen)


@photo_router.delete("/sessions/{session}/photos/{photo}", status_code=204)
def remove_photo(photo: ResourceId, visit: SessionDep) -> None:
    """Take a photo out of the session. A file of yours that was not uploaded stays where it is."""
    visit.remove(photo)


def to_photo_response(photo: SessionPhoto) -> PhotoResponse:
    """A photo as JSON."""
    revision, edit, editor = photo.reading()
    facts = photo.facts
    assert facts is not None
    recipe = photo.recipe if edit is None else edit.recipe
    mode: Mode = "literal" if edit is None else edit.mode
    return PhotoResponse(
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
        recipe=to_recipe_json(recipe),
        description=recipe.describe(),
        steps=to_step_responses(recipe.steps, () if edit is None else edit.reasons),
        aside=[]
        if edit is None
        else [SwitchedOffStep(position=at, step=_to_step_json(one)) for at, one in edit.aside],
        changes=[] if edit is None else edit.changes,
    )


def _to_step_json(step: Step) -> dict[str, Any]:
    return step.model_dump(mode="json", exclude_none=True)
