"""Where a step applies: what can be said, how it is stored, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from t2onet.errors import RecipeError
from t2onet.recipe import Mask, Recipe, Step, where
from t2onet.recipe.where import (
    MAX_PARTS,
    Area,
    Joined,
    Linear,
    Named,
    Radial,
    Refined,
    combine,
    list_words,
    parse_where,
    to_area,
    to_data,
)
from tests.recipe.strategies import areas

SHADOWS, REDS, TOP = Named("shadows"), Named("reds"), Named("top")
HORIZON = {"linear": {"from": [0.5, 0.0], "to": [0.5, 0.5]}}


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("shadows", SHADOWS),
        ("shadows and top", Joined("and", (SHADOWS, TOP))),
        ("shadows or reds or top", Joined("or", (SHADOWS, REDS, TOP))),
        ("shadows except reds", Joined("except", (SHADOWS, REDS))),
        ("not shadows", Refined(SHADOWS, invert=True)),
        ("not not shadows", SHADOWS),
        ("not shadows and top", Joined("and", (Refined(SHADOWS, invert=True), TOP))),
        ("not (shadows and top)", Refined(Joined("and", (SHADOWS, TOP)), invert=True)),
        ("(shadows and top) except reds", Joined("except", (Joined("and", (SHADOWS, TOP)), REDS))),
    ],
)
def test_text(text: str, area: Area) -> None:
    assert to_area(parse_where(text)) == area
    assert parse_where(area) == text.replace("not not ", "")


@pytest.mark.parametrize(
    "text", ["Shadows EXCEPT reds", "  shadows\texcept  reds ", "(shadows) except (reds)"]
)
def test_spelling_does_not_matter(text: str) -> None:
    assert parse_where(text) == "shadows except reds"


@pytest.mark.parametrize(
    ("data", "area"),
    [
        (HORIZON, Linear((0.5, 0.0), (0.5, 0.5))),
        ({"radial": {"centre": [0.5, 0.4], "radius": 0.3, "feather": 0.2}}, Radial((0.5, 0.4), 0.3, 0.2)),
        ({**HORIZON, "invert": True}, Refined(Linear((0.5, 0.0), (0.5, 0.5)), invert=True)),
        ({"of": "shadows", "soften": 20.0}, Refined(SHADOWS, soften=20)),
        ({"of": "shadows", "grow": -5.0, "invert": True}, Refined(SHADOWS, grow=-5, invert=True)),
        ({"and": ["shadows", HORIZON]}, Joined("and", (SHADOWS, Linear((0.5, 0.0), (0.5, 0.5))))),
        ({"of": {"of": "top", "grow": 3.0}, "soften": 2.0}, Refined(Refined(TOP, grow=3), soften=2)),
    ],
)
def test_objects(data: dict[str, Any], area: Area) -> None:
    assert parse_where(data) == area
    assert to_data(area) == data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"of": "shadows"}, "shadows"),
        ({"of": "shadows", "invert": True}, "not shadows"),
        ({"and": ["shadows", {"or": ["reds", "top"]}]}, "shadows and (reds or top)"),
        ({"of": "shadows", "grow": 0, "soften": 0, "invert": False}, "shadows"),
    ],
)
def test_what_text_can_say_is_text(data: dict[str, Any], text: str) -> None:
    assert parse_where(data) == text


@given(areas)
def test_any_place_survives_json(area: Area) -> None:
    kept = parse_where(area)
    data = json.loads(json.dumps(to_data(kept)))
    assert parse_where(data) == kept
    assert parse_where(to_area(kept)) == kept


def test_two_places_are_combined() -> None:
    assert combine("and", "shadows", "top or left") == "shadows and (top or left)"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("shadow", "where is 'shadow': 'shadow' is not known; did you mean 'shadows'?"),
        ("center", "where is 'center': 'center' is not known; did you mean 'centre'?"),
        ("xyz", f"where is 'xyz': 'xyz' is not known; there are {', '.join(list_words())}."),
        ("", "where is '': a word is missing at its end"),
        ("shadows and", "where is 'shadows and': a word is missing at its end"),
        ("and shadows", "where is 'and shadows': a word is missing before 'and'"),
        ("(shadows", "where is '(shadows': a bracket is not closed"),
        ("shadows)", "where is 'shadows)': ')' is one too many; join words by and, or, except"),
        ("dark shadows", "where is 'dark shadows': 'dark' is not known;"),
        ("shadows reds", "where is 'shadows reds': 'reds' is one too many; join words by and, or, except"),
        ("shadows or top and reds", "say with brackets what belongs together"),
        (3, 'where is text such as "shadows"'),
        ([], 'where is text such as "shadows"'),
        ({}, 'where is text such as "shadows"'),
        ({"of": "top", **HORIZON}, 'where is text such as "shadows"'),
        ({"linea": 1}, "where has no 'linea'; did you mean 'linear'?"),
        ({"of": "top", "sofen": 1}, "where has no 'sofen'; did you mean 'soften'?"),
        ({"of": "top", "soften": -1}, "where: soften is -1; allowed is 0 to 1000"),
        ({"of": "top", "grow": float("nan")}, "where: grow is nan; allowed is -100 to 100"),
        ({"of": "top", "grow": "1"}, "where: grow takes numbers, and '1' was given"),
        ({"of": "top", "invert": 1}, "where: invert is true or false, and 1 was given"),
        ({"and": ["top"]}, "where: and joins a list of two or more"),
        ({"or": "top"}, "where: or joins a list of two or more"),
        ({"linear": {"from": [0, 0]}}, "where: linear has from, to, and"),
        ({"linear": {"from": [0, 0], "to": [0, 0]}}, "where: linear runs from [0.0, 0.0] to the same point"),
        ({"linear": {"from": [0, 0], "to": [0, 9]}}, "where: linear to is 9; allowed is -1 to 2"),
        ({"linear": {"from": 0, "to": [0, 1]}}, "where: linear from is a point [x, y], and 0 was given"),
        ({"radial": {"centre": [0, 0], "radius": 0}}, "where: radial radius is 0; allowed is 0.01 to 3"),
        (" and ".join(["top"] * (MAX_PARTS + 1)), f"where has at most {MAX_PARTS} parts"),
        ("(" * 500 + "top" + ")" * 500, "where has at most 400 characters"),
    ],
)
def test_refusals(raw: Any, reason: str) -> None:
    with pytest.raises(RecipeError) as refused:
        Recipe.from_data({"steps": [{"operation": "exposure", "parameters": 1, "where": raw}]})
    assert str(refused.value).startswith("step 1: ")
    assert reason in str(refused.value)


def test_a_step_has_a_mask_or_a_where() -> None:
    mask = Mask.from_array(np.ones((2, 2), bool))
    with pytest.raises(RecipeError, match=r"^exposure has both a mask and a where; give one of them$"):
        Step(operation="exposure", parameters=(1,), mask=mask, where="top")


def test_geometry_and_repairs_have_no_where() -> None:
    with pytest.raises(RecipeError, match=r"^crop moves the whole picture and takes no where; leave it out$"):
        Step(operation="crop", parameters=(0, 0, 0.5, 1), where="top")
    with pytest.raises(RecipeError, match=r"^inpaint needs a mask"):
        Step(operation="inpaint", parameters=(), where="top")


def test_steps_are_made_with_a_where() -> None:
    recipe = Recipe.from_steps(
        [
            ("exposure", 0.5, "Shadows"),
            ("exposure", 0.5, HORIZON),
            {"operation": "contrast", "parameters": 0.1, "where": "reds"},
            ("contrast", 0.1, None),
        ]
    )
    assert [step.where for step in recipe.steps] == ["shadows", Linear((0.5, 0), (0.5, 0.5)), "reds", None]
    assert [step.is_local for step in recipe.steps] == [True, True, True, False]
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert hash(Recipe.from_json(recipe.to_json())) == hash(recipe)


def test_files_name_a_where_only_where_there_is_one() -> None:
    plain, local = Recipe.from_steps([("exposure", 0.5)]), Recipe.from_steps([("exposure", 0.5, "shadows")])
    assert '{"operation": "exposure", "parameters": [0.5]}' in plain.to_json()
    assert '{"operation": "exposure", "parameters": [0.5], "where": "shadows"}' in local.to_json()
    assert Recipe.from_data({"steps": [{"operation": "exposure", "parameters": 0.5, "where": None}]}) == plain


# ---- what recipes do with places

LOCAL = Recipe.from_steps([("exposure", 0.5), ("exposure", 0.5, "shadows"), ("exposure", -0.3, "highlights")])


def test_steps_at_different_places_are_different_steps() -> None:
    moved = Recipe.from_steps([LOCAL.steps[0], ("exposure", 0.5, "reds"), LOCAL.steps[2]])
    assert [str(change) for change in LOCAL.diff(moved)] == [
        "removed, was step 2: half a stop brighter shadows",
        "added as step 2: half a stop brighter reds",
    ]


def test_a_step_at_a_place_is_adjusted() -> None:
    changed = LOCAL.adjust("exposure", 0.7, "shadows")
    assert [str(change) for change in LOCAL.diff(changed)] == [
        "changed, step 2: shadows: exposure +0.50 EV -> shadows: exposure +0.70 EV"
    ]
    assert [step.parameters for step in LOCAL.adjust("exposure", 0.7).steps] == [(0.7,), (0.5,), (-0.3,)]
    added = LOCAL.adjust("contrast", 0.1, "reds")
    assert [step.where for step in added.steps if step.operation == "contrast"] == ["reds"]


def test_strength_and_composition_keep_places() -> None:
    assert [step.where for step in (LOCAL.blend(0.5) + LOCAL).steps] == [None, "shadows", "highlights"] * 2


def test_a_recipe_is_restricted_to_a_place() -> None:
    there = LOCAL.restrict("top")
    assert [step.where for step in there.steps] == ["top", "shadows and top", "highlights and top"]
    with pytest.raises(
        RecipeError, match=r"^step 1: rotate moves the whole picture; it cannot be applied in"
    ):
        Recipe.from_steps([("rotate", 90)]).restrict("top")
    mask = Mask.from_array(np.ones((2, 2), bool))
    with pytest.raises(
        RecipeError, match=r"^step 1: exposure has a mask of its own; it cannot be applied in"
    ):
        Recipe.from_steps([("exposure", 1, mask)]).restrict("top")


def test_a_place_that_is_declared_is_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, "PLACES", ("meadow",))
    assert parse_where("meadow except shadows") == "meadow except shadows"
