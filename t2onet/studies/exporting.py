"""What was collected, as tables that others can read."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import select

from ..data.spreadsheet import to_csv
from .checks import passed
from .models import Output, Page, Person, Rating, Request, Sample, Study
from .storage import Store

RATING_COLUMNS = (
    *("study", "rater", "page", "kind", "sample", "dataset", "request", "place", "system", "known"),
    *("passed", "stars", "given", "answered"),
)
REQUEST_COLUMNS = (
    *("study", "annotator", "state", "page", "kind", "sample", "split", "request", "review", "note"),
    *("given", "answered"),
)


def ratings_csv(store: Store, study_id: int) -> str:
    """Every rating, also of checks, repetitions and blocked raters; pages and places count from 1."""
    wanted = (
        select(Study.name, Person.name, Page, Sample, Rating, Output.system)
        .join(Person, Person.study_id == Study.id)
        .join(Page, Page.person_id == Person.id)
        .join(Sample, Page.sample_id == Sample.id)
        .join(Rating, Rating.page_id == Page.id)
        .outerjoin(Output, Rating.output_id == Output.id)
        .where(Study.id == study_id, Rating.stars.is_not(None))
        .order_by(Person.id, Page.number, Rating.place)
    )
    with store.reading() as session:
        rows = [
            (
                *(study, person, page.number + 1, page.kind, sample.name, sample.dataset, sample.request),
                *(rating.place + 1, system or "", rating.known or "", _passed(rating), rating.stars),
                *(moment(page.given), moment(page.answered)),
            )
            for study, person, page, sample, rating, system in session.execute(wanted)
        ]
    return to_csv([RATING_COLUMNS, *rows])


def requests_csv(store: Store, study_id: int) -> str:
    """Every request, also rejected ones and those of the qualification."""
    wanted = (
        select(Study.name, Person, Page, Sample, Request)
        .join(Person, Person.study_id == Study.id)
        .join(Page, Page.person_id == Person.id)
        .join(Sample, Page.sample_id == Sample.id)
        .join(Request, Request.page_id == Page.id)
        .where(Study.id == study_id)
        .order_by(Person.id, Page.number)
    )
    with store.reading() as session:
        rows = [
            (
                *(study, person.name, person.state, page.number + 1, page.kind, sample.name, sample.split),
                *(request.text, request.review, request.note, moment(page.given), moment(page.answered)),
            )
            for study, person, page, sample, request in session.execute(wanted)
        ]
    return to_csv([REQUEST_COLUMNS, *rows])


def _passed(rating: Rating) -> str:
    if rating.known is None or rating.stars is None:
        return ""
    return "yes" if passed(rating.known, rating.stars) else "no"


def moment(seconds: float | None) -> str:
    """In ISO 8601, UTC, to the second; "" for never."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
