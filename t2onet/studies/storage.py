"""The database of studies: an SQLite file, or PostgreSQL by its URL.

A transaction that ended without an error is on disk: it survives a crash of the process or the machine.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_engine,
    event,
    insert,
    make_url,
    select,
    text,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from ..errors import StudyError
from .models import Base

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
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.cursor().execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("t2o_writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


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
