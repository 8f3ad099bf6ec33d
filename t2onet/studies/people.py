"""Participants: joining, personal links, taking and freeing places, blocking."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from sqlalchemy import ColumnElement, delete, exists, func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .models import Kind, Page, Person, Rating, State, Study
from .refusals import Conflict, Forbidden, NotFound
from .storage import Store

_NAME = re.compile(r"\w[\w .@+-]{0,99}")
"""Begins with a letter or digit: a table with a name in it stays harmless in a spreadsheet."""
_CALLED = {Kind.RATING: "rater", Kind.ANNOTATION: "annotator"}


def join(store: Store, study_token: str, name: str = "") -> str:
    """A new person by the study's own link; their token."""
    with store.writing() as session:
        study = session.scalars(select(Study).where(Study.token == study_token).with_for_update()).first()
        if study is None:
            raise NotFound("this link leads to no study; ask for a new one")
        return _added(session, study, name).token


def add(store: Store, study_id: int, name: str) -> str:
    """A new person by the owner's hand; their token."""
    with store.writing() as session:
        return _added(session, session.get_one(Study, study_id, with_for_update=True), name).token


def places_taken(session: Session, study_id: int) -> int:
    """Number of people who are not blocked."""
    taken = select(func.count()).where(Person.study_id == study_id, Person.state != State.BLOCKED)
    return session.scalar(taken) or 0


def _added(session: Session, study: Study, name: str) -> Person:
    if places_taken(session, study.id) >= study.settings["people"]:
        raise Forbidden("this study has all the people it needs; thank you all the same")
    name = " ".join(name.split()) or _free_name(session, study)
    if not _NAME.fullmatch(name):
        raise StudyError(
            f"{name!r:.60} is no name; use up to 100 letters, digits, blanks and any of . @ + - _"
        )
    if session.scalar(select(Person.id).where(Person.study_id == study.id, Person.name == name)):
        raise Conflict(f"someone called {name} is in this study already; use their own link or another name")
    first = State.QUALIFYING if study.settings.get("qualification") else State.ACCEPTED
    person = Person(study_id=study.id, name=name, state=first)
    session.add(person)
    session.flush()
    return person


def _free_name(session: Session, study: Study) -> str:
    """A numbered name that is not taken, for someone who gave none."""
    names = set(session.scalars(select(Person.name).where(Person.study_id == study.id)))
    numbered = (f"{_CALLED[Kind(study.kind)]}-{number}" for number in count(len(names) + 1))
    return next(name for name in numbered if name not in names)


def by_link(session: Session, token: str) -> Person:
    """Whose personal link it is."""
    person = session.scalars(select(Person).where(Person.token == token)).first()
    if person is None:
        raise NotFound("this link leads nowhere; check that it was copied whole")
    return person


def taking_part(session: Session, token: str) -> Person:
    """Whose link it is, unless they are shut out."""
    person = by_link(session, token)
    if person.state == State.BLOCKED:
        raise Forbidden("the owner of this study has ended your part in it; thank you")
    return person


@dataclass(frozen=True)
class Standing:
    """Whose link it is and where they stand."""

    study: str
    kind: str
    name: str
    state: str


def standing(store: Store, token: str) -> Standing:
    with store.reading() as session:
        person = by_link(session, token)
        return Standing(person.study.name, person.study.kind, person.name, person.state)


def set_state(store: Store, study_id: int, person_id: int, state: State) -> None:
    """Let someone go on, or shut them out; what they did before counts or not accordingly."""
    if state not in (State.ACCEPTED, State.BLOCKED):
        raise StudyError(f"{state} cannot be chosen; choose accepted or blocked")
    with store.writing() as session:
        _get_person(session, study_id, person_id).state = state


IDLE = 3600.0
"""Seconds without activity after which the place of someone who has answered nothing may be freed."""
_BATCH = 500
"""People removed by one statement."""


def has_answered() -> ColumnElement[bool]:
    """SQL condition on Person: whether they have answered a page."""
    return exists().where(Page.person_id == Person.id, Page.answered.is_not(None))


def free_places(store: Store, study_id: int, *, idle: float = IDLE) -> int:
    """Remove people who joined and have not answered anything. Returns how many were removed.

    People who joined or opened a page within the last `idle` seconds stay, and so do blocked ones. Answers
    are never removed.
    """
    now = time.time()
    active = exists().where(Page.person_id == Person.id, Page.given > now - idle)
    with store.writing() as session:
        session.get_one(Study, study_id, with_for_update=True)
        wanted = select(Person.id).where(Person.study_id == study_id, Person.state != State.BLOCKED)
        wanted = wanted.where(Person.created <= now - idle, ~active, ~has_answered())
        return _remove_silent(session, session.scalars(wanted).all())


def remove(store: Store, study_id: int, person_id: int) -> None:
    """Remove someone who has not answered anything, whatever their state."""
    with store.writing() as session:
        session.get_one(Study, study_id, with_for_update=True)
        person = _get_person(session, study_id, person_id)
        if not _remove_silent(session, [person.id]):
            raise Conflict(f"{person.name} has answered, which is kept; block them to free their place")


def _get_person(session: Session, study_id: int, person_id: int) -> Person:
    person = session.get(Person, person_id)
    if person is None or person.study_id != study_id:
        raise NotFound(f"there is nobody with the number {person_id} in this study")
    return person


def _remove_silent(session: Session, people: Sequence[int]) -> int:
    """Remove those of them who have not answered, with their open pages. Returns how many were removed.

    Their pages are locked first: an answer that is being saved is waited for and counts, and a later one
    finds its page gone, so that it is not acknowledged.
    """
    removed = 0
    for start in range(0, len(people), _BATCH):
        batch = people[start : start + _BATCH]
        pages = select(Page.id).where(Page.person_id.in_(batch))
        session.execute(pages.with_for_update())
        silent = session.scalars(select(Person.id).where(Person.id.in_(batch), ~has_answered())).all()
        opened = select(Page.id).where(Page.person_id.in_(silent))
        session.execute(delete(Rating).where(Rating.page_id.in_(opened)))
        session.execute(delete(Page).where(Page.person_id.in_(silent)))
        session.execute(delete(Person).where(Person.id.in_(silent)))
        removed += len(silent)
    return removed
