"""Both kinds of database: creation, databases of earlier releases, transactions, durability."""

from __future__ import annotations

import multiprocessing
import sqlite3
import stat
import threading
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from t2onet.errors import StudyError
from t2onet.studies.database import (
    Base,
    CollectedRequest,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    Study,
    StudyDatabase,
    StudyKind,
    StudySample,
)
from tests.databases import Server


def study(name: str = "one") -> Study:
    return Study(name=name, kind=StudyKind.RATING, seed=0, root="", digest="", settings={"ratings": 2})


def describe_schema(store: StudyDatabase) -> dict[str, object]:
    """Columns, keys, constraints and indexes of each table, whatever their order."""
    inspector = sa.inspect(store._engine)
    return {
        name: (
            {
                column["name"]: (str(column["type"]), column["nullable"])
                for column in inspector.get_columns(name)
            },
            inspector.get_pk_constraint(name),
            *(
                sorted(map(str, describe(name)))
                for describe in (
                    inspector.get_unique_constraints,
                    inspector.get_foreign_keys,
                    inspector.get_indexes,
                    inspector.get_check_constraints,
                )
            ),
        )
        for name in inspector.get_table_names()
    }


def make_database_of_first_release(database: str) -> None:
    """A database with the tables and rows that the release with schema version 0001 wrote."""
    kind = "postgresql" if "://" in database else "sqlite"
    script = Path(__file__).with_name(f"database-0001.{kind}.sql").read_text(encoding="utf-8")
    if kind == "sqlite":
        connection = sqlite3.connect(database)
        connection.executescript(script)
        connection.close()
        return
    engine = sa.create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as opened:
        opened.exec_driver_sql(script)
    engine.dispose()


def test_a_database_of_the_first_release_opens_unchanged(database: str) -> None:
    make_database_of_first_release(database)
    with StudyDatabase(database) as store:
        with store.writing() as session:
            session.add(study("another"))
        assert_rows_of_first_release(store)


def assert_rows_of_first_release(store: StudyDatabase) -> None:
    with store.reading() as session:
        assert session.scalars(sa.select(Study.name).order_by(Study.id)).all()[:2] == ["portraits", "pairs"]
        page = session.get_one(Page, 1)
        assert (page.person.name, page.sample.request) == ("rater 1", "warmer, über all")
        assert [(rating.stars, rating.output and rating.output.system) for rating in page.ratings] == [
            (4, "target")
        ]
        assert session.scalars(sa.select(CollectedRequest.text)).all() == ["make it brighter"]
        assert session.scalars(sa.text("SELECT version_num FROM t2o_version")).all() == ["0001"]


def test_a_new_database_has_the_tables_of_the_first_release(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    earlier = (
        request.getfixturevalue("postgresql").url() if "://" in database else str(tmp_path / "earlier.db")
    )
    make_database_of_first_release(earlier)
    with StudyDatabase(database) as new, StudyDatabase(earlier) as old:
        assert describe_schema(new) == describe_schema(old)
        assert set(describe_schema(new)) == {*Base.metadata.tables, "t2o_version"}


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


def open_and_close(database: str) -> None:
    StudyDatabase(database).close()


def test_several_threads_may_open_a_new_database_at_once(database: str) -> None:
    with ThreadPool(4) as pool:
        pool.map(open_and_close, [database] * 4, chunksize=1)


@pytest.mark.slow
def test_several_processes_may_open_a_new_database_at_once(database: str) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(open_and_close, [database] * 4, chunksize=1)


def test_a_commit_waits_for_the_disk(store: StudyDatabase) -> None:
    with store.writing() as session:
        if store.is_file:
            assert session.scalar(sa.text("PRAGMA journal_mode")) == "wal"
            assert session.scalar(sa.text("PRAGMA synchronous")) == 2  # FULL: the log as well
        else:
            assert session.scalar(sa.text("SHOW synchronous_commit")) == "on"


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
    with pytest.raises(StudyError, match=r"has schema version 9999, .* reads 0001.* update this one"):
        StudyDatabase(database)


def test_tables_without_a_version_are_not_adopted(database: str, store: StudyDatabase) -> None:
    with store.writing() as session:
        session.execute(sa.text("DROP TABLE t2o_version"))
    with pytest.raises(StudyError, match="already exists"):
        StudyDatabase(database)
    with store.reading() as session:
        assert "t2o_version" not in sa.inspect(session.connection()).get_table_names()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://root:secret@host/db", "at mysql://... are not supported; give a file, or postgresql://"),
        ("sqlite://", "cannot be kept in memory; give the name of a file"),
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
