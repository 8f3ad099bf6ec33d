"""What is not a recipe: one line that says where, what was given and what is allowed."""

from __future__ import annotations

import base64
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from t2onet.errors import RecipeError
from t2onet.operations import declarations, operations
from t2onet.recipe import Mask, Recipe, Step
from t2onet.recipe.recipe import MAX_RECIPE_STEPS
from tests import hostile

GOOD = {"operation": "contrast", "parameters": 0.1}
DEEP = 100_000

# What a step is refused for, in full: the texts are what a user reads.
STEPS: list[tuple[Any, str]] = [
    (
        {"operation": "brightnes", "parameters": 0.1},
        "there is no operation 'brightnes'; did you mean 'brightness'?",
    ),
    (
        {"operation": "Contrast", "parameters": 0.1},
        "there is no operation 'Contrast'; did you mean 'contrast'?",
    ),
    (
        {"operation": "bokeh", "parameters": 0.1},
        f"there is no operation 'bokeh'; there are {', '.join(declarations())}.",
    ),
    ({"operation": None, "parameters": 0.1}, "an operation is a name in quotes, and None was given"),
    ({"operation": ["tone"], "parameters": 0.1}, "an operation is a name in quotes, and ['tone'] was given"),
    (
        {"operation": "brightness", "parameters": [0.1, 0.2]},
        "brightness takes one number (p), and 2 were given",
    ),
    ({"operation": "brightness", "parameters": []}, "brightness takes one number (p), and 0 were given"),
    ({"operation": "tone", "parameters": 1}, "tone takes 8 numbers (8 for rises), and 1 was given"),
    (
        {"operation": "color", "parameters": [1] * 16},
        "color takes 24 numbers (8 for red, 8 for green, 8 for blue), and 16 were given",
    ),
    (
        {"operation": "color", "parameters": [[1] * 8] * 2},
        "color takes its rows as 8 for red, 8 for green, 8 for blue, and others were given",
    ),
    ({"operation": "brightness", "parameters": 2.5}, "brightness: p is 2.5; allowed is -1 to 2"),
    ({"operation": "sharpness", "parameters": -0.3}, "sharpness: p is -0.3; allowed is -0.25 to 1.5"),
    ({"operation": "tone", "parameters": [1] * 7 + [0]}, "tone: rises 8 is 0; allowed is 0.02 to 8"),
    (
        {"operation": "color", "parameters": [[1] * 8, [9] * 8, [1] * 8]},
        "color: green 1 is 9; allowed is 0.02 to 8",
    ),
    ({"operation": "brightness", "parameters": math.nan}, "brightness: p is nan; allowed is -1 to 2"),
    ({"operation": "brightness", "parameters": [math.inf]}, "brightness: p is inf; allowed is -1 to 2"),
    ({"operation": "brightness", "parameters": -math.inf}, "brightness: p is -inf; allowed is -1 to 2"),
    ({"operation": "brightness", "parameters": 10**400}, "it has a number with far too many digits"),
    ({"operation": "brightness", "parameters": "0.2"}, "brightness takes numbers, and '0.2' was given"),
    ({"operation": "brightness", "parameters": True}, "brightness takes numbers, and True was given"),
    ({"operation": "brightness", "parameters": [None]}, "brightness takes numbers, and None was given"),
    ({"operation": "brightness", "parameters": {"q": 1}}, "brightness has no value 'q'; there are p"),
    ({"operation": "brightness", "parameters": {"p": "x"}}, "brightness: p takes numbers, and 'x' was given"),
    (
        {"operation": "color", "parameters": [1] * 17 + [math.nan] * 7},
        "color: blue 2 is nan; allowed is 0.02 to 8",
    ),
    (
        {**GOOD, "comment": "hm"},
        "'comment' is not known there; there are operation, parameters, mask, where",
    ),
    (
        {"operation": "tone"},
        "a step is an operation with its parameters, and {'operation': 'tone'} was given",
    ),
    ("contrast", "a step is an operation with its parameters, and 'contrast' was given"),
    (["contrast", 1], "a step is an operation with its parameters, and ['contrast', 1] was given"),
    (None, "a step is an operation with its parameters, and None was given"),
]

MASK_SHAPE = (
    'a mask is {"png": base64 of a grey PNG} or {"file": path of a picture}, with "feather" in pixels'
)
MASKS: list[tuple[Any, str]] = [
    (3, f"{MASK_SHAPE}; 3 was given"),
    ({}, f"{MASK_SHAPE}; {{}} was given"),
    ({"feather": 1}, f"{MASK_SHAPE}; {{'feather': 1}} was given"),
    ({"png": "eHg=", "file": "a.png"}, f"{MASK_SHAPE}; {{'png': 'eHg=', 'file': 'a.png'}} was given"),
    ({"file": 3}, f"{MASK_SHAPE}; {{'file': 3}} was given"),
    ({"png": "%%%"}, f"mask: its png is not base64; {MASK_SHAPE}"),
    ({"png": "é"}, f"mask: its png is not base64; {MASK_SHAPE}"),
    ({"png": "eHg="}, f"mask: its PNG is damaged or none at all; {MASK_SHAPE}"),
]

RECIPES: list[tuple[str, str]] = [
    ("", "it is not JSON (Expecting value: line 1 column 1 (char 0))"),
    ("{", "it is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    ("[]", 'a recipe is {"schema_version": 1, "steps": [...]}, and this has no steps'),
    ("{}", 'a recipe is {"schema_version": 1, "steps": [...]}, and this has no steps'),
    ('"steps"', 'a recipe is {"schema_version": 1, "steps": [...]}, and this has no steps'),
    ('{"name": "look"}', 'a recipe is {"schema_version": 1, "steps": [...]}, and this has no steps'),
    ('{"steps": {}}', "steps is a list of steps, and {} was given"),
    ('{"steps": "tone"}', "steps is a list of steps, and 'tone' was given"),
    (
        '{"steps": [], "author": "me"}',
        "'author' is not known there; there are schema_version, name, steps",
    ),
    ('{"steps": [], "name": 3}', "name: input should be a valid string"),
    (
        '{"steps": [], "name": "\\ud800"}',
        "its name '\\ud800' has half characters, which no file can hold; retype it",
    ),
]


def write_look(folder: Path, text: str | bytes) -> Path:
    path = folder / "look.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path) -> str:
    """The text with which a file is refused; always one line."""
    with pytest.raises(RecipeError) as caught:
        Recipe.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("step", "text"), STEPS)
def test_a_bad_step_is_named_with_its_number_and_file(tmp_path: Path, step: Any, text: str) -> None:
    path = write_look(tmp_path, json.dumps({"steps": [GOOD, step]}))
    assert refusal(path) == f"{path}: step 2: {text}"


@pytest.mark.parametrize(("mask", "text"), MASKS)
def test_a_bad_mask_is_named_with_its_step_and_file(tmp_path: Path, mask: Any, text: str) -> None:
    path = write_look(tmp_path, json.dumps({"steps": [GOOD, {**GOOD, "mask": mask}]}))
    assert refusal(path) == f"{path}: step 2: {text}"


def test_a_missing_mask_file_is_named(tmp_path: Path) -> None:
    path = write_look(tmp_path, json.dumps({"steps": [{**GOOD, "mask": {"file": "sky.png"}}]}))
    assert refusal(path).startswith(f"{path}: step 1: {tmp_path / 'sky.png'} does not exist")


@pytest.mark.parametrize("feather", ["soft", None, [1], 1e6, -1, math.nan])
def test_a_bad_feather_is_named(tmp_path: Path, feather: object) -> None:
    mask = {"png": base64.b64encode(Mask.from_array(np.ones((2, 2))).png).decode(), "feather": feather}
    path = write_look(tmp_path, json.dumps({"steps": [{**GOOD, "mask": mask}]}))
    assert re.match(rf"{re.escape(str(path))}: step 1: mask[:.] ?feather", refusal(path))


@pytest.mark.parametrize(("text", "message"), RECIPES)
def test_a_file_that_is_no_recipe(tmp_path: Path, text: str, message: str) -> None:
    path = write_look(tmp_path, text)
    assert refusal(path) == f"{path}: {message}"


@pytest.mark.parametrize("version", [0, 2, 1.5, "1", None, True, [1]])
def test_another_version_is_refused(tmp_path: Path, version: object) -> None:
    path = write_look(tmp_path, json.dumps({"schema_version": version, "steps": []}))
    assert refusal(path) == (
        f"{path}: it has schema version {version!r}, and this release reads 1; "
        "a newer release of t2onet may read it"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        '{"steps": ' + "[" * DEEP + "]" * DEEP + "}",
        '{"steps": [{"operation": "tone", "parameters": ' + "[" * DEEP + "]" * DEEP + "}]}",
        '{"steps": [{"operation": "tone", "parameters": ' + "[" * 960 + "]" * 960 + "}]}",
    ],
)
def test_deep_nesting_is_refused(tmp_path: Path, text: str) -> None:
    path = write_look(tmp_path, text)
    assert refusal(path).startswith(f"{path}: ")


def test_deep_nesting_is_refused_where_the_parser_is_more_patient() -> None:
    # Later Pythons parse far deeper JSON than a Python function can walk; data may also come from elsewhere.
    deep: list[Any] = []
    for _ in range(DEEP):
        deep = [deep]
    for data in ({"steps": {"a": deep}}, {"steps": [deep]}, {"steps": [{**GOOD, "parameters": deep}]}):
        with pytest.raises(RecipeError, match="nested too deeply"):
            Recipe.from_data(data)


@pytest.mark.parametrize("data", [bytes(range(256)), b"\xff\xd8\xff\xe0\0\x10JFIF", b"\x89PNG\r\n\x1a\n"])
def test_a_binary_file(tmp_path: Path, data: bytes) -> None:
    path = write_look(tmp_path, data)
    beside = f"for a picture, one is looked for beside it, as {path.name}.t2o.json"
    assert refusal(path) == f"{path} is not a recipe, which is a JSON file; {beside}"


def test_a_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is a folder; give the JSON file of a recipe"


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "gone.json"
    assert refusal(path) == f"{path} does not exist; give the JSON file of a recipe"


def test_a_path_through_a_file(tmp_path: Path) -> None:
    path = write_look(tmp_path, "{}") / "look.json"
    assert refusal(path).startswith(f"{path} cannot be read as a recipe")


@pytest.mark.parametrize("name", ["a\0b.json", "x" * 300 + ".json"])
def test_a_name_the_system_does_not_take(name: str) -> None:
    assert refusal(Path(name)).startswith(f"{name} cannot be read as a recipe")


@pytest.mark.parametrize("operation", operations().values(), ids=lambda operation: operation.name)
def test_every_operation_guards_the_ends_of_its_ranges(operation: Any) -> None:
    for at, (label, slot) in enumerate(zip(operation.slot_labels, operation.slots, strict=True)):
        for allowed in (slot.low, slot.high):
            values = (*operation.defaults[:at], allowed, *operation.defaults[at + 1 :])
            assert Step(operation=operation.name, parameters=values).parameters[at] == allowed
        for refused in (math.nextafter(slot.low, -math.inf), math.nextafter(slot.high, math.inf)):
            values = (*operation.defaults[:at], refused, *operation.defaults[at + 1 :])
            with pytest.raises(RecipeError, match=f"^{operation.name}: {label} is "):
                Step(operation=operation.name, parameters=values)


def test_an_unknown_key_of_a_mask_is_told_the_keys_of_a_mask() -> None:
    mask = {"png": "iVBORw0KGgo=", "soft": 3}
    with pytest.raises(RecipeError, match=r"'mask.soft' is not known there; there are png, file, feather"):
        Recipe.from_steps([{"operation": "contrast", "parameters": [0.1], "mask": mask}])


def test_a_recipe_has_only_so_many_steps_which_are_counted_before_they_are_read() -> None:
    unread = [None] * (MAX_RECIPE_STEPS + 1)
    with pytest.raises(RecipeError) as refusal:
        Recipe.from_data({"steps": unread})
    assert str(refusal.value) == "a recipe has at most 256 steps, and this one has 257; split it"


def test_recipes_together_have_only_so_many_steps() -> None:
    half = Recipe.from_data({"steps": [GOOD] * (MAX_RECIPE_STEPS // 2 + 1)})
    with pytest.raises(RecipeError, match="at most 256 steps, and this one has 258"):
        half + half


def test_a_mask_with_too_many_chunks_is_refused() -> None:
    png = base64.b64encode(hostile.empty_chunks_png(100_000)).decode()
    with pytest.raises(RecipeError, match="step 1: mask: it has more than 100000 PNG chunks"):
        Recipe.from_data({"steps": [{**GOOD, "mask": {"png": png}}]})


def test_the_masks_of_a_recipe_have_only_so_many_pixels_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("t2onet.recipe.recipe.MAX_MASK_MEGAPIXELS", 0.001)
    masks = [Mask.from_array(np.eye(20, dtype=bool), feather) for feather in (0, 1, 2)]
    steps = [("contrast", 0.1, mask) for mask in masks]
    Recipe.from_steps(steps[:2] * 5)
    with pytest.raises(RecipeError) as refusal:
        Recipe.from_steps(steps)
    assert str(refusal.value) == (
        "its masks have more than 0.001 megapixels in all; make them smaller, which changes little, "
        "or split the recipe"
    )


def test_a_mask_of_too_many_pixels_is_not_called_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    png = Mask.from_array(np.ones((50, 60), bool)).png
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(RecipeError, match="mask: it has more pixels than a photo may have; make it smaller"):
        Mask(png=png + bytes(1))
