"""A study from its owner's side: how far it is, what everybody did, and what the owner says of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .annotation import in_one_line
from .assigning import covering
from .checks import passed
from .models import Kind, Page, PageKind, Person, Rating, Request, Review, Sample, State, Study
from .refusals import NotFound
from .storage import Store

_SHEET = 50
"""Requests that are read at a time."""


@dataclass(frozen=True)
class Participant:
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
class Progress:
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
    people: tuple[Participant, ...]


@dataclass(frozen=True)
class Written:
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


def progress(store: Store, study_id: int) -> Progress:
    """Of everybody, in the order in which they joined."""
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        each = study.settings["ratings" if study.kind == Kind.RATING else "requests"]
        samples = session.scalar(
            select(func.count()).where(Sample.study_id == study_id, Sample.qualifying.is_(False))
        )
        people = session.scalars(select(Person).where(Person.study_id == study_id).order_by(Person.id)).all()
        shares = _shares(session, study_id)
        unblocked = [person for person in people if person.state != State.BLOCKED]
        return Progress(
            study.name,
            study.kind,
            study.token,
            samples or 0,
            _answers(session, study, each),
            (samples or 0) * each,
            study.settings["people"],
            len(unblocked),
            sum(person.id not in shares for person in unblocked),
            tuple(Participant(p.id, p.name, p.token, p.state, *shares.get(p.id, _NOTHING)) for p in people),
        )


_NOTHING = (0, None, 0, 0, 0, 0, 0, 0)


def _answers(session: Session, study: Study, each: int) -> int:
    """Those that count, not more for a sample than are wanted."""
    covered = covering(study, answered=True)
    capped = case((covered.c.pages > each, each), else_=covered.c.pages)
    return session.scalar(select(func.coalesce(func.sum(capped), 0))) or 0


def _shares(session: Session, study_id: int) -> dict[int, tuple[Any, ...]]:
    """By person: pages, last answer, known pictures passed and seen, requests by verdict, different ones."""
    pages = session.execute(
        _of(study_id, select(Person.id, func.count(), func.max(Page.answered)))
        .where(Page.answered.is_not(None))
        .group_by(Person.id)
    )
    known: dict[int, list[bool]] = {}
    rated = _of(study_id, select(Person.id, Rating.known, Rating.stars)).join(
        Rating, Rating.page_id == Page.id
    )
    for person, kind, stars in session.execute(
        rated.where(Rating.known.is_not(None), Rating.stars.is_not(None))
    ):
        known.setdefault(person, []).append(passed(kind, stars))
    written: dict[int, list[tuple[str, str]]] = {}
    wrote = _of(study_id, select(Person.id, Request.review, Request.text))
    for person, review, text in session.execute(wrote.join(Request, Request.page_id == Page.id)):
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


def _of(study_id: int, chosen: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Of the pages of a study's people."""
    return chosen.join(Page, Page.person_id == Person.id).where(Person.study_id == study_id)


def written(
    store: Store, study_id: int, *, person: int | None = None, review: Review | None = None, after: int = 0
) -> list[Written]:
    """The next requests after that number, of one person or with one verdict if said so."""
    wanted = (
        select(Request, Page, Person, Sample)
        .join(Page, Request.page_id == Page.id)
        .join(Person, Page.person_id == Person.id)
        .join(Sample, Page.sample_id == Sample.id)
        .where(Person.study_id == study_id, Request.id > after)
    )
    if person is not None:
        wanted = wanted.where(Person.id == person)
    if review is not None:
        wanted = wanted.where(Request.review == review)
    with store.reading() as session:
        return [
            Written(
                *(request.id, who.id, who.name, page.token, sample.name),
                *(page.kind == PageKind.QUALIFICATION, request.text, request.review, request.note),
                tuple(sample.said),
            )
            for request, page, who, sample in session.execute(wanted.order_by(Request.id).limit(_SHEET))
        ]


def judge(store: Store, study_id: int, request_id: int, verdict: Review, note: str = "") -> None:
    """Accept or reject a request, or take that back; a rejected one is asked for again, of someone else."""
    if len(note) > 1000:
        raise StudyError(f"a note of {len(note)} characters is too long; 1000 at most")
    with store.writing() as session:
        request = session.get(Request, request_id)
        if request is None or request.page.person.study_id != study_id:
            raise NotFound(f"there is no request with the number {request_id} in this study")
        request.review, request.note = verdict, in_one_line(note)
        request.reviewed = None if verdict == Review.PENDING else time.time()
