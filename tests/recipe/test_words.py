"""Recipes in plain English: the sentences a user reads."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet import operations
from t2onet.operations import Operation, Parameter
from t2onet.recipe import Mask, Recipe, Step
from tests.recipe.strategies import parameters, recipes, steps

FLAT = [1.0] * 8
LIFT = [1.6, 1.4, 1.2, 1, 0.8, 0.7, 0.7, 0.6]
LOWER = LIFT[::-1]
DEEPEN = [0.6, 0.8, 1, 1.6, 1.6, 1, 0.8, 0.6]
FLATTEN = [1.5, 1.5, 0.5, 0.5, 0.5, 0.5, 1.5, 1.5]

SENTENCES: list[tuple[str, Any, str]] = [
    ("brightness", 0.2, "20 % brighter."),
    ("brightness", 2, "200 % brighter."),
    ("brightness", -0.35, "35 % darker."),
    ("brightness", -0.004, "0.4 % darker."),
    ("brightness", 1e-9, "Barely brighter."),
    ("brightness", -1, "All black."),
    ("saturation", 0.3, "30 % more colourful."),
    ("saturation", -0.3, "30 % less colourful."),
    ("saturation", -1, "Without colour."),
    ("contrast", 0.25, "25 % more contrast."),
    ("contrast", -1, "100 % less contrast."),
    ("sharpness", 0.05, "A little sharper."),
    ("sharpness", 0.3, "Sharper."),
    ("sharpness", 1, "Much sharper."),
    ("sharpness", -0.02, "A little softer."),
    ("sharpness", -0.25, "Much softer."),
    ("tone", LIFT, "Much brighter."),
    ("tone", LOWER, "Much darker."),
    ("tone", [1.1, 1.05, 1, 1, 1, 1, 0.95, 0.9], "A little brighter."),
    ("tone", DEEPEN, "Highlights lifted and shadows lowered."),
    ("tone", FLATTEN, "Shadows lifted and highlights lowered."),
    ("tone", [1, 1, 1.2, 1.1, 1, 1, 0.9, 0.8], "Midtones and highlights lifted."),
    ("tone", [1.02, *FLAT[1:]], "Tone curve barely bent."),
    ("color", [LIFT, FLAT, LOWER], "Much warmer."),
    ("color", [LOWER, FLAT, LIFT], "Much cooler."),
    ("color", [[1.3, 0.9, *FLAT[2:]], FLAT, [0.8, 1.1, *FLAT[2:]]], "A little warmer."),
    ("color", [FLATTEN, FLAT, DEEPEN], "Warmer shadows and cooler highlights."),
    ("color", [LIFT, LIFT, LIFT], "Much brighter."),
    # All three curves alike are a tone curve, and are said like one.
    ("color", [DEEPEN, DEEPEN, DEEPEN], "Highlights lifted and shadows lowered."),
    ("color", [[1.02, *FLAT[1:]], FLAT, FLAT], "Colour curves barely bent."),
    ("exposure", 0.5, "Half a stop brighter."),
    ("exposure", -1, "A stop darker."),
    ("exposure", 1.5, "1.5 stops brighter."),
    ("shadows", 10, "Shadows slightly lifted."),
    ("highlights", -30, "Highlights lowered."),
    ("white_balance", 12, "A little warmer."),
    ("white_balance", [-30, 50], "Cooler and much more magenta."),
    ("mixer", {"red_saturation": 20, "blue_lightness": -10}, "Richer reds and darker blues."),
    ("mixer", [10] * 24, "Several colours adjusted."),
    ("grading", {"shadows": {"hue": 190, "strength": 20}}, "Teal shadows."),
    ("grading", [30, 200, 35, 10, 20, 10, 0], "Orange shadows and highlights, teal midtones."),
    ("grading", [30, 35, 40, 10, 20, 10, 0], "Toned orange."),
    ("black_and_white", 100, "Black and white."),
    ("clarity", 10, "A little clearer."),
    ("dehaze", 80, "Much less haze."),
    ("denoise", [0, 20], "Less noise."),
    ("vignette", -70, "Corners strongly darkened."),
    ("grain", 10, "A little grain added."),
    ("black_and_white", {"amount": 40, "red_mix": 10}, "40 % black and white, mixed by hue."),
]


@pytest.mark.parametrize(("operation", "parameters", "sentence"), SENTENCES)
def test_sentences(operation: str, parameters: Any, sentence: str) -> None:
    assert Recipe.from_steps([(operation, parameters)]).describe() == sentence


@pytest.mark.parametrize(
    ("operation", "parameters", "settings"),
    [
        ("exposure", 0.5, "Exposure +0.50 EV"),
        ("exposure", -0.001, "Exposure -0.001 EV"),
        ("highlights", -30, "Highlights -30"),
        ("white_balance", [12, 0], "Temperature +12"),
        ("white_balance", [12, -3], "Temperature +12, tint -3"),
        ("contrast", [0.3, 0.5], "Contrast +0.30"),
        ("contrast", [0.3, 0.4], "Contrast +0.30, pivot 0.40"),
        ("mixer", {"red_hue": 5, "aqua_lightness": -20}, "Red hue +5, aqua lightness -20"),
        (
            "grading",
            {"shadows_hue": 200, "shadows_strength": 40},
            "Shadows hue 200°, shadows strength 40",
        ),
        ("black_and_white", 100, "Black and white 100 %"),
        ("denoise", [30, 20], "Denoise 30, color denoise 20"),
        ("vignette", {"amount": -30, "midpoint": 40}, "Vignette -30, midpoint 40"),
        ("tone", LIFT, "Tone curve"),
        ("color", [LIFT, FLAT, LOWER], "Red curve, blue curve"),
        ("brightness", 0, ""),
    ],
)
def test_settings(operation: str, parameters: Any, settings: str) -> None:
    assert Recipe.from_steps([(operation, parameters)]).format_settings() == settings


@pytest.mark.parametrize(
    ("rises", "tint"),
    [
        ([LIFT, FLAT, FLAT], "redder"),
        ([FLAT, LIFT, FLAT], "greener"),
        ([FLAT, FLAT, LIFT], "bluer"),
        ([LOWER, FLAT, FLAT], "more cyan"),
        ([FLAT, LOWER, FLAT], "more magenta"),
        ([FLAT, FLAT, LOWER], "yellower"),
    ],
)
def test_tints_are_named_by_their_colour(rises: Any, tint: str) -> None:
    assert tint in Recipe.from_steps([("color", rises)]).describe().lower()


def test_several_steps_are_one_sentence() -> None:
    recipe = Recipe.from_steps([("exposure", 0.5), ("white_balance", 12), ("highlights", -30)])
    assert recipe.describe() == "Half a stop brighter, a little warmer and highlights lowered."
    assert recipe.format_settings() == "Exposure +0.50 EV, temperature +12, highlights -30"


def test_a_word_that_comes_again_is_said_so() -> None:
    recipe = Recipe.from_steps([("brightness", 0.2), ("tone", LIFT)])
    assert recipe.describe() == "20 % brighter and much brighter still."


def test_an_and_inside_a_phrase_is_not_followed_by_another() -> None:
    recipe = Recipe.from_steps([("black_and_white", 100), ("contrast", 0.2)])
    assert recipe.describe() == "Black and white, 20 % more contrast."


def test_long_parts_are_shortened() -> None:
    long = {"amount": 40, "red_mix": 10}
    recipe = Recipe.from_steps([("black_and_white", long), ("color", [FLATTEN, FLAT, DEEPEN])] * 2)
    assert recipe.describe().count("adjusted") > 0
    assert Recipe.from_steps([("exposure", 2 / 3)] * 2).describe() == (
        "Brighter and two thirds of a stop brighter still."
    )


def test_steps_that_do_nothing_are_not_mentioned() -> None:
    recipe = Recipe.from_steps([("brightness", 0), ("contrast", 0.1), ("tone", [2] * 8)])
    assert recipe.describe() == "10 % more contrast."
    assert recipe.format_settings() == "Contrast +0.10"
    assert [step.describe() for step in recipe.steps] == [
        "brightness unchanged",
        "10 % more contrast",
        "tone unchanged",
    ]


HORIZON = {"linear": {"from": [0.5, 0], "to": [0.5, 0.5]}}


@pytest.mark.parametrize(
    ("step", "sentence", "settings"),
    [
        (("exposure", 0.5, "shadows"), "Half a stop brighter shadows.", "Shadows: exposure +0.50 EV"),
        (("contrast", 0.3, "reds"), "30 % more contrast in the reds.", "Reds: contrast +0.30"),
        (
            ("exposure", 0.5, "not skin"),
            "Half a stop brighter outside the skin.",
            "Not skin: exposure +0.50 EV",
        ),
        (("sharpness", 0.3, "top"), "Sharper at the top.", "Top: sharpness +0.30"),
        (
            ("white_balance", [20, -20], "skin"),
            "Warmer and greener in the skin.",
            "Skin: temperature +20, tint -20",
        ),
        (
            ("exposure", -1, "highlights except reds"),
            "A stop darker in the highlights except the reds.",
            "Highlights except reds: exposure -1.00 EV",
        ),
        (("exposure", -1, HORIZON), "A stop darker in a gradient.", "Linear gradient: exposure -1.00 EV"),
        (
            ("exposure", -1, {"of": HORIZON, "soften": 10, "invert": True}),
            "A stop darker in a gradient.",
            "Not linear gradient: exposure -1.00 EV",
        ),
        (
            ("exposure", 1, "(shadows and top) except (reds or blues)"),
            "A stop brighter locally.",
            "(shadows and top) except (reds or blues): exposure +1.00 EV",
        ),
    ],
)
def test_places_are_named(step: Any, sentence: str, settings: str) -> None:
    recipe = Recipe.from_steps([step])
    assert recipe.describe() == sentence
    assert recipe.format_settings() == settings


def test_settings_at_a_place_are_set_apart() -> None:
    there = [("white_balance", [12, -3], "shadows"), ("exposure", 0.5, "shadows")]
    recipe = Recipe.from_steps([("contrast", 0.1), *there, ("exposure", 1)])
    assert (
        recipe.format_settings()
        == "Contrast +0.10; shadows: temperature +12, tint -3, exposure +0.50 EV; exposure +1.00 EV"
    )


def test_masks_are_mentioned() -> None:
    mask = Mask.from_array(np.ones((2, 2), bool))
    recipe = Recipe.from_steps([("white_balance", [20, -20], mask), ("contrast", 0.1)])
    assert recipe.describe() == "Warmer and greener locally, 10 % more contrast."
    assert recipe.format_settings() == "Temperature +20, tint -20 (local), contrast +0.10"


@pytest.mark.parametrize("steps", [[], [("brightness", 0), ("color", [1] * 24)]])
def test_nothing_is_said_to_be_nothing(steps: list[Any]) -> None:
    assert Recipe.from_steps(steps).describe() == "Changes nothing."


def test_an_operation_without_a_phrase_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    # Adding an operation needs one source file; a nicer sentence is optional.
    parameter = Parameter("p", -1, 1, 0, "", "", count=2)
    grain = Operation(
        name="grain",
        group="effects",
        position=90,
        help="",
        parameters=(parameter,),
        formula=lambda image, values, scale: image,
    )
    monkeypatch.setattr(operations, "get_declaration", lambda name: grain)
    step = Step(operation="grain", parameters=(0.25, -1))
    assert (step.describe(), step.format_settings()) == ("grain adjusted", "grain curve")


@given(recipes())
def test_every_recipe_is_one_sentence(recipe: Recipe) -> None:
    sentence = recipe.model_copy(update={"name": ""}).describe()
    assert sentence.endswith(".")
    assert sentence[0] == sentence[0].upper()
    assert sentence[1:] == sentence[1:].lower(), "one capital"
    assert sentence.isprintable()
    assert (sentence == "Changes nothing.") == recipe.is_identity
    assert (recipe.format_settings() == "") == recipe.is_identity


THREE = [("exposure", 0.5), ("highlights", -5), ("black_and_white", 100)]


def test_a_look_is_its_name_and_its_main_steps() -> None:
    look = Recipe.from_steps(THREE, name="old silver")
    assert (
        look.describe() == "Old silver: half a stop brighter, highlights slightly lowered, black and white."
    )
    more = Recipe.from_steps([*THREE, ("vignette", -80)], name="old silver")
    assert more.describe() == "Old silver: half a stop brighter, black and white, corners strongly darkened."
    long = Recipe.from_steps(THREE, name="one two three four five six seven eight")
    assert long.describe().startswith("One two three four five six: ")


@given(st.lists(steps(), min_size=3, max_size=6), st.text(max_size=40))
def test_a_look_is_at_most_twelve_words(chosen: list[Step], name: str) -> None:
    look = Recipe.from_steps(chosen, name=name)
    if look.is_look:
        assert len(look.describe().split()) <= 12
        assert not look.describe().endswith(": .")


@pytest.mark.parametrize("operation", operations.operations().values(), ids=lambda one: one.name)
@given(data=st.data())
def test_a_step_is_a_few_words(operation: Operation, data: st.DataObject) -> None:
    words = operation.describe(data.draw(parameters(operation))).split()
    assert 1 <= len(words) <= 9
    numbers = [word for word in words if any(letter.isdigit() for letter in word)]
    assert len(numbers) <= 1, "one amount, the rest in words"
    assert all(re.fullmatch(r"\d+(\.\d{1,2})?", number) for number in numbers)


@given(st.lists(steps(), min_size=1, max_size=2))
def test_one_or_two_steps_are_at_most_twelve_words(chosen: list[Step]) -> None:
    assert 1 <= len(Recipe.from_steps(chosen).describe().split()) <= 12
