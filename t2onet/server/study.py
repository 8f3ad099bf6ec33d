"""The server of one study: its API and its pages.

Personal links and addresses of pictures cannot be guessed and give access to those who have them. Calls of
the owner carry a token in the header Authorization. There are no cookies, so no other site can act for
anybody.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ImageError
from ..studies import people, review
from ..studies.database import (
    MAX_INTEGER,
    TOKEN_PATTERN,
    Conflict,
    Forbidden,
    NotFound,
    PersonState,
    Review,
    StudyDatabase,
    StudyKind,
    TooMany,
)
from ..studies.pages import (
    StudyPicture,
    find_page_picture,
    find_rated_picture,
    next_annotation_page,
    next_rating_page,
    save_ratings,
    save_request,
)
from ..studies.people import JoinLimiter, JoinLimits
from ..studies.results import compute_results, export_ratings_csv, export_requests_csv
from . import errors
from .errors import AsciiJSONResponse
from .security import SecurityMiddleware
from .settings import ServerSettings, is_token

STUDY_PREFIX = "/api/v1/study"
TokenPath = Annotated[str, PathParameter(pattern=TOKEN_PATTERN)]
NumberPath = Annotated[int, PathParameter(ge=0, le=MAX_INTEGER)]
NumberQuery = Annotated[int, Query(ge=0, le=MAX_INTEGER)]


class _StudyRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")


class JoinRequest(_StudyRequest):
    """Who joins; without a name they get a number."""

    name: StrictStr = Field("", max_length=200)


class StarsRequest(_StudyRequest):
    """Stars by the token of each picture on the page."""

    stars: dict[StrictStr, StrictInt] = Field(max_length=100)


class TextRequest(_StudyRequest):
    """What someone wrote."""

    text: StrictStr = Field(max_length=10_000)


class ReviewRequest(_StudyRequest):
    """What the owner says of a request."""

    review: Review
    note: StrictStr = Field("", max_length=1000)


class FreePlacesRequest(_StudyRequest):
    """Frees places of people who have not answered and were idle for that long."""

    idle_minutes: float = Field(people.IDLE_SECONDS / 60, ge=0, le=MAX_INTEGER, allow_inf_nan=False)


class SetStateRequest(_StudyRequest):
    """Whether someone goes on."""

    state: PersonState


def make_participant_router(store: StudyDatabase, limiter: JoinLimiter) -> APIRouter:
    """For raters and annotators."""
    router = APIRouter(prefix=STUDY_PREFIX, tags=["study"])

    @router.post("/join/{token}", status_code=201)
    def join(token: TokenPath, body: JoinRequest, request: Request) -> dict[str, str]:
        """Join a study by its link; answers with one's own token."""
        with limiter.count_join(_get_client_address(request, behind_proxy=limiter.limits.behind_proxy)):
            return {"person": people.join_study(store, token, body.name)}

    @router.get("/people/{person}")
    def get_status(person: TokenPath) -> people.PersonStatus:
        """Which study a personal link belongs to, and where its owner stands."""
        return people.get_person_status(store, person)

    @router.post("/people/{person}/next")
    def open_next_page(person: TokenPath) -> dict[str, Any]:
        """The page that was left open, or a new one; no page where one has to wait or is done."""
        kind = people.get_person_status(store, person).kind
        page = (next_rating_page if kind == StudyKind.RATING else next_annotation_page)(store, person)
        return {"page": page, **vars(people.get_person_status(store, person))}

    @router.put("/people/{person}/pages/{page}/stars", status_code=204)
    def give_stars(person: TokenPath, page: TokenPath, body: StarsRequest) -> None:
        """Rate the pictures of a page; what is answered with 204 is on disk."""
        save_ratings(store, person, page, body.stars)

    @router.put("/people/{person}/pages/{page}/request", status_code=204)
    def give_request(person: TokenPath, page: TokenPath, body: TextRequest) -> None:
        """Write the request for a page; what is answered with 204 is on disk."""
        save_request(store, person, page, body.text)

    @router.get("/ratings/{token}.jpg", response_class=Response)
    def get_rated_picture(token: TokenPath) -> Response:
        """A picture to rate."""
        return _make_picture_response(find_rated_picture(store, token))

    @router.get("/pages/{page}/{side}.jpg", response_class=Response)
    def get_page_picture(page: TokenPath, side: Literal["input", "target"]) -> Response:
        """The input of a page, or the target of one to annotate."""
        return _make_picture_response(find_page_picture(store, page, side))

    return router


def make_owner_router(store: StudyDatabase, study: int, token: str) -> APIRouter:
    """For the owner of one study, who has that token."""

    def check_owner(authorization: Annotated[str, Header()] = "") -> None:
        if not is_token(authorization.removeprefix("Bearer "), token):
            raise Forbidden("this is for the owner of the study; open the link that was printed at its start")

    router = APIRouter(prefix=f"{STUDY_PREFIX}/owner", tags=["owner"], dependencies=[Depends(check_owner)])

    @router.get("/progress")
    def get_progress() -> review.StudyProgress:
        """How far the study is, and what everybody did."""
        return review.summarize_progress(store, study)

    @router.post("/people", status_code=201)
    def invite(body: JoinRequest) -> dict[str, str]:
        """A personal link for someone."""
        return {"person": people.add_person(store, study, body.name)}

    @router.put("/people/{number}/state", status_code=204)
    def decide(number: NumberPath, body: SetStateRequest) -> None:
        """Let someone go on, or shut them out."""
        people.set_person_state(store, study, number, body.state)

    @router.delete("/people/{number}", status_code=204)
    def remove(number: NumberPath) -> None:
        """Remove someone who has not answered anything."""
        people.remove_person(store, study, number)

    @router.post("/people/free")
    def free_places(body: FreePlacesRequest) -> dict[str, int]:
        """Remove everyone who has not answered anything and was idle for that long; how many."""
        return {"freed": people.free_places(store, study, idle=60 * body.idle_minutes)}

    @router.get("/requests")
    def list_requests(
        person: NumberQuery | None = None, verdict: Review | None = None, after: NumberQuery = 0
    ) -> list[review.RequestToReview]:
        """Requests to review, in sheets."""
        return review.list_requests(store, study, person=person, review=verdict, after=after)

    @router.put("/requests/{number}/review", status_code=204)
    def judge(number: NumberPath, body: ReviewRequest) -> None:
        """Accept or reject a request."""
        review.review_request(store, study, number, body.review, body.note)

    @router.get("/results")
    def get_results() -> dict[str, Any]:
        """Means, intervals and agreement of a rating study."""
        return {"results": compute_results(store, study)}

    @router.get("/export.csv", response_class=Response)
    def export() -> Response:
        """Everything that was collected, as a table."""
        rated = review.summarize_progress(store, study).kind == StudyKind.RATING
        text = (export_ratings_csv if rated else export_requests_csv)(store, study)
        return Response(text, media_type="text/csv; charset=utf-8")

    return router


def _get_client_address(request: Request, *, behind_proxy: bool) -> str:
    """The client's address; the proxy in front of this server adds the last one in X-Forwarded-For."""
    forwarded = request.headers.getlist("x-forwarded-for") if behind_proxy else []
    if forwarded:
        return forwarded[-1].rpartition(",")[2].strip()
    return request.client.host if request.client else ""


def _make_picture_response(picture: StudyPicture) -> Response:
    try:
        data = picture.to_jpeg()
    except (ImageError, OSError) as error:
        raise NotFound("this picture cannot be shown; tell the owner of the study") from error
    return Response(data, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=86400"})


STATIC = Path(__file__).parent / "static" / "study"
STUDY_SETTINGS = ServerSettings(hosts=None, json_mb=1)
"""Links give access, under any host name of this server."""


def create_study_app(
    store: StudyDatabase, study: int, owner_token: str, limiter: JoinLimiter | None = None
) -> FastAPI:
    """The application of one study, for any ASGI server; `limiter` limits how fast people may join."""
    app = FastAPI(
        title="T2ONet study",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        default_response_class=AsciiJSONResponse,
    )
    app.include_router(make_participant_router(store, limiter or JoinLimiter(JoinLimits())))
    app.include_router(make_owner_router(store, study, owner_token))
    _add_pages(app, store)
    _add_error_handlers(app)
    app.add_middleware(SecurityMiddleware, settings=STUDY_SETTINGS)
    return app


def _add_pages(app: FastAPI, store: StudyDatabase) -> None:
    app.mount("/static/study", StaticFiles(directory=STATIC), name="static")

    @app.get("/join/{token}", include_in_schema=False)
    def show_join_page(token: str) -> Response:
        return FileResponse(STATIC / "join.html")

    @app.get("/owner", include_in_schema=False)
    def show_owner_page() -> Response:
        return FileResponse(STATIC / "owner.html")

    @app.get("/study/{person}", include_in_schema=False)
    def show_study_page(person: str) -> Response:
        try:
            kind = people.get_person_status(store, person).kind if re.match(TOKEN_PATTERN, person) else None
        except NotFound:
            kind = None
        if kind is None:
            return FileResponse(STATIC / "lost.html", status_code=404)
        return FileResponse(STATIC / ("rate.html" if kind == StudyKind.RATING else "annotate.html"))


def _add_error_handlers(app: FastAPI) -> None:
    errors.install_error_handlers(app)

    @app.exception_handler(NotFound)
    def answer_not_found(_: Request, error: NotFound) -> Response:
        return errors.make_error_response(404, "not_found", str(error))

    @app.exception_handler(Forbidden)
    def answer_forbidden(_: Request, error: Forbidden) -> Response:
        return errors.make_error_response(403, "forbidden", str(error))

    @app.exception_handler(Conflict)
    def answer_conflict(_: Request, error: Conflict) -> Response:
        return errors.make_error_response(409, "conflict", str(error))

    @app.exception_handler(TooMany)
    def answer_too_many(_: Request, error: TooMany) -> Response:
        answer = errors.make_error_response(429, "too_many", str(error), retry_after=error.retry_after)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer

    @app.exception_handler(SQLAlchemyError)
    def answer_unavailable(_: Request, error: SQLAlchemyError) -> Response:
        return errors.make_error_response(
            503, "unavailable", "the database did not answer and nothing was saved; try again"
        )
