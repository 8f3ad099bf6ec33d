"""Fitting all parameters of a path at once."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import operations
from t2onet.planning.costs import L1
from t2onet.planning.joint import JointFit, _nudged, small_changes
from t2onet.planning.path import Action, idle, pictures
from tests.planning.scenes import scene


@pytest.mark.parametrize("name", [name for name, op in operations.operations().items() if not op.reach(1.0)])
def test_nudged_results_are_those_of_nudged_parameters(name: str) -> None:
    rng = np.random.default_rng(1)
    values = np.array([rng.uniform(0.5, 0.9) for _ in operations.get(name).slots])
    action = Action(name, values)
    sample = np.ascontiguousarray(rng.random((3, 1, 50)), np.float32)
    nudges = small_changes(action)
    results = _nudged(action, nudges, sample)
    for row, nudge in enumerate(np.diag(nudges)):
        expected = Action(name, values + nudge).applied(sample)[:, 0]
        assert results[:, row] == pytest.approx(expected, abs=1e-5)


def test_a_fit_is_never_worse_than_what_it_was_given() -> None:
    start, target = scene(), scene(seed=4)
    path = (Action("brightness", np.array([0.4])), Action("tone", np.linspace(0.5, 1.5, 8)))
    cost = L1(target)
    assert JointFit(start, cost).fit(path).cost <= cost(pictures(path, start)[-1])
    assert JointFit(start, cost).fit(()).path == ()


def test_steps_that_lock_each_other_in_are_freed_together() -> None:
    """Brightness alone overshoots when contrast was raised too; fitted together both are found."""
    start = scene()
    planted = (Action("brightness", np.array([0.2])), Action("contrast", np.array([0.5])))
    target = pictures(planted, start)[-1]
    found = JointFit(start, L1(target)).fit([idle("brightness"), idle("contrast")])
    assert found.cost < 1e-4
    assert [float(action.values[0]) for action in found.path] == pytest.approx([0.2, 0.5], abs=0.01)
