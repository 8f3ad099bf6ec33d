"""Repairs: their own list, their mask, and what inpainting does."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from t2onet import Mask, Recipe, RecipeError, Step
from t2onet.errors import LookError
from t2onet.looks import export_recipe
from t2onet.operations import Repair, get_operation, operations, register_repair, repairs
from t2onet.operations.detail import inpaint

MASK = Mask.from_array(np.eye(8, dtype=bool), feather=1)
STEP = ("inpaint", [], MASK)


def slope(size: int = 48) -> np.ndarray:
    """(3, H, W): each channel rises from left to right."""
    across = np.linspace(0.2, 0.8, size, dtype=np.float32)
    return np.stack([np.tile(across, (size, 1)) * share for share in (1.0, 0.9, 0.8)])


def hole(size: int = 48) -> np.ndarray:
    mask = np.zeros((size, size), np.float32)
    mask[size // 3 : size // 2, size // 3 : size // 2] = 1
    return mask


def test_a_repair_is_no_operation() -> None:
    assert "inpaint" in repairs()
    assert "inpaint" not in operations()
    with pytest.raises(RecipeError, match="there is no operation 'inpaint'"):
        get_operation("inpaint")


def test_a_name_is_taken_once() -> None:
    for name in ("inpaint", "brightness"):
        with pytest.raises(ValueError, match=f"called '{name}' is registered already"):
            register_repair(Repair(name=name, help="again", function=inpaint))


def test_near_misses_are_suggested() -> None:
    with pytest.raises(RecipeError, match="did you mean 'inpaint'"):
        Recipe.from_steps([("inpant", [], MASK)])


def test_a_repair_needs_a_mask_and_takes_no_numbers() -> None:
    with pytest.raises(RecipeError, match="step 1: inpaint needs a mask that says where"):
        Recipe.from_steps([("inpaint", [])])
    with pytest.raises(RecipeError, match="step 1: inpaint takes no numbers"):
        Recipe.from_steps([("inpaint", [0.5], MASK)])


def test_it_travels_as_json() -> None:
    recipe = Recipe.from_steps([("brightness", 0.2), STEP])
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert '{"operation": "inpaint", "parameters": [], "mask"' in recipe.to_json()


def test_it_is_said_in_words() -> None:
    recipe = Recipe.from_steps([("brightness", 0.2), STEP])
    assert recipe.describe() == "20 % brighter and something removed."
    assert [str(change) for change in recipe.diff(Recipe.from_steps([("brightness", 0.2)]))] == [
        "removed, was step 2: something removed"
    ]


def test_it_has_no_strength_and_always_does_something() -> None:
    step = Step(operation="inpaint", parameters=(), mask=MASK)
    assert step.blend(0.3) == step
    assert step.is_repair
    assert not step.is_identity
    assert not Recipe.from_steps([step]).is_identity


def test_a_look_cannot_hold_it(tmp_path: object) -> None:
    with pytest.raises(LookError, match=r"\(inpaint works through a mask\)"):
        export_recipe(Recipe.from_steps([STEP]), f"{tmp_path}/look.cube")


def test_a_hole_is_filled_from_around_it() -> None:
    pytest.importorskip("cv2")
    clean, mask = slope(), hole()
    spoilt = np.where(mask > 0, np.float32(1), clean)
    filled = inpaint(spoilt, mask)
    assert np.array_equal(filled[:, mask == 0], clean[:, mask == 0])
    assert np.abs(filled - clean).max() < 0.15
    assert np.abs(filled - clean)[:, mask > 0].mean() < 0.05


def test_large_and_small_pictures_are_filled_alike() -> None:
    pytest.importorskip("cv2")
    large, mask = slope(2000), hole(2000)
    filled = inpaint(np.where(mask > 0, np.float32(1), large), mask)
    small = inpaint(np.where(hole(1000) > 0, np.float32(1), slope(1000)), hole(1000))
    assert np.abs(filled[:, ::2, ::2] - small).mean() < 0.002


def test_nothing_to_do_and_nothing_to_start_from() -> None:
    picture = slope()
    assert inpaint(picture, np.zeros((48, 48), np.float32)) is picture
    with pytest.raises(RecipeError, match="covers the whole picture"):
        inpaint(picture, np.ones((48, 48), np.float32))


def test_without_opencv_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(RecipeError, match=r"inpaint needs OpenCV: pip install 't2onet\[local\]'"):
        inpaint(slope(), hole())
