"""Routes: the places of a photo, their masks, and what is like a point of it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from fastapi import APIRouter
from starlette.responses import Response

from ..executor import apply
from ..image import Image, image_from_array
from ..places import OpenedPhoto, find_place, list_present, resolve_where
from ..places.similar import select_similar
from ..recipe import Mask, Recipe, Step
from ..recipe.where import HUES, POSITIONS, TONES
from .errors import invalid_request
from .photos import SessionPhoto
from .schemas import (
    MaskRequest,
    PlaceResponse,
    PlacesResponse,
    PlaceWords,
    SelectionRequest,
    parse_part,
    parse_recipe,
)
from .sessions import DarkroomDep, DarkroomService, PhotoDep

place_router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["places"])
_PNG_RESPONSES: dict[int | str, dict[str, object]] = {
    200: {"content": {"image/png": {}}, "description": "A grey picture, white inside."}
}
_FRAME_SIDE = 1024
"""Long side of the picture by which a frame is measured, in pixels."""
_NO_TURN = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


@place_router.get("/places")
def list_places(photo: PhotoDep, darkroom: DarkroomDep) -> PlacesResponse:
    """The places that the network finds in the photo as it was opened, and the words that always work."""
    with darkroom.hold_slot():
        picture = OpenedPhoto(_open_preview(darkroom, photo, darkroom.settings.preview)).small_picture
        places = [
            PlaceResponse(name=name, share=round(float(find_place(name, picture).mean()), 4))
            for name in list_present(picture)
        ]
    words = PlaceWords(tones=list(TONES), hues=list(HUES), positions=list(POSITIONS))
    return PlacesResponse(places=places, words=words)


@place_router.post("/masks", response_class=Response, responses=_PNG_RESPONSES)
def render_mask(body: MaskRequest, photo: PhotoDep, darkroom: DarkroomDep) -> Response:
    """The mask of a `where`, or of a step of the recipe, in the frame that the recipe leaves."""
    with darkroom.hold_decoding_slot(body.recipe):
        recipe = parse_recipe(body.recipe, darkroom.settings)
    if (body.where is None) == (body.step is None):
        raise invalid_request("give either a where or the number of a step of the recipe")
    if body.step is None:
        step, (place, _) = None, parse_part(body.where, None, darkroom.settings)
    elif body.step < len(recipe.steps):
        step, place = recipe.steps[body.step], None
    else:
        raise invalid_request(f"the recipe has no step {body.step}; the first is 0")
    before = recipe.steps[: body.step] if step else ()
    after = recipe.steps[len(before) :]
    with darkroom.hold_slot():
        base = _open_preview(darkroom, photo, min(body.size, darkroom.settings.preview))
        base = apply(Recipe(steps=before).geometry, base, kernels=True)
        if step is not None and step.mask is not None:
            levels = step.mask.resize(base.height, base.width)
        elif (where := place if step is None else step.where) is not None:
            levels = resolve_where(where, OpenedPhoto(base), compiled=True)
        else:
            levels = np.full((base.height, base.width), 255, np.uint8)
        return _make_png_response(_reframe(levels, after))


@place_router.post("/selections", response_class=Response, responses=_PNG_RESPONSES)
def select_region(body: SelectionRequest, photo: PhotoDep, darkroom: DarkroomDep) -> Response:
    """The mask of what is like a point and connected with it, in the frame of the photo as it was opened."""
    with darkroom.hold_slot():
        base = _open_preview(darkroom, photo, min(body.size, darkroom.settings.preview))
        return _make_png_response(select_similar(OpenedPhoto(base), body.point, body.tolerance))


def _open_preview(darkroom: DarkroomService, photo: SessionPhoto, side: int) -> Image:
    return darkroom.previews.get_base(photo.id, photo.open, side)


def _reframe(levels: np.ndarray, steps: tuple[Step, ...]) -> np.ndarray:
    """A mask (H, W) after the crops, turns and flips among steps."""
    geometry = Recipe(steps=steps).geometry
    if geometry.is_identity:
        return levels
    return apply(geometry, np.repeat(levels[..., None], 3, axis=2), kernels=True).pixels[..., 0]


def _make_png_response(levels: np.ndarray) -> Response:
    return Response(Mask.from_array(levels).png, media_type="image/png")


def measure_frame(recipe: Recipe, height: int, width: int) -> tuple[float, ...]:
    """Where a point (u, v) of the result lies in a photo: x = a u + b v + c, y = d u + e v + f, in shares."""
    geometry = tuple(step for step in recipe.steps if step.is_geometry and not step.is_identity)
    return _measure_frame(geometry, height, width) if geometry else _NO_TURN


@lru_cache(maxsize=256)
def _measure_frame(geometry: tuple[Step, ...], height: int, width: int) -> tuple[float, ...]:
    """Fitted to a picture whose colours are its coordinates; all geometry is affine."""
    scale = min(_FRAME_SIDE / max(height, width), 1.0)
    y, x = _find_centres(max(round(height * scale), 1), max(round(width * scale), 1))
    coordinates = np.stack([x, y, np.zeros_like(x)], axis=-1)
    after = apply(Recipe(steps=geometry), image_from_array(coordinates), kernels=True).pixels
    v, u = _find_centres(*after.shape[:2])
    step = max(min(after.shape[:2]) // 32, 1)
    grid = np.stack([u, v, np.ones_like(u)], axis=-1)[::step, ::step].reshape(-1, 3)
    found, *_ = np.linalg.lstsq(grid, after[::step, ::step, :2].reshape(-1, 2), rcond=None)
    return tuple(round(float(value), 6) for value in found.T.ravel())


def _find_centres(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns (H, W) of the centres of pixels, as shares."""
    rows, columns = np.mgrid[:height, :width].astype(np.float32) + np.float32(0.5)
    return rows / np.float32(height), columns / np.float32(width)
