"""Systems side by side, and figures that can be followed back to their samples."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from t2onet.data import open_dataset
from t2onet.errors import DataError, OutputError
from t2onet.evaluation.compare import Comparison, compare_systems
from t2onet.evaluation.measure import MeasurementOptions, evaluate_system
from t2onet.evaluation.systems import IdentitySystem, Question, SystemAnswer
from t2onet.metrics.statistics import IntervalEstimate, PairedDifference
from tests.evaluation.helpers import SENTENCES, Scripted, brighten, follow_words, some_cases
from tests.evaluation.paper_helpers import small_pairs


def brighter(question: Question) -> SystemAnswer:
    return SystemAnswer(brighten(question.picture, 0.2))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    cases = some_cases(6)
    systems = [IdentitySystem(), Scripted(follow_words, "words"), Scripted(brighter)]
    evaluations = [
        evaluate_system(system, cases, SENTENCES, MeasurementOptions(each=2)) for system in systems
    ]
    return Comparison(evaluations, {"pairs": 6, "data": "0123", "code": "abc"})


def test_a_column_for_each_system_and_its_difference_from_the_first(comparison: Comparison) -> None:
    figures, classes, differences = comparison.build_tables()
    assert figures.columns == classes.columns == ("identity", "words", "scripted")
    assert differences.columns == ("words less identity", "scripted less identity")
    first, *others = figures.rows["expert: L1"]
    assert isinstance(first, IntervalEstimate)
    for found, apart in zip(others, differences.rows["expert: L1"], strict=True):
        assert isinstance(found, IntervalEstimate)
        assert isinstance(apart, PairedDifference)
        assert apart.value == pytest.approx(found.value - first.value)
        assert apart.high < 0


def test_the_tables_say_where_figures_come_from(comparison: Comparison) -> None:
    assert comparison.build_tables()[0].notes[0] == "pairs 6, data 0123, code abc"


def test_a_figure_that_a_system_has_not_is_blank(comparison: Comparison) -> None:
    """A system without recipes has no steps."""
    assert comparison.estimates["expert: steps"][2] is None
    assert comparison.differences["expert: steps"][1] is None
    assert "expert: steps" not in comparison.to_json()["figures"]["scripted"]


def test_figures_are_the_means_of_their_samples(comparison: Comparison) -> None:
    rows = list(csv.DictReader(comparison.samples_to_csv().splitlines()))
    data = comparison.to_json()["figures"]
    for system in comparison.names:
        own = [row for row in rows if row["system"] == system]
        for column in ("L1", "SSIM", "PSNR", "delta-E 2000"):
            mean = np.mean([float(row[column]) for row in own if row[column]])
            assert data[system][f"expert: {column}"]["value"] == pytest.approx(mean, rel=1e-4)
        hits = [
            np.mean([float(row[column]) for row in own if row[column]])
            for column in ("more lightness", "less lightness", "more warmth")
        ]
        assert data[system]["literal: following"]["value"] == pytest.approx(np.mean(hits))


def test_samples_name_sentences_and_do_not_quote_them(comparison: Comparison) -> None:
    rows = [
        row for row in csv.DictReader(comparison.samples_to_csv().splitlines()) if row["part"] == "requests"
    ]
    assert {row["request"] for row in rows} == {label.name for label in SENTENCES}


def test_a_folder_holds_everything(comparison: Comparison, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "main"
    comparison.write(folder, "t2o evaluate pairs")
    assert sorted(path.name for path in folder.iterdir()) == [
        "about.json",
        "figures.csv",
        "figures.md",
        "samples.csv",
    ]
    about = json.loads((folder / "about.json").read_text())
    assert about["command"] == "t2o evaluate pairs"
    assert about["systems"] == list(comparison.names)
    lines = csv.DictReader((folder / "figures.csv").read_text().splitlines())
    l1 = {line["system"]: line for line in lines if line["figure"] == "expert: L1"}
    assert list(l1) == list(comparison.names)
    assert l1["identity"]["difference value"] == ""
    apart = comparison.differences["expert: L1"][1]
    assert float(l1["scripted"]["difference low"]) == pytest.approx(apart.low, rel=1e-4)
    assert float(l1["scripted"]["difference p"]) == pytest.approx(apart.p, rel=1e-4)
    assert "## Differences on the same samples" in (folder / "figures.md").read_text()
    with pytest.raises(OutputError, match="already exists"):
        comparison.write(folder, "again")
    comparison.write(folder, "again", overwrite=True)


@pytest.mark.slow
def test_several_at_once_measure_the_same(tmp_path: Path) -> None:
    data = open_dataset(small_pairs(tmp_path))
    systems = [IdentitySystem(), Scripted(follow_words, "words"), Scripted(brighter, side=128)]
    one, three = (
        compare_systems(systems, data, {}, MeasurementOptions(few=2, amounts=False, jobs=jobs))
        for jobs in (1, 3)
    )
    assert one.names == three.names == ("identity", "words", "scripted")
    assert one.samples_to_csv() == three.samples_to_csv()


def test_one_system_has_no_differences() -> None:
    alone = Comparison([evaluate_system(IdentitySystem(), some_cases(2), {}, MeasurementOptions())], {})
    assert [table.title for table in alone.build_tables()] == ["Figures"]
    assert alone.to_json()["differences"] == {}


def test_json_has_no_nan() -> None:
    alone = Comparison([evaluate_system(IdentitySystem(), some_cases(1), {}, MeasurementOptions())], {})
    found = alone.to_json()["figures"]["identity"]["expert: L1"]
    assert found["low"] is None
    assert json.loads(json.dumps(alone.to_json(), allow_nan=False))


def test_other_samples_are_not_compared() -> None:
    one, other = (
        evaluate_system(IdentitySystem(), some_cases(count), {}, MeasurementOptions()) for count in (2, 3)
    )
    with pytest.raises(DataError, match="measured on different samples"):
        _ = Comparison([one, other], {}).differences
