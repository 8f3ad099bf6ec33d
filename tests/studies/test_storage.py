"""Storage: both kinds of database, made and brought up to date, and what they promise."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import IntegrityError

from t2onet.errors import StudyError
from t2onet.studies.models import (
    Base,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    Study,
    StudyKind,
    StudySample,
)
from t2onet.studies.storage import StudyDatabase
from tests.databases import Server


def study(name: str = "one") -> Study:
    return Study(name=name, kind=StudyKind.RATING, seed=0, root="", digest="", settings={"ratings": 2})


def test_migrations_lead_to_the_tables_of_the_models(store: StudyDatabase) -> None:
    with store._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "t2o_version"})
        assert compare_metadata(context, Base.metadata) == []
    assert set(sa.inspect(store._engine).get_table_names()) == {*Base.metadata.tables, "t2o_version"}


def test_what_was_written_is_there_when_opened_again(database: str) -> None:
    with StudyDatabase(database) as store, store.writing() as session:
        session.add(study("über uns"))
    with StudyDatabase(database) as store, store.reading() as session:
        found = session.scalars(sa.select(Study)).one()
        assert (found.name, found.settings) == ("über uns", {"ratings": 2})
        assert len(found.token) >= 20
        assert found.created > 1.7e9


def test_a_failure_takes_back_the_whole_transaction(store: StudyDatabase) -> None:
    def fail_halfway() -> None:
        with store.writing() as session:
            session.add(study())
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    with store.reading() as session:
        assert session.scalars(sa.select(Study)).all() == []


def rating(stars: int, page: int) -> Rating:
    return Rating(page_id=page, place=0, output_id=None, known=None, stars=stars)


@pytest.mark.parametrize("stars", [0, 6])
def test_the_database_itself_refuses_other_stars(store: StudyDatabase, stars: int) -> None:
    with store.writing() as session:
        one = study()
        person = Person(study=one, name="a", state=PersonState.ACCEPTED)
        page = Page(
            person=person, sample=StudySample(study=one, name="s", input="i"), number=0, kind=PageKind.SAMPLE
        )
        session.add(page)
    with pytest.raises(IntegrityError), store.writing() as session:
        session.add(rating(stars, page.id))
    with store.writing() as session:
        session.add(rating(5, page.id))


def test_the_database_refuses_what_belongs_to_nothing(store: StudyDatabase) -> None:
    with pytest.raises(IntegrityError), store.writing() as session:
        session.add(rating(3, page=77))


def test_writers_wait_for_each_other(store: StudyDatabase) -> None:
    """Counting up through reading and writing loses nothing, as it would without taking turns."""
    with store.writing() as session:
        session.add(study())

    def count() -> None:
        for _ in range(10):
            with store.writing() as session:
                session.get_one(Study, 1, with_for_update=True).seed += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as session:
        assert session.get_one(Study, 1).seed == 40


def test_several_processes_may_open_a_new_database_at_once(database: str) -> None:
    failed: list[Exception] = []

    def opened() -> None:
        try:
            StudyDatabase(database).close()
        except StudyError as error:
            failed.append(error)

    threads = [threading.Thread(target=opened) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_commit_waits_for_the_disk(store: StudyDatabase) -> None:
    with store.writing() as session:
        if store.is_file:
            assert session.scalar(sa.text("PRAGMA journal_mode")) == "wal"
            assert session.scalar(sa.text("PRAGMA synchronous")) == 2  # FULL: the log as well
        else:
            assert session.scalar(sa.text("SHOW synchronous_commit")) == "on"
            assert session.scalar(sa.text("SHOW fsync")) == "on"


@pytest.mark.slow
def test_options_in_an_address_are_kept(postgresql: Server) -> None:
    with (
        StudyDatabase(postgresql.url() + "%20-c%20synchronous_commit%3Doff") as store,
        store.reading() as session,
    ):
        assert str(session.scalar(sa.text("SHOW search_path"))).startswith("test_")
        assert session.scalar(sa.text("SHOW synchronous_commit")) == "on"


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    with StudyDatabase(tmp_path / "studies.db"):
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_a_database_of_a_newer_version_is_left_alone(database: str, store: StudyDatabase) -> None:
    with store.writing() as session:
        session.execute(sa.text("UPDATE t2o_version SET version_num = '9999'"))
    with pytest.raises(StudyError, match="was made by a newer t2onet; update this one"):
        StudyDatabase(database)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://root:secret@host/db", "at an address like mysql://...; give a file, or postgresql://"),
        ("sqlite://", "kept on disk; give the name of a file"),
        ("no/such/folder/studies.db", "studies.db cannot be used: No such file or directory"),
        ("text.db", "text.db cannot be used: file is not a database"),
        (
            "postgresql://me:secret@/db?host=/no/such/folder",
            "postgresql.psycopg://me:...@/db.* cannot",
        ),
    ],
)
def test_addresses_that_lead_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("not a database, but long enough to be taken for the header of one " * 20)
    with pytest.raises(StudyError, match=message) as refused:
        StudyDatabase(address)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
