"""Fixtures: real databases for studies, an SQLite file and a PostgreSQL server of the test run's own."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from t2onet.studies.database import StudyDatabase

_DEBIAN = Path("/usr/lib/postgresql")


class Server:
    """A PostgreSQL server in a folder of its own, reached through a socket there."""

    def __init__(self, commands: Path, folder: Path, user: str | None) -> None:
        self.commands, self.folder, self.user = commands, folder, user
        self.run("initdb", "-D", "data", "-U", "t2o", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        sockets = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        # The server and its machine outlive every test, so that nothing has to reach the disk.
        self.run("pg_ctl", "start", "-w", "-D", "data", "-l", "log", "-o", f"{sockets} -c fsync=off")

    def run(self, command: str, *arguments: str) -> None:
        subprocess.run(
            [self.commands / command, *arguments],
            cwd=self.folder,
            user=self.user,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def url(self) -> str:
        """The address of a new, empty schema, which is a database for all that tests can tell, and cheap."""
        import psycopg

        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(f"host={self.folder} user=t2o dbname=postgres") as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"postgresql://t2o@/postgres?host={self.folder}&options=-c%20search_path%3D{name}"

    def stop(self) -> None:
        self.run("pg_ctl", "stop", "-m", "immediate", "-D", "data")


def _commands() -> Path | None:
    """Where the server's programs are; Debian keeps them off the path."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else sorted(_DEBIAN.glob("*/bin"))
    return next((folder for folder in reversed(found) if (folder / "pg_ctl").exists()), None)


def _user() -> str | None:
    """Whom to become, since the server refuses to run as root."""
    if os.name != "posix" or os.getuid() != 0:
        return None
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A running server, or a skip that says what is missing."""
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: pip install psycopg[binary]")
    if (commands := _commands()) is None:
        pytest.skip("there is no PostgreSQL server here: apt-get install postgresql")
    user = _user()
    with tempfile.TemporaryDirectory(prefix="t2o-pg-", ignore_cleanup_errors=True) as name:
        if user is not None:
            shutil.chown(name, user)
        server = Server(commands, Path(name), user)
        yield server
        server.stop()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty database of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "studies.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.url()


@pytest.fixture
def store(database: str) -> Iterator[StudyDatabase]:
    """That database, opened."""
    from t2onet.studies.database import StudyDatabase

    with StudyDatabase(database) as opened:
        yield opened
