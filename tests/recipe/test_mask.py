"""Masks: grey pictures of any size that are stretched over the photo."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageFilter
import pytest

from t2onet import apply
from t2onet.errors import ImageError, RecipeError, T2OError
from t2onet.recipe import Mask, Recipe
from tests.hostile import REFUSED_MASKS, USED_MASKS


def test_an_array_of_bytes_is_kept_as_it_is() -> None:
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    np.testing.assert_array_equal(Mask.from_array(array).array, array)


def test_booleans_are_black_and_white() -> None:
    mask = Mask.from_array(np.array([[True, False]]))
    np.testing.assert_array_equal(mask.array, [[255, 0]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_rounded_to_bytes(dtype: type) -> None:
    mask = Mask.from_array(np.array([[0, 0.25, 0.5, 1]], dtype))
    np.testing.assert_array_equal(mask.array, [[0, 64, 128, 255]])


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.ones((2, 2, 3)), "a mask is an array (H, W), and one of shape (2, 2, 3) was given"),
        (np.ones((0, 2)), "a mask is an array (H, W), and one of shape (0, 2) was given"),
        (np.ones((2, 2), np.int64), "a mask is bool, uint8 or float, and int64 was given"),
        (np.full((2, 2), 1.5), "a mask of floats runs from 0 to 1, and this one does not; scale it first"),
        (np.full((2, 2), -0.5), "a mask of floats runs from 0 to 1, and this one does not; scale it first"),
        (np.full((2, 2), np.nan), "a mask of floats runs from 0 to 1, and this one does not; scale it first"),
    ],
)
def test_other_arrays_are_refused(array: np.ndarray, text: str) -> None:
    with pytest.raises(RecipeError, match=f"^{re.escape(text)}$"):
        Mask.from_array(array)


@pytest.mark.parametrize("feather", [-0.1, 1000.1, float("nan"), float("inf")])
def test_feather_has_a_range(feather: float) -> None:
    with pytest.raises(RecipeError, match=f"^mask: feather is {feather:g}; allowed is 0 to 1000$"):
        Mask.from_array(np.ones((2, 2), bool), feather=feather)


def test_a_colour_file_counts_by_its_mean_channel(tmp_path: Path) -> None:
    colours = np.array([[[255, 0, 0], [255, 255, 0]], [[0, 0, 0], [255, 255, 255]]], np.uint8)
    PIL.Image.fromarray(colours).save(tmp_path / "mask.png")
    np.testing.assert_array_equal(Mask.from_file(tmp_path / "mask.png").array, [[85, 170], [0, 255]])


def test_a_16_bit_file_is_scaled_by_its_own_white(tmp_path: Path) -> None:
    PIL.Image.fromarray(np.array([[0, 65535], [32896, 257]], np.uint16)).save(tmp_path / "mask.png")
    np.testing.assert_array_equal(Mask.from_file(tmp_path / "mask.png").array, [[0, 255], [128, 1]])


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_a_file_with_transparency_is_refused(tmp_path: Path, mode: str) -> None:
    # It could mean the grey or the alpha.
    path = tmp_path / "mask.png"
    PIL.Image.new(mode, (3, 2), 128).save(path)
    text = f"mask: {path} is partly transparent, which is ambiguous; save it as plain grey"
    with pytest.raises(RecipeError, match=f"^{re.escape(text)}$"):
        Mask.from_file(path)
    step = {"operation": "contrast", "parameters": 0.1, "mask": {"file": "mask.png"}}
    with pytest.raises(RecipeError, match=f"^step 1: {re.escape(text)}$"):
        Recipe.from_data({"steps": [step]}, folder=tmp_path)


def test_a_file_that_is_no_picture_is_an_image_error(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"gone\.png does not exist"):
        Mask.from_file(tmp_path / "gone.png")


def test_over_stretches_to_the_photo() -> None:
    mask = Mask.from_array(np.array([[0, 255]], np.uint8)).resize(3, 200)
    assert mask.shape == (3, 200)
    assert mask[:, :40].max() == 0
    assert mask[:, -40:].min() == 255
    assert (np.diff(mask[0].astype(int)) >= 0).all()


def test_feather_softens_alike_at_any_size() -> None:
    half = np.repeat([[0, 255]], 2, axis=0).astype(np.uint8)
    soft = Mask.from_array(np.kron(half, np.ones((200, 200), np.uint8)), feather=40)
    small, large = soft.resize(100, 100), soft.resize(400, 400)
    # Wider than the hard edge at both sizes, and the same picture when the large one is averaged down.
    assert ((small > 5) & (small < 250)).sum() > 100 * 8
    down = large.reshape(100, 4, 100, 4).mean(axis=(1, 3))
    assert np.abs(down - small).max() < 4
    assert not ((Mask.from_array(soft.array).resize(400, 400) % 255).any())


def test_a_mask_says_what_it_is() -> None:
    assert repr(Mask.from_array(np.ones((40, 60), bool))) == "Mask(60 x 40, feather=0)"
    assert repr(Mask.from_array(np.ones((1, 2)), feather=12.5)) == "Mask(2 x 1, feather=12.5)"


def test_a_mask_is_a_value() -> None:
    array = np.eye(4, dtype=bool)
    one, other = Mask.from_array(array), Mask.from_array(array.copy())
    assert one == other
    assert hash(one) == hash(other)
    assert one != Mask.from_array(array, feather=1)
    assert one != Mask.from_array(~array)
    assert Recipe.from_steps([("contrast", 0.1, one)]) != Recipe.from_steps([("contrast", 0.1)])


@pytest.mark.parametrize(
    ("box", "feather", "extent"),
    [
        ((0, 0, 10, 20), 0, 1.0),
        ((0, 0, 5, 10), 0, 0.25),
        ((4, 7, 5, 8), 0, 0.1 * 0.05),
        ((4, 7, 5, 8), 50, (0.1 + 0.3) * (0.05 + 0.3)),
        ((4, 7, 5, 8), 1000, 1.0),
        ((0, 0, 0, 0), 1000, 0.0),
    ],
)
def test_the_extent_is_the_share_of_the_box_around_the_mask(
    box: tuple[int, int, int, int], feather: float, extent: float
) -> None:
    levels = np.zeros((10, 20), np.uint8)
    levels[box[0] : box[2], box[1] : box[3]] = 1
    assert Mask.from_array(levels, feather=feather).extent() == pytest.approx(extent)


def test_the_extent_with_a_margin() -> None:
    mask = Mask.from_array(np.pad(np.ones((1, 1), bool), ((4, 5), (7, 12))))
    assert mask.extent(margin=50) == pytest.approx((0.1 + 0.1) * (0.05 + 0.1))


@pytest.mark.parametrize(
    "box", [(0, 0, 30, 40), (0, 0, 3, 4), (13, 20, 14, 21), (25, 0, 30, 40), (5, 6, 20, 9)]
)
@pytest.mark.parametrize("feather", [0, 3, 40])
@pytest.mark.parametrize("size", [(30, 40), (301, 203), (17, 90), (10, 13)])
def test_only_the_part_that_is_not_black_is_stretched_and_feathered(
    box: tuple[int, int, int, int], feather: float, size: tuple[int, int]
) -> None:
    levels = np.zeros((30, 40), np.uint8)
    part = levels[box[0] : box[2], box[1] : box[3]]
    part[...] = np.random.default_rng(3).integers(1, 256, part.shape)
    height, width = size
    whole = PIL.Image.fromarray(levels).resize((width, height), PIL.Image.Resampling.BILINEAR)
    if feather:
        whole = whole.filter(PIL.ImageFilter.GaussianBlur(feather * min(size) / 1000))
    stretched = Mask.from_array(levels, feather=feather).resize(height, width)
    assert np.abs(stretched.astype(int) - np.asarray(whole).astype(int)).max() <= 1


def test_little_is_stretched_for_a_small_mask() -> None:
    levels = np.zeros((100, 100), np.uint8)
    levels[40:50, 60:70] = 255
    top, left, part = Mask.from_array(levels, feather=2).resize_cropped(1000, 1000)
    assert part.size < 0.03 * 1000 * 1000
    assert (top, left) == (400 - 19, 600 - 19), (
        "ten for the scaling, three for each pixel of feather, and three"
    )


@pytest.mark.parametrize("kind", USED_MASKS)
def test_unusual_masks_count_alike_inside_a_recipe_and_as_files(tmp_path: Path, kind: str) -> None:
    make, levels = USED_MASKS[kind]
    (tmp_path / "mask.png").write_bytes(make())
    for mask in (Mask(png=make()), Mask.from_file(tmp_path / "mask.png")):
        np.testing.assert_array_equal(mask.resize(60, 90)[30, [2, 87]], levels)


@pytest.mark.parametrize("kind", REFUSED_MASKS)
def test_unusable_masks_are_refused_inside_a_recipe_and_as_files(tmp_path: Path, kind: str) -> None:
    make, embedded, as_file = REFUSED_MASKS[kind]
    data, path = make(), tmp_path / "mask.png"
    with pytest.raises(RecipeError, match=re.escape(embedded)):
        Mask(png=data)
    path.write_bytes(data)
    with pytest.raises(T2OError, match=re.escape(as_file)):
        Mask.from_file(path)


def test_one_pixel_is_the_whole_photo_inside_a_recipe_and_no_file(tmp_path: Path) -> None:
    mask = Mask.from_array(np.full((1, 1), 255, np.uint8))
    assert (mask.resize(60, 90) == 255).all()
    (tmp_path / "mask.png").write_bytes(mask.png)
    with pytest.raises(ImageError, match="at least 2 x 2"):
        Mask.from_file(tmp_path / "mask.png")


def test_noise_is_blended_pixel_by_pixel() -> None:
    photo = np.full((40, 60, 3), 100, np.uint8)
    levels = np.random.default_rng(0).integers(0, 256, photo.shape[:2], np.uint8)
    recipe = Recipe.from_steps([("brightness", 1.0, Mask.from_array(levels))])
    changed = np.asarray(apply(recipe, photo))
    assert np.abs(changed[..., 0] - (100 + 100 * (levels / 255))).max() <= 0.51


def test_a_step_with_a_black_mask_is_kept_and_does_nothing() -> None:
    photo = np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)
    recipe = Recipe.from_steps([("brightness", 0.5, Mask.from_array(np.zeros((8, 8), bool), feather=50))])
    assert Recipe.from_json(recipe.to_json()) == recipe
    np.testing.assert_array_equal(apply(recipe, photo), photo)
