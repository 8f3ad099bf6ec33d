"""Participants: joining (rate-limited), personal links, taking and freeing places, blocking."""

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
from .models import (
    Conflict,
    Forbidden,
    NotFound,
    Page,
    Person,
    PersonState,
    Rating,
    Study,
    StudyKind,
    TooMany,
)
from .storage import StudyDatabase

# Rate limit on joining a study, so that no script fills it before its owner notices.
#
# Joins by the study's link are limited per hour, in total and from one address. Addresses are held in memory
# for that hour and never stored.

HOUR = 3600.0
_NETWORK_BITS = 64
"""Leading bits of an IPv6 address that identify a network, such as a household."""


@dataclass(frozen=True)
class JoinLimits:
    """The most people who may join within an hour."""

    joins: int = 200
    """By the study's link, in total."""
    joins_per_address: int = 40
    """From one address; a class or an office behind one router shares one."""
    behind_proxy: bool = False
    """Whether to take addresses from X-Forwarded-For, which a proxy in front of the server sets."""

    def __post_init__(self) -> None:
        for name in ("joins", "joins_per_address"):
            if getattr(self, name) < 1:
                raise StudyError(f"{name} is {getattr(self, name)}; it must be at least 1")


class JoinLimiter:
    """Counts the joins of the last hour and refuses further ones beyond the limits."""

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
            own = [moment for moment, other in self._joins if other == network]
            if len(own) >= self.limits.joins_per_address:
                raise _too_many_error(" from your network", own[-self.limits.joins_per_address] + HOUR - now)
            if len(self._joins) >= self.limits.joins:
                raise _too_many_error("", self._joins[-self.limits.joins][0] + HOUR - now)
            join = (now, network)
            self._joins.append(join)
            return join


def _too_many_error(where: str, seconds: float) -> TooMany:
    minutes = max(1, math.ceil(seconds / 60))
    wait = "a minute" if minutes == 1 else f"{minutes} minutes"
    many = f"many people have joined this study{where} within the last hour"
    return TooMany(f"{many}; try again in {wait}", max(1, math.ceil(seconds)))


def to_network(address: str) -> str:
    """What counts as one address: an IPv4 address or an IPv6 network; anything else unchanged."""
    try:
        ip = ip_address(address.strip("[] ").partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or IPv6Network((ip, _NETWORK_BITS), strict=False))
    return str(ip)


# Participants: joining, personal links, taking and freeing places, blocking.

_NAME_PATTERN = re.compile(r"\w[\w .@+-]{0,99}")
"""Begins with a letter or digit: a table with a name in it stays harmless in a spreadsheet."""
_ROLE_NAMES = {StudyKind.RATING: "rater", StudyKind.ANNOTATION: "annotator"}


def join_study(store: StudyDatabase, study_token: str, name: str = "") -> str:
    """A new person by the study's own link; their token."""
    with store.writing() as session:
        study = session.scalars(select(Study).where(Study.token == study_token).with_for_update()).first()
        if study is None:
            raise NotFound("this link leads to no study; ask for a new one")
        return _create_person(session, study, name).token


def add_person(store: StudyDatabase, study_id: int, name: str) -> str:
    """A new person by the owner's hand; their token."""
    with store.writing() as session:
        return _create_person(session, session.get_one(Study, study_id, with_for_update=True), name).token


def count_places_taken(session: Session, study_id: int) -> int:
    """Number of people who are not blocked."""
    taken = select(func.count()).where(Person.study_id == study_id, Person.state != PersonState.BLOCKED)
    return session.scalar(taken) or 0


def _create_person(session: Session, study: Study, name: str) -> Person:
    if count_places_taken(session, study.id) >= study.settings["people"]:
        raise Forbidden("this study has all the people it needs; thank you all the same")
    name = " ".join(name.split()) or _find_unused_name(session, study)
    if not _NAME_PATTERN.fullmatch(name):
        raise StudyError(
            f"{name!r:.60} is no name; use up to 100 letters, digits, blanks and any of . @ + - _"
        )
    if session.scalar(select(Person.id).where(Person.study_id == study.id, Person.name == name)):
        raise Conflict(f"someone called {name} is in this study already; use their own link or another name")
    first = PersonState.QUALIFYING if study.settings.get("qualification") else PersonState.ACCEPTED
    person = Person(study_id=study.id, name=name, state=first)
    session.add(person)
    session.flush()
    return person


def _find_unused_name(session: Session, study: Study) -> str:
    """A numbered name that is not taken, for someone who gave none."""
    names = set(session.scalars(select(Person.name).where(Person.study_id == study.id)))
    numbered = (f"{_ROLE_NAMES[StudyKind(study.kind)]}-{number}" for number in count(len(names) + 1))
    return next(name for name in numbered if name not in names)


def get_person_by_token(session: Session, token: str) -> Person:
    """Whose personal link it is."""
    person = session.scalars(select(Person).where(Person.token == token)).first()
    if person is None:
        raise NotFound("this link leads nowhere; check that it was copied whole")
    return person


def get_active_person(session: Session, token: str) -> Person:
    """Whose link it is, unless they are shut out."""
    person = get_person_by_token(session, token)
    if person.state == PersonState.BLOCKED:
        raise Forbidden("the owner of this study has ended your part in it; thank you")
    return person


@dataclass(frozen=True)
class PersonStatus:
    """Whose link it is and where they stand."""

    study: str
    kind: str
    name: str
    state: str


def get_person_status(store: StudyDatabase, token: str) -> PersonStatus:
    with store.reading() as session:
        person = get_person_by_token(session, token)
        return PersonStatus(person.study.name, person.study.kind, person.name, person.state)


def set_person_state(store: StudyDatabase, study_id: int, person_id: int, state: PersonState) -> None:
    """Let someone go on, or shut them out; what they did before counts or not accordingly."""
    if state not in (PersonState.ACCEPTED, PersonState.BLOCKED):
        raise StudyError(f"{state} cannot be chosen; choose accepted or blocked")
    with store.writing() as session:
        _get_person(session, study_id, person_id).state = state


IDLE_SECONDS = 3600.0
"""Seconds without activity after which the place of someone who has answered nothing may be freed."""
_BATCH = 500
"""People removed by one statement."""


def has_answered() -> ColumnElement[bool]:
    """SQL condition on Person: whether they have answered a page."""
    return exists().where(Page.person_id == Person.id, Page.answered.is_not(None))


def free_places(store: StudyDatabase, study_id: int, *, idle: float = IDLE_SECONDS) -> int:
    """Remove people who joined and have not answered anything. Returns how many were removed.

    People who joined or opened a page within the last `idle` seconds stay, and so do blocked ones. Answers
    are never removed.
    """
    now = time.time()
    active = exists().where(Page.person_id == Person.id, Page.given > now - idle)
    with store.writing() as session:
        session.get_one(Study, study_id, with_for_update=True)
        wanted = select(Person.id).where(Person.study_id == study_id, Person.state != PersonState.BLOCKED)
        wanted = wanted.where(Person.created <= now - idle, ~active, ~has_answered())
        return _remove_silent(session, session.scalars(wanted).all())


def remove_person(store: StudyDatabase, study_id: int, person_id: int) -> None:
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
