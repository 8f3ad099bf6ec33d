"""Recipes in plain English: the sentences a user reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from t2onet import operations
from t2onet.operations import Operation, Parameter
from t2onet.recipe import Mask, Recipe, Step
from tests.recipe.strategies import recipes

FLAT = [1.0] * 8
LIFT = [1.6, 1.4, 1.2, 1, 0.8, 0.7, 0.7, 0.6]
LOWER = LIFT[::-1]
DEEPEN = [0.6, 0.8, 1, 1.6, 1.6, 1, 0.8, 0.6]
FLATTEN = [1.5, 1.5, 0.5, 0.5, 0.5, 0.5, 1.5, 1.5]

SENTENCES: list[tuple[str, Any, str]] = [
    ("brightness", 0.2, "Brightens by 20 %."),
    ("brightness", 2, "Brightens by 200 %."),
    ("brightness", -0.35, "Darkens by 35 %."),
    ("brightness", -0.004, "Darkens by 0.4 %."),
    ("brightness", -1, "Turns everything black."),
    ("saturation", 0.3, "Strengthens colours by 30 %."),
    ("saturation", -0.3, "Fades colours by 30 %."),
    ("saturation", -1, "Takes all colour out."),
    ("contrast", 0.25, "Raises contrast by 25 %."),
    ("contrast", -0.25, "Lowers contrast by 25 %."),
    ("contrast", -1, "Lowers contrast by 100 %."),
    ("sharpness", 0.05, "Sharpens slightly."),
    ("sharpness", 0.3, "Sharpens."),
    ("sharpness", 1, "Sharpens strongly."),
    ("sharpness", -0.02, "Softens slightly."),
    ("sharpness", -0.1, "Softens."),
    ("sharpness", -0.25, "Softens strongly."),
    ("tone", LIFT, "Lifts all tones strongly."),
    ("tone", LOWER, "Lowers all tones strongly."),
    ("tone", [1.1, 1.05, 1, 1, 1, 1, 0.95, 0.9], "Lifts all tones slightly."),
    ("tone", DEEPEN, "Lifts the highlights and lowers the shadows."),
    ("tone", FLATTEN, "Lifts the shadows and lowers the highlights."),
    ("tone", [1, 1, 1.2, 1.1, 1, 1, 0.9, 0.8], "Lifts the midtones and highlights."),
    ("tone", [1.02, *FLAT[1:]], "Bends the tone curve very slightly."),
    ("color", [LIFT, FLAT, LOWER], "Warms the colours strongly."),
    ("color", [LOWER, FLAT, LIFT], "Cools the colours strongly."),
    ("color", [[1.3, 0.9, *FLAT[2:]], FLAT, [0.8, 1.1, *FLAT[2:]]], "Warms the colours slightly."),
    ("color", [FLATTEN, FLAT, DEEPEN], "Warms the shadows and cools the highlights."),
    ("color", [LIFT, LIFT, LIFT], "Lifts all tones strongly."),
    # All three curves alike are a tone curve, and are said like one.
    ("color", [DEEPEN, DEEPEN, DEEPEN], "Lifts the highlights and lowers the shadows."),
    ("color", [[1.02, *FLAT[1:]], FLAT, FLAT], "Bends the colour curves very slightly."),
]


@pytest.mark.parametrize(("operation", "parameters", "sentence"), SENTENCES)
def test_sentences(operation: str, parameters: Any, sentence: str) -> None:
    assert Recipe.from_steps([(operation, parameters)]).describe() == sentence


@pytest.mark.parametrize(
    ("rises", "tint"),
    [
        ([LIFT, FLAT, FLAT], "red"),
        ([FLAT, LIFT, FLAT], "green"),
        ([FLAT, FLAT, LIFT], "blue"),
        ([LOWER, FLAT, FLAT], "cyan"),
        ([FLAT, LOWER, FLAT], "magenta"),
        ([FLAT, FLAT, LOWER], "yellow"),
    ],
)
def test_tints_are_named_by_their_colour(rises: Any, tint: str) -> None:
    assert Recipe.from_steps([("color", rises)]).describe().startswith(f"Tints the colours towards {tint}")


def test_several_steps_are_one_sentence() -> None:
    recipe = Recipe.from_steps([("brightness", 0.2), ("saturation", -1), ("sharpness", 0.3)])
    assert recipe.describe() == "Brightens by 20 %, takes all colour out and sharpens."


def test_steps_that_do_nothing_are_not_mentioned() -> None:
    recipe = Recipe.from_steps([("brightness", 0), ("contrast", 0.1), ("tone", [2] * 8)])
    assert recipe.describe() == "Raises contrast by 10 %."
    assert [step.describe() for step in recipe.steps] == [
        "leaves brightness alone",
        "raises contrast by 10 %",
        "leaves tone alone",
    ]


def test_masks_are_mentioned() -> None:
    mask = Mask.from_array(np.ones((2, 2), bool))
    recipe = Recipe.from_steps([("brightness", 0.2, mask), ("contrast", 0.1)])
    assert recipe.describe() == "Brightens by 20 % in part of the picture and raises contrast by 10 %."


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
    assert Step(operation="grain", parameters=(0.25, -1)).describe() == "applies grain (0.25, -1)"


@given(recipes())
def test_every_recipe_is_one_sentence(recipe: Recipe) -> None:
    sentence = recipe.describe()
    assert sentence.endswith(".")
    assert sentence[0].isupper()
    assert sentence.isprintable()
    assert (sentence == "Changes nothing.") == recipe.is_identity
