"""Fitting all parameters of steps at once."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import operations
from t2onet.planning.fit import JointFitter, _apply_perturbed, choose_perturbations
from t2onet.planning.pictures import L1Cost, apply_step, make_identity_step, render_intermediates
from t2onet.recipe import Step
from tests.planning.scenes import scene


@pytest.mark.parametrize(
    "name", [name for name in operations.PAPER if not operations.get_operation(name).reads_neighbours]
)
def test_nudged_results_are_those_of_nudged_parameters(name: str) -> None:
    rng = np.random.default_rng(1)
    values = tuple(rng.uniform(0.5, 0.9) for _ in operations.get_operation(name).slots)
    step = Step.from_trusted(name, values)
    sample = np.ascontiguousarray(rng.random((3, 1, 50)), np.float32)
    nudges = choose_perturbations(step)
    results = _apply_perturbed(step, nudges, sample)
    for row, nudge in enumerate(np.diag(nudges)):
        expected = apply_step(Step.from_trusted(name, tuple(values + nudge)), sample)[:, 0]
        assert results[:, row] == pytest.approx(expected, abs=1e-5)


def test_a_fit_is_never_worse_than_what_it_was_given() -> None:
    start, target = scene(), scene(seed=4)
    steps = (
        Step.from_trusted("brightness", (0.4,)),
        Step.from_trusted("tone", tuple(np.linspace(0.5, 1.5, 8))),
    )
    cost = L1Cost(target)
    assert JointFitter(start, cost).fit(steps).cost <= cost(render_intermediates(steps, start)[-1])
    assert JointFitter(start, cost).fit(()).steps == ()


def test_steps_that_lock_each_other_in_are_freed_together() -> None:
    """Brightness alone overshoots when contrast was raised too; fitted together both are found."""
    start = scene()
    planted = (Step.from_trusted("brightness", (0.2,)), Step.from_trusted("contrast", (0.5,)))
    target = render_intermediates(planted, start)[-1]
    found = JointFitter(start, L1Cost(target)).fit(
        [make_identity_step("brightness"), make_identity_step("contrast")]
    )
    assert found.cost < 1e-4
    assert [step.parameters[0] for step in found.steps] == pytest.approx([0.2, 0.5], abs=0.01)
