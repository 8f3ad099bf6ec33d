"""Solvers: the parameters that were planted, and never worse than doing nothing."""

from __future__ import annotations

import pytest

from t2onet import operations
from t2onet.errors import PlanError
from t2onet.planning import L1Cost
from t2onet.planning.pictures import apply_step
from t2onet.planning.solvers import SOLVER_NAMES, find_solver
from t2onet.recipe import Step
from tests.planning.scenes import scene

PLANTED = {
    "brightness": [0.3],
    "saturation": [-0.4],
    "contrast": [0.5],
    "sharpness": [0.4],
    "tone": [0.6, 1.4, 1.3, 1.0, 0.9, 0.8, 1.0, 1.0],
    "color": [1.2, 1.1, 1, 1, 1, 1, 0.9, 0.8, *[1] * 8, 0.7, 0.8, 1, 1, 1.1, 1.1, 1.1, 1.2],
}


@pytest.mark.parametrize("name", operations.PAPER)
def test_fast_recovers_what_was_planted(name: str) -> None:
    picture = scene()
    target = apply_step(Step.from_trusted(name, tuple(PLANTED[name])), picture)
    found = find_solver("fast")(name, picture, L1Cost(target))
    assert L1Cost(target)(apply_step(found, picture)) < 0.002
    if len(PLANTED[name]) == 1:  # of a curve, the pieces that no pixel falls on can be anything
        assert found.parameters == pytest.approx(tuple(PLANTED[name]), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in SOLVER_NAMES if name != "fast"])
@pytest.mark.parametrize("name", ["brightness", "tone"])
def test_the_others_agree(method: str, name: str) -> None:
    pytest.importorskip("scipy" if method == "nelder-mead" else "torch", reason="an extra")
    picture = scene(32)
    target = apply_step(Step.from_trusted(name, tuple(PLANTED[name])), picture)
    found = find_solver(method)(name, picture, L1Cost(target))
    assert L1Cost(target)(apply_step(found, picture)) < 0.006


def test_a_curve_that_wants_to_fall_stays_rising_and_best() -> None:
    """Fitting a negative: the nearest rising curve is found, not the falling one cut off."""
    picture = scene()
    target = 1 - picture
    found = find_solver("fast")("tone", picture, L1Cost(target))
    allowed = operations.get_operation("tone").check(found.parameters)
    flat = Step.from_trusted("tone", (8.0, *[0.02] * 6, 8.0))
    assert len(allowed) == 8
    assert L1Cost(target)(apply_step(found, picture)) <= L1Cost(target)(apply_step(flat, picture)) + 0.005


def test_any_cost_will_do_for_nelder_mead() -> None:
    pytest.importorskip("scipy", reason="an extra")
    found = find_solver("nelder-mead")(
        "brightness", scene(16), lambda picture: abs(float(picture.mean()) - 0.6)
    )
    assert apply_step(found, scene(16)).mean() == pytest.approx(0.6, abs=0.002)
    with pytest.raises(PlanError, match="L1 cost only"):
        find_solver("fast")("brightness", scene(16), lambda picture: 0.0)


def test_unknown_solvers_are_refused() -> None:
    with pytest.raises(PlanError, match="did you mean 'nelder-mead'"):
        find_solver("neldermead")
