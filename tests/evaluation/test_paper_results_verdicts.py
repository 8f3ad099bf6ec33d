"""Verdicts: a difference counts if it is larger than what pairs and training runs leave to chance."""

from __future__ import annotations

import csv
import math

import pytest

from t2onet.evaluation.compare import RunSpread
from t2onet.evaluation.measure import SIGMA_FIGURE
from t2onet.evaluation.paper_results import (
    OTHER_DIRECTION,
    SAME_DIRECTION,
    SINGLE_RUN_DEVIATION,
    WITHIN_NOISE,
    explain_verdicts,
    judge_difference,
    noise_threshold,
    run_variance,
)
from t2onet.metrics.statistics import PairedDifference
from tests.conftest import ROOT

L1 = "expert: L1"
SURE = PairedDifference(-0.0053, -0.0079, -0.0026, 0.0001)
"""RL less T2ONet: every sample of pairs agrees, and so do two runs that are only luckier and unluckier."""


def single() -> float:
    found = run_variance(L1, None)
    assert found is not None
    return found


def test_two_single_runs_may_differ_by_what_runs_of_one_config_did() -> None:
    here = PairedDifference(0.0, -0.001, 0.001, 1.0)
    training = 1.96 * math.sqrt(2) * SINGLE_RUN_DEVIATION[L1]
    assert noise_threshold(here, single(), single()) == pytest.approx(math.hypot(0.001, training), rel=1e-4)


def test_a_single_run_varies_as_those_in_the_main_table_did() -> None:
    """Three runs of T2ONet from three seeds; if this fails after a new table, take its figures."""
    with (ROOT / "results/main/figures.csv").open(encoding="utf-8", newline="") as file:
        lines = {line["figure"]: line for line in csv.DictReader(file) if line["system"] == "T2ONet"}
    for figure, spread in SINGLE_RUN_DEVIATION.items():
        assert lines[figure]["runs"] == "3"
        assert spread == pytest.approx(float(lines[figure]["spread"]), rel=0.02)


def test_a_difference_that_pairs_confirm_may_be_the_noise_of_training() -> None:
    assert judge_difference(SURE, 0.0223, 0.0, 0.0) == OTHER_DIRECTION
    assert judge_difference(SURE, 0.0223, single(), single()) == WITHIN_NOISE


@pytest.mark.parametrize(("there", "expected"), [(-0.02, OTHER_DIRECTION), (0.02, SAME_DIRECTION)])
def test_larger_differences_go_one_way_or_the_other(there: float, expected: str) -> None:
    assert (
        judge_difference(PairedDifference(0.0163, 0.0127, 0.02, 0.0), there, single(), single()) == expected
    )


def test_what_pairs_leave_open_is_noise_without_any_training() -> None:
    assert judge_difference(PairedDifference(0.001, -0.001, 0.003, 0.4), 0.02, 0.0, 0.0) == WITHIN_NOISE


def test_several_runs_tell_their_own_spread() -> None:
    """And their mean varies less than one of them."""
    assert run_variance(L1, RunSpread(4, 0.001)) == pytest.approx(0.001**2 / 4)
    four = run_variance(L1, RunSpread(4, 0.001))
    assert four is not None
    assert judge_difference(SURE, 0.0223, four, four) == OTHER_DIRECTION


def test_noise_of_a_figure_that_was_never_measured_twice_is_not_known() -> None:
    assert run_variance("expert: LPIPS", None) is None
    assert run_variance("expert: LPIPS", RunSpread(2, 0.5)) == pytest.approx(0.125)


def test_the_note_says_what_was_taken() -> None:
    assert f"L1 {SINGLE_RUN_DEVIATION[L1]}" in explain_verdicts()
    assert f"{SIGMA_FIGURE} {SINGLE_RUN_DEVIATION[SIGMA_FIGURE]}" in explain_verdicts()
