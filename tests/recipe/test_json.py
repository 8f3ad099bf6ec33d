"""A recipe as JSON: what goes out comes back, and files are written whole or not at all."""

from __future__ import annotations

import base64
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given

import t2onet
from t2onet.errors import OutputError, RecipeError
from t2onet.recipe import SCHEMA_VERSION, Mask, Recipe
from tests.recipe.strategies import recipes

LOOK = Recipe.from_steps([("brightness", 0.2), ("tone", [1, 1, 1.2, 1.1, 1, 1, 0.9, 0.8])], name="Märzlicht")


@given(recipes())
def test_json_round_trip(recipe: Recipe) -> None:
    assert Recipe.from_json(recipe.to_json()) == recipe


@given(recipes())
def test_json_is_stable(recipe: Recipe) -> None:
    text = recipe.to_json()
    assert Recipe.from_json(text).to_json() == text


@given(recipes())
def test_json_is_plain_data_any_reader_understands(recipe: Recipe) -> None:
    data = json.loads(recipe.to_json(), parse_constant=pytest.fail)
    assert data["schema_version"] == SCHEMA_VERSION
    assert [step["operation"] for step in data["steps"]] == [step.operation for step in recipe.steps]
    assert [tuple(step["parameters"]) for step in data["steps"]] == [s.parameters for s in recipe.steps]
    # The bytes of a file exist for every recipe: no character that UTF-8 refuses.
    recipe.to_json().encode()


def test_json_as_documented() -> None:
    recipe = Recipe.from_steps([("brightness", 0.2), ("contrast", -0.5)], name="Märzlicht")
    assert recipe.to_json() == (
        "{\n"
        '  "schema_version": 1,\n'
        '  "name": "Märzlicht",\n'
        '  "steps": [\n'
        '    {"operation": "brightness", "parameters": [0.2]},\n'
        '    {"operation": "contrast", "parameters": [-0.5]}\n'
        "  ]\n"
        "}\n"
    )


def test_json_of_no_steps() -> None:
    assert Recipe().to_json() == '{\n  "schema_version": 1,\n  "steps": []\n}\n'


def test_a_missing_version_is_version_one() -> None:
    assert Recipe.from_json('{"steps": []}').schema_version == 1


@pytest.mark.parametrize(
    "parameters", [[*range(1, 9)] * 3, [[*range(1, 9)]] * 3, np.array([[*range(1, 9)]] * 3)]
)
def test_color_takes_one_row_or_three(parameters: object) -> None:
    recipe = Recipe.from_steps([("color", parameters)])
    assert recipe.steps[0].parameters == tuple(map(float, [*range(1, 9)] * 3))


def test_a_single_number_needs_no_list() -> None:
    assert Recipe.from_steps([("contrast", 0.5)]) == Recipe.from_steps([("contrast", [0.5])])


def test_steps_may_be_steps_tuples_or_dictionaries() -> None:
    mask = Mask.from_array(np.eye(3, dtype=bool))
    given = ("brightness", 0.5, mask)
    step = Recipe.from_steps([given]).steps[0]
    as_dict = {"operation": "brightness", "parameters": 0.5, "mask": mask}
    assert Recipe.from_steps([given, step, as_dict]).steps == (step, step, step)


def test_save_and_load(tmp_path: Path) -> None:
    path = LOOK.save(tmp_path / "look.json")
    assert path == tmp_path / "look.json"
    assert path.read_text(encoding="utf-8") == LOOK.to_json()
    assert Recipe.load(path) == LOOK
    assert Recipe.load(str(path)) == LOOK


def test_apply_takes_the_file_of_a_recipe(tmp_path: Path) -> None:
    path = LOOK.save(tmp_path / "look.json")
    photo = np.random.default_rng(3).integers(0, 256, (9, 11, 3), dtype=np.uint8)
    expected = np.asarray(t2onet.apply(LOOK, photo))
    assert not np.array_equal(expected, photo)
    for file in (path, str(path)):
        np.testing.assert_array_equal(np.asarray(t2onet.apply(file, photo)), expected)


@pytest.mark.parametrize(
    ("given", "kind"), [({"steps": []}, "dict"), ([("contrast", 0.1)], "list"), (None, "NoneType")]
)
def test_apply_takes_nothing_else_for_a_recipe(given: Any, kind: str) -> None:
    text = f"a recipe is a Recipe, a path or a look, not {kind}; make one with Recipe.from_steps([...])"
    with pytest.raises(RecipeError, match=f"^{re.escape(text)}$"):
        t2onet.apply(given, np.zeros((2, 2, 3), np.uint8))


def test_apply_names_the_recipe_file_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"gone\.json does not exist; give the JSON file of a recipe$"):
        t2onet.apply(tmp_path / "gone.json", np.zeros((2, 2, 3), np.uint8))


def test_save_writes_the_mask_into_the_file(tmp_path: Path) -> None:
    masked = Recipe.from_steps([("brightness", 0.5, Mask.from_array(np.eye(5), feather=12.5))])
    path = masked.save(tmp_path / "local.json")
    assert Recipe.load(path) == masked
    assert [entry.name for entry in tmp_path.iterdir()] == ["local.json"]


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    # Notepad and PowerShell put one in front of UTF-8.
    path = tmp_path / "look.json"
    path.write_bytes(b"\xef\xbb\xbf" + LOOK.to_json().encode())
    assert Recipe.load(path) == LOOK


def test_save_replaces_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "look.json"
    path.write_text("mine")
    text = f"{path} already exists; give another name or ask to overwrite it."
    for refused in ({}, {"overwrite": False}):
        with pytest.raises(OutputError, match=f"^{re.escape(text)}$"):
            LOOK.save(path, **refused)
    assert path.read_text() == "mine"
    LOOK.save(path, overwrite=True)
    assert Recipe.load(path) == LOOK


def test_a_failing_save_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "look.json"
    path.write_text("mine")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    # The moment of truth: bytes are written to the hidden neighbour and the disk turns out to be full.
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="the disk is full"):
        LOOK.save(path, overwrite=True)
    assert path.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["look.json"]


def test_a_mask_file_lies_beside_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "looks" / "masks").mkdir(parents=True)
    grey = np.array([[0, 128], [255, 64]], np.uint8)
    PIL.Image.fromarray(grey).save(tmp_path / "looks" / "masks" / "sky.png")
    mask = {"file": "masks/sky.png", "feather": 3}
    step = {"operation": "brightness", "parameters": 0.5, "mask": mask}
    path = tmp_path / "looks" / "sky.json"
    path.write_text(json.dumps({"steps": [step]}))
    # From elsewhere, so that the working folder cannot be what it is found by.
    monkeypatch.chdir(tmp_path)
    loaded = Recipe.load("looks/sky.json").steps[0].mask
    assert loaded is not None
    assert loaded.feather == 3
    np.testing.assert_array_equal(loaded.array, grey)
    # Saved elsewhere it still has its mask, because the picture travels inside.
    Recipe.load(path).save(tmp_path / "copy.json")
    assert Recipe.load(tmp_path / "copy.json") == Recipe.load(path)


SCHEMA: Any = import_module("jsonschema").Draft202012Validator(Recipe.model_json_schema())
PNG = base64.b64encode(Mask.from_array(np.ones((2, 2), bool)).png).decode()


@pytest.mark.slow
@given(recipes())
def test_the_schema_allows_every_recipe(recipe: Recipe) -> None:
    SCHEMA.validate(json.loads(recipe.to_json()))


@pytest.mark.parametrize(
    ("step", "allowed"),
    [
        ({"operation": "brightness", "parameters": 0.2}, True),
        ({"operation": "color", "parameters": [[1] * 8] * 3}, True),
        ({"operation": "inpaint", "parameters": [], "mask": {"png": PNG}}, True),
        ({"operation": "contrast", "parameters": [0.1], "mask": {"file": "a.png", "feather": 3}}, True),
        ({"operation": "contrast", "parameters": [0.1], "mask": {"feather": 3}}, False),
        ({"operation": "inpaint", "parameters": []}, False),
        ({"operation": "brightness", "parameters": [3]}, False),
        ({"operation": "tone", "parameters": [1] * 7}, False),
        ({"operation": "crop", "parameters": []}, False),
    ],
)
def test_the_schema_knows_what_operations_take(step: dict[str, Any], allowed: bool) -> None:
    assert SCHEMA.is_valid({"steps": [step]}) == allowed
