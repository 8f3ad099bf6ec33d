"""Pictures for the screen: the edit, or any recipe on the way to one; and their histograms."""

from __future__ import annotations

import hashlib
import time
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ...executor import Pixels, apply
from ...recipe import Recipe
from ..darkroom import Chosen, Darkroom, Room
from ..disconnects import client_gone
from ..photos import Photo
from ..previews import fitted, jpeg, on_screen
from ..recipes import check_work, checked
from ..schemas import Clipped, Histogram, Render, Side

router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["renders"])
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}}, "description": "The picture."}
}
_CHANNELS = ("red", "green", "blue")


@router.get("/preview.jpg", response_class=Response, responses=_PICTURE)
def preview(
    request: Request,
    chosen: Chosen,
    room: Room,
    size: Annotated[Side, Query()] = 1600,
    original: Annotated[bool, Query(description="The photo without its edit.")] = False,
) -> Response:
    """The photo with the edit that stands. Give the revision as any further parameter to fetch it anew."""
    recipe = Recipe() if original else chosen.recipe
    told = f"{chosen.id} {size} {recipe.to_json()}"
    tag = f'"{hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return _sent(room, chosen, recipe, size, headers)


@router.post("/renders", response_class=Response, responses=_PICTURE)
def render(asked: Render, chosen: Chosen, room: Room) -> Response:
    """The photo with a recipe that is only tried, as while a slider moves. Nothing changes."""
    return _sent(room, chosen, _tried(asked, room), asked.size, {})


@router.get("/histogram")
def histogram(
    chosen: Chosen, room: Room, original: Annotated[bool, Query(description="Without its edit.")] = False
) -> Histogram:
    """Of the preview with the edit that stands."""
    return _histogram(_picture(room, chosen, Recipe() if original else chosen.recipe, room.settings.preview))


@router.post("/histogram")
def tried_histogram(asked: Render, chosen: Chosen, room: Room) -> Histogram:
    """Of the preview with a recipe that is only tried."""
    return _histogram(_picture(room, chosen, _tried(asked, room), asked.size))


def _tried(asked: Render, room: Darkroom) -> Recipe:
    with room.reading(asked.recipe):
        return checked(asked.recipe, room.settings)


def _sent(room: Darkroom, photo: Photo, recipe: Recipe, size: int, headers: dict[str, str]) -> Response:
    begun = time.perf_counter()
    picture = _picture(room, photo, recipe, size)
    rendered = time.perf_counter()
    with room.working():
        body = jpeg(picture)
    encoded = time.perf_counter()
    took = f"render;dur={1000 * (rendered - begun):.1f}, encode;dur={1000 * (encoded - rendered):.1f}"
    return Response(body, media_type="image/jpeg", headers={**headers, "Server-Timing": took})


def _picture(room: Darkroom, photo: Photo, recipe: Recipe, size: int) -> Pixels:
    """(H, W, 3) uint8; what is larger than the preview is made from the file, and not kept."""
    size = min(size, room.settings.largest)
    with room.working():
        check_work(recipe, _pixels(photo, size), room.settings)
        if size <= room.previews.side:
            return room.previews.shown(photo.id, photo.open, recipe, size)
        return on_screen(apply(recipe, fitted(photo.open(), size), kernels=True, cancel=client_gone()))


def _pixels(photo: Photo, size: int) -> float:
    """Number of pixels of the photo, scaled to a long side of at most `size`."""
    assert photo.facts is not None
    width, height = photo.facts.width, photo.facts.height
    return width * height * min(size / max(width, height), 1.0) ** 2


def _histogram(picture: Pixels) -> Histogram:
    pixels = picture.shape[0] * picture.shape[1]
    counts = [np.bincount(picture[..., channel].ravel(), minlength=256).tolist() for channel in range(3)]
    clipped = [Clipped(black=count[0] / pixels, white=count[255] / pixels) for count in counts]
    return Histogram(
        **dict(zip(_CHANNELS, counts, strict=True)),
        pixels=pixels,
        clipped=dict(zip(_CHANNELS, clipped, strict=True)),
    )
