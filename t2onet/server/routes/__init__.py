"""The API, one file for each resource. Everything is below /api/v1."""

from functools import cache

from fastapi import APIRouter

from . import edits, photos

API_V1_PREFIX = "/api/v1"


@cache
def make_router() -> APIRouter:
    """All routes of the darkroom; built once, as FastAPI takes a tenth of a second to analyse them."""
    whole = APIRouter(prefix=API_V1_PREFIX)
    for part in (
        photos.operation_router,
        photos.session_router,
        photos.photo_router,
        edits.request_router,
        edits.recipe_router,
        photos.render_router,
        edits.plan_router,
        edits.export_router,
        edits.batch_router,
    ):
        whole.include_router(part)
    return whole
