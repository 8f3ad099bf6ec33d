"""The database of studies: its tables, settings of a study, errors that users get, and opening it.

It is an SQLite file, or PostgreSQL by its URL. A transaction that ended without an error is on disk: it
survives a crash of the process or the machine.

Times are seconds since 1970, UTC. Tokens are random: a token in a link grants access to what it names.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Self

from sqlalchemy import (
    JSON,
    URL,
    CheckConstraint,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKey,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    insert,
    make_url,
    select,
    text,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import ConnectionPoolEntry

from ..errors import StudyError


class NotFound(StudyError):
    """No such link, page or name."""


class Forbidden(StudyError):
    """The person is not allowed to do this, or no longer."""


class TooMany(StudyError):
    """A rate limit was reached; try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Conflict(StudyError):
    """The request contradicts what is stored."""


def _check_at_least_one(settings: object, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise StudyError(f"{name} is {value}; it must be at least 1")


@dataclass(frozen=True)
class RatingSettings:
    """Settings of a rating study; stored as JSON, so field names are part of the format."""

    samples: int | None = None
    """Samples drawn at random from each data set of the table; None for all."""
    ratings: int = 2
    """Raters for each sample."""
    checks: float = 0.1
    """Share of a rater's pages that check attention with pictures of known quality."""
    repeats: float = 0.05
    """Share of a rater's pages that repeat an earlier page."""
    pages: int | None = None
    """Maximum number of pages for one rater; None for no limit."""
    people: int = 1000
    """Maximum number of raters."""

    def __post_init__(self) -> None:
        _check_at_least_one(self, "samples", "ratings", "pages", "people")
        for name in ("checks", "repeats"):
            if not 0 <= getattr(self, name) <= 0.5:
                raise StudyError(
                    f"{name} is {getattr(self, name)}; it must be a share of all pages, 0 to 0.5"
                )


@dataclass(frozen=True)
class AnnotationSettings:
    """Settings of an annotation study; stored as JSON, so field names are part of the format."""

    requests: int = 3
    """Annotators for each pair, each of whom writes one request."""
    qualification: int = 5
    """Pairs that every annotator begins with, before the owner accepts them; 0 for none."""
    people: int = 1000
    """Maximum number of annotators."""

    def __post_init__(self) -> None:
        _check_at_least_one(self, "requests", "people")
        if self.qualification < 0:
            raise StudyError(f"qualification is {self.qualification}; give 0 pairs or more")


PRESETS = {"paper": RatingSettings(samples=250, ratings=2, checks=0, repeats=0)}
"""The paper's user study: 250 samples of each data set, rated twice, without checks or repeats."""


STAR_RANGE = (1, 5)
TARGET = "target"
"""The system whose output is the expert's picture; in an annotation study, the only one."""
MAX_NAME_LENGTH = 200
"""Characters in the name of a study, a data set or a system."""
MAX_PERSON_NAME_LENGTH = 100
MAX_NOTE_LENGTH = 1000


class StudyKind(StrEnum):
    """What people are asked to do in a study."""

    RATING = "rating"
    ANNOTATION = "annotation"


class PersonState(StrEnum):
    """State of a person: answering the qualification, waiting for the owner, accepted, or blocked."""

    QUALIFYING = "qualifying"
    WAITING = "waiting"
    ACCEPTED = "accepted"
    BLOCKED = "blocked"


class PageKind(StrEnum):
    """Purpose of a page, which the page does not show."""

    SAMPLE = "sample"
    REPEAT = "repeat"
    CHECK = "check"
    QUALIFICATION = "qualification"


class Review(StrEnum):
    """The owner's verdict on a request."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


TOKEN_PATTERN = r"^[A-Za-z0-9_-]{1,40}$"

MAX_INTEGER = 2**31 - 1
"""The largest value of an integer column."""


def new_token() -> str:
    """128 random bits as a URL-safe string."""
    return secrets.token_urlsafe(16)


class Base(DeclarativeBase):
    """Base of all tables; constraints are named, so that a later schema version can change them."""

    type_annotation_map: ClassVar = {float: Double}
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Study(Base):
    """A study. Files of samples are relative to `root`; `digest` is a hash of its samples and settings."""

    __tablename__ = "t2o_studies"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_NAME_LENGTH), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    seed: Mapped[int]
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    root: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    created: Mapped[float] = mapped_column(default=time.time)


class Person(Base):
    """A rater or annotator of one study; the token is their personal link."""

    __tablename__ = "t2o_people"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("t2o_studies.id"))
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    name: Mapped[str] = mapped_column(String(MAX_PERSON_NAME_LENGTH))
    state: Mapped[str] = mapped_column(String(20))
    created: Mapped[float] = mapped_column(default=time.time)

    study: Mapped[Study] = relationship()


class StudySample(Base):
    """An input photo and its request; `said` are requests the dataset has, shown to the owner for review."""

    __tablename__ = "t2o_samples"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("t2o_studies.id"))
    name: Mapped[str] = mapped_column(String(500))
    dataset: Mapped[str] = mapped_column(String(MAX_NAME_LENGTH), default="")
    split: Mapped[str] = mapped_column(String(10), default="")
    request: Mapped[str] = mapped_column(Text, default="")
    input: Mapped[str] = mapped_column(Text)
    qualifying: Mapped[bool] = mapped_column(default=False)
    said: Mapped[list[str]] = mapped_column(JSON, default=list)

    study: Mapped[Study] = relationship()
    outputs: Mapped[list[Output]] = relationship(order_by="Output.id")


class Output(Base):
    """The output of a system for a sample."""

    __tablename__ = "t2o_outputs"
    __table_args__ = (UniqueConstraint("sample_id", "system"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    sample_id: Mapped[int] = mapped_column(ForeignKey("t2o_samples.id"))
    system: Mapped[str] = mapped_column(String(MAX_NAME_LENGTH))
    path: Mapped[str] = mapped_column(Text)


class Page(Base):
    """A sample as shown to one person at the time `given`; `number` counts the person's pages from 0."""

    __tablename__ = "t2o_pages"
    __table_args__ = (UniqueConstraint("person_id", "number"), Index(None, "sample_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    person_id: Mapped[int] = mapped_column(ForeignKey("t2o_people.id"))
    sample_id: Mapped[int] = mapped_column(ForeignKey("t2o_samples.id"))
    number: Mapped[int]
    kind: Mapped[str] = mapped_column(String(20))
    given: Mapped[float] = mapped_column(default=time.time)
    answered: Mapped[float | None] = mapped_column(default=None)

    person: Mapped[Person] = relationship()
    sample: Mapped[StudySample] = relationship()
    ratings: Mapped[list[Rating]] = relationship(order_by="Rating.place")


class Rating(Base):
    """A picture at its place on a page, and its stars once it is rated.

    It is the output of a system or, if `known` is set, the kind of check picture that `known` names.
    """

    __tablename__ = "t2o_ratings"
    __table_args__ = (
        UniqueConstraint("page_id", "place"),
        CheckConstraint(f"stars BETWEEN {STAR_RANGE[0]} AND {STAR_RANGE[1]}", name="stars"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    page_id: Mapped[int] = mapped_column(ForeignKey("t2o_pages.id"))
    place: Mapped[int]
    output_id: Mapped[int | None] = mapped_column(ForeignKey("t2o_outputs.id"))
    known: Mapped[str | None] = mapped_column(String(20))
    stars: Mapped[int | None]

    page: Mapped[Page] = relationship(back_populates="ratings")
    output: Mapped[Output | None] = relationship()


class CollectedRequest(Base):
    """The request written on a page, and the owner's review of it."""

    __tablename__ = "t2o_requests"

    id: Mapped[int] = mapped_column(primary_key=True)
    page_id: Mapped[int] = mapped_column(ForeignKey("t2o_pages.id"), unique=True)
    text: Mapped[str] = mapped_column(Text)
    review: Mapped[str] = mapped_column(String(20), default=Review.PENDING)
    note: Mapped[str] = mapped_column(Text, default="")
    reviewed: Mapped[float | None] = mapped_column(default=None)

    page: Mapped[Page] = relationship()


DEFAULT_DATABASE = "studies.db"
SCHEMA_VERSION = "0001"
"""Version of the tables in `models`; stored in the database and checked when it is opened."""
_VERSION_TABLE = Table(
    "t2o_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="t2o_version_pkc"),
)
_TIMEOUT = 30
"""Seconds to wait for another process that is writing."""
_RETRY_SECONDS = 0.05
_ADVISORY_LOCK = 0x7432_6F00
"""Key of the PostgreSQL advisory lock under which tables are created."""


class StudyDatabase:
    """A database of studies; its tables are created when it is opened for the first time.

    With `create=False`, the file of an SQLite database must exist. Several processes may open a new database
    at once. A database of another schema version is refused and not changed.
    """

    def __init__(self, database: str | os.PathLike[str] = DEFAULT_DATABASE, *, create: bool = True) -> None:
        self.url = _parse_url(database)
        self.is_file = self.url.get_backend_name() == "sqlite"
        if self.is_file and not create and not Path(str(self.url.database)).exists():
            raise StudyError(f"there is no database {self}; pass the study's database with --database")
        self._engine = _open_sqlite(self.url) if self.is_file else _open_postgresql(self.url)
        self._write_engine = self._engine.execution_options(t2o_writing=True)
        # SQLite does not queue writers: without a lock, one thread can starve the others.
        self._write_lock = threading.Lock() if self.is_file else nullcontext()
        try:
            self._create_tables()
        except SQLAlchemyError as error:
            raise StudyError(f"the database {self} cannot be used: {_format_error(error)}") from error
        finally:
            self.close()  # later sessions open connections of their own

    def __str__(self) -> str:
        return self.url.database or "" if self.is_file else self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session that sees one state of the database and changes nothing."""
        with Session(self._engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Yield a session whose changes are on disk when the block ends: all of them, or none on errors."""
        with (
            self._write_lock,
            Session(self._write_engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _create_tables(self) -> None:
        with self._write_engine.begin() as connection:
            if not self.is_file:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
            _VERSION_TABLE.create(connection, checkfirst=True)
            versions = connection.scalars(select(_VERSION_TABLE.c.version_num)).all()
            if not versions:
                # Without checkfirst: tables of unknown version are an error, not to be adopted silently.
                Base.metadata.create_all(connection, checkfirst=False)
                connection.execute(insert(_VERSION_TABLE).values(version_num=SCHEMA_VERSION))
            elif versions != [SCHEMA_VERSION]:
                raise StudyError(
                    f"the database {self} has schema version {', '.join(versions)}, and this release "
                    f"reads {SCHEMA_VERSION}: it was made by a newer t2onet; update this one"
                )


def _parse_url(database: str | os.PathLike[str]) -> URL:
    """The URL of a database; anything without "://" is the path of an SQLite file."""
    address = os.fspath(database)
    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    drivers = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
    if url is None or (driver := drivers.get(url.drivername.partition("+")[0])) is None:
        scheme = address.partition("://")[0]
        raise StudyError(
            f"databases at {scheme}://... are not supported; "
            "give a file, or postgresql://user:password@host/name"
        )
    return url.set(drivername=driver)


def _open_sqlite(url: URL) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise StudyError("a study cannot be kept in memory; give the name of a file")
    _create_private_file(Path(str(url.database)))
    engine = create_engine(url, connect_args={"timeout": _TIMEOUT})

    @event.listens_for(engine, "connect")
    def configure(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions begin explicitly, in `begin` below
        _turn_on_log(connection)
        for setting in ("synchronous = FULL", "foreign_keys = ON"):
            connection.cursor().execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("t2o_writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _turn_on_log(connection: DBAPIConnection) -> None:
    """Turn the write-ahead log on; SQLite does not wait here while another connection does the same."""
    end = time.monotonic() + _TIMEOUT
    while True:
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _create_private_file(path: Path) -> None:
    """Create the file with mode 0600, since the database holds everybody's personal links."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StudyError(f"the database {path} cannot be used: {_format_error(error)}") from error


def _open_postgresql(url: URL) -> Engine:
    """With synchronous commits, whatever the server's default; other options in the URL are kept."""
    options = [*url.normalized_query.get("options", ()), "-c synchronous_commit=on"]
    settings = {"options": " ".join(options), "connect_timeout": _TIMEOUT}
    try:
        return create_engine(url, pool_pre_ping=True, connect_args=settings)
    except ImportError:
        raise StudyError("PostgreSQL needs an extra: pip install 't2onet[study]'") from None


def _format_error(error: Exception) -> str:
    """The cause in one line, without SQL."""
    message = str(getattr(error, "orig", None) or getattr(error, "strerror", None) or error)
    return " ".join(message.split())
