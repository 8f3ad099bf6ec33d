"""A study from its owner's side: its progress, the share of each person, and the review of requests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .database import (
    MAX_NOTE_LENGTH,
    CollectedRequest,
    NotFound,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    Review,
    Study,
    StudyDatabase,
    StudyKind,
    StudySample,
)
from .pages import count_pages_by_sample, passes_check, to_single_line

_REVIEW_BATCH = 50
"""Requests listed at a time."""
_VERDICTS = (Review.ACCEPTED, Review.REJECTED, Review.PENDING)
_NO_ACTIVITY = (0, None, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class PersonSummary:
    """What a person did: pages answered, checks passed, requests by verdict, and how many of them differ."""

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
    """Progress of a study, in valid answers out of those wanted; `token` is that of the link to join.

    `taken` of its `places` belong to people who are not blocked, `unused` of these to people without answers.
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
    """A request to review; `said` are the requests the dataset has for the pair."""

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
    """The progress of a study, with its people in the order in which they joined."""
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


def _count_answers(session: Session, study: Study, each: int) -> int:
    """Number of valid answers, at most `each` for a sample."""
    covered = count_pages_by_sample(study, answered=True)
    capped = case((covered.c.pages > each, each), else_=covered.c.pages)
    return session.scalar(select(func.coalesce(func.sum(capped), 0))) or 0


def _summarize_people(session: Session, study_id: int) -> dict[int, tuple[Any, ...]]:
    """The fields of `PersonSummary` from `pages` on, by person."""
    pages = session.execute(
        _join_pages(study_id, select(Person.id, func.count(), func.max(Page.answered)))
        .where(Page.answered.is_not(None))
        .group_by(Person.id)
    )
    known: dict[int, list[bool]] = {}
    checks = _join_pages(study_id, select(Person.id, Rating.known, Rating.stars))
    checks = checks.join(Rating, Rating.page_id == Page.id)
    checks = checks.where(Rating.known.is_not(None), Rating.stars.is_not(None))
    for person, kind, stars in session.execute(checks):
        known.setdefault(person, []).append(passes_check(kind, stars))
    written: dict[int, list[tuple[str, str]]] = {}
    requests = _join_pages(study_id, select(Person.id, CollectedRequest.review, CollectedRequest.text))
    requests = requests.join(CollectedRequest, CollectedRequest.page_id == Page.id)
    for person, review, text in session.execute(requests):
        written.setdefault(person, []).append((review, text.casefold()))
    return {
        person: (
            *(count, last, sum(known.get(person, ())), len(known.get(person, ()))),
            *(sum(review == one for review, _ in written.get(person, ())) for one in _VERDICTS),
            len({text for _, text in written.get(person, ())}),
        )
        for person, count, last in pages
    }


def _join_pages(study_id: int, query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """The query joined with the pages of a study's people."""
    return query.join(Page, Page.person_id == Person.id).where(Person.study_id == study_id)


def list_requests(
    store: StudyDatabase,
    study_id: int,
    *,
    person: int | None = None,
    review: Review | None = None,
    after: int = 0,
) -> list[RequestToReview]:
    """The next requests after the id `after`, optionally of one person or with one verdict."""
    query = (
        select(CollectedRequest, Page, Person, StudySample)
        .join(Page, CollectedRequest.page_id == Page.id)
        .join(Person, Page.person_id == Person.id)
        .join(StudySample, Page.sample_id == StudySample.id)
        .where(Person.study_id == study_id, CollectedRequest.id > after)
    )
    if person is not None:
        query = query.where(Person.id == person)
    if review is not None:
        query = query.where(CollectedRequest.review == review)
    with store.reading() as session:
        return [
            RequestToReview(
                *(request.id, who.id, who.name, page.token, sample.name),
                *(page.kind == PageKind.QUALIFICATION, request.text, request.review, request.note),
                tuple(sample.said),
            )
            for request, page, who, sample in session.execute(
                query.order_by(CollectedRequest.id).limit(_REVIEW_BATCH)
            )
        ]


def review_request(
    store: StudyDatabase, study_id: int, request_id: int, verdict: Review, note: str = ""
) -> None:
    """Set the verdict on a request. A rejected one is asked for again, of someone else."""
    if len(note) > MAX_NOTE_LENGTH:
        raise StudyError(f"the note has {len(note)} characters; use up to {MAX_NOTE_LENGTH}")
    with store.writing() as session:
        request = session.get(CollectedRequest, request_id)
        if request is None or request.page.person.study_id != study_id:
            raise NotFound(f"there is no request {request_id} in this study")
        request.review, request.note = verdict, to_single_line(note)
        request.reviewed = None if verdict == Review.PENDING else time.time()
