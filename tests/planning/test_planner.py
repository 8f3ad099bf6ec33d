"""From a pair to a recipe, whatever the pair."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import t2onet
from t2onet import Recipe, apply, open_image, operations
from t2onet.errors import ImageError, PlanError, RecipeError
from t2onet.planning import L1Cost, plan, plan_pictures
from t2onet.planning.pictures import CostFunction, Picture, apply_step
from t2onet.recipe import Step
from tests.conftest import EXAMPLES, open_example
from tests.planning.scenes import scene

LOOK = Recipe.from_steps(
    [("brightness", 0.15), ("saturation", 0.3), ("tone", [0.8, 1.3, 1.2, 1, 1, 0.9, 0.9, 0.9])]
)


def photo(size: int = 128) -> np.ndarray:
    """(size, size, 3) uint8."""
    return np.round(scene(size).transpose(1, 2, 0) * 255).astype(np.uint8)


def test_an_edit_is_explained_and_can_be_reused() -> None:
    before = photo()
    after = np.asarray(apply(LOOK, before))
    found = plan(before, after)
    assert found.cost < 0.004 < found.start_cost
    assert np.abs(np.asarray(apply(found.recipe, before)).astype(int) - after).mean() / 255 == pytest.approx(
        found.cost
    )
    other = np.round(scene(96, seed=2).transpose(1, 2, 0) * 255).astype(np.uint8)
    assert (
        np.abs(np.asarray(apply(found.recipe, other)).astype(int) - np.asarray(apply(LOOK, other))).mean() < 6
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dogs", "fig", "sunset"])
@pytest.mark.parametrize(
    "steps",
    [[("brightness", 0.3)], [("contrast", 0.25), ("saturation", -0.4)]],
    ids=["brightness", "contrast and saturation"],
)
def test_a_simple_edit_comes_back_as_it_was_made(name: str, steps: list[tuple[str, float]]) -> None:
    """Also on photos that clip, where more steps would fit the clipped pixels a little better."""
    before = np.asarray(open_example(name, 500))
    found = plan(before, np.asarray(apply(Recipe.from_steps(steps), before)), operations="paper")
    values = {step.operation: step.parameters[0] for step in found.recipe.steps}
    assert values == pytest.approx(dict(steps), abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps",
    [
        [("exposure", 0.5)],
        [("white_balance", (20, 0)), ("exposure", -0.4), ("vibrance", 40)],
        [("shadows", 40), ("contrast", (0.3, 0.4))],
        [("exposure", 0.3), ("vignette", -40)],
        [("exposure", 0.3), ("mixer", {"orange saturation": -60})],
        [
            ("black_and_white", {"amount": 100, "red mix": -40}),
            ("grading", {"shadows hue": 30, "shadows strength": 40}),
        ],
    ],
    ids=lambda steps: " and ".join(name for name, _ in steps),
)
def test_a_darkroom_edit_comes_back_as_it_was_made(steps: list[tuple[str, object]]) -> None:
    before = np.asarray(open_example("fig", 400))
    recipe = Recipe.from_steps(steps)
    found = plan(before, np.asarray(apply(recipe, before)))
    assert [step.operation for step in found.recipe.steps] == [name for name, _ in steps]
    assert found.cost < 0.004


@pytest.mark.slow
def test_a_photo_that_was_only_made_smaller_needs_no_step() -> None:
    before = open_example("dogs", 700)
    assert plan(before, before.resize(400)).recipe.steps == ()


@pytest.mark.slow
def test_the_plan_shows_its_way() -> None:
    before = photo()
    found = plan(before, np.asarray(apply(LOOK, before)))
    assert len(found.pictures) == len(found.costs) == len(found.recipe) + 1
    assert found.costs[-1] < found.costs[0]
    assert found.residual.shape == found.target.shape == found.pictures[0].shape
    assert found.residual.mean() == pytest.approx(found.costs[-1], rel=1e-3)


@pytest.mark.parametrize("way", ["joint", "beam", "fixed", "epsilon-greedy"])
def test_every_way_improves(way: str) -> None:
    before = photo(64)
    found = plan(before, np.asarray(apply(LOOK, before)), way=way)  # type: ignore[arg-type]
    assert found.cost < 0.3 * found.start_cost


def test_a_solver_or_repeats_ask_for_the_forward_search() -> None:
    pytest.importorskip("scipy", reason="an extra")
    before = photo(24)
    after = np.asarray(apply(Recipe.from_steps([("brightness", 0.3)]), before))
    chosen = {"operations": ["brightness", "contrast"], "refine": False}
    found = plan(before, after, solver="nelder-mead", **chosen)  # type: ignore[arg-type]
    assert found.recipe == plan(before, after, way="beam", solver="nelder-mead", **chosen).recipe  # type: ignore[arg-type]
    again = plan(before, after, repeats=True, **chosen)  # type: ignore[arg-type]
    assert again.recipe == plan(before, after, way="beam", repeats=True, **chosen).recipe  # type: ignore[arg-type]


def test_nelder_mead_solves_every_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sharpness too, which is solved last and on a larger picture, and without a joint fit after it."""
    pytest.importorskip("scipy", reason="an extra")
    from t2onet.planning import solvers

    solved: list[tuple[str, int]] = []
    real = solvers.solve_nelder_mead

    def noted(name: str, picture: Picture, cost: CostFunction) -> Step:
        solved.append((name, picture.shape[-1]))
        return real(name, picture, cost)

    monkeypatch.setattr(solvers, "solve_nelder_mead", noted)
    for ours in ("planner.JointFitter.fit", "solvers.solve_fast", "solvers._solve_numerically"):
        monkeypatch.setattr(f"t2onet.planning.{ours}", lambda *_, **__: pytest.fail("not Nelder-Mead"))
    before = photo(64)
    after = np.asarray(apply(Recipe.from_steps([("brightness", 0.3), ("sharpness", 0.8)]), before))
    chosen = ["brightness", "sharpness"]
    found = plan(before, after, solver="nelder-mead", operations=chosen, size=32, tolerance=0)
    assert solved == [("brightness", 32), ("sharpness", 64)]
    brightness, sharpness = (step.parameters[0] for step in found.recipe.steps)
    assert brightness == pytest.approx(0.3, abs=0.05)
    assert sharpness == pytest.approx(0.8, abs=0.1)


def test_the_joint_way_has_no_solver() -> None:
    with pytest.raises(PlanError, match="'adam' is for a forward search"):
        plan(photo(24), photo(24), way="joint", solver="adam")


def test_refining_a_search_is_no_worse() -> None:
    before = photo(64)
    after = np.asarray(apply(LOOK, before))
    plain, refined = (
        plan(before, after, way="beam", refine=refine, tolerance=0).cost for refine in (False, True)
    )
    assert refined <= plain + 0.001


def test_steps_and_operations_are_limits() -> None:
    before = photo(64)
    after = np.asarray(apply(LOOK, before))
    assert len(plan(before, after, steps=1).recipe) == 1
    assert {step.operation for step in plan(before, after, operations=["tone", "contrast"]).recipe.steps} <= {
        "tone",
        "contrast",
    }


@pytest.mark.slow
def test_fewer_steps_cost_no_less() -> None:
    start, target = scene(), scene() ** 1.4
    costs = [plan_pictures(start, target, steps=steps).cost for steps in (1, 2, 4, 6)]
    assert all(more <= fewer + 5e-4 for fewer, more in pairwise(costs))


@pytest.mark.slow
def test_the_same_pair_gives_the_same_plan() -> None:
    before = photo(64)
    after = np.asarray(apply(LOOK, before))
    assert plan(before, after).recipe == plan(before, after).recipe


@pytest.mark.slow
def test_files_of_different_size_and_depth(tmp_path: Path) -> None:
    small = open_example("brushes", 400)
    small.save(tmp_path / "before.jpg", quality=90)
    edited = np.asarray(apply(LOOK, small))
    open_image(edited.astype(np.uint16) * 257).resize(300).save(tmp_path / "after.png")
    found = t2onet.plan(tmp_path / "before.jpg", tmp_path / "after.png")
    assert found.cost < 0.25 * found.start_cost


@pytest.mark.slow
def test_sharpness_of_a_large_photo_is_found_at_its_own_scale() -> None:
    before = open_image(EXAMPLES / "fig.jpg")
    after = apply(Recipe.from_steps([("sharpness", 0.4), ("brightness", 0.1)]), before)
    found = plan(before, after, operations="paper")
    assert found.costs[-1] == min(found.costs)
    (sharpness,) = (step.parameters[0] for step in found.recipe.steps if step.operation == "sharpness")
    assert sharpness == pytest.approx(0.4, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 3])
def test_a_crop_of_a_few_pixels_does_not_derail_it(cut: int) -> None:
    before = np.asarray(open_example("fig", 500))
    after = np.asarray(apply(LOOK, before))[cut:, : before.shape[1] - cut]
    found = plan(before, after)
    exact = plan(before, np.asarray(apply(LOOK, before)))
    repeated = np.asarray(apply(found.recipe, before)).astype(int)
    assert np.abs(repeated - np.asarray(apply(exact.recipe, before))).mean() < 4


class TestHostilePairs:
    def test_identical(self) -> None:
        found = plan(photo(), photo())
        assert len(found.recipe) == 0
        assert found.cost == found.start_cost == 0

    @pytest.mark.slow
    def test_swapped(self) -> None:
        before = photo()
        after = np.asarray(apply(LOOK, before))
        assert plan(after, before).cost < 0.35 * plan(after, before).start_cost

    def test_black(self) -> None:
        found = plan(photo(), np.zeros_like(photo()))
        assert found.cost < 0.004
        nothing = plan(np.zeros_like(photo()), photo(), operations="paper")
        assert nothing.cost == pytest.approx(nothing.start_cost)

    def test_one_pixel(self) -> None:
        found = plan(np.full((1, 1, 3), 100, np.uint8), np.full((1, 1, 3), 150, np.uint8))
        assert found.cost < 0.01

    def test_not_a_number(self) -> None:
        broken = scene(16).transpose(1, 2, 0).copy()
        broken[3, 3] = np.nan
        with pytest.raises(ImageError, match=r"NaN|finite"):
            plan(photo(16), broken)

    def test_one_pixel_against_many(self) -> None:
        found = plan(np.full((1, 1, 3), 100, np.uint8), np.full((1500, 1500, 3), 150, np.uint8))
        assert found.cost < 0.01
        with pytest.raises(PlanError, match="cropped or rotated"):
            plan(np.full((1, 1, 3), 100, np.uint8), np.zeros((4000, 6000, 3), np.uint8))

    @pytest.mark.slow
    def test_unrelated_photos(self) -> None:
        one, other = (
            np.asarray(open_image(EXAMPLES / name).resize(200))[:200, :200]
            for name in ("fig.jpg", "trail.jpg")
        )
        with pytest.raises(PlanError, match="do not show the same scene"):
            plan(one, other)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"steps": 0}, PlanError, "steps is 0; it is at least 1"),
        ({"size": 4}, PlanError, "size is 4; it is at least 16"),
        ({"seed": -1}, PlanError, "seed is -1; it is at least 0"),
        ({"beam": 0, "way": "beam"}, PlanError, "beam is 0; it is at least 1"),
        ({"tolerance": float("nan")}, PlanError, "tolerance is nan"),
        ({"operations": []}, PlanError, "no operations to plan with"),
        ({"operations": ["brigthness"]}, RecipeError, "did you mean 'brightness'"),
        ({"solver": "best", "way": "beam"}, PlanError, "there is no solver 'best'"),
        ({"way": "random"}, PlanError, "there is no way 'random'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        plan(photo(16), photo(16), **settings)  # type: ignore[arg-type]


@pytest.mark.slow
def test_planted_recipes_are_explained() -> None:
    """One to four operations inside half of their ranges, hardly clipped: explained to about one level."""
    rng = np.random.default_rng(11)
    costs = []
    while len(costs) < 40:
        start = scene(64, seed=int(rng.integers(1000)))
        target = _plant_edit(start, rng)
        if target is not None:
            costs.append(plan_pictures(start, target).cost)
    assert np.mean(np.array(costs) < 0.004) >= 0.95, sorted(costs)[-5:]


def _plant_edit(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    for name in rng.permutation(list(operations.PAPER))[: rng.integers(1, 5)]:
        slots = operations.get_published_operation(name).slots
        if len(slots) > 1:
            values = tuple(np.exp(rng.uniform(np.log(0.5), np.log(2), len(slots))))
        else:
            end = slots[0].high if rng.random() < 0.5 else slots[0].low
            values = (rng.uniform(0, 0.5) * end,)
        picture = apply_step(Step.from_trusted(str(name), values), picture)
        if ((picture <= 0) | (picture >= 1)).mean() > 0.01:
            return None
    return picture


def test_l1_is_the_mean_absolute_difference() -> None:
    one, other = scene(16), scene(16, seed=1)
    assert L1Cost(other)(one) == pytest.approx(np.abs(one - other).mean(), rel=1e-5)
