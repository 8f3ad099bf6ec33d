"""Executing recipes: any depth, any size, in bands, in threads, through masks, stoppable."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

import t2onet
from t2onet import Cancelled, Mask, Recipe, apply, bands, executor, intermediates, open_image, operations
from t2onet.executor import PictureRenderer
from t2onet.operations import Frame
from t2onet.recipe import Step
from t2onet.recipe.mask import MaskCoverage
from tests.planning.scenes import scene
from tests.strategies import moderate, pixels, recipes

BOTH_PATHS = pytest.mark.parametrize("kernels", [False, True], ids=["formula", "kernels"])


def by_formula(recipe: Recipe, pixels: np.ndarray) -> np.ndarray:
    """The whole picture at once in float64, straight from the equations."""
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1
    image = (pixels / full).transpose(2, 0, 1)
    for step in recipe.steps:
        image = operations.get_operation(step.operation)(image, step.parameters)
    return image.transpose(1, 2, 0)


def is_published(recipe: Recipe) -> bool:
    return all(step.operation in operations.PAPER for step in recipe.steps)


@BOTH_PATHS
@given(recipe=recipes, picture=pixels())
def test_the_result_is_the_formulas_in_the_photos_own_depth(
    kernels: bool, recipe: Recipe, picture: np.ndarray
) -> None:
    result = np.asarray(apply(recipe, picture, kernels=kernels))
    assert result.shape == picture.shape
    assert result.dtype == picture.dtype
    full = np.iinfo(picture.dtype).max if picture.dtype.kind == "u" else 1
    slack = 0.5 if picture.dtype.kind == "u" else 0
    # A curve can be 80 times as steep as the diagonal, exposure more near black; both amplify rounding.
    bound = slack + (2e-4 if is_published(recipe) else 1e-3) * full
    assert np.abs(result.astype(np.float64) - full * by_formula(recipe, picture)).max() <= bound


@pytest.mark.slow
@BOTH_PATHS
@given(recipe=recipes, rows=st.integers(1, 30))
def test_tiled_equals_whole_exactly(kernels: bool, recipe: Recipe, rows: int) -> None:
    picture = np.random.default_rng(5).integers(0, 2**16, (61, 47, 3), dtype=np.uint16)
    sharp = recipe + Recipe.from_steps([("sharpness", 0.7), ("contrast", 0.2), ("sharpness", -0.1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "BAND_PIXELS", 10**9)
        whole = np.asarray(apply(sharp, picture, kernels=kernels))
        patch.setattr(bands, "BAND_PIXELS", rows * picture.shape[1])
        patch.setattr(bands, "MIN_BAND_REACHES", 0)
        tiled = np.asarray(apply(sharp, picture, kernels=kernels))
    assert np.array_equal(tiled, whole)


@pytest.mark.slow
@BOTH_PATHS
def test_wide_sharpness_is_tiled_exactly_too(kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.random.default_rng(5).integers(0, 256, (2400, 2300, 3), dtype=np.uint8)
    look = Recipe.from_steps([("sharpness", 0.7), ("brightness", 0.1), ("sharpness", -0.2)])
    tiled = np.asarray(apply(look, picture, kernels=kernels))
    monkeypatch.setattr(bands, "BAND_PIXELS", 10**9)
    assert np.array_equal(tiled, np.asarray(apply(look, picture, kernels=kernels)))


@pytest.mark.parametrize(
    ("steps", "photos", "compiled"),
    [
        ([("contrast", 0.1), ("saturation", 0.1)], 1, True),
        ([("contrast", 0.1)], 1, False),
        ([("contrast", 0.1)], 2, True),
        ([("tone", [1, 2] * 4), ("contrast", 0.1)], 1, False),  # a table of levels does the curve
        ([("contrast", 0.1), ("tone", [1, 2] * 4)], 1, True),
        ([("rotate", 90), ("contrast", 0.1)], 1, False),
    ],
)
def test_kernels_are_used_where_pixels_times_steps_pay(
    steps: list[tuple[str, Any]], photos: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []

    def execute(
        run: executor._Execution, _: object, pixels: np.ndarray, __: object, **options: object
    ) -> np.ndarray:
        used.append(run.compiled)
        return pixels

    monkeypatch.setattr(executor, "MIN_KERNEL_WORK", 200)
    monkeypatch.setattr(executor, "MIN_LOADED_KERNEL_WORK", 200)
    monkeypatch.setattr(executor._Execution, "execute", execute)
    apply(Recipe.from_steps(steps), np.zeros((10, 10, 3), np.uint8), photos=photos)
    assert used == [compiled]


@given(picture=pixels())
def test_an_empty_recipe_gives_back_the_very_pixels(picture: np.ndarray) -> None:
    for nothing in (Recipe(), Recipe.from_steps([("contrast", 0), ("tone", [2] * 8)])):
        assert np.array_equal(np.asarray(apply(nothing, picture)), picture)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@BOTH_PATHS
def test_a_step_that_does_almost_nothing_moves_no_level(dtype: str, kernels: bool) -> None:
    levels = np.arange(np.iinfo(dtype).max + 1, dtype=dtype)
    picture = np.stack([levels, levels[::-1], levels], -1).reshape(-1, 256, 3)
    faint = Recipe.from_steps([("brightness", 1e-9)])
    assert np.array_equal(np.asarray(apply(faint, picture, kernels=kernels)), picture)


@pytest.mark.slow
@given(recipe=recipes, seed=st.integers(0, 99))
def test_working_curves_out_level_by_level_changes_nothing(recipe: Recipe, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    curves = Recipe.from_steps([("color", [*[2, 1] * 8, *[0.5] * 7, 3]), ("tone", [3, *[1] * 7])])
    for look in (curves, curves + recipe):
        by_levels = np.asarray(apply(look, picture, kernels=False))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(executor, "_is_global_curve", lambda step: False)
            assert np.array_equal(by_levels, np.asarray(apply(look, picture, kernels=False)))


@pytest.mark.parametrize("photos", [1, 10**9])
def test_curves_alone_come_out_alike_with_and_without_a_kernel(tmp_path: Path, photos: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)
    PIL.Image.fromarray(pixels).save(tmp_path / "a.jpg", quality=100, subsampling=0)
    photo = open_image(tmp_path / "a.jpg")
    look = Recipe.from_steps([("tone", [1.5, 1.2, 1.1, 1, 1, 0.9, 0.8, 0.7])])
    result = apply(look, photo, photos=photos)
    np.testing.assert_array_equal(result, apply(look, np.array(photo), kernels=False))


@BOTH_PATHS
def test_the_result_does_not_depend_on_the_threads(kernels: bool) -> None:
    picture = np.random.default_rng(6).random((500, 400, 3))
    look = Recipe.from_steps([("saturation", 0.4), ("sharpness", 0.5)])
    one, four = (np.asarray(apply(look, picture, threads=n, kernels=kernels)) for n in (1, 4))
    assert np.array_equal(one, four)


@pytest.mark.parametrize("shape", [(1, 1), (1, 30_000), (30_000, 1), (2, 3)])
@BOTH_PATHS
def test_any_shape_can_be_edited(shape: tuple[int, int], kernels: bool) -> None:
    picture = np.full((*shape, 3), 100, np.uint8)
    result = np.asarray(
        apply(Recipe.from_steps([("sharpness", 1), ("brightness", 0.5)]), picture, kernels=kernels)
    )
    assert (result == 150).all()


def test_alpha_is_carried_along() -> None:
    picture = np.random.default_rng(7).integers(0, 256, (9, 8, 4), dtype=np.uint8)
    result = np.asarray(apply(Recipe.from_steps([("brightness", 0.5)]), picture))
    assert np.array_equal(result[..., 3], picture[..., 3])
    assert not np.array_equal(result[..., :3], picture[..., :3])


@BOTH_PATHS
def test_a_mask_says_where(kernels: bool) -> None:
    picture = np.full((40, 60, 3), 100, np.uint8)
    left = np.zeros((4, 6), np.uint8)
    left[:, :3] = 255
    look = Recipe.from_steps([("brightness", 0.5, Mask.from_array(left))])
    result = np.asarray(apply(look, picture, kernels=kernels))
    assert (result[:, :20] == 150).all()
    assert (result[:, 40:] == 100).all()


def test_half_a_mask_is_half_the_effect() -> None:
    picture = np.full((4, 4, 3), 0.4)
    look = Recipe.from_steps([("brightness", 0.5, Mask.from_array(np.full((4, 4), 128, np.uint8)))])
    expected = 0.4 + 128 / 255 * 0.2
    assert np.asarray(apply(look, picture)) == pytest.approx(np.full((4, 4, 3), expected), abs=1e-6)


def test_a_feather_softens_the_same_share_at_any_size() -> None:
    edge = np.zeros((100, 100), bool)
    edge[:, 50:] = True
    look = Recipe.from_steps([("brightness", 1, Mask.from_array(edge, feather=50))])
    profiles = []
    for size in (400, 1600):
        row = np.asarray(apply(look, np.full((size, size, 3), 0.4)))[size // 2, :, 0]
        profiles.append(row.reshape(20, -1).mean(axis=1))
        assert all(a <= b + 1e-6 for a, b in pairwise(row))
    assert profiles[0] == pytest.approx(profiles[1], abs=0.01)
    assert 0.45 < profiles[0][9] < 0.6 < profiles[0][10] < 0.75


@BOTH_PATHS
def test_tiles_meet_under_a_mask(kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    picture = rng.integers(0, 256, (90, 50, 3), dtype=np.uint8)
    mask = Mask.from_array(rng.random((30, 20)), feather=20)
    look = Recipe.from_steps([("sharpness", 0.6, mask), ("tone", [1, 2, 1, 1, 1, 1, 1, 2], mask)])
    whole = np.asarray(apply(look, picture, kernels=kernels))
    monkeypatch.setattr(bands, "BAND_PIXELS", 7 * 50)
    monkeypatch.setattr(bands, "MIN_BAND_REACHES", 0)
    assert np.array_equal(np.asarray(apply(look, picture, kernels=kernels)), whole)


@BOTH_PATHS
@pytest.mark.parametrize("name", ["brightness", "sharpness"])
@pytest.mark.parametrize(
    "box", [(0, 0, 4, 7), (3, 5, 31, 20), (20, 0, 45, 33), (0, 0, 45, 33), (40, 30, 45, 33)]
)
def test_only_what_is_inside_a_mask_is_computed_and_comes_out_as_it_would_from_the_whole(
    kernels: bool, name: str, box: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    picture = rng.integers(0, 256, (45, 33, 3), dtype=np.uint8)
    top, left, bottom, right = box
    levels = np.zeros((45, 33), np.uint8)
    levels[top:bottom, left:right] = rng.integers(1, 256, (bottom - top, right - left))
    everywhere = np.asarray(apply(Recipe.from_steps([(name, 0.6)]), picture / 255, kernels=kernels))
    expected = picture / 255 + levels[..., None] / 255 * (everywhere - picture / 255)
    look = Recipe.from_steps([(name, 0.6, Mask.from_array(levels))])
    for band in (45 * 33, 7 * 33):
        monkeypatch.setattr(bands, "BAND_PIXELS", band)
        monkeypatch.setattr(bands, "MIN_BAND_REACHES", 0)
        result = np.asarray(apply(look, picture / 255, kernels=kernels))
        assert result == pytest.approx(expected, abs=1e-6)


def test_nothing_is_computed_where_a_mask_is_black() -> None:
    levels = np.zeros((100, 80), np.uint8)
    levels[50:60, 20:30] = 255
    shares = MaskCoverage.crop(0, 0, levels)
    tile, frame = np.zeros((3, 100, 80), np.float32), Frame(160, 80, 1.0)
    computed: list[tuple[int, ...]] = []

    def change(part: np.ndarray, frame: Frame) -> np.ndarray:
        computed.append(part.shape)
        return part + 1

    changed = shares.blend(tile, frame, change, reach=2)
    assert computed == [(3, 14, 14)], "the box around the mask, and what the change looks at"
    assert np.array_equal(changed, np.broadcast_to(levels == 255, (3, 100, 80)))
    shares.blend(tile, frame.at(60), change, reach=2)
    MaskCoverage.crop(0, 0, np.zeros_like(levels)).blend(tile, frame, change, reach=2)
    assert len(computed) == 1, "a band without the mask, and a mask without white, cost nothing"


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_masks_are_stretched_over_the_photo_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch, dtype: str, kernels: bool
) -> None:
    """A recipe of 256 small masks would ask for 6 GB on a photo of 24 megapixels."""
    rng = np.random.default_rng(0)
    photo = rng.uniform(0, 1, (40, 50, 3)).astype(np.float32)
    photo = photo if dtype == "float32" else (photo * np.iinfo(dtype).max).astype(dtype)
    names = ("tone", "brightness", "sharpness", "contrast")
    parameters = {"tone": [0.5, *[1.0] * 7]}
    masks = [Mask.from_array(rng.uniform(0, 1, (8, 10)).astype(np.float32)) for _ in range(12)]
    steps = [("tone", parameters["tone"])]
    steps += [(name, parameters.get(name, 0.2), mask) for mask in masks for name in names]
    recipe = Recipe.from_steps(steps)
    together = np.asarray(apply(recipe, photo, kernels=kernels))
    most = 0

    class Run(executor._Execution):
        def _resize_masks(self, steps: Sequence[Step]) -> executor.Masks:
            nonlocal most
            shares = super()._resize_masks(steps)
            most = max(most, sum(share.levels.size for share in shares.values()))
            return shares

    monkeypatch.setattr(executor, "_Execution", Run)
    monkeypatch.setattr(executor, "MAX_MASK_BYTES", 5000)
    np.testing.assert_array_equal(apply(recipe, photo, kernels=kernels), together)
    assert 0 < most <= 5000


def test_a_mask_that_several_steps_share_is_stretched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stretched: list[Mask] = []
    resize = Mask.resize_cropped

    def counting(mask: Mask, height: int, width: int) -> tuple[int, int, np.ndarray]:
        stretched.append(mask)
        return resize(mask, height, width)

    monkeypatch.setattr(Mask, "resize_cropped", counting)
    levels = np.eye(8, dtype=bool)
    masks = [Mask.from_array(levels), Mask.from_array(levels), Mask.from_array(levels, feather=3)]
    look = Recipe.from_steps([("brightness", 0.1, mask) for mask in masks * 3])
    apply(look, np.zeros((90, 50, 3), np.uint8))
    assert len(stretched) == 2


def assert_alike(one: np.ndarray, other: np.ndarray, recipe: Recipe) -> None:
    """The same; with operations in linear light or with powers, but for one level of integers or 2e-5."""
    assert one.dtype == other.dtype
    difference = np.abs(one.astype(np.float64) - other).max(initial=0)
    rounding = 2e-5 if one.dtype.kind == "f" else 1
    assert difference <= (0 if is_published(recipe) else rounding)


@given(recipe=recipes, picture=pixels())
def test_intermediates_are_the_photo_after_each_step(recipe: Recipe, picture: np.ndarray) -> None:
    pictures = [np.asarray(image) for image in intermediates(recipe, picture)]
    assert len(pictures) == len(recipe.steps)
    for count, after in enumerate(pictures, start=1):
        prefix = Recipe.from_steps(recipe.steps[:count])
        assert_alike(after, np.asarray(apply(prefix, picture)), prefix)


@pytest.mark.slow
@BOTH_PATHS
@given(seed=st.integers(0, 2**32 - 1))
def test_stages_can_be_gone_on_from(kernels: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    picture = rng.integers(0, 2**16, (61, 47, 3), dtype=np.uint16)
    names = rng.permutation(list(operations.operations()))[: rng.integers(0, 5)]
    drawn = [(str(name), moderate(operations.get_operation(name), rng)) for name in names]
    steps = Recipe.from_steps([*drawn, ("sharpness", 0.3), ("contrast", 0)]).steps
    found = executor.render_stages(Recipe(steps=steps), picture, last=np.uint8, kernels=kernels, threads=3)
    for number, stage in enumerate(found[:-2], start=1):
        whole = np.asarray(apply(Recipe(steps=steps[:number]), picture, kernels=kernels))
        assert np.abs(stage.astype(int) - whole).max() <= 1, "linear light is rounded at each stage"
    assert [stage.dtype for stage in found[-2:]] == [np.uint8, np.uint8]
    assert found[-1] is found[-2], "a step that does nothing hands on what it got"
    half = len(steps) // 2
    before = picture if half == 0 else found[half - 1]
    rest = executor.render_stages(Recipe(steps=steps[half:]), before, last=np.uint8, kernels=kernels)
    # Rounding to 16 bits between steps can be amplified to two levels of 255.
    assert np.abs(rest[-1].astype(int) - found[-1]).max() <= 2


def test_intermediates_are_made_on_demand() -> None:
    made = intermediates(Recipe.from_steps([("brightness", 0.5)] * 3), np.full((2, 2, 3), 10, np.uint8))
    assert np.asarray(next(made))[0, 0, 0] == 15


def test_progress_rises_to_one_in_the_calling_thread() -> None:
    told: list[tuple[float, threading.Thread]] = []
    picture = np.zeros((800, 800, 3), np.uint8)
    look = Recipe.from_steps([("brightness", 0.5)])
    apply(look, picture, threads=2, progress=lambda share: told.append((share, threading.current_thread())))
    shares = [share for share, _ in told]
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {thread for _, thread in told} == {threading.current_thread()}


@pytest.mark.parametrize("threads", [1, 2])
def test_work_stops_on_request(threads: int) -> None:
    stop = threading.Event()
    seen: list[float] = []

    def stop_soon(share: float) -> None:
        seen.append(share)
        stop.set()

    look = Recipe.from_steps([("brightness", 0.5)])
    picture = np.zeros((2000, 800, 3), np.uint8)
    with pytest.raises(Cancelled, match="stopped"):
        apply(look, picture, threads=threads, progress=stop_soon, cancel=stop)
    assert seen[-1] < 1


def test_an_operation_without_a_twin_runs_by_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    from t2onet import kernels

    picture = np.random.default_rng(1).integers(0, 256, (30, 20, 3), dtype=np.uint8)
    look = Recipe.from_steps([("contrast", 0.4), ("saturation", 0.3)])
    expected = np.asarray(apply(look, picture, kernels=False)).astype(int)
    monkeypatch.delitem(kernels.KERNELS, "contrast")
    assert np.abs(np.asarray(apply(look, picture, kernels=True)) - expected).max() <= 1


def test_a_photo_may_be_a_path_an_array_or_an_image(tmp_path: Path) -> None:
    picture = np.random.default_rng(2).integers(0, 256, (6, 7, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    open_image(picture).save(path)
    look = Recipe.from_steps([("tone", [1, 2, 1, 1, 1, 1, 1, 1])])
    results = [np.asarray(apply(look, photo)) for photo in (picture, path, str(path), open_image(path))]
    assert all(np.array_equal(result, results[0]) for result in results)


def random_recipe(rng: np.random.Generator) -> Recipe:
    names = rng.permutation(list(operations.operations()))[: rng.integers(2, 5)]
    return Recipe.from_steps(
        Step(operation=name, parameters=moderate(operations.get_operation(name), rng)) for name in names
    )


@pytest.mark.slow
def test_a_preview_predicts_the_export(example_photos: list[Path]) -> None:
    differences = []
    for number, path in enumerate(example_photos):
        photo = open_image(path)
        preview = photo.resize(1000)
        for seed in range(3):
            look = random_recipe(np.random.default_rng(100 * number + seed))
            shown = np.asarray(apply(look, preview, kernels=True)).astype(float)
            exported = np.asarray(apply(look, photo, kernels=True).resize(1000)).astype(float)
            differences.append(np.abs(shown - exported).mean())
    assert np.mean(differences) <= 1.0, differences
    assert np.median(differences) <= 0.5, differences


def test_the_door_is_the_module() -> None:
    assert t2onet.apply is apply


def test_small_pictures_are_rendered_as_photos_are() -> None:
    picture = scene(40)
    renderer = PictureRenderer(picture)
    for strength in (0.3, 0.6):
        steps = [("exposure", 0.5), ("vibrance", 30), ("contrast", (strength, 0.4)), ("sharpness", strength)]
        recipe = Recipe.from_steps(steps)
        expected = np.asarray(apply(recipe, picture.transpose(1, 2, 0), kernels=False)).transpose(2, 0, 1)
        assert renderer.can_render(recipe)
        np.testing.assert_array_equal(renderer.render(recipe), expected)
    assert not renderer.can_render(Recipe.from_steps([("exposure", 0.5, "sky")]))
    assert not renderer.can_render(Recipe.from_steps([("crop", (0.1, 0.1, 0.9, 0.9))]))
