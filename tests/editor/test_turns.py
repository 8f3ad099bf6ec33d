"""What steps are about, and recipes between recipes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t2onet import Mask, Recipe
from t2onet.editor.turns import interpolate_recipes, measure_effects
from t2onet.language import Attribute
from tests.editor.helpers import COOL, WARM
from tests.planning.scenes import scene
from tests.recipe.strategies import recipes

PICTURE = scene(48)
BRIGHT = [1.5, 1.4, 1.4, 1.3, 1.2, 1.0, 0.8, 0.5]
STEEP = [0.6, 0.8, 1.2, 1.6, 1.6, 1.2, 0.8, 0.6]


@pytest.mark.parametrize(
    ("step", "about"),
    [
        (("brightness", 0.2), {Attribute.LIGHTNESS: 1}),
        (("brightness", -0.2), {Attribute.LIGHTNESS: -1}),
        (("tone", BRIGHT), {Attribute.LIGHTNESS: 1}),
        (("tone", STEEP), {Attribute.CONTRAST: 1}),
        (("contrast", -0.4), {Attribute.CONTRAST: -1}),
        (("saturation", 0.4), {Attribute.COLOURFULNESS: 1}),
        (("saturation", -1), {Attribute.COLOURFULNESS: -1}),
        (("sharpness", 0.3), {Attribute.SHARPNESS: 1}),
        (("sharpness", -0.2), {Attribute.SHARPNESS: -1}),
        (("brightness", 0.005), {}),
        (("contrast", 0), {}),
    ],
)
def test_what_a_step_is_about_is_measured(step: tuple[str, object], about: dict[Attribute, int]) -> None:
    (effect,) = measure_effects(Recipe.from_steps([step]), PICTURE)
    assert {one: np.sign(by) for one, by in effect.items()} == about


def test_a_shift_of_colour_is_warmth_and_redness_however_colourful_it_makes_the_photo() -> None:
    warm, cool = measure_effects(Recipe.from_steps([("color", WARM), ("color", COOL)]), PICTURE)
    assert set(warm) == set(cool) == {Attribute.WARMTH, Attribute.REDNESS}
    assert warm[Attribute.WARMTH] > 2
    assert cool[Attribute.WARMTH] < -2


def test_a_step_through_a_mask_is_seen_through_it() -> None:
    nowhere = Mask.from_array(np.zeros((4, 4), bool))
    assert measure_effects(Recipe.from_steps([("brightness", 0.5, nowhere)]), PICTURE) == [{}]


def test_between_recipes() -> None:
    old = Recipe.from_steps([("brightness", 0.2), ("contrast", 0.4)])
    new = Recipe.from_steps([("brightness", 0.4), ("sharpness", 0.2)])
    half = Recipe.from_steps([("brightness", 0.3), ("contrast", 0.2), ("sharpness", 0.1)])
    assert interpolate_recipes(old, new, 0.5) == half
    assert interpolate_recipes(old, new, 2) == Recipe.from_steps([("brightness", 0.6), ("sharpness", 0.4)])
    assert interpolate_recipes(old, new, 0) == old
    assert interpolate_recipes(Recipe(), new, 0.5) == new.blend(0.5)


@settings(max_examples=20)
@given(recipes(), recipes(), st.floats(0, 4))
def test_whatever_lies_between_is_a_recipe(old: Recipe, new: Recipe, share: float) -> None:
    found = interpolate_recipes(old, new, share)
    assert Recipe.from_json(found.to_json()) == found
