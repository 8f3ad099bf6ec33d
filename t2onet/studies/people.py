"""Who takes part: joining, personal links, and being shut out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .models import Kind, Person, State, Study
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


def _added(session: Session, study: Study, name: str) -> Person:
    there = session.scalar(select(func.count()).where(Person.study_id == study.id)) or 0
    if there >= study.settings["people"]:
        raise Forbidden("this study has all the people it needs; thank you all the same")
    name = " ".join(name.split()) or f"{_CALLED[Kind(study.kind)]}-{there + 1}"
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
        person = session.get(Person, person_id)
        if person is None or person.study_id != study_id:
            raise NotFound(f"there is nobody with the number {person_id} in this study")
        person.state = state
