"""Participants of a study: joining, personal links, places, blocking.

Joins by the study's link are limited per hour, in total and from one address, so that no script fills a study
before its owner notices. Addresses are held in memory for that hour and never stored.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from itertools import count

from sqlalchemy import ColumnElement, delete, exists, func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .database import (
    MAX_PERSON_NAME_LENGTH,
    Conflict,
    Forbidden,
    NotFound,
    Page,
    Person,
    PersonState,
    Rating,
    Study,
    StudyDatabase,
    StudyKind,
    TooMany,
)

_NAME_PATTERN = re.compile(rf"\w[\w .@+-]{{0,{MAX_PERSON_NAME_LENGTH - 1}}}")
"""Begins with a letter or digit, so that no spreadsheet takes a name for a formula."""
_ROLE_NAMES = {StudyKind.RATING: "rater", StudyKind.ANNOTATION: "annotator"}
IDLE_SECONDS = 3600.0
"""Seconds without activity after which a person without answers may be removed."""
_BATCH = 500
"""People removed by one statement."""
HOUR = 3600.0
_NETWORK_BITS = 64
"""Leading bits of an IPv6 address that identify a network, such as a household."""


@dataclass(frozen=True)
class JoinLimits:
    """Maximum number of people who may join within an hour."""

    joins: int = 200
    """By the study's link, in total."""
    joins_per_address: int = 40
    """From one address, which a class or an office behind one router shares."""
    behind_proxy: bool = False
    """Whether to read addresses from X-Forwarded-For, as set by a proxy in front of the server."""

    def __post_init__(self) -> None:
        for name in ("joins", "joins_per_address"):
            if getattr(self, name) < 1:
                raise StudyError(f"{name} is {getattr(self, name)}; it must be at least 1")


class JoinLimiter:
    """Counts the joins of the last hour and refuses those beyond the limits."""

    def __init__(self, limits: JoinLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._joins: deque[tuple[float, str]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def count_join(self, address: str) -> Iterator[None]:
        """Count a join from an address, unless the block fails. Raises `TooMany` beyond a limit."""
        join = self._count(to_network(address))
        try:
            yield
        except BaseException:
            with self._lock:
                self._joins.remove(join)
            raise

    def _count(self, network: str) -> tuple[float, str]:
        with self._lock:
            now = self._clock()
            while self._joins and self._joins[0][0] <= now - HOUR:
                self._joins.popleft()
            times = [joined for joined, other in self._joins if other == network]
            if len(times) >= self.limits.joins_per_address:
                raise _too_many_error(
                    " from your network", times[-self.limits.joins_per_address] + HOUR - now
                )
            if len(self._joins) >= self.limits.joins:
                raise _too_many_error("", self._joins[-self.limits.joins][0] + HOUR - now)
            join = (now, network)
            self._joins.append(join)
            return join


def _too_many_error(where: str, seconds: float) -> TooMany:
    minutes = max(1, math.ceil(seconds / 60))
    wait = "a minute" if minutes == 1 else f"{minutes} minutes"
    message = f"many people have joined this study{where} within the last hour; try again in {wait}"
    return TooMany(message, max(1, math.ceil(seconds)))


def to_network(address: str) -> str:
    """The unit that counts as one address: an IPv4 address or an IPv6 network; anything else unchanged."""
    try:
        ip = ip_address(address.strip("[] ").partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or IPv6Network((ip, _NETWORK_BITS), strict=False))
    return str(ip)


def join_study(store: StudyDatabase, study_token: str, name: str = "") -> str:
    """Add a person who followed the study's link. Returns their token."""
    with store.writing() as session:
        study = session.scalars(select(Study).where(Study.token == study_token).with_for_update()).first()
        if study is None:
            raise NotFound("this link does not belong to a study; ask for a new one")
        return _create_person(session, study, name).token


def add_person(store: StudyDatabase, study_id: int, name: str) -> str:
    """Add a person on behalf of the owner. Returns their token."""
    with store.writing() as session:
        return _create_person(session, session.get_one(Study, study_id, with_for_update=True), name).token


def count_places_taken(session: Session, study_id: int) -> int:
    """Number of people who are not blocked."""
    query = select(func.count()).where(Person.study_id == study_id, Person.state != PersonState.BLOCKED)
    return session.scalar(query) or 0


def _create_person(session: Session, study: Study, name: str) -> Person:
    if count_places_taken(session, study.id) >= study.settings["people"]:
        raise Forbidden("this study is full; thank you for your interest")
    name = " ".join(name.split()) or _find_unused_name(session, study)
    if not _NAME_PATTERN.fullmatch(name):
        raise StudyError(
            f"{name!r:.60} cannot be a name; use up to {MAX_PERSON_NAME_LENGTH} letters, digits, blanks and "
            "any of . @ + - _"
        )
    if session.scalar(select(Person.id).where(Person.study_id == study.id, Person.name == name)):
        raise Conflict(f"there is already a {name} in this study; use their personal link or another name")
    state = PersonState.QUALIFYING if study.settings.get("qualification") else PersonState.ACCEPTED
    person = Person(study_id=study.id, name=name, state=state)
    session.add(person)
    session.flush()
    return person


def _find_unused_name(session: Session, study: Study) -> str:
    """A numbered name that is not taken, such as rater-3."""
    names = set(session.scalars(select(Person.name).where(Person.study_id == study.id)))
    numbered = (f"{_ROLE_NAMES[StudyKind(study.kind)]}-{number}" for number in count(len(names) + 1))
    return next(name for name in numbered if name not in names)


def get_person_by_token(session: Session, token: str) -> Person:
    """The person with this personal link."""
    person = session.scalars(select(Person).where(Person.token == token)).first()
    if person is None:
        raise NotFound("this link is not valid; check that it was copied completely")
    return person


def get_active_person(session: Session, token: str) -> Person:
    """The person with this personal link, unless they are blocked."""
    person = get_person_by_token(session, token)
    if person.state == PersonState.BLOCKED:
        raise Forbidden("the owner of this study has ended your participation; thank you")
    return person


@dataclass(frozen=True)
class PersonStatus:
    """The study, name and state of a person."""

    study: str
    kind: str
    name: str
    state: str


def get_person_status(store: StudyDatabase, token: str) -> PersonStatus:
    with store.reading() as session:
        person = get_person_by_token(session, token)
        return PersonStatus(person.study.name, person.study.kind, person.name, person.state)


def set_person_state(store: StudyDatabase, study_id: int, person_id: int, state: PersonState) -> None:
    """Accept or block a person. Answers of blocked people do not count."""
    if state not in (PersonState.ACCEPTED, PersonState.BLOCKED):
        raise StudyError(f"a person cannot be set to {state}; use accepted or blocked")
    with store.writing() as session:
        _get_person(session, study_id, person_id).state = state


def _has_answered() -> ColumnElement[bool]:
    """SQL condition on Person: has answered a page."""
    return exists().where(Page.person_id == Person.id, Page.answered.is_not(None))


def free_places(store: StudyDatabase, study_id: int, *, idle: float = IDLE_SECONDS) -> int:
    """Remove people who have not answered anything. Returns how many were removed.

    People who joined or opened a page within the last `idle` seconds stay, and so do blocked ones. Answers
    are never removed.
    """
    now = time.time()
    active = exists().where(Page.person_id == Person.id, Page.given > now - idle)
    with store.writing() as session:
        session.get_one(Study, study_id, with_for_update=True)
        query = select(Person.id).where(Person.study_id == study_id, Person.state != PersonState.BLOCKED)
        query = query.where(Person.created <= now - idle, ~active, ~_has_answered())
        return _remove_unanswered(session, session.scalars(query).all())


def remove_person(store: StudyDatabase, study_id: int, person_id: int) -> None:
    """Remove a person who has not answered anything, whatever their state."""
    with store.writing() as session:
        session.get_one(Study, study_id, with_for_update=True)
        person = _get_person(session, study_id, person_id)
        if not _remove_unanswered(session, [person.id]):
            raise Conflict(f"{person.name} has answered, and answers stay; block them to free their place")


def _get_person(session: Session, study_id: int, person_id: int) -> Person:
    person = session.get(Person, person_id)
    if person is None or person.study_id != study_id:
        raise NotFound(f"there is no person {person_id} in this study")
    return person


def _remove_unanswered(session: Session, people: Sequence[int]) -> int:
    """Remove those who have not answered, with their open pages. Returns how many were removed.

    Pages are locked first: an answer being saved completes and counts, a later one finds no page and is
    refused.
    """
    removed = 0
    for start in range(0, len(people), _BATCH):
        batch = people[start : start + _BATCH]
        pages = select(Page.id).where(Page.person_id.in_(batch))
        session.execute(pages.with_for_update())
        unanswered = session.scalars(select(Person.id).where(Person.id.in_(batch), ~_has_answered())).all()
        opened = select(Page.id).where(Page.person_id.in_(unanswered))
        session.execute(delete(Rating).where(Rating.page_id.in_(opened)))
        session.execute(delete(Page).where(Page.person_id.in_(unanswered)))
        session.execute(delete(Person).where(Person.id.in_(unanswered)))
        removed += len(unanswered)
    return removed
