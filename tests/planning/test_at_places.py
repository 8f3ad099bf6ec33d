"""Local planning at named places: an edit of the sky is found as one of the sky."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from t2onet import Recipe, apply
from t2onet.errors import PlanError
from t2onet.image import Image
from t2onet.planning import local, plan_local
from t2onet.planning.report import write_report
from t2onet.planning.sketch import SketchFitter
from t2onet.recipe import Step
from tests.conftest import open_example

Names = set[tuple[str, object]]


@pytest.fixture(scope="module")
def sunset() -> Image:
    """A photo with sky and vegetation."""
    return open_example("sunset", 200)


def edit(photo: Image, *steps: tuple[object, ...]) -> Image:
    return apply(Recipe.from_steps(steps), photo)


def name_steps(recipe: Recipe) -> Names:
    return {(step.operation, step.where) for step in recipe.steps}


def test_steps_at_a_place_are_blended_and_fitted_by_its_mask() -> None:
    start = np.full((3, 1, 3), 0.25, np.float32)
    weights = {"sky": np.array([[0.0, 0.5, 1.0]], np.float32)}
    step = Step.from_trusted("brightness", (1.0,), "sky")
    fitter = SketchFitter(start, start, weights=weights)
    np.testing.assert_allclose(fitter.render([step])[-1][0, 0], [0.25, 0.375, 0.5], atol=1e-5)
    target = fitter.render([step])[-1]
    fit = SketchFitter(start, target, weights=weights).fit([step.blend(0)], 15)
    assert fit.steps[0].where == "sky"
    assert fit.steps[0].parameters[0] == pytest.approx(1, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps",
    [
        [("exposure", -0.6, "sky")],
        [("white_balance", (60, 0), "vegetation")],  # dark trees: less drowns in 8 bits
        [("vibrance", 40), ("exposure", -0.6, "sky")],
        [("exposure", -0.6, "sky"), ("vibrance", 40)],
    ],
    ids=["sky", "vegetation", "whole, then sky", "sky, then whole"],
)
def test_an_edit_of_a_place_is_named(sunset: Image, steps: list[tuple[object, ...]]) -> None:
    plan = plan_local(sunset, edit(sunset, *steps))
    assert name_steps(plan.recipe) == {(step[0], step[2] if len(step) > 2 else None) for step in steps}
    assert plan.cost < 0.1 * plan.start_cost


@pytest.mark.slow
def test_the_place_is_said_and_shown(sunset: Image, tmp_path: Path) -> None:
    plan = plan_local(sunset, edit(sunset, ("exposure", -0.6, "sky")))
    assert plan.recipe.format_settings() == "Sky: exposure -0.60 EV"
    (where,) = plan.describe_places()
    assert where.startswith("sky, ")
    write_report(plan, tmp_path / "plan.html")
    assert where[1:] in (tmp_path / "plan.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_edit_of_everything_needs_no_place(sunset: Image) -> None:
    plan = plan_local(sunset, edit(sunset, ("exposure", 0.5)))
    assert name_steps(plan.recipe) == {("exposure", None)}
    assert plan.regions == (None,)


@pytest.mark.slow
def test_what_no_place_explains_is_planned_in_masks(sunset: Image) -> None:
    pytest.importorskip("skimage")
    after = np.array(sunset.pixels)
    after[60:140, 100:180] = after[60:140, 100:180] // 2
    plan = plan_local(sunset, after)
    assert plan.recipe.steps
    assert all(step.mask is not None for step in plan.recipe.steps)


@pytest.mark.slow
def test_without_the_extra_a_plan_at_places_is_better_than_none(
    sunset: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> list[object]:
        raise PlanError("finding regions needs skimage")

    monkeypatch.setattr(local, "_collect_mask_candidates", refuse)
    monkeypatch.setattr(local, "PLACES_EXPLAIN_SHARE", 0.0)
    assert plan_local(sunset, edit(sunset, ("exposure", -0.6, "sky"))).recipe.steps
    with pytest.raises(PlanError, match="skimage"):
        plan_local(sunset, sunset, operations=["paper"])


def test_the_papers_operations_are_planned_in_masks_alone(
    sunset: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_plan_at_places", lambda *_: pytest.fail("places were tried"))
    plan_local(sunset, sunset, masks=[np.eye(20, dtype=bool)], operations=["paper"])
    plan_local(sunset, sunset, masks=[np.eye(20, dtype=bool)])
