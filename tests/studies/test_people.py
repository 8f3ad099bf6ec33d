"""Places of a study: who takes one, and how they become free again without losing an answer."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from t2onet.studies import people
from t2onet.studies.models import Page, Person, Rating, State
from t2onet.studies.rating import next_rating_page, rate
from t2onet.studies.refusals import Conflict, Forbidden, NotFound
from t2onet.studies.review import progress
from t2onet.studies.settings import AnnotationSettings
from t2onet.studies.storage import Store
from tests.conftest import PATIENCE

from .made import ALL, annotation_study, answer, link, raters, rating_study, work_through, write_through


def number_of(store: Store, token: str) -> int:
    with store.reading() as session:
        return session.scalars(sa.select(Person.id).where(Person.token == token)).one()


def names(store: Store, study: int) -> list[str]:
    return [person.name for person in progress(store, study).people]


def joined_long_ago(store: Store) -> None:
    """Everybody has joined, and was given pages, a day ago."""
    with store.writing() as session:
        session.execute(sa.update(Person).values(created=time.time() - 86400))
        session.execute(sa.update(Page).values(given=time.time() - 86400))


def test_blocked_people_take_no_place(store: Store, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1, replace(ALL, people=2))
    one, _ = raters(store, study, 2)
    with pytest.raises(Forbidden, match="all the people it needs"):
        people.join(store, link(store, study))
    people.set_state(store, study, number_of(store, one), State.BLOCKED)
    assert progress(store, study).taken == 1
    people.join(store, link(store, study), "someone else")
    with pytest.raises(Forbidden, match="all the people it needs"):
        people.join(store, link(store, study))


def test_who_gives_no_name_gets_one_that_nobody_has(store: Store, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1)
    people.add(store, study, "rater-2")
    for _ in range(2):
        people.join(store, link(store, study))
    assert names(store, study) == ["rater-2", "rater-3", "rater-4"]
    joined_long_ago(store)
    people.add(store, study, "Ann")
    assert people.free_places(store, study) == 3
    for _ in range(2):
        people.join(store, link(store, study))
    assert names(store, study) == ["Ann", "rater-2", "rater-3"]


def test_a_study_that_a_script_has_filled_takes_people_again(store: Store, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 2, replace(ALL, people=30))
    (ann,) = raters(store, study, 1)
    work_through(store, ann)
    for _ in range(29):
        people.join(store, link(store, study))
    about = progress(store, study)
    assert (about.places, about.taken, about.unused) == (30, 30, 29)
    assert people.free_places(store, study, idle=0) == 29
    about = progress(store, study)
    assert (about.places, about.taken, about.unused, names(store, study)) == (30, 1, 0, ["rater 1"])
    people.join(store, link(store, study))


def test_those_who_are_just_beginning_keep_their_places(store: Store, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 3)
    absent, reading, blocked = raters(store, study, 3)
    people.set_state(store, study, number_of(store, blocked), State.BLOCKED)
    joined_long_ago(store)
    assert next_rating_page(store, reading) is not None
    people.add(store, study, "just joined")
    assert people.free_places(store, study) == 1
    assert names(store, study) == ["rater 2", "rater 3", "just joined"]
    with pytest.raises(NotFound, match="leads nowhere"):
        next_rating_page(store, absent)


def test_open_pages_go_with_whom_they_were_given_to(store: Store, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1, replace(ALL, ratings=1))
    gone, other = raters(store, study, 2)
    page = next_rating_page(store, gone)
    assert page is not None
    assert next_rating_page(store, other) is None, "the only sample is claimed"
    people.remove(store, study, number_of(store, gone))
    with pytest.raises(NotFound):
        rate(store, gone, page.page, dict.fromkeys(page.pictures, 3))
    assert len(work_through(store, other)) == 1
    with store.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).where(Rating.stars.is_(None))) == 0


@pytest.mark.parametrize("state", [State.ACCEPTED, State.BLOCKED])
def test_who_has_answered_is_not_removed(store: Store, tmp_path: Path, state: State) -> None:
    study = rating_study(store, tmp_path, 2)
    (rater,) = raters(store, study, 1)
    page = next_rating_page(store, rater)
    assert page is not None
    answer(store, rater, page)
    assert next_rating_page(store, rater) is not None  # and left it open
    people.set_state(store, study, number_of(store, rater), state)
    joined_long_ago(store)
    with pytest.raises(Conflict, match="rater 1 has answered, which is kept; block them"):
        people.remove(store, study, number_of(store, rater))
    assert people.free_places(store, study, idle=0) == 0
    assert progress(store, study).people[0].pages == 1


def test_annotators_who_wrote_something_keep_their_places(store: Store, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, AnnotationSettings(requests=1, qualification=1))
    write_through(store, people.add(store, study, "wrote"))
    people.add(store, study, "silent")
    joined_long_ago(store)
    assert people.free_places(store, study) == 1
    assert names(store, study) == ["wrote"]


def test_people_of_another_study_stay(store: Store, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path / "a", 1)
    other = annotation_study(store, tmp_path / "b", 2, AnnotationSettings(qualification=0))
    theirs = people.add(store, other, "theirs")
    assert people.free_places(store, study, idle=0) == 0
    with pytest.raises(NotFound, match="nobody with the number"):
        people.remove(store, study, number_of(store, theirs))


WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def wait_until_freeing_waits(store: Store) -> None:
    """SQLite lets one in at a time, so that there is nothing to wait for."""
    deadline = time.monotonic() + PATIENCE
    while not store.is_file:
        with store.reading() as session:
            if session.scalar(sa.text(WAITS)):
                return
        assert time.monotonic() < deadline, "freeing places did not wait for the answer"
        time.sleep(0.01)


def test_an_answer_that_is_being_saved_is_not_lost(store: Store, tmp_path: Path) -> None:
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
