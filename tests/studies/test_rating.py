"""The rating study: who sees what, how often, and what becomes of their stars."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa

from t2onet.errors import StudyError
from t2onet.studies import pages, people
from t2onet.studies.creating import find_study, open_rating_study
from t2onet.studies.database import (
    PRESETS,
    Conflict,
    Forbidden,
    NotFound,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    RatingSettings,
    StudyDatabase,
    StudySample,
)
from t2onet.studies.pages import REPEAT_GAP, next_rating_page, save_ratings
from tests.studies.helpers import (
    ALL,
    SYSTEMS,
    answer,
    fair,
    link,
    raters,
    rating_study,
    table,
    what,
    work_through,
)


def read_pages(store: StudyDatabase, kind: PageKind | None = None) -> list[Page]:
    wanted = sa.select(Page).order_by(Page.person_id, Page.number)
    with store.reading() as session:
        return list(session.scalars(wanted if kind is None else wanted.where(Page.kind == kind)))


def test_each_sample_is_rated_by_as_many_people_as_wanted(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 5)
    for rater in raters(store, study, 4):
        work_through(store, rater)
    seen = Counter(page.sample_id for page in read_pages(store))
    assert set(seen.values()) == {2}
    assert len(seen) == 5
    with store.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).where(Rating.stars.is_not(None))) == 5 * 2 * 3


def test_nobody_rates_a_sample_twice_for_others(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 3)
    (alone,) = raters(store, study, 1)
    assert len(work_through(store, alone)) == 3
    assert next_rating_page(store, alone) is None


@pytest.mark.slow
def test_order_is_random_for_each_rater(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 12, replace(ALL, ratings=6))
    requests, places = set(), Counter()
    for rater in raters(store, study, 6):
        seen = work_through(store, rater)
        requests.add(tuple(page.request for page in seen))
        places.update(what(store, page.pictures[0])[0] for page in seen)
    assert len(requests) == 6
    assert all(places[system] > 10 for system in SYSTEMS)  # of 72; 24 expected


def test_a_page_gives_nothing_away(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 3, RatingSettings(checks=0.5, repeats=0.5))
    (rater,) = raters(store, study, 1)
    seen = work_through(store, rater)
    assert {page.kind for page in read_pages(store)} == {PageKind.SAMPLE, PageKind.CHECK, PageKind.REPEAT}
    for page in seen:
        assert set(asdict(page)) == {"page", "request", "pictures", "done", "left"}
        assert len(page.pictures) == len(SYSTEMS)
    tokens = [token for page in seen for token in (page.page, *page.pictures)]
    assert len(set(tokens)) == len(tokens)
    assert all(len(token) >= 22 for token in tokens)


def test_a_link_leads_back_to_the_page_that_was_left(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 3)
    first, second = raters(store, study, 2)
    left = next_rating_page(store, first)
    assert left is not None
    assert next_rating_page(store, second) is not None
    assert next_rating_page(store, first) == left
    answer(store, first, left)
    following = next_rating_page(store, first)
    assert following is not None
    assert (following.page != left.page, following.done, following.left) == (True, 1, 2)


def test_stars_stay_as_they_were_given(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1)
    rater, other = raters(store, study, 2)
    page = next_rating_page(store, rater)
    assert page is not None
    stars = dict(zip(page.pictures, (1, 2, 3), strict=True))
    save_ratings(store, rater, page.page, stars)
    save_ratings(store, rater, page.page, stars)  # an answer that was lost on its way is given again
    with pytest.raises(Conflict, match="rated already"):
        save_ratings(store, rater, page.page, {**stars, page.pictures[0]: 5})
    with pytest.raises(NotFound, match="not yours"):
        save_ratings(store, other, page.page, stars)
    with store.reading() as session:
        kept = {rating.token: rating.stars for rating in session.scalars(sa.select(Rating))}
    assert kept == stars


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0, 6, True, 2.0, "3", None])
def test_other_stars_are_refused(store: StudyDatabase, tmp_path: Path, wrong: object) -> None:
    study = rating_study(store, tmp_path, 1)
    (rater,) = raters(store, study, 1)
    page = next_rating_page(store, rater)
    assert page is not None
    with pytest.raises(StudyError, match="whole numbers from 1 to 5"):
        save_ratings(store, rater, page.page, dict.fromkeys(page.pictures, wrong))  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="every picture of the page"):
        save_ratings(store, rater, page.page, {page.pictures[0]: 3})
    with pytest.raises(StudyError, match="and no other"):
        save_ratings(store, rater, page.page, {**dict.fromkeys(page.pictures, 3), "another": 3})
    assert next_rating_page(store, rater) == page


@pytest.mark.slow
def test_checks_and_repetitions_come_as_often_as_asked(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 60, RatingSettings(checks=0.1, repeats=0.1))
    (rater,) = raters(store, study, 1)
    count = len(work_through(store, rater))
    assert 60 + 2 * 6 <= count <= 60 + 2 * 9
    for kind in (PageKind.CHECK, PageKind.REPEAT):
        numbers = [page.number for page in read_pages(store, kind)]
        assert abs(len(numbers) - count / 10) <= 1.5
        assert len({b - a for a, b in pairwise(numbers)}) > 1, "one could count along"
    first = {page.sample_id: page.number for page in read_pages(store, PageKind.SAMPLE)}
    gaps = [page.number - first[page.sample_id] for page in read_pages(store, PageKind.REPEAT)]
    assert min(gaps) >= REPEAT_GAP


def test_even_a_short_study_has_one_of_each(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 3, RatingSettings())
    for rater in raters(store, study, 2):
        work_through(store, rater)
    kinds = Counter((page.person_id, page.kind) for page in read_pages(store))
    assert {kind: n for (_, kind), n in kinds.items()} == {"sample": 3, "check": 1, "repeat": 1}
    (late,) = [people.add_person(store, study, "late")]
    assert next_rating_page(store, late) is None, "no check for someone who has nothing to rate"


def test_a_check_shows_what_is_known(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 2, RatingSettings(checks=0.5, repeats=0), (*SYSTEMS, "more"))
    (rater,) = raters(store, study, 1)
    for page in work_through(store, rater):
        known = Counter(what(store, picture)[1] for picture in page.pictures)
        assert known in (Counter({None: 4}), Counter(["wrecked", "input", "target", None]))


def test_a_check_of_one_picture_is_a_wrecked_one(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 2, RatingSettings(checks=0.5, repeats=0), ("ours",))
    (rater,) = raters(store, study, 1)
    known = {what(store, picture)[1] for page in work_through(store, rater) for picture in page.pictures}
    assert known == {None, "wrecked"}


def test_a_rater_does_no_more_pages_than_allowed(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 9, replace(ALL, pages=4))
    (rater,) = raters(store, study, 1)
    seen = work_through(store, rater)
    assert [(page.done, page.left) for page in seen] == [(0, 4), (1, 3), (2, 2), (3, 1)]


def test_an_abandoned_page_is_given_to_someone_else_in_time(
    store: StudyDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = rating_study(store, tmp_path, 1, replace(ALL, ratings=1))
    gone, waiting = raters(store, study, 2)
    assert next_rating_page(store, gone) is not None
    assert next_rating_page(store, waiting) is None
    monkeypatch.setattr(pages, "CLAIM_SECONDS", 0.0)
    assert next_rating_page(store, waiting) is not None


def test_what_a_blocked_rater_did_is_done_again(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 2, replace(ALL, ratings=1))
    careless, careful = raters(store, study, 2)
    work_through(store, careless)
    assert next_rating_page(store, careful) is None
    with store.reading() as session:
        number = session.scalars(sa.select(Person.id).where(Person.token == careless)).one()
    people.set_person_state(store, study, number, PersonState.BLOCKED)
    assert len(work_through(store, careful)) == 2
    with pytest.raises(Forbidden, match="has ended your participation"):
        next_rating_page(store, careless)


def test_raters_who_come_at_once_share_the_samples(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 8)
    links = raters(store, study, 6)
    threads = [threading.Thread(target=work_through, args=(store, rater, fair)) for rater in links]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(Counter(page.sample_id for page in read_pages(store)).values()) == {2}


def test_joining(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1, replace(ALL, people=3))
    token = link(store, study)
    people.join_study(store, token)
    people.join_study(store, token, "  Zoë   M. ")
    with store.reading() as session:
        assert list(session.scalars(sa.select(Person.name).order_by(Person.id))) == ["rater-1", "Zoë M."]
    with pytest.raises(Conflict, match=r"already a Zoë M\. in this study"):
        people.join_study(store, token, "Zoë M.")
    for name in ("=1+1", "@sum", "<b>", "x" * 101, "a\0b"):
        with pytest.raises(StudyError, match="cannot be a name"):
            people.join_study(store, token, name)
    people.join_study(store, token)
    with pytest.raises(Forbidden, match="this study is full"):
        people.join_study(store, token)
    with pytest.raises(NotFound, match="does not belong to a study"):
        people.join_study(store, "another")
    with pytest.raises(NotFound, match="is not valid"):
        next_rating_page(store, token)


def test_a_study_is_found_again(store: StudyDatabase, tmp_path: Path) -> None:
    path = table(tmp_path, 3)
    study = open_rating_study(store, path, ALL)
    assert open_rating_study(store, path, ALL) == study
    assert find_study(store) == find_study(store, "table") == study
    with pytest.raises(StudyError, match="'table' with other samples or settings"):
        open_rating_study(store, path, replace(ALL, ratings=3))
    other = open_rating_study(store, path, replace(ALL, ratings=3), name="other")
    assert find_study(store, "other") == other
    with pytest.raises(NotFound, match="choose one with --name: table, other"):
        find_study(store)
    with pytest.raises(NotFound, match="no study 'third'; there is table, other"):
        find_study(store, "third")


@pytest.mark.parametrize("name", ["x" * 201, "a\0b", "a\nb"])
def test_names_that_no_study_can_have(store: StudyDatabase, tmp_path: Path, name: str) -> None:
    path = table(tmp_path, 1)
    with pytest.raises(StudyError, match="cannot be the name of a study"):
        open_rating_study(store, path, ALL, name=name)


def test_a_database_without_studies(store: StudyDatabase) -> None:
    with pytest.raises(NotFound, match="has no study; begin one with t2o study rate"):
        find_study(store)


def test_the_papers_design(store: StudyDatabase, tmp_path: Path) -> None:
    """250 samples of each data set by chance, each rated twice."""
    paper = PRESETS["paper"]
    assert (paper.samples, paper.ratings) == (250, 2)
    few = replace(paper, samples=4)
    open_rating_study(store, table(tmp_path, 9, datasets=("ma5k", "gier")), few, seed=1)
    with store.reading() as session:
        samples = list(session.scalars(sa.select(StudySample).order_by(StudySample.id)))
    assert Counter(sample.dataset for sample in samples) == {"ma5k": 4, "gier": 4}
    names = [sample.name for sample in samples]
    assert names == sorted(names, key=lambda name: (name[0] != "m", name)), "in their own order"
    assert {name[-3:] for name in names if name[0] == "m"} != {name[-3:] for name in names if name[0] == "g"}


@pytest.mark.parametrize(
    "wrong", [{"ratings": 0}, {"checks": 0.9}, {"repeats": -0.1}, {"samples": 0}, {"pages": 0}]
)
def test_settings_that_make_no_study(wrong: dict[str, float]) -> None:
    with pytest.raises(StudyError, match=r"at least 1|a share of all pages"):
        RatingSettings(**wrong)  # type: ignore[arg-type]
