"""Figures that are read back from the folder they were written to."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from scripts.rewrite_tables import read_stored
from t2onet.errors import DataError
from t2onet.evaluation.compare import Comparison, RunSpread
from t2onet.evaluation.measure import MeasurementOptions, average_runs, evaluate_system
from t2onet.evaluation.systems import IdentitySystem, Question, SystemAnswer
from t2onet.metrics.statistics import estimate_interval
from tests.evaluation.helpers import SENTENCES, Scripted, brighten, some_cases

CASES = some_cases(4)
AMOUNTS = (0.1, 0.2, 0.25)


def brightening(amount: float) -> Scripted:
    def brighter(question: Question) -> SystemAnswer:
        return SystemAnswer(brighten(question.picture, amount))

    return Scripted(brighter, f"by {amount}")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    runs = [
        evaluate_system(brightening(amount), CASES, SENTENCES, MeasurementOptions(each=1))
        for amount in AMOUNTS
    ]
    others = [evaluate_system(IdentitySystem(), CASES, SENTENCES, MeasurementOptions(each=1))]
    return Comparison([average_runs("Brightens", runs), *others], {"pairs": 4, "labelled requests": 5})


def test_a_row_of_several_runs_is_their_mean(comparison: Comparison) -> None:
    runs = comparison.evaluations[0].runs
    singles = [estimate_interval(run.figures["expert: L1"]).value for run in runs]
    value, _ = comparison.estimates["expert: L1"]
    assert value is not None
    assert value.value == pytest.approx(np.mean(singles))
    assert value.low < value.value < value.high
    spread, none = comparison.spreads["expert: L1"]
    assert spread == RunSpread(3, pytest.approx(np.std(singles, ddof=1)))
    assert none is None
    (apart,) = comparison.differences["expert: L1"]
    assert apart is not None
    assert apart.p is not None


def test_samples_name_the_run(comparison: Comparison) -> None:
    systems = {line.split(",")[0] for line in comparison.samples_to_csv().splitlines()[1:]}
    assert systems == {*(f"by {amount}" for amount in AMOUNTS), "identity"}


def test_what_is_written_is_read(comparison: Comparison, tmp_path: Path) -> None:
    comparison.write(tmp_path, "t2o evaluate")
    stored, command = read_stored(tmp_path)
    assert (stored.names, command, stored.facts) == (comparison.names, "t2o evaluate", comparison.facts)
    assert not stored.lacks_labels
    for one, other in (
        (stored.estimates, comparison.estimates),
        (stored.classes, comparison.classes),
        ({name: cells for name, cells in stored.differences.items() if any(cells)}, comparison.differences),
        (stored.spreads, comparison.spreads),
    ):
        assert list(one) == list(other)
        for name, cells in one.items():
            for cell, expected in zip(cells, other[name], strict=True):
                assert _numbers(cell) == pytest.approx(_numbers(expected), rel=1e-5, nan_ok=True), name


def _numbers(cell: tuple[float | None, ...] | None) -> list[float]:
    """NaN stands for what is not known."""
    return [math.nan if value is None else value for value in cell or ()]


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as results of `t2o reproduce`"):
        read_stored(tmp_path)
    (tmp_path / "about.json").write_text('{"systems": ["a"]}')
    with pytest.raises(DataError, match="cannot be read as results of `t2o reproduce`: 'command'"):
        read_stored(tmp_path)
