"""The server of one study: its API, its pages, and what keeps both safe."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import T2OError
from ..studies import people
from ..studies.models import TOKEN, Kind
from ..studies.refusals import Conflict, Forbidden, NotFound
from ..studies.storage import Store
from .routes.studies import owning, taking_part

STATIC = Path(str(files("t2onet.server") / "static" / "study"))
LARGEST_BODY = 64 * 1024
_REFUSALS = {NotFound: (404, "not_found"), Forbidden: (403, "forbidden"), Conflict: (409, "conflict")}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # addresses are keys here
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_study_app(store: Store, study: int, owner_token: str) -> FastAPI:
    """The application of one study, for any ASGI server."""
    app = FastAPI(title="T2ONet study", docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json")
    app.include_router(taking_part(store))
    app.include_router(owning(store, study, owner_token))
    _add_pages(app, store)
    _add_refusals(app)
    app.add_middleware(Guard)
    return app


def _add_pages(app: FastAPI, store: Store) -> None:
    app.mount("/static/study", StaticFiles(directory=STATIC), name="static")

    @app.get("/join/{token}", include_in_schema=False)
    def join(token: str) -> Response:
        return FileResponse(STATIC / "join.html")

    @app.get("/owner", include_in_schema=False)
    def owner() -> Response:
        return FileResponse(STATIC / "owner.html")

    @app.get("/study/{person}", include_in_schema=False)
    def study(person: str) -> Response:
        try:
            kind = people.standing(store, person).kind if re.match(TOKEN, person) else None
        except NotFound:
            kind = None
        if kind is None:
            return FileResponse(STATIC / "lost.html", status_code=404)
        return FileResponse(STATIC / ("rate.html" if kind == Kind.RATING else "annotate.html"))


def _add_refusals(app: FastAPI) -> None:
    @app.exception_handler(T2OError)
    def refused(_: Request, error: T2OError) -> Response:
        status, kind = next(
            (how for what, how in _REFUSALS.items() if isinstance(error, what)), (422, "study")
        )
        return _refusal(status, kind, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")[:80] or "body"
        return _refusal(422, "invalid", f"the request is not as described ({where}: {first['msg']})")

    @app.exception_handler(HTTPException)
    def other(_: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        return _refusal(status, status.phrase.lower().replace(" ", "_"), str(error.detail))

    @app.exception_handler(SQLAlchemyError)
    def unavailable(_: Request, error: SQLAlchemyError) -> Response:
        return _refusal(503, "unavailable", "the database did not answer and nothing was saved; try again")


def _refusal(status: int, kind: str, message: str) -> Response:
    data = json.dumps({"error": {"kind": kind, "message": message}})  # in ASCII, which holds any text
    return Response(data, status, media_type="application/json")


class Guard:
    """Puts headers on every answer, and refuses bodies that are too large before they are in memory."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > LARGEST_BODY:
                raise HTTPException(413, f"a body of more than {LARGEST_BODY} bytes is refused")
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                added = ((name.lower().encode(), value.encode()) for name, value in _HEADERS.items())
                message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in own)]
            await send(message)

        await self.app(scope, limited, guarded)
