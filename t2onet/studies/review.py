"""A study from its owner's side: how far it is, what everybody did, and what the owner says of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .models import (
    CollectedRequest,
    NotFound,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    Review,
    Study,
    StudyKind,
    StudySample,
)
from .pages import count_pages_by_sample, passes_check, to_single_line
from .storage import StudyDatabase

_REVIEW_BATCH = 50
"""Requests that are read at a time."""


@dataclass(frozen=True)
class PersonSummary:
    """Someone's share: pages answered, known pictures passed, requests by verdict and how many differ."""

    id: int
    name: str
    link: str
    state: str
    pages: int
    last: float | None
    passed: int
    known: int
    accepted: int
    rejected: int
    pending: int
    different: int


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is, in answers that count and are wanted; `token` is what others join by.

    `taken` of its `places` belong to people who are not blocked, and `unused` of these to people who have not
    answered anything.
    """

    study: str
    kind: str
    token: str
    samples: int
    answers: int
    wanted: int
    places: int
    taken: int
    unused: int
    people: tuple[PersonSummary, ...]


@dataclass(frozen=True)
class RequestToReview:
    """A request to be reviewed; `said` are those that were known for the pair beforehand."""

    id: int
    person: int
    name: str
    page: str
    sample: str
    qualifying: bool
    text: str
    review: str
    note: str
    said: tuple[str, ...]


def summarize_progress(store: StudyDatabase, study_id: int) -> StudyProgress:
    """Of everybody, in the order in which they joined."""
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        each = study.settings["ratings" if study.kind == StudyKind.RATING else "requests"]
        samples = session.scalar(
            select(func.count()).where(StudySample.study_id == study_id, StudySample.qualifying.is_(False))
        )
        people = session.scalars(select(Person).where(Person.study_id == study_id).order_by(Person.id)).all()
        shares = _summarize_people(session, study_id)
        unblocked = [person for person in people if person.state != PersonState.BLOCKED]
        return StudyProgress(
            study.name,
            study.kind,
            study.token,
            samples or 0,
            _count_answers(session, study, each),
            (samples or 0) * each,
            study.settings["people"],
            len(unblocked),
            sum(person.id not in shares for person in unblocked),
            tuple(
                PersonSummary(p.id, p.name, p.token, p.state, *shares.get(p.id, _NO_ACTIVITY)) for p in people
            ),
        )


_NO_ACTIVITY = (0, None, 0, 0, 0, 0, 0, 0)


def _count_answers(session: Session, study: Study, each: int) -> int:
    """Those that count, not more for a sample than are wanted."""
    covered = count_pages_by_sample(study, answered=True)
    capped = case((covered.c.pages > each, each), else_=covered.c.pages)
    return session.scalar(select(func.coalesce(func.sum(capped), 0))) or 0


def _summarize_people(session: Session, study_id: int) -> dict[int, tuple[Any, ...]]:
    """By person: pages, last answer, known pictures passed and seen, requests by verdict, different ones."""
    pages = session.execute(
        _join_pages(study_id, select(Person.id, func.count(), func.max(Page.answered)))
        .where(Page.answered.is_not(None))
        .group_by(Person.id)
    )
    known: dict[int, list[bool]] = {}
    rated = _join_pages(study_id, select(Person.id, Rating.known, Rating.stars)).join(
        Rating, Rating.page_id == Page.id
    )
    for person, kind, stars in session.execute(
        rated.where(Rating.known.is_not(None), Rating.stars.is_not(None))
    ):
        known.setdefault(person, []).append(passes_check(kind, stars))
    written: dict[int, list[tuple[str, str]]] = {}
    wrote = _join_pages(study_id, select(Person.id, CollectedRequest.review, CollectedRequest.text))
    for person, review, text in session.execute(
        wrote.join(CollectedRequest, CollectedRequest.page_id == Page.id)
    ):
        written.setdefault(person, []).append((review, text.casefold()))
    return {
        person: (
            *(count, last, sum(known.get(person, ())), len(known.get(person, ()))),
            *(sum(review == one for review, _ in written.get(person, ())) for one in _VERDICTS),
            len({text for _, text in written.get(person, ())}),
        )
        for person, count, last in pages
    }


_VERDICTS = (Review.ACCEPTED, Review.REJECTED, Review.PENDING)


def _join_pages(study_id: int, chosen: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Of the pages of a study's people."""
    return chosen.join(Page, Page.person_id == Person.id).where(Person.study_id == study_id)


def list_requests(
    store: StudyDatabase,
    study_id: int,
    *,
    person: int | None = None,
    review: Review | None = None,
    after: int = 0,
) -> list[RequestToReview]:
    """The next requests after that number, of one person or with one verdict if said so."""
    wanted = (
        select(CollectedRequest, Page, Person, StudySample)
        .join(Page, CollectedRequest.page_id == Page.id)
        .join(Person, Page.person_id == Person.id)
        .join(StudySample, Page.sample_id == StudySample.id)
        .where(Person.study_id == study_id, CollectedRequest.id > after)
    )
    if person is not None:
        wanted = wanted.where(Person.id == person)
    if review is not None:
        wanted = wanted.where(CollectedRequest.review == review)
    with store.reading() as session:
        return [
            RequestToReview(
                *(request.id, who.id, who.name, page.token, sample.name),
                *(page.kind == PageKind.QUALIFICATION, request.text, request.review, request.note),
                tuple(sample.said),
            )
            for request, page, who, sample in session.execute(
                wanted.order_by(CollectedRequest.id).limit(_REVIEW_BATCH)
            )
        ]


def review_request(
    store: StudyDatabase, study_id: int, request_id: int, verdict: Review, note: str = ""
) -> None:
    """Accept or reject a request, or take that back; a rejected one is asked for again, of someone else."""
    if len(note) > 1000:
        raise StudyError(f"a note of {len(note)} characters is too long; 1000 at most")
    with store.writing() as session:
        request = session.get(CollectedRequest, request_id)
        if request is None or request.page.person.study_id != study_id:
            raise NotFound(f"there is no request with the number {request_id} in this study")
        request.review, request.note = verdict, to_single_line(note)
        request.reviewed = None if verdict == Review.PENDING else time.time()
