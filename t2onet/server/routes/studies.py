"""A study over HTTP: pages and pictures for those who take part, review for its owner.

Personal links and addresses of pictures cannot be guessed, and whoever has one may use it; the owner's calls
carry a token in the header Authorization. Nothing rests on cookies, so no other site can act for anybody.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from ...errors import ImageError
from ...studies import exporting, people, review
from ...studies.annotation import annotate, next_annotation_page
from ...studies.joining import JoinLimiter
from ...studies.models import LARGEST, TOKEN, Kind, Review, State
from ...studies.pictures import Picture, page_picture, rated_picture
from ...studies.rating import next_rating_page, rate
from ...studies.refusals import Forbidden, NotFound
from ...studies.results import results
from ...studies.storage import Store
from ..tokens import is_token

PREFIX = "/api/v1/study"
Token = Annotated[str, Path(pattern=TOKEN)]
Number = Annotated[int, Path(ge=0, le=LARGEST)]
Asked = Annotated[int, Query(ge=0, le=LARGEST)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Joining(_Body):
    """Who joins; without a name they get a number."""

    name: StrictStr = Field("", max_length=200)


class Stars(_Body):
    """Stars by the token of each picture on the page."""

    stars: dict[StrictStr, StrictInt] = Field(max_length=100)


class Text(_Body):
    """What someone wrote."""

    text: StrictStr = Field(max_length=10_000)


class Verdict(_Body):
    """What the owner says of a request."""

    review: Review
    note: StrictStr = Field("", max_length=1000)


class FreePlaces(_Body):
    """Frees places of people who have not answered and were idle for that long."""

    idle_minutes: float = Field(people.IDLE / 60, ge=0, le=LARGEST, allow_inf_nan=False)


class Standing(_Body):
    """Whether someone goes on."""

    state: State


def taking_part(store: Store, limiter: JoinLimiter) -> APIRouter:
    """For raters and annotators."""
    router = APIRouter(prefix=PREFIX, tags=["study"])

    @router.post("/join/{token}", status_code=201)
    def join(token: Token, body: Joining, request: Request) -> dict[str, str]:
        """Join a study by its link; answers with one's own token."""
        with limiter.count_join(_address(request, behind_proxy=limiter.limits.behind_proxy)):
            return {"person": people.join(store, token, body.name)}

    @router.get("/people/{person}")
    def standing(person: Token) -> people.Standing:
        """Which study a personal link belongs to, and where its owner stands."""
        return people.standing(store, person)

    @router.post("/people/{person}/next")
    def next_page(person: Token) -> dict[str, Any]:
        """The page that was left open, or a new one; no page where one has to wait or is done."""
        kind = people.standing(store, person).kind
        page = (next_rating_page if kind == Kind.RATING else next_annotation_page)(store, person)
        return {"page": page, **vars(people.standing(store, person))}

    @router.put("/people/{person}/pages/{page}/stars", status_code=204)
    def give_stars(person: Token, page: Token, body: Stars) -> None:
        """Rate the pictures of a page; what is answered with 204 is on disk."""
        rate(store, person, page, body.stars)

    @router.put("/people/{person}/pages/{page}/request", status_code=204)
    def give_request(person: Token, page: Token, body: Text) -> None:
        """Write the request for a page; what is answered with 204 is on disk."""
        annotate(store, person, page, body.text)

    @router.get("/ratings/{token}.jpg", response_class=Response)
    def rated(token: Token) -> Response:
        """A picture to rate."""
        return _shown(rated_picture(store, token))

    @router.get("/pages/{page}/{side}.jpg", response_class=Response)
    def of_page(page: Token, side: Literal["input", "target"]) -> Response:
        """The input of a page, or the target of one to annotate."""
        return _shown(page_picture(store, page, side))

    return router


def owning(store: Store, study: int, token: str) -> APIRouter:
    """For the owner of one study, who has that token."""

    def owner(authorization: Annotated[str, Header()] = "") -> None:
        if not is_token(authorization.removeprefix("Bearer "), token):
            raise Forbidden("this is for the owner of the study; open the link that was printed at its start")

    router = APIRouter(prefix=f"{PREFIX}/owner", tags=["owner"], dependencies=[Depends(owner)])

    @router.get("/progress")
    def progress() -> review.Progress:
        """How far the study is, and what everybody did."""
        return review.progress(store, study)

    @router.post("/people", status_code=201)
    def invite(body: Joining) -> dict[str, str]:
        """A personal link for someone."""
        return {"person": people.add(store, study, body.name)}

    @router.put("/people/{number}/state", status_code=204)
    def decide(number: Number, body: Standing) -> None:
        """Let someone go on, or shut them out."""
        people.set_state(store, study, number, body.state)

    @router.delete("/people/{number}", status_code=204)
    def remove(number: Number) -> None:
        """Remove someone who has not answered anything."""
        people.remove(store, study, number)

    @router.post("/people/free")
    def free(body: FreePlaces) -> dict[str, int]:
        """Remove everyone who has not answered anything and was idle for that long; how many."""
        return {"freed": people.free_places(store, study, idle=60 * body.idle_minutes)}

    @router.get("/requests")
    def requests(
        person: Asked | None = None, verdict: Review | None = None, after: Asked = 0
    ) -> list[review.Written]:
        """Requests to review, in sheets."""
        return review.written(store, study, person=person, review=verdict, after=after)

    @router.put("/requests/{number}/review", status_code=204)
    def judge(number: Number, body: Verdict) -> None:
        """Accept or reject a request."""
        review.judge(store, study, number, body.review, body.note)

    @router.get("/results")
    def found() -> dict[str, Any]:
        """Means, intervals and agreement of a rating study."""
        return {"results": results(store, study)}

    @router.get("/export.csv", response_class=Response)
    def export() -> Response:
        """Everything that was collected, as a table."""
        rated = review.progress(store, study).kind == Kind.RATING
        text = (exporting.ratings_csv if rated else exporting.requests_csv)(store, study)
        return Response(text, media_type="text/csv; charset=utf-8")

    return router


def _address(request: Request, *, behind_proxy: bool) -> str:
    """The client's address; the proxy in front of this server adds the last one in X-Forwarded-For."""
    forwarded = request.headers.getlist("x-forwarded-for") if behind_proxy else []
    if forwarded:
        return forwarded[-1].rpartition(",")[2].strip()
    return request.client.host if request.client else ""


def _shown(picture: Picture) -> Response:
    try:
        data = picture.jpeg()
    except (ImageError, OSError) as error:
        raise NotFound("this picture cannot be shown; tell the owner of the study") from error
    return Response(data, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=86400"})
