"""The paper's tables as data: figures as printed, and runs that can be trained."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from t2onet.errors import DataError
from t2onet.evaluation.paper_tables import PAPER_TABLES, PaperTable, find_paper_table
from t2onet.training.run import get_config
from t2onet.training.task import apply_assignments
from tests.conftest import ROOT

PAPER = ROOT.parent / "shared" / "paper" / "t2onet.tex"
RUNS = {run.name: run for table in PAPER_TABLES.values() for run in table.list_runs()}
EVERY = pytest.mark.parametrize("table", PAPER_TABLES.values(), ids=PAPER_TABLES)


@EVERY
def test_rows_have_figures_for_columns_alone(table: PaperTable) -> None:
    for row in table.rows:
        extra = {*row.paper, *row.gier} - {*table.columns}
        assert extra <= {"users"}, row.title
    assert table.reference in [row.title for row in table.rows]


@EVERY
def test_titles_tell_rows_apart(table: PaperTable) -> None:
    titles = [row.title for row in table.rows]
    assert len({*titles}) == len(titles)


def test_a_run_is_the_same_in_every_table() -> None:
    named = [run for table in PAPER_TABLES.values() for run in table.list_runs()]
    for run in RUNS.values():
        assert {one for one in named if one.name == run.name} == {run}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_run_can_be_trained(run) -> None:  # type: ignore[no-untyped-def]
    """Its config takes its settings, and plans keep to what the network may do."""
    config = get_config(run.config)
    settings = apply_assignments(config.settings, run.settings)
    assert config.needs_start == (run.starts_from is not None)
    if run.plans.name:
        used = run.plans.operations or settings.network.operations
        assert set(used) == set(settings.network.operations)
        assert run.plans.steps == settings.network.max_steps


def test_what_a_run_begins_with_comes_before_it() -> None:
    names = [run.name for run in find_paper_table("rl-pretraining").list_runs()]
    assert names.index("paper") < names.index("rl-pretrained")


def test_a_table_that_is_none() -> None:
    with pytest.raises(DataError, match=r"there is no table 'mean'; there are main, image-losses, "):
        find_paper_table("mean")


@pytest.mark.needs_data
@pytest.mark.skipif(not PAPER.is_file(), reason=f"{PAPER} is absent")
@EVERY
def test_figures_are_those_of_the_paper(table: PaperTable) -> None:
    printed = {float(number) for number in re.findall(r"\d+\.\d+", PAPER.read_text())}
    figures = chain.from_iterable((*row.paper.values(), *row.gier.values()) for row in table.rows)
    assert {figure for figure in figures if figure not in printed} == set()
    assert {row.planning for row in table.rows if row.planning} <= printed
