"""How recipes combine: blend, compose, diff; and that they are values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import t2onet
from t2onet.errors import RecipeError
from t2onet.operations import get_operation, operations
from t2onet.recipe import Mask, Recipe, Step, StepChange
from tests.recipe.strategies import parameters, recipes

LOOK = Recipe.from_steps([("brightness", 0.2), ("contrast", 0.1), ("sharpness", 0.3)], name="look")
PHOTO = np.random.default_rng(7).random((11, 9, 3)).astype(np.float32)


def apply_recipe(recipe: Recipe, photo: np.ndarray = PHOTO) -> np.ndarray:
    return np.asarray(t2onet.apply(recipe, photo, notes=[]))  # the photo shows no sky


# ---- blend


@pytest.mark.slow
@given(recipes())
def test_strength_zero_does_nothing(recipe: Recipe) -> None:
    assert recipe.blend(0).is_identity
    assert recipe.blend(0).describe() == "Changes nothing."
    np.testing.assert_array_equal(apply_recipe(recipe.blend(0)), PHOTO)


@given(recipes())
def test_strength_one_is_the_recipe(recipe: Recipe) -> None:
    assert recipe.blend(1) == recipe
    assert recipe.blend(1.0) == recipe


@given(recipes(), st.floats(0, 1e9))
def test_any_strength_stays_in_range(recipe: Recipe, strength: float) -> None:
    # Only building the steps anew checks them: a blended recipe must be one that could have been written.
    blended = recipe.blend(strength)
    assert Recipe.from_json(blended.to_json()) == blended
    assert [step.mask for step in blended.steps] == [step.mask for step in recipe.steps]


@pytest.mark.parametrize("name", ["tone", "color"])
@given(st.data(), st.sampled_from([0.25, 0.5, 0.9]))
def test_half_a_curve_lies_halfway_between_the_picture_and_the_curve(
    name: str, data: st.DataObject, strength: float
) -> None:
    recipe = Recipe.from_steps([(name, data.draw(parameters(get_operation(name))))])
    expected = (1 - strength) * PHOTO + strength * apply_recipe(recipe)
    np.testing.assert_allclose(apply_recipe(recipe.blend(strength)), expected, atol=2e-6)


@given(st.floats(-1, 1), st.floats(0, 1))
def test_a_share_of_contrast_is_that_share_of_its_change(p: float, strength: float) -> None:
    grey = np.repeat(PHOTO[..., :1], 3, axis=2)  # in which no channel leaves the range and is cut
    recipe = Recipe.from_steps([("contrast", p)])
    expected = (1 - strength) * grey + strength * apply_recipe(recipe, grey)
    np.testing.assert_allclose(apply_recipe(recipe.blend(strength), grey), expected, atol=2e-6)


def test_more_than_one_goes_beyond_and_stops_at_the_range() -> None:
    recipe = Recipe.from_steps([("brightness", 0.5), ("contrast", -0.75)])
    assert [step.parameters for step in recipe.blend(2).steps] == [(1.0,), (-1.0, 0.5)]


@pytest.mark.parametrize("strength", [-0.1, -math.inf, math.inf, math.nan])
def test_other_strengths_are_refused(strength: float) -> None:
    text = rf"^a strength is 0 or more \(1 is the recipe as it is\), and {strength:g} was given$"
    with pytest.raises(RecipeError, match=text):
        LOOK.blend(strength)


@pytest.mark.parametrize(
    ("p", "strength", "blended"), [(0.1, 3, 0.3), (0.7, 0.1, 0.07), (0.3, 1 / 3, 0.1), (-0.2, 1e-13, 0)]
)
def test_blending_leaves_no_dust_behind(p: float, strength: float, blended: float) -> None:
    assert p * strength != blended, "this pair shows nothing"
    (step,) = Recipe.from_steps([("brightness", p)]).blend(strength).steps
    assert step.parameters == (blended,)


def test_blending_a_curve_leaves_no_dust_behind() -> None:
    (step,) = Recipe.from_steps([("tone", [0.1, 0.3] * 4)]).blend(0.2).steps
    assert step.parameters == (0.9, 1.1) * 4


def test_blending_keeps_the_name() -> None:
    assert LOOK.blend(0.5).name == "look"


# ---- compose


@given(recipes(), recipes(placed=False))  # places of the second would be found on the result of the first
def test_composing_is_applying_one_after_the_other(first: Recipe, second: Recipe) -> None:
    # Steps in linear light that follow each other are not converted to the display in between.
    np.testing.assert_allclose(
        apply_recipe(first + second), apply_recipe(second, apply_recipe(first)), rtol=0, atol=2e-5
    )


@given(recipes(), recipes(), recipes())
def test_composing_is_associative(first: Recipe, second: Recipe, third: Recipe) -> None:
    assert (first + second) + third == first + (second + third) == first.compose(second, third)
    assert len(first + second) == len(first) + len(second)


def test_composing_keeps_the_first_name_and_both_recipes() -> None:
    other = Recipe.from_steps([("tone", [2] + [1] * 7)], name="other")
    both = LOOK + other
    assert both.name == "look"
    assert both.steps == (*LOOK.steps, *other.steps)
    assert len(LOOK) == 3


# ---- diff


@given(recipes())
def test_the_same_recipe_has_no_difference(recipe: Recipe) -> None:
    assert recipe.diff(Recipe.from_json(recipe.to_json())) == []


def test_a_changed_step() -> None:
    other = Recipe.from_steps([("brightness", 0.2), ("contrast", 0.4), ("sharpness", 0.3)])
    (change,) = LOOK.diff(other)
    assert change == StepChange(2, LOOK.steps[1], other.steps[1])
    assert str(change) == "changed, step 2: contrast +0.10 -> contrast +0.40"


def test_an_added_step() -> None:
    other = Recipe.from_steps([LOOK.steps[0], ("saturation", -0.5), *LOOK.steps[1:]])
    (change,) = LOOK.diff(other)
    assert change == StepChange(2, None, other.steps[1])
    assert str(change) == "added as step 2: 50 % less colourful"


def test_a_removed_step() -> None:
    (change,) = LOOK.diff(Recipe.from_steps(LOOK.steps[:2]))
    assert change == StepChange(3, LOOK.steps[2], None)
    assert str(change) == "removed, was step 3: sharper"


def test_a_replaced_step_is_gone_and_new() -> None:
    other = Recipe.from_steps([LOOK.steps[0], ("saturation", 0.1), LOOK.steps[2]])
    assert list(map(str, LOOK.diff(other))) == [
        "removed, was step 2: 10 % more contrast",
        "added as step 2: 10 % more colourful",
    ]


def test_a_moved_mask_is_a_change() -> None:
    one, other = (Mask.from_array(np.array(row)) for row in ([[True, False]], [[False, True]]))
    before, after = (Recipe.from_steps([("contrast", 0.1, mask)]) for mask in (one, other))
    same = "10 % more contrast locally"
    assert list(map(str, before.diff(after))) == [
        f"changed, step 1, elsewhere in the picture: {same} -> {same}"
    ]


def test_a_mask_put_on_is_a_change() -> None:
    before = Recipe.from_steps([("contrast", 0.1)])
    after = Recipe.from_steps([("contrast", 0.1, Mask.from_array(np.eye(2, dtype=bool)))])
    assert list(map(str, before.diff(after))) == [
        "changed, step 1, elsewhere in the picture: contrast +0.10 -> contrast +0.10 (local)"
    ]


def test_a_figure_tells_apart_what_words_do_not() -> None:
    before, after = (Recipe.from_steps([("sharpness", p)]) for p in (0.3, 0.35))
    assert list(map(str, before.diff(after))) == ["changed, step 1: sharpness +0.30 -> sharpness +0.35"]


def test_a_curve_is_told_in_words_alone() -> None:
    before, after = (Recipe.from_steps([("tone", [rise, *[1] * 7])]) for rise in (2, 1))
    assert list(map(str, before.diff(after))) == ["changed, step 1: tone curve -> tone unchanged"]


@given(recipes(), recipes())
def test_a_difference_says_everything(old: Recipe, new: Recipe) -> None:
    """Undoing the removals and redoing the rest leads from the one to the other."""
    changes = old.diff(new)
    gone = {change.position for change in changes if change.after is None}
    steps: list[Step] = [step for at, step in enumerate(old.steps, start=1) if at not in gone]
    for change in sorted(changes, key=lambda change: change.position):
        if change.before is None and change.after is not None:
            steps.insert(change.position - 1, change.after)
    for change in changes:
        if change.before is not None and change.after is not None:
            assert steps[change.position - 1] == change.before
            steps[change.position - 1] = change.after
    assert tuple(steps) == new.steps


# ---- values


@pytest.mark.slow
@given(recipes())
def test_equal_recipes_hash_alike(recipe: Recipe) -> None:
    twin = Recipe.from_json(recipe.to_json())
    assert {recipe, twin} == {recipe}
    assert {*recipe.steps, *twin.steps} == set(recipe.steps)


def test_recipes_and_steps_cannot_be_changed() -> None:
    mask = Mask.from_array(np.ones((1, 1), bool))
    step = LOOK.steps[0]
    with pytest.raises(ValidationError, match="frozen"):
        LOOK.name = "other"
    with pytest.raises(ValidationError, match="frozen"):
        step.parameters = (0.5,)
    with pytest.raises(ValidationError, match="frozen"):
        mask.feather = 3


@pytest.mark.parametrize("name", operations())
def test_defaults_are_the_identity(name: str) -> None:
    step = Step(operation=name, parameters=get_operation(name).defaults)
    assert step.is_identity
    assert Recipe.from_steps([step, step]).is_identity


def test_one_effective_step_makes_a_recipe_effective() -> None:
    assert not Recipe.from_steps([("contrast", 0), ("contrast", 0.01)]).is_identity
    assert Recipe().is_identity


def test_a_curve_of_equal_rises_is_the_identity() -> None:
    assert Recipe.from_steps([("tone", [3] * 8), ("color", [[2] * 8, [1] * 8, [0.5] * 8])]).is_identity
    uneven = Recipe.from_steps([("tone", [0.1] * 8), ("tone", [0.7] * 8), ("color", [[0.1] * 8] * 3)])
    assert uneven.is_identity
    assert uneven.describe() == "Changes nothing."
    np.testing.assert_array_equal(apply_recipe(uneven), PHOTO)


def test_an_unchecked_step_equals_a_checked_one() -> None:
    assert Step.from_trusted("brightness", (0.2,)) == Step(operation="brightness", parameters=(0.2,))
    assert Step.from_trusted("brightness", (9.0,)).parameters == (9.0,)


def test_adjusting_changes_the_step_there_is() -> None:
    recipe = Recipe.from_steps([("exposure", 0.5), ("contrast", 0.1), ("exposure", 0.2)], name="look")
    adjusted = recipe.adjust("exposure", 1)
    assert adjusted == Recipe.from_steps(
        [("exposure", 0.5), ("contrast", 0.1), ("exposure", 1)], name="look"
    ), "of several the last"
    assert adjusted.adjust("exposure", 0.2) == recipe


def test_adjusting_adds_a_step_at_its_usual_position() -> None:
    recipe = Recipe.from_steps([("exposure", 0.5), ("contrast", 0.1)])
    adjusted = recipe.adjust("white_balance", 10).adjust("sharpness", 0.2).adjust("highlights", -30)
    names = [step.operation for step in adjusted.steps]
    assert names == ["white_balance", "exposure", "highlights", "contrast", "sharpness"]


def test_adjusting_by_name_keeps_the_other_values() -> None:
    recipe = Recipe().adjust("white_balance", {"temperature": 12}).adjust("white_balance", {"tint": -3})
    assert recipe == Recipe.from_steps([("white_balance", [12, -3])])
    assert recipe.adjust("white_balance", 20).steps[0].parameters == (20, -3)


def test_adjusting_leaves_masked_steps_alone() -> None:
    local = Recipe.from_steps([("contrast", 0.4, Mask.from_array(np.ones((2, 2), bool)))])
    adjusted = local.adjust("contrast", 0.1)
    assert [step.mask is None for step in adjusted.steps] == [False, True]


def test_adjusting_refuses_what_steps_refuse() -> None:
    with pytest.raises(RecipeError, match="allowed is -5 to 5"):
        Recipe().adjust("exposure", 9)
    with pytest.raises(RecipeError, match="did you mean 'exposure'"):
        Recipe().adjust("exposre", 1)


def test_a_hue_stays_the_same_at_every_strength() -> None:
    graded = Recipe.from_steps([("grading", {"shadows hue": 210, "shadows strength": 40})])
    for strength in (0.5, 1.5):
        (step,) = graded.blend(strength).steps
        assert step.parameters[0] == 210
        assert step.parameters[3] == pytest.approx(40 * strength)
    assert graded.blend(0).is_identity
