"""Results: means worked by hand, intervals that hold what they promise, and who is left out."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from t2onet.errors import StudyError
from t2onet.metrics.statistics import estimate_mean
from t2onet.studies import people
from t2onet.studies.creating import open_rating_study
from t2onet.studies.database import Person, PersonState, RatingSettings, Study, StudyDatabase, StudyKind
from t2onet.studies.results import RATING_COLUMNS, compute_results, export_ratings_csv
from tests.studies.helpers import ALL, raters, rating_study, table, work_through


def ones(_system: str | None, _known: str | None) -> int:
    return 1


def test_means_worked_by_hand(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 4)
    fair, grim = raters(store, study, 2)
    work_through(store, fair)
    work_through(store, grim, ones)
    found = compute_results(store, study)
    assert [(mean.system, mean.mean) for mean in found.means] == [("target", 3), ("ours", 2.5), ("gan", 1.5)]
    assert all(
        (mean.ratings, mean.samples, mean.low, mean.high) == (8, 4, mean.mean, mean.mean)
        for mean in found.means
    )
    assert found.agreement is not None
    assert found.agreement < 0
    assert found.self_agreement is None


def test_the_interval_of_one_sample_is_its_mean(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1)
    work_through(store, *raters(store, study, 1))
    assert {
        (mean.low, mean.high) == (mean.mean, mean.mean) for mean in compute_results(store, study).means
    } == {True}


def test_each_data_set_and_all_together(store: StudyDatabase, tmp_path: Path) -> None:
    study = open_rating_study(store, table(tmp_path, 2, datasets=("ma5k", "gier")), ALL)
    work_through(store, *raters(store, study, 1))
    found = Counter(mean.dataset for mean in compute_results(store, study).means)
    assert found == {"ma5k": 3, "gier": 3, "all": 3}


@pytest.mark.slow
def test_raters_who_agree_and_repeat_themselves(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 12, RatingSettings(repeats=0.25))
    for rater in raters(store, study, 2):
        work_through(store, rater)
    found = compute_results(store, study)
    assert (found.agreement, found.self_agreement) == (1, 1)
    assert found.repeated >= 2 * 3 * 3
    assert all(rater.passed == rater.known > 0 for rater in found.raters)
    assert {mean.ratings for mean in found.means} == {24}, "neither checks nor repetitions count"


def test_the_careless_and_the_blocked_are_left_out(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 6, RatingSettings(ratings=3, checks=0.2))
    good, careless, blocked = raters(store, study, 3)
    work_through(store, good)
    work_through(store, careless, lambda system, known: 5)
    work_through(store, blocked)
    with store.reading() as session:
        number = session.scalars(sa.select(Person.id).where(Person.token == blocked)).one()
    people.set_person_state(store, study, number, PersonState.BLOCKED)
    found = compute_results(store, study)
    assert [rater.left_out for rater in found.raters] == ["", "inattentive", "blocked"]
    assert {mean.system: mean.mean for mean in found.means} == {"target": 5, "ours": 4, "gan": 2}
    lenient = compute_results(store, study, attention=0)
    assert {mean.system: mean.mean for mean in lenient.means} == {"target": 5, "ours": 4.5, "gan": 3.5}


def test_before_anybody_has_rated(store: StudyDatabase, tmp_path: Path) -> None:
    found = compute_results(store, rating_study(store, tmp_path, 2))
    assert (found.means, found.agreement, found.repeated, found.raters) == ((), None, 0, ())


def test_a_study_of_another_kind(store: StudyDatabase) -> None:
    with store.writing() as session:
        session.add(Study(name="n", kind=StudyKind.ANNOTATION, seed=0, root="", digest="", settings={}))
    with pytest.raises(StudyError, match="it has no ratings"):
        compute_results(store, 1)


def test_an_interval_is_as_wide_as_theory_says() -> None:
    """For many independent samples the bootstrap comes to 1.96 standard errors to either side."""
    stars = np.random.default_rng(0).integers(1, 6, 400)
    mean, low, high = estimate_mean([[int(one)] for one in stars])
    assert mean == pytest.approx(stars.mean())
    assert (high - low) / 2 == pytest.approx(1.96 * stars.std() / 20, rel=0.08)


def test_ratings_of_one_sample_are_not_taken_for_independent() -> None:
    stars = np.random.default_rng(0).integers(1, 6, 100)
    _, low, high = estimate_mean([[int(one)] for one in stars])
    _, doubled_low, doubled_high = estimate_mean([[int(one)] * 2 for one in stars])
    assert (doubled_low, doubled_high) == (low, high)


@pytest.mark.slow
def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    chance, true = np.random.default_rng(1), 3.0
    held = 0
    for _ in range(300):
        samples = chance.integers(2, 5, 60)
        groups = [list(np.clip(base + chance.integers(-1, 2, 2), 1, 5)) for base in samples]
        _, low, high = estimate_mean(groups)
        held += low <= true <= high
    assert 0.91 <= held / 300 <= 0.985


def test_the_table_of_all_ratings(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 4, replace(ALL, checks=0.25, ratings=1))
    work_through(store, *raters(store, study, 1))
    rows = list(csv.DictReader(io.StringIO(export_ratings_csv(store, study))))
    assert tuple(rows[0]) == RATING_COLUMNS
    kinds = Counter(row["kind"] for row in rows)
    assert kinds["sample"] == 4 * 3
    assert kinds["check"] >= 3
    for row in rows:
        assert (row["study"], row["rater"]) == ("table", "rater 1")
        assert row["request"] == f"make {row['sample']} brighter"
        assert (row["passed"] == "yes") == (row["known"] != "")
        assert row["stars"] in "12345"
        assert row["given"].endswith("+00:00")
        assert row["answered"] >= row["given"]
    assert {row["place"] for row in rows} == {"1", "2", "3"}


def test_a_formula_of_the_table_is_exported_as_text(store: StudyDatabase, tmp_path: Path) -> None:
    """Also in a table that was itself saved with an apostrophe before the formula."""
    path = table(tmp_path, 2, ("ours", "=theirs"))
    text = path.read_text(encoding="utf-8").replace("make 000 brighter", "'=1+1")
    path.write_text(text.replace("make 001 brighter", "=1+1"), encoding="utf-8")
    study = open_rating_study(store, path, ALL)
    work_through(store, *raters(store, study, 1))
    rows = list(csv.DictReader(io.StringIO(export_ratings_csv(store, study))))
    assert {row["request"] for row in rows} == {"'=1+1"}
    assert {row["system"] for row in rows} == {"ours", "'=theirs"}
