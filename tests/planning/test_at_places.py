"""Local plans name the places of a photo where those explain an edit."""

from __future__ import annotations

from pathlib import Path

import pytest

import t2onet
from t2onet.planning import plan_local

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_a_darker_sky_is_planned_as_exposure_at_the_sky() -> None:
    photo = t2onet.open_image(EXAMPLES / "trail.jpg").resize(256)
    planted = t2onet.Recipe.from_steps([("exposure", -0.6, "sky")])
    plan = plan_local(photo, t2onet.apply(planted, photo))
    (step,) = plan.recipe.steps
    assert (step.operation, step.where) == ("exposure", "sky")
    assert step.parameters[0] == pytest.approx(-0.6, abs=0.05)
    assert plan.cost < 0.002
