"""Rows and the systems behind them: a row is measured in one mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from t2onet.data import open_dataset
from t2onet.evaluation import paper_results
from t2onet.evaluation.compare import RunSpread, compare_systems
from t2onet.evaluation.measure import MeasurementOptions, evaluate_system
from t2onet.evaluation.paper_results import create_rows, open_row_systems
from t2onet.evaluation.paper_tables import PAPER_TABLES, PaperRow, PaperRun, PaperTable
from t2onet.evaluation.systems import NAMED_SYSTEMS, Question, RepeatedSystem, SystemAnswer
from tests.evaluation.helpers import SENTENCES, Scripted, brighten, some_cases
from tests.evaluation.paper_helpers import small_pairs


def more_in_expert_mode(question: Question) -> SystemAnswer:
    return SystemAnswer(brighten(question.picture, 0.4 if question.mode == "expert" else 0.1))


@pytest.fixture
def two_modes(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """A system with both modes, under the name `both`."""
    system = Scripted(more_in_expert_mode, "both", has_modes=True)
    monkeypatch.setitem(NAMED_SYSTEMS, "both", lambda name: system)
    return system


@pytest.mark.parametrize("mode", ["literal", "expert"])
def test_every_figure_of_a_row_is_measured_in_its_mode(
    two_modes: Scripted, tmp_path: Path, mode: str
) -> None:
    (system,), _ = open_row_systems([PaperRow(f"both, {mode}", system="both", mode=mode)], tmp_path)
    found = evaluate_system(system, some_cases(3), SENTENCES, MeasurementOptions(each=1))
    assert found.name == f"both, {mode}"
    assert {question.mode for question in two_modes.asked} == {mode}
    assert {row.part for row in found.rows} == {"pairs", "requests", "amounts", "ten requests"}


def test_a_system_with_modes_has_a_row_for_each(two_modes: Scripted) -> None:
    assert [(row.title, row.mode) for row in create_rows("both")] == [
        ("both, literal", "literal"),
        ("both, expert", "expert"),
    ]
    assert [(row.title, row.mode) for row in create_rows("identity")] == [("identity", "")]


def test_a_row_that_mixes_modes_is_refused(two_modes: Scripted, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both has modes, and a row is measured in one"):
        open_row_systems([PaperRow("both", system="both")], tmp_path)


def test_a_row_with_repetitions_is_measured_on_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scripted(name: str, path: Path, *, bfloat16: bool = False) -> Scripted:
        return Scripted(more_in_expert_mode, name)

    monkeypatch.setattr(paper_results, "open_system_file", scripted)
    for name in ("paper", "paper-seed-1"):
        (tmp_path / f"{name}.zip").touch()
    (system,), absent = open_row_systems([PaperRow("T2ONet", PaperRun("paper", "paper"))], tmp_path)
    assert isinstance(system, RepeatedSystem)
    assert (system.name, [run.name for run in system.runs]) == ("T2ONet", ["paper", "paper-seed-1"])
    assert not absent
    data = open_dataset(small_pairs(tmp_path), splits=["val"])
    found = compare_systems([system], data, {}, MeasurementOptions(amounts=False))
    assert found.names == ("T2ONet",)
    assert found.spreads["expert: L1"] == (RunSpread(2, 0.0),)


@pytest.mark.parametrize("table", PAPER_TABLES.values(), ids=PAPER_TABLES)
def test_no_row_of_a_table_mixes_modes(table: PaperTable, tmp_path: Path) -> None:
    systems, _ = open_row_systems(table.rows, tmp_path)
    assert not any(system.has_modes for system in systems)
