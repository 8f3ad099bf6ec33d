"""The application: routes, guards and pages around one darkroom."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from .. import __version__
from ..policy import Policy
from . import errors, routes
from .answers import Answer
from .darkroom import Darkroom
from .disconnects import Disconnects
from .pages import described
from .routes.photos import is_upload
from .safety import Guard
from .settings import Settings

STATIC = Path(__file__).parent / "static" / "darkroom"
_DESCRIPTION = "The API of the web darkroom: sessions hold photos, photos hold edits, edits are recipes."
_EVERY = 60.0
"""Seconds between two looks for sessions that expired."""


def create_app(
    settings: Settings | None = None, *, policy: Policy | None = None, more: Sequence[APIRouter] = ()
) -> FastAPI:
    """The server; `policy` answers instead of the network in the package, `more` are further routes."""
    settings = settings or Settings()
    app = FastAPI(
        title="t2onet",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        default_response_class=Answer,
        generate_unique_id_function=_operation_id,
        lifespan=_lifespan,
    )
    app.state.darkroom = room = Darkroom.of(settings, policy)
    errors.install(app, room.sessions.conceal)
    app.add_middleware(Disconnects)
    app.add_middleware(Guard, settings=settings, is_upload=is_upload)
    for router in (routes.router(), *more):
        app.include_router(router)
    app.add_api_route("/api/docs", _docs(app), include_in_schema=False)
    app.mount("/", _Pages(directory=STATIC, html=True))
    return app


def _operation_id(route: APIRoute) -> str:
    return f"{route.tags[0] if route.tags else 'api'}-{route.name}"


def _docs(app: FastAPI) -> Any:
    def docs() -> HTMLResponse:
        return HTMLResponse(described(app.openapi()))

    return docs


class _Pages(StaticFiles):
    """Files of the page, asked for again by their tags."""

    async def get_response(self, path: str, scope: Scope) -> Any:
        found = await super().get_response(path, scope)
        found.headers["Cache-Control"] = "no-cache"
        return found


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    room: Darkroom = app.state.darkroom
    room.sessions.open()
    loop = asyncio.get_running_loop()
    stopping = threading.Event()
    warming = loop.run_in_executor(None, room.warm_up, stopping)
    watching = asyncio.create_task(_watch(room))
    try:
        yield
    finally:
        stopping.set()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await warming
        await loop.run_in_executor(None, room.sessions.shut)


async def _watch(room: Darkroom) -> None:
    """Remove what has expired, now and then."""
    while True:
        await asyncio.sleep(_EVERY)
        await asyncio.to_thread(room.sessions.expire)
