"""The API, one file for each resource. Everything is below /api/v1."""

from fastapi import APIRouter

from . import batches, exports, operations, photos, plans, recipes, renders, requests, sessions

PREFIX = "/api/v1"


def router() -> APIRouter:
    """All routes of the darkroom."""
    whole = APIRouter(prefix=PREFIX)
    for part in (operations, sessions, photos, requests, recipes, renders, plans, exports, batches):
        whole.include_router(part.router)
    return whole
