"""Repairs in the executor: the whole picture, every depth, and nothing outside the mask."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.typing import DTypeLike

from t2onet import Cancelled, Mask, Recipe, apply, executor, intermediates
from t2onet.image.pixels import to_depth
from t2onet.operations import Repair, _registry, register_repair
from t2onet.operations.detail import inpaint

INSIDE = np.zeros((30, 40), bool)
INSIDE[10:20, 12:25] = True
LIFT = ("brightness", 0.2)


@pytest.fixture
def mean_fill(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """A recipe with a repair of the test's own: the mean of all that the mask leaves."""
    monkeypatch.setattr(_registry, "_REPAIRS", dict(_registry._REPAIRS))

    def fill(image: np.ndarray, mask: np.ndarray, scale: float, /) -> np.ndarray:
        mean = image[:, mask == 0].mean(axis=1)[:, None, None]
        return np.where(mask > 0, mean, image).astype(np.float32)

    register_repair(Repair(name="mean", help="fills with the mean", function=fill))
    return Recipe.from_steps([("mean", [], Mask.from_array(INSIDE))])


def photo(dtype: str) -> np.ndarray:
    values = np.random.default_rng(0).uniform(0, 1, (30, 40, 3))
    return values if dtype.startswith("float") else (values * np.iinfo(dtype).max).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_only_what_the_mask_touches_changes(mean_fill: Recipe, dtype: str) -> None:
    before = photo(dtype)
    after = np.asarray(apply(mean_fill, before))
    assert after.dtype == before.dtype
    assert np.array_equal(after[~INSIDE], before[~INSIDE])
    white = 1 if dtype.startswith("float") else np.iinfo(dtype).max
    expected = before[~INSIDE].mean(axis=0) / white
    assert np.abs(after[INSIDE] / white - expected).max() < 0.003


@pytest.mark.parametrize("kernels", [False, True])
def test_steps_around_a_repair_run_in_order(mean_fill: Recipe, kernels: bool) -> None:
    """brighten, repair, brighten: as if applied one recipe after the other, without rounding in between."""
    lift = Recipe.from_steps([LIFT])
    before = photo("float32")
    parts = apply(lift, apply(mean_fill, apply(lift, before, kernels=kernels)), kernels=kernels)
    together = apply(lift + mean_fill + lift, before, kernels=kernels)
    assert np.abs(np.asarray(together) - np.asarray(parts)).max() < 1e-6


def test_two_repairs_in_a_row_are_two_repairs(mean_fill: Recipe) -> None:
    twice = apply(mean_fill + mean_fill, photo("uint8"))
    assert np.array_equal(np.asarray(twice), np.asarray(apply(mean_fill, photo("uint8"))))


def test_progress_only_grows_and_ends_at_one(mean_fill: Recipe) -> None:
    told: list[float] = []
    lift = Recipe.from_steps([LIFT])
    apply(lift + mean_fill + lift, photo("uint8"), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) >= 3


def test_it_stops_on_request(mean_fill: Recipe) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        apply(mean_fill, photo("uint8"), cancel=stop)


def test_intermediates_show_the_repair(mean_fill: Recipe) -> None:
    before = photo("uint8")
    lifted, mended = intermediates(Recipe.from_steps([LIFT]) + mean_fill, before)
    differs = (np.asarray(lifted) != np.asarray(mended)).any(axis=-1)
    assert differs[INSIDE].all()
    assert not differs[~INSIDE].any()


def test_inpainting_leaves_the_rest_of_a_photo_alone() -> None:
    pytest.importorskip("cv2")
    before = photo("uint8")
    recipe = Recipe.from_steps([("inpaint", [], Mask.from_array(INSIDE, feather=20))])
    after = np.asarray(apply(recipe, before))
    touched = recipe.steps[0].mask.resize(30, 40) > 0 if recipe.steps[0].mask else INSIDE
    assert np.array_equal(after[~touched], before[~touched])
    assert np.abs(after[INSIDE].astype(int) - before[INSIDE]).mean() > 5


def test_small_repairs_do_not_convert_the_whole_photo_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cv2")
    before = np.random.default_rng(0).integers(0, 255, (600, 800, 3), dtype=np.uint8)
    spot = np.zeros((60, 80), bool)
    spot[20:22, 30:32] = True
    converted = 0

    def count(pixels: np.ndarray, dtype: DTypeLike) -> np.ndarray:
        nonlocal converted
        converted += pixels.size
        return to_depth(pixels, dtype)

    monkeypatch.setattr(executor, "to_depth", count)
    apply(Recipe.from_steps([("inpaint", [], Mask.from_array(spot))] * 20), before)
    assert converted < 4 * before.size


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize(
    ("shape", "where", "feather"),
    [
        ((120, 160), np.s_[20:22, 30:33], 0),
        ((120, 160), np.s_[0:9, 60:80], 5),
        ((120, 160), np.s_[5:60, 0:80], 0),
        ((1100, 1300), np.s_[20:22, 30:33], 0),
        ((1100, 1300), np.s_[0:4, 72:80], 2),
    ],
    ids=["inside", "corner", "most", "inside a large photo", "corner of a large photo"],
)
def test_inpainting_a_part_is_inpainting_the_whole(
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, int],
    dtype: DTypeLike,
    where: tuple[slice, slice],
    feather: float,
) -> None:
    pytest.importorskip("cv2")
    monkeypatch.setattr(_registry, "_REPAIRS", dict(_registry._REPAIRS))
    register_repair(Repair(name="whole", help="inpaints, given the whole picture", function=inpaint))
    before = to_depth(np.random.default_rng(0).uniform(0, 1, (*shape, 3)).astype(np.float32), dtype)
    spot = np.zeros((60, 80), np.uint8)
    spot[where] = 200
    spots = [Mask.from_array(spot, feather), Mask.from_array(np.roll(spot, 7, axis=1), feather)]
    part, whole = (
        np.asarray(apply(Recipe.from_steps([(name, [], mask) for mask in spots]), before))
        for name in ("inpaint", "whole")
    )
    assert not np.array_equal(part, before)
    np.testing.assert_array_equal(part, whole)


def test_the_photo_given_is_not_changed() -> None:
    pytest.importorskip("cv2")
    before = photo("float32").astype(np.float32)
    kept = before.copy()
    apply(Recipe.from_steps([("inpaint", [], Mask.from_array(INSIDE))] * 2), before)
    np.testing.assert_array_equal(before, kept)
