"""Places of a study: who takes one, and how they become free again without losing an answer."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from t2onet.studies import people
from t2onet.studies.database import (
    AnnotationSettings,
    Conflict,
    Forbidden,
    NotFound,
    Page,
    Person,
    PersonState,
    Rating,
    StudyDatabase,
)
from t2onet.studies.pages import next_rating_page, save_ratings
from t2onet.studies.review import summarize_progress
from tests.conftest import PATIENCE
from tests.studies.helpers import (
    ALL,
    annotation_study,
    answer,
    link,
    raters,
    rating_study,
    work_through,
    write_through,
)


def number_of(store: StudyDatabase, token: str) -> int:
    with store.reading() as session:
        return session.scalars(sa.select(Person.id).where(Person.token == token)).one()


def names(store: StudyDatabase, study: int) -> list[str]:
    return [person.name for person in summarize_progress(store, study).people]


def backdate_people(store: StudyDatabase) -> None:
    """Everybody has joined, and was given pages, a day ago."""
    with store.writing() as session:
        session.execute(sa.update(Person).values(created=time.time() - 86400))
        session.execute(sa.update(Page).values(given=time.time() - 86400))


def test_blocked_people_take_no_place(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1, replace(ALL, people=2))
    one, _ = raters(store, study, 2)
    with pytest.raises(Forbidden, match="this study is full"):
        people.join_study(store, link(store, study))
    people.set_person_state(store, study, number_of(store, one), PersonState.BLOCKED)
    assert summarize_progress(store, study).taken == 1
    people.join_study(store, link(store, study), "someone else")
    with pytest.raises(Forbidden, match="this study is full"):
        people.join_study(store, link(store, study))


def test_who_gives_no_name_gets_one_that_nobody_has(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1)
    people.add_person(store, study, "rater-2")
    for _ in range(2):
        people.join_study(store, link(store, study))
    assert names(store, study) == ["rater-2", "rater-3", "rater-4"]
    backdate_people(store)
    people.add_person(store, study, "Ann")
    assert people.free_places(store, study) == 3
    for _ in range(2):
        people.join_study(store, link(store, study))
    assert names(store, study) == ["Ann", "rater-2", "rater-3"]


def test_a_study_that_a_script_has_filled_takes_people_again(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 2, replace(ALL, people=30))
    (ann,) = raters(store, study, 1)
    work_through(store, ann)
    for _ in range(29):
        people.join_study(store, link(store, study))
    about = summarize_progress(store, study)
    assert (about.places, about.taken, about.unused) == (30, 30, 29)
    assert people.free_places(store, study, idle=0) == 29
    about = summarize_progress(store, study)
    assert (about.places, about.taken, about.unused, names(store, study)) == (30, 1, 0, ["rater 1"])
    people.join_study(store, link(store, study))


def test_those_who_are_just_beginning_keep_their_places(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 3)
    absent, reading, blocked = raters(store, study, 3)
    people.set_person_state(store, study, number_of(store, blocked), PersonState.BLOCKED)
    backdate_people(store)
    assert next_rating_page(store, reading) is not None
    people.add_person(store, study, "just joined")
    assert people.free_places(store, study) == 1
    assert names(store, study) == ["rater 2", "rater 3", "just joined"]
    with pytest.raises(NotFound, match="is not valid"):
        next_rating_page(store, absent)


def test_open_pages_go_with_whom_they_were_given_to(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1, replace(ALL, ratings=1))
    gone, other = raters(store, study, 2)
    page = next_rating_page(store, gone)
    assert page is not None
    assert next_rating_page(store, other) is None, "the only sample is claimed"
    people.remove_person(store, study, number_of(store, gone))
    with pytest.raises(NotFound):
        save_ratings(store, gone, page.page, dict.fromkeys(page.pictures, 3))
    assert len(work_through(store, other)) == 1
    with store.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).where(Rating.stars.is_(None))) == 0


@pytest.mark.parametrize("state", [PersonState.ACCEPTED, PersonState.BLOCKED])
def test_who_has_answered_is_not_removed(store: StudyDatabase, tmp_path: Path, state: PersonState) -> None:
    study = rating_study(store, tmp_path, 2)
    (rater,) = raters(store, study, 1)
    page = next_rating_page(store, rater)
    assert page is not None
    answer(store, rater, page)
    assert next_rating_page(store, rater) is not None  # and left it open
    people.set_person_state(store, study, number_of(store, rater), state)
    backdate_people(store)
    with pytest.raises(Conflict, match="rater 1 has answered, and answers stay; block them"):
        people.remove_person(store, study, number_of(store, rater))
    assert people.free_places(store, study, idle=0) == 0
    assert summarize_progress(store, study).people[0].pages == 1


def test_annotators_who_wrote_something_keep_their_places(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, AnnotationSettings(requests=1, qualification=1))
    write_through(store, people.add_person(store, study, "wrote"))
    people.add_person(store, study, "silent")
    backdate_people(store)
    assert people.free_places(store, study) == 1
    assert names(store, study) == ["wrote"]


def test_people_of_another_study_stay(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path / "a", 1)
    other = annotation_study(store, tmp_path / "b", 2, AnnotationSettings(qualification=0))
    theirs = people.add_person(store, other, "theirs")
    assert people.free_places(store, study, idle=0) == 0
    with pytest.raises(NotFound, match="no person"):
        people.remove_person(store, study, number_of(store, theirs))


WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def wait_until_freeing_waits(store: StudyDatabase) -> None:
    """SQLite lets one in at a time, so that there is nothing to wait for."""
    deadline = time.monotonic() + PATIENCE
    while not store.is_file:
        with store.reading() as session:
            if session.scalar(sa.text(WAITS)):
                return
        assert time.monotonic() < deadline, "freeing places did not wait for the answer"
        time.sleep(0.01)


def test_an_answer_that_is_being_saved_is_not_lost(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1)
    (rater,) = raters(store, study, 1)
    page = next_rating_page(store, rater)
    assert page is not None
    with ThreadPoolExecutor(1) as pool:
        with store.writing() as session:  # as `rate` does
            found = session.scalars(sa.select(Page).where(Page.token == page.page).with_for_update()).one()
            found.answered = time.time()
            for rating in found.ratings:
                rating.stars = 3
            session.flush()
            freeing = pool.submit(people.free_places, store, study, idle=0)
            wait_until_freeing_waits(store)
        assert freeing.result(timeout=PATIENCE) == 0
    with store.reading() as session:
        assert list(session.scalars(sa.select(Rating.stars))) == [3, 3, 3]
