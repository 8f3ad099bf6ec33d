"""The named looks: what the table may hold, and how a look is found by its name."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import t2onet
from t2onet import Recipe, RecipeError
from t2onet.looks import Look, explain_left_out, find_look, looks
from t2onet.operations import get_operation
from t2onet.recipe.looks import derive_result_name, load_recipe

LOOKS = tuple(looks().values())
PUBLISHED_ONLY = {"brightness", "tone", "color"}
"""Operations of the paper that say little to a photographer."""

every_look = pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.slug)


def test_there_are_many_looks_and_families_stand_together() -> None:
    assert len(LOOKS) >= 40
    families = [family for family, _ in groupby(look.family for look in LOOKS)]
    assert len(families) == len(set(families))
    assert len({look.slug for look in LOOKS}) == len(LOOKS)


@every_look
def test_a_look_is_described_and_made_of_darkroom_operations(look: Look) -> None:
    assert look.name
    assert look.family.islower()
    assert look.description.endswith(".")
    assert len(f"{look.name}: {look.description}".split()) <= 12
    assert look.recipe.name == look.name
    operations = [get_operation(step.operation) for step in look.recipe.steps]
    assert not {operation.name for operation in operations} & PUBLISHED_ONLY
    assert all(operation.group != "geometry" for operation in operations)
    positions = [operation.position for operation in operations]
    assert positions == sorted(positions), "steps stand in the usual order"
    assert len(positions) == len(set(positions)), "each operation once"
    assert not any(step.is_identity or step.mask for step in look.recipe.steps)
    assert 1 <= len(look.recipe) <= 12


@every_look
def test_a_look_keeps_the_order_of_greys_and_changes_the_picture(look: Look) -> None:
    """A wedge of greys stays a wedge, neither end swallowed; detail and effects are left aside."""
    steps = [step for step in look.recipe.steps if not explain_left_out(step)]
    recipe = Recipe(steps=tuple(steps))
    wedge = np.repeat(np.linspace(0, 1, 33, dtype=np.float32)[None, :, None], 3, axis=2)
    result = np.asarray(t2onet.apply(recipe, wedge))[0]
    light = result @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(light) > -1e-4).all()
    assert light[-1] - light[0] > 0.4
    colours = np.random.default_rng(1).random((20, 20, 3), dtype=np.float32)
    changed = np.abs(np.asarray(t2onet.apply(recipe, colours)) - colours).mean()
    assert changed > 0.01


def test_a_look_is_told_by_its_name_and_what_it_mainly_does() -> None:
    told = {look.name: look.recipe.describe() for look in LOOKS}
    assert len(set(told.values())) == len(LOOKS)
    assert max(len(sentence.split()) for sentence in told.values()) <= 12
    for name, main in [("sepia", "black and white"), ("high key", "brighter"), ("golden hour", "warmer")]:
        assert told[name].startswith(f"{name.capitalize()}: ")
        assert main in told[name]


@pytest.mark.parametrize("name", ["teal and orange", "Teal-and-Orange", "TEAL_AND_ORANGE", " teal & orange "])
def test_a_name_may_be_spelt_in_many_ways(name: str) -> None:
    assert find_look(name).name == "teal and orange"
    assert load_recipe(name) == find_look(name).recipe


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sepa", "did you mean 'sepia'?"),
        ("teal orange", "did you mean 'teal and orange'?"),
        ("blak and white", "did you mean 'black and white' or "),
        ("xyzzy", "`t2o looks` lists all looks"),
    ],
)
def test_an_unknown_name_suggests_near_ones(name: str, hint: str) -> None:
    with pytest.raises(RecipeError) as refused:
        find_look(name)
    assert str(refused.value).startswith(f"there is no look {name!r}; {hint}")
    with pytest.raises(RecipeError) as refused:
        load_recipe(name)
    assert str(refused.value).startswith(f"{name} is neither a file nor the name of a look; {hint}")


def test_a_file_wins_over_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert derive_result_name(Path("high key")) == "high-key"
    mine = Recipe.from_steps([("contrast", 0.2)], name="mine")
    Path("high key").write_text(mine.to_json(), encoding="utf-8")
    assert load_recipe("high key") == mine
    assert derive_result_name(Path("high key")) == "high key"
    assert load_recipe("high-key") == find_look("high key").recipe


def test_a_folder_does_not_hide_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("winter").mkdir()
    Path("trip").mkdir()
    assert load_recipe("winter") == find_look("winter").recipe
    with pytest.raises(RecipeError, match="trip is a folder; give the JSON file of a recipe"):
        load_recipe("trip")


@pytest.mark.parametrize("path", ["sepia.json", "looks/sepia", "./sepia.x", "x" * 5000 + ".json"])
def test_paths_are_files_only(path: str) -> None:
    with pytest.raises(RecipeError, match=r"does not exist; give the JSON file|cannot be read"):
        load_recipe(path)


def test_a_look_is_applied_by_its_name() -> None:
    photo = np.random.default_rng(2).integers(0, 256, (8, 9, 3), dtype=np.uint8)
    expected = t2onet.apply(find_look("sepia").recipe, photo)
    np.testing.assert_array_equal(t2onet.apply("Sepia", photo), expected)
    with pytest.raises(RecipeError, match="did you mean 'sepia'"):
        t2onet.apply("seppia", photo)
