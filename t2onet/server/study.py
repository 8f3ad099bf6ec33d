"""The server of one study: its API and its pages, guarded like the darkroom's."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import SQLAlchemyError

from ..studies import people
from ..studies.joining import JoinLimiter, JoinLimits
from ..studies.models import TOKEN, Kind
from ..studies.refusals import Conflict, Forbidden, NotFound, TooMany
from ..studies.storage import Store
from . import errors
from .answers import Answer
from .routes.studies import owning, taking_part
from .safety import Guard
from .settings import Settings

STATIC = Path(__file__).parent / "static" / "study"
SETTINGS = Settings(hosts=None, json_mb=1)
"""Links are the keys, and work under any name that leads here."""


def create_study_app(
    store: Store, study: int, owner_token: str, limiter: JoinLimiter | None = None
) -> FastAPI:
    """The application of one study, for any ASGI server; `limiter` limits how fast people may join."""
    app = FastAPI(
        title="T2ONet study",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        default_response_class=Answer,
    )
    app.include_router(taking_part(store, limiter or JoinLimiter(JoinLimits())))
    app.include_router(owning(store, study, owner_token))
    _add_pages(app, store)
    _add_refusals(app)
    app.add_middleware(Guard, settings=SETTINGS)
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
    errors.install(app)

    @app.exception_handler(NotFound)
    def not_found(_: Request, error: NotFound) -> Response:
        return errors.answer(404, "not_found", str(error))

    @app.exception_handler(Forbidden)
    def forbidden(_: Request, error: Forbidden) -> Response:
        return errors.answer(403, "forbidden", str(error))

    @app.exception_handler(Conflict)
    def conflict(_: Request, error: Conflict) -> Response:
        return errors.answer(409, "conflict", str(error))

    @app.exception_handler(TooMany)
    def too_many(_: Request, error: TooMany) -> Response:
        answer = errors.answer(429, "too_many", str(error), retry_after=error.retry_after)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer

    @app.exception_handler(SQLAlchemyError)
    def unavailable(_: Request, error: SQLAlchemyError) -> Response:
        return errors.answer(
            503, "unavailable", "the database did not answer and nothing was saved; try again"
        )
