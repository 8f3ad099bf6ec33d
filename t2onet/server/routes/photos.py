"""Routes: sessions, photos, their previews and histograms, and the operations there are."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from ... import __version__, operations
from ...executor import Pixels, apply
from ...options import DEFAULT_MODE, Mode
from ...recipe import Recipe, Step
from ..darkroom import DarkroomDep, DarkroomService, PhotoDep, SessionDep
from ..errors import Refused, not_found, refuse_storage_errors
from ..photos import (
    DEFAULT_PHOTO_NAME,
    SessionPhoto,
    encode_preview,
    fit_long_side,
    get_stored_suffix,
    to_display_name,
    to_screen_pixels,
)
from ..running import get_disconnect_event
from ..schemas import (
    AboutResponse,
    ClippingResponse,
    HistogramResponse,
    LongSide,
    OperationResponse,
    ParameterResponse,
    PhotoResponse,
    PhotoSummaryResponse,
    RenderRequest,
    ResourceId,
    SessionResponse,
    SwitchedOffStep,
    check_work,
    parse_recipe,
    to_recipe_json,
    to_step_responses,
)
from ..sessions import Session

# Routes: sessions and their photos.

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
    mode: Mode = DEFAULT_MODE if edit is None else edit.mode
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
        steps=to_step_responses(recipe, () if edit is None else edit.reasons),
        aside=[]
        if edit is None
        else [SwitchedOffStep(position=at, step=_to_step_json(one)) for at, one in edit.aside],
        changes=[] if edit is None else edit.changes,
    )


def _to_step_json(step: Step) -> dict[str, Any]:
    return step.model_dump(mode="json", exclude_none=True)


# Routes: pictures for the screen, histograms, and the operations the page offers.

# What the page needs to know before there is a photo: operations for sliders and curves, and limits.

operation_router = APIRouter(tags=["operations"])
_PARAMETER_FIELDS = tuple(ParameterResponse.model_fields)


@operation_router.get("/about")
async def describe_server(room: DarkroomDep) -> AboutResponse:
    """The version, and what is allowed; answered even while all threads are busy."""
    numbers = {name: value for name, value in asdict(room.settings).items() if isinstance(value, int | float)}
    return AboutResponse(name="t2onet", version=__version__, limits=numbers)


@operation_router.get("/operations")
def list_operations() -> list[OperationResponse]:
    """The declarations that sliders and curve editors are made from, repairs last."""
    found = [
        OperationResponse(
            name=one.name,
            group=one.group,
            help=one.help,
            parameters=[
                ParameterResponse(**{key: getattr(p, key) for key in _PARAMETER_FIELDS})
                for p in one.parameters
            ],
            repair=False,
        )
        for one in operations.operations().values()
    ]
    mending = operations.repairs().values()
    return found + [
        OperationResponse(name=one.name, group="", help=one.help, parameters=[], repair=True)
        for one in mending
    ]


# Pictures for the screen: the edit, or any recipe on the way to one; and their histograms.

render_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["renders"])
_JPEG_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}}, "description": "The picture."}
}
_CHANNELS = ("red", "green", "blue")


@render_router.get("/preview.jpg", response_class=Response, responses=_JPEG_RESPONSES)
def render_preview(
    request: Request,
    chosen: PhotoDep,
    room: DarkroomDep,
    size: Annotated[LongSide, Query()] = 1600,
    original: Annotated[bool, Query(description="The photo without its edit.")] = False,
) -> Response:
    """The photo with the edit that stands. Give the revision as any further parameter to fetch it anew."""
    recipe = Recipe() if original else chosen.recipe
    told = f"{chosen.id} {size} {recipe.to_json()}"
    tag = f'"{hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return _make_jpeg_response(room, chosen, recipe, size, headers)


@render_router.post("/renders", response_class=Response, responses=_JPEG_RESPONSES)
def render_recipe(asked: RenderRequest, chosen: PhotoDep, room: DarkroomDep) -> Response:
    """The photo with a recipe that is only tried, as while a slider moves. Nothing changes."""
    return _make_jpeg_response(room, chosen, _parse_tried_recipe(asked, room), asked.size, {})


@render_router.get("/histogram")
def compute_histogram(
    chosen: PhotoDep,
    room: DarkroomDep,
    original: Annotated[bool, Query(description="Without its edit.")] = False,
) -> HistogramResponse:
    """Of the preview with the edit that stands."""
    return _to_histogram_response(
        _render_pixels(room, chosen, Recipe() if original else chosen.recipe, room.settings.preview)
    )


@render_router.post("/histogram")
def compute_recipe_histogram(asked: RenderRequest, chosen: PhotoDep, room: DarkroomDep) -> HistogramResponse:
    """Of the preview with a recipe that is only tried."""
    return _to_histogram_response(_render_pixels(room, chosen, _parse_tried_recipe(asked, room), asked.size))


def _parse_tried_recipe(asked: RenderRequest, room: DarkroomService) -> Recipe:
    with room.reading(asked.recipe):
        return parse_recipe(asked.recipe, room.settings)


def _make_jpeg_response(
    room: DarkroomService, photo: SessionPhoto, recipe: Recipe, size: int, headers: dict[str, str]
) -> Response:
    begun = time.perf_counter()
    picture = _render_pixels(room, photo, recipe, size)
    rendered = time.perf_counter()
    with room.working():
        body = encode_preview(picture)
    encoded = time.perf_counter()
    took = f"render;dur={1000 * (rendered - begun):.1f}, encode;dur={1000 * (encoded - rendered):.1f}"
    return Response(body, media_type="image/jpeg", headers={**headers, "Server-Timing": took})


def _render_pixels(room: DarkroomService, photo: SessionPhoto, recipe: Recipe, size: int) -> Pixels:
    """(H, W, 3) uint8; what is larger than the preview is made from the file, and not kept."""
    size = min(size, room.settings.largest)
    with room.working():
        check_work(recipe, _count_pixels(photo, size), room.settings)
        if size <= room.previews.side:
            return room.previews.shown(photo.id, photo.open, recipe, size)
        return to_screen_pixels(
            apply(recipe, fit_long_side(photo.open(), size), kernels=True, cancel=get_disconnect_event())
        )


def _count_pixels(photo: SessionPhoto, size: int) -> float:
    """Number of pixels of the photo, scaled to a long side of at most `size`."""
    assert photo.facts is not None
    width, height = photo.facts.width, photo.facts.height
    return width * height * min(size / max(width, height), 1.0) ** 2


def _to_histogram_response(picture: Pixels) -> HistogramResponse:
    pixels = picture.shape[0] * picture.shape[1]
    counts = [np.bincount(picture[..., channel].ravel(), minlength=256).tolist() for channel in range(3)]
    clipped = [ClippingResponse(black=count[0] / pixels, white=count[255] / pixels) for count in counts]
    return HistogramResponse(
        **dict(zip(_CHANNELS, counts, strict=True)),
        pixels=pixels,
        clipped=dict(zip(_CHANNELS, clipped, strict=True)),
    )
