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

from .. import __version__, operations
from ..bands import Pixels
from ..editor import Edit
from ..executor import apply
from ..image import READABLE_SUFFIXES
from ..options import DEFAULT_MODE
from ..recipe import Recipe, Step
from .errors import Refused, not_found, refuse_storage_errors
from .photos import (
    DEFAULT_PHOTO_NAME,
    PhotoInfo,
    SessionPhoto,
    encode_preview,
    find_source_side,
    fit_long_side,
    get_stored_suffix,
    to_display_name,
    to_screen_pixels,
)
from .place_routes import measure_frame
from .running import get_disconnect_event
from .schemas import (
    OUTPUT_FORMATS,
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
from .session import Session
from .sessions import DarkroomDep, DarkroomService, PhotoDep, SessionDep

session_router = APIRouter(tags=["sessions"])


@session_router.post("/sessions", status_code=201)
def begin_session(darkroom: DarkroomDep) -> SessionResponse:
    """Create a session. Its id gives access to its photos."""
    return _to_session_response(darkroom.sessions.create())


@session_router.get("/sessions/{session}")
def show_session(session: SessionDep) -> SessionResponse:
    """The photos and batches of a session."""
    return _to_session_response(session)


@session_router.delete("/sessions/{session}", status_code=204)
def end_session(session: SessionDep, darkroom: DarkroomDep) -> None:
    """Close a session and remove its files."""
    darkroom.sessions.close(session.id)


def _to_session_response(session: Session) -> SessionResponse:
    with session.lock:
        photos = [
            PhotoSummaryResponse(
                photo=one.id, name=one.name, opened=one.info is not None, revision=one.revision
            )
            for one in session.photos.values()
        ]
        return SessionResponse(
            session=session.id,
            idle_minutes=session.settings.idle_minutes,
            photos=photos,
            batches=list(session.batches),
        )


photo_router = APIRouter(tags=["photos"])
_UPLOAD_PATH = re.compile(r"/api/v1/sessions/[^/]+/photos")


def is_upload(method: str, path: str) -> bool:
    """Whether a request uploads a photo."""
    return method == "POST" and _UPLOAD_PATH.fullmatch(path) is not None


@photo_router.post(
    "/sessions/{session}/photos",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {"image/*": {}}}},
)
async def upload_photo(
    request: Request,
    session: SessionDep,
    darkroom: DarkroomDep,
    name: Annotated[
        str, Query(max_length=1000, description="Shown, and given to results.")
    ] = DEFAULT_PHOTO_NAME,
) -> PhotoResponse:
    """Upload a photo: the body is the file itself. Its format is recognised by its content."""
    with session.usage.uploading(session.upload_count):
        place = await run_in_threadpool(_make_upload_path, session, name)
        try:
            await _store_body(request, session, place)
            return await run_in_threadpool(_add_photo, session, darkroom, name, place)
        except BaseException as error:
            await run_in_threadpool(session.remove_folder, place.parent)
            if isinstance(error, Refused) and error.kind == "storage":  # the next one may have room
                await run_in_threadpool(session.forget_removed, 0)
            if isinstance(error, ClientDisconnect):
                raise Refused(400, "bad_request", "the photo did not arrive whole") from None
            raise


def _make_upload_path(session: Session, name: str) -> Path:
    """Path of a new photo; only a known suffix is taken from its name."""
    session.usage.check()
    return session.make_upload_folder() / f"photo{get_stored_suffix(to_display_name(name))}"


async def _store_body(request: Request, session: Session, place: Path) -> None:
    """Write the body to a file; the middleware limits its size and duration."""
    with refuse_storage_errors():
        try:
            with place.open("xb") as file:
                place.chmod(0o600)
                async for piece in request.stream():
                    session.usage.add(place.parent, len(piece))
                    await run_in_threadpool(file.write, piece)
        except FileNotFoundError:  # the session was closed meanwhile
            raise not_found("session") from None


def _add_photo(session: Session, darkroom: DarkroomService, name: str, place: Path) -> PhotoResponse:
    photo = darkroom.open_photo(darkroom.make_upload(session, name, place))
    photo.keeper.save(None, photo.revision)
    return to_photo_response(session.add(photo))


@photo_router.get("/sessions/{session}/photos/{photo}")
def show_photo(photo: PhotoDep) -> PhotoResponse:
    """A photo and its current edit; the photo is opened if it is not open yet."""
    return to_photo_response(photo)


@photo_router.delete("/sessions/{session}/photos/{photo}", status_code=204)
def remove_photo(photo: ResourceId, session: SessionDep) -> None:
    """Remove a photo from the session; for ten minutes it can be restored.

    Files that were not uploaded stay where they are.
    """
    session.remove(photo)


@photo_router.post("/sessions/{session}/photos/{photo}/restore")
def restore_photo(photo: ResourceId, session: SessionDep) -> SessionResponse:
    """Bring a removed photo back, with its edit, where it was."""
    session.restore(photo)
    return _to_session_response(session)


def to_photo_response(photo: SessionPhoto) -> PhotoResponse:
    """A photo as JSON."""
    revision, current, editor = photo.snapshot()
    edit = current or Edit(editor.photo, "", DEFAULT_MODE, Recipe())
    facts, recipe = photo.info, edit.recipe
    assert facts is not None
    height, width = recipe.size_after(facts.height, facts.width)
    return PhotoResponse(
        photo=photo.id,
        name=photo.name,
        width=facts.width,
        height=facts.height,
        edited_width=width,
        edited_height=height,
        frame=measure_frame(recipe, facts.height, facts.width),
        format=facts.format,
        bits=facts.bits,
        notes=list(facts.notes),
        revision=revision,
        can_undo=editor.can_undo,
        can_redo=editor.can_redo,
        request=edit.request,
        mode=edit.mode,
        manner=edit.mode,
        strength=edit.turn.strength,
        recipe=to_recipe_json(recipe),
        description=recipe.describe(),
        settings=recipe.format_settings(),
        steps=to_step_responses(recipe, edit.reasons),
        aside=[SwitchedOffStep(position=at, step=_to_step_json(one)) for at, one in edit.aside],
        changes=edit.changes,
        saved=photo.keeper.place,
        remarks=list(photo.keeper.remarks),
    )


def _to_step_json(step: Step) -> dict[str, Any]:
    return step.model_dump(mode="json", exclude_none=True)


operation_router = APIRouter(tags=["operations"])


@operation_router.get("/about")
async def describe_server(darkroom: DarkroomDep) -> AboutResponse:
    """The version, the limits and the file formats; answered even while all threads are busy."""
    numbers = {
        name: value
        for name, value in asdict(darkroom.settings).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return AboutResponse(
        name="t2onet",
        version=__version__,
        limits=numbers,
        reader=darkroom.settings.reader,
        readable_suffixes=list(READABLE_SUFFIXES),
        output_formats=OUTPUT_FORMATS,
    )


@operation_router.get("/operations")
def list_operations() -> list[OperationResponse]:
    """The declarations that sliders and curve editors are made from, repairs last."""
    return [
        *map(_to_operation_response, operations.declarations().values()),
        *(
            OperationResponse(
                name=one.name,
                label=one.name,
                group="",
                position=0,
                common=False,
                help=one.help,
                parameters=[],
                repair=True,
            )
            for one in operations.repairs().values()
        ),
    ]


def _to_operation_response(operation: operations.Declaration) -> OperationResponse:
    curves = any(parameter.is_curve for parameter in operation.parameters)
    return OperationResponse(
        name=operation.name,
        label=operation.label,
        group=operation.group,
        position=operation.position,
        common=operation.name in operations.DARKROOM and not curves,
        help=operation.help,
        parameters=[
            ParameterResponse(
                name=parameter.name,
                low=parameter.low,
                high=parameter.high,
                default=parameter.default,
                unit=parameter.unit,
                help=parameter.help,
                step=parameter.step,
                count=parameter.count,
                curve=parameter.is_curve,
                names=list(parameter.names),
                titles=list(parameter.title_slots(title)),
                suffix=parameter.written_unit,
            )
            for parameter, title in zip(operation.parameters, operation.titles, strict=True)
        ],
        repair=False,
    )


render_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["renders"])
_JPEG_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}}, "description": "The picture."}
}
_CHANNELS = ("red", "green", "blue")


@render_router.get("/preview.jpg", response_class=Response, responses=_JPEG_RESPONSES)
def render_preview(
    request: Request,
    photo: PhotoDep,
    darkroom: DarkroomDep,
    size: Annotated[LongSide, Query()] = 1600,
    original: Annotated[bool, Query(description="Without its edit, in the frame of the edit.")] = False,
) -> Response:
    """The photo with its current edit. Add the revision as a further parameter to bypass caches."""
    recipe = photo.recipe.geometry if original else photo.recipe
    state = f"{photo.id} {size} {recipe.to_json()}"
    tag = f'"{hashlib.sha256(state.encode("utf-8", "replace")).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return _make_jpeg_response(darkroom, photo, recipe, size, headers)


@render_router.post("/renders", response_class=Response, responses=_JPEG_RESPONSES)
def render_recipe(body: RenderRequest, photo: PhotoDep, darkroom: DarkroomDep) -> Response:
    """The photo with another recipe, such as while a slider moves. Nothing changes."""
    return _make_jpeg_response(darkroom, photo, _parse_tried_recipe(body, darkroom), body.size, {})


@render_router.get("/histogram")
def compute_histogram(
    photo: PhotoDep,
    darkroom: DarkroomDep,
    original: Annotated[bool, Query(description="Without its edit, in the frame of the edit.")] = False,
) -> HistogramResponse:
    """The histogram of the preview with the current edit."""
    recipe = photo.recipe.geometry if original else photo.recipe
    return _compute_histogram(darkroom, photo, recipe, darkroom.settings.preview)


@render_router.post("/histogram")
def compute_recipe_histogram(
    body: RenderRequest, photo: PhotoDep, darkroom: DarkroomDep
) -> HistogramResponse:
    """The histogram of the preview with another recipe."""
    return _compute_histogram(darkroom, photo, _parse_tried_recipe(body, darkroom), body.size)


def _parse_tried_recipe(body: RenderRequest, darkroom: DarkroomService) -> Recipe:
    with darkroom.hold_decoding_slot(body.recipe):
        return parse_recipe(body.recipe, darkroom.settings)


def _make_jpeg_response(
    darkroom: DarkroomService, photo: SessionPhoto, recipe: Recipe, size: int, headers: dict[str, str]
) -> Response:
    begun = time.perf_counter()
    picture = _render_pixels(darkroom, photo, recipe, size)
    rendered = time.perf_counter()
    with darkroom.hold_slot():
        body = encode_preview(picture)
    encoded = time.perf_counter()
    took = f"render;dur={1000 * (rendered - begun):.1f}, encode;dur={1000 * (encoded - rendered):.1f}"
    return Response(body, media_type="image/jpeg", headers={**headers, "Server-Timing": took})


def _render_pixels(darkroom: DarkroomService, photo: SessionPhoto, recipe: Recipe, size: int) -> Pixels:
    """(H, W, 3) uint8, its long side at most `size` after the recipe.

    Photos that are needed larger than the preview are rendered from the file and not cached.
    """
    assert photo.info is not None
    side = find_source_side(photo.info, recipe, size)
    return _render_source(darkroom, photo, recipe, min(side, darkroom.settings.largest))


def _render_source(darkroom: DarkroomService, photo: SessionPhoto, recipe: Recipe, side: int) -> Pixels:
    """The photo, its long side at most `side` pixels, after a recipe."""
    assert photo.info is not None
    with darkroom.hold_slot():
        check_work(recipe, _count_pixels(photo.info, side), darkroom.settings)
        if side <= darkroom.previews.side:
            return darkroom.previews.render(photo.id, photo.open, recipe, side)
        return to_screen_pixels(
            apply(
                recipe,
                fit_long_side(photo.open(), side),
                kernels=True,
                cancel=get_disconnect_event(),
                notes=[],
            )
        )


def _count_pixels(photo: PhotoInfo, side: int) -> float:
    """Number of pixels of the photo, scaled to a long side of at most `side`."""
    return photo.width * photo.height * min(side / max(photo.width, photo.height), 1.0) ** 2


def _compute_histogram(
    darkroom: DarkroomService, photo: SessionPhoto, recipe: Recipe, size: int
) -> HistogramResponse:
    """Of a picture whose long side would be at most `size` pixels if the recipe did not crop it."""
    picture = _render_source(darkroom, photo, recipe, min(size, darkroom.settings.largest))
    pixels = picture.shape[0] * picture.shape[1]
    counts = [np.bincount(picture[..., channel].ravel(), minlength=256).tolist() for channel in range(3)]
    clipped = [ClippingResponse(black=count[0] / pixels, white=count[255] / pixels) for count in counts]
    return HistogramResponse(
        **dict(zip(_CHANNELS, counts, strict=True)),
        pixels=pixels,
        clipped=dict(zip(_CHANNELS, clipped, strict=True)),
    )
