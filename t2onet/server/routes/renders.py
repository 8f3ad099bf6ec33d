"""Routes: pictures for the screen, histograms, and the operations the page offers."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ... import __version__, operations
from ...executor import Pixels, apply
from ...recipe import Recipe
from ..connections import get_disconnect_event
from ..darkroom import DarkroomDep, DarkroomService, PhotoDep
from ..photos import SessionPhoto
from ..previews import encode_preview, fit_long_side, to_screen_pixels
from ..recipes import check_work, parse_recipe
from ..schemas import (
    AboutResponse,
    ClippingResponse,
    HistogramResponse,
    LongSide,
    OperationResponse,
    ParameterResponse,
    RenderRequest,
)

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
        OperationResponse(name=one.name, help=one.help, parameters=[], repair=True) for one in mending
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
