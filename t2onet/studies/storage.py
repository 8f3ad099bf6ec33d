"""Where studies are kept: an SQLite file, or PostgreSQL by its address.

A transaction that ended without an error is on disk, whatever becomes of this process or the machine.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from ..errors import StudyError

DEFAULT_DATABASE = "studies.db"
_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSION_TABLE = "t2o_version"
_TIMEOUT = 30
"""Seconds to wait for another process that is writing."""
_ADVISORY_LOCK = 0x7432_6F00
"""The number under which processes that open one PostgreSQL database at once wait for each other."""


class StudyDatabase:
    """A database of studies, brought up to date when it is opened.

    Without `create` the file of an SQLite database has to be there.
    """

    def __init__(self, database: str | os.PathLike[str] = DEFAULT_DATABASE, *, create: bool = True) -> None:
        self.url = _parse_address(database)
        self.is_file = self.url.get_backend_name() == "sqlite"
        if self.is_file and not create and not Path(str(self.url.database)).exists():
            raise StudyError(f"there is no database {self}; say with --database where the study is kept")
        self._engine = _open_sqlite(self.url) if self.is_file else _open_postgresql(self.url)
        self._writing = self._engine.execution_options(t2o_writing=True)
        self._turn = threading.Lock() if self.is_file else nullcontext()  # SQLite lets waiters starve
        try:
            self._migrate()
        except SQLAlchemyError as error:
            raise StudyError(f"the database {self} cannot be used: {_short_reason(error)}") from error
        finally:
            self.close()  # connections are made anew when they are needed

    def __str__(self) -> str:
        return self.url.database or "" if self.is_file else self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one state of the database and changes nothing."""
        with Session(self._engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session whose changes are on disk when the block ends, all of them or none."""
        with self._turn, Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
        with self._writing.begin() as connection:
            if not self.is_file:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
            context = MigrationContext.configure(connection, opts={"version_table": _VERSION_TABLE})
            current = context.get_current_revision()
            if current is not None and current not in known:
                raise StudyError(f"the database {self} was made by a newer t2onet; update this one")
            config.attributes.update(connection=connection, version_table=_VERSION_TABLE)
            command.upgrade(config, "head")


def _parse_address(database: str | os.PathLike[str]) -> URL:
    """A URL as it is; anything without "://" is the name of an SQLite file."""
    given = os.fspath(database)
    if "://" not in given:
        return URL.create("sqlite", database=given)
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        url = None
    kinds = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
    if url is None or (kind := kinds.get(url.drivername.partition("+")[0])) is None:
        shown = given.partition("://")[0]
        raise StudyError(
            f"no database can be found at an address like {shown}://...; "
            "give a file, or postgresql://user:password@host/name"
        )
    return url.set(drivername=kind)


def _open_sqlite(url: URL) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise StudyError("studies are kept on disk; give the name of a file")
    _create_private_file(Path(str(url.database)))
    engine = create_engine(url, connect_args={"timeout": _TIMEOUT})

    @event.listens_for(engine, "connect")
    def durable(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions begin below, and not when the driver thinks so
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.cursor().execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("t2o_writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _create_private_file(path: Path) -> None:
    """The links of a study are in it, so a new file is for its owner's eyes only."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StudyError(f"the database {path} cannot be used: {_short_reason(error)}") from error


def _open_postgresql(url: URL) -> Engine:
    """With commits that wait for the disk, whatever the server's settings; other options of the URL stay."""
    options = [*url.normalized_query.get("options", ()), "-c synchronous_commit=on"]
    settings = {"options": " ".join(options), "connect_timeout": _TIMEOUT}
    try:
        return create_engine(url, pool_pre_ping=True, connect_args=settings)
    except ImportError:
        raise StudyError("PostgreSQL needs an extra: pip install 't2onet[study]'") from None


def _short_reason(error: Exception) -> str:
    """In one line, and without SQL."""
    words = str(getattr(error, "orig", None) or getattr(error, "strerror", None) or error)
    return " ".join(words.split())
