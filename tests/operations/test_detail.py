"""Clarity, dehaze and denoise: windows, edges, noise, bands and previews."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import Recipe, apply, bands, open_image
from t2onet.operations import Frame, get_operation, operations
from t2onet.operations.detail import Blocks, Box, Window
from tests.conftest import EXAMPLES

pytestmark = pytest.mark.slow

SETTINGS: dict[str, tuple[float, ...]] = {
    "clarity": (60,),
    "dehaze": (50,),
    "denoise": (40, 40),
    "vignette": (-50, 40, 60),
    "grain": (60, 30),
}
BOTH_PATHS = pytest.mark.parametrize("kernels", [False, True], ids=["formula", "kernel"])
every_setting = pytest.mark.parametrize("name", SETTINGS)


def make_step_edge(low: float, high: float, side: int = 200) -> np.ndarray:
    """(3, side, side): grey `low` on the left, `high` on the right."""
    values = np.where(np.arange(side) < side // 2, low, high)
    return np.broadcast_to(values, (3, side, side)).copy()


@pytest.mark.parametrize("deviation", [0.0, 0.01, 0.5, 1.0, 2.0, 7.3, 60.0])
def test_a_box_has_the_deviation_that_was_asked_for(deviation: float) -> None:
    box = Box.with_deviation(deviation)
    point = np.zeros((1, 2 * box.whole + 5))
    middle = point.shape[1] // 2
    point[0, middle] = 1.0
    weights = box.smooth(point)[0]
    assert weights.sum() == pytest.approx(1)
    assert (weights * (np.arange(len(weights)) - middle) ** 2).sum() == pytest.approx(deviation**2)


def test_blocks_are_counted_from_the_edge_of_the_photo() -> None:
    blocks = Blocks(size=4, first=6, count=9)
    assert blocks.edges.tolist() == [0, 2, 6, 9]
    values = np.arange(6.0, 15.0)
    assert blocks.average(values).tolist() == [6.5, 9.5, 13.0]
    whole = Blocks(size=4, first=0, count=16)
    line = whole.spread(whole.average(np.arange(16.0)))
    assert line[2:14] == pytest.approx(np.arange(2.0, 14.0)), "a straight line stays one"


@every_setting
@BOTH_PATHS
def test_bands_give_what_the_whole_gives(name: str, kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    coarse = np.kron(rng.random((33, 41, 3)), np.ones((10, 10, 1)))
    picture = np.clip(coarse + 0.1 * rng.standard_normal(coarse.shape), 0, 1).astype(np.float32)
    look = Recipe.from_steps([(name, SETTINGS[name])])
    whole = np.asarray(apply(look, picture, kernels=kernels))
    assert np.abs(whole - picture).max() > 0.02
    monkeypatch.setattr(bands, "BAND_PIXELS", 37 * picture.shape[1])
    monkeypatch.setattr(bands, "MIN_BAND_REACHES", 0)
    banded = np.asarray(apply(look, picture, kernels=kernels))
    assert banded == pytest.approx(whole, abs=2e-6)


PREVIEW_TOLERANCES = {"clarity": 0.002, "dehaze": 0.0012, "denoise": 0.0035, "vignette": 2e-4, "grain": 5e-4}
"""Mean difference of a preview from the export averaged down to its size."""


@every_setting
def test_a_quarter_size_preview_shows_the_export(name: str) -> None:
    photo = np.asarray(open_image(EXAMPLES / "trail.jpg"))[:2448, :3264] / np.float32(255)
    look = Recipe.from_steps([(name, SETTINGS[name])])
    preview = np.asarray(apply(look, average_down(photo), kernels=True))
    export = average_down(np.asarray(apply(look, photo, kernels=True)))
    assert np.abs(preview - average_down(photo)).mean() > 2 * PREVIEW_TOLERANCES[name], "it does something"
    assert np.abs(preview - export).mean() < PREVIEW_TOLERANCES[name]


def average_down(picture: np.ndarray, by: int = 4) -> np.ndarray:
    height, width, _ = picture.shape
    averaged: np.ndarray = picture.reshape(height // by, by, width // by, by, 3).mean(axis=(1, 3))
    return averaged


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.7), (0.1, 0.5), (0.2, 0.9)])
@pytest.mark.parametrize("amount", [-100, 50, 100])
def test_clarity_draws_no_halo_along_an_edge(low: float, high: float, amount: float) -> None:
    result = get_operation("clarity")(make_step_edge(low, high), amount)
    overshoot = max(result.max() - high, low - result.min())
    assert overshoot < 0.12 * (high - low)
    assert result[..., :40] == pytest.approx(low, abs=1e-6)


def test_clarity_raises_texture_and_keeps_the_mean() -> None:
    rng = np.random.default_rng(2)
    texture = np.clip(0.5 + 0.04 * rng.standard_normal((1, 200, 200)), 0, 1).repeat(3, axis=0)
    spreads = [get_operation("clarity")(texture, amount).std() for amount in (-100, -50, 0, 50, 100)]
    assert spreads == sorted(spreads)
    assert spreads[0] < 0.5 * texture.std()
    assert spreads[-1] > 1.6 * texture.std()
    assert get_operation("clarity")(texture, 100).mean() == pytest.approx(0.5, abs=1e-3)


def test_clarity_acts_on_midtones_most() -> None:
    rng = np.random.default_rng(3)
    noise = 0.02 * rng.standard_normal((1, 100, 100)).repeat(3, axis=0)
    gains = [get_operation("clarity")(tone + noise, 60).std() / noise.std() for tone in (0.1, 0.5, 0.9)]
    assert gains[1] > 1.3 * gains[0]
    assert gains[1] > 1.3 * gains[2]


def test_dehaze_clears_a_veil_and_negative_dehaze_adds_one() -> None:
    rng = np.random.default_rng(4)
    scene = np.kron(rng.random((3, 10, 10)) ** 2 * 0.6, np.ones((20, 20)))
    hazy = 1 - (1 - scene) * 0.5
    cleared = get_operation("dehaze")(hazy, 100)
    assert np.abs(cleared - scene).mean() < 0.75 * np.abs(hazy - scene).mean()
    assert cleared.std() > 1.3 * hazy.std()
    veiled = get_operation("dehaze")(scene, -100)
    assert veiled.std() < 0.8 * scene.std()
    assert veiled.min() > 0.2


def test_dehaze_leaves_what_has_deep_shadows() -> None:
    clear = np.random.default_rng(5).random((3, 200, 200)) ** 3
    clear[0] = 0.0
    assert get_operation("dehaze")(clear, 100) == pytest.approx(clear, abs=1e-6)


def test_denoise_calms_a_flat_patch() -> None:
    rng = np.random.default_rng(6)
    frame = Frame(2000, 3000, 2.0)
    patch = np.clip(0.5 + 0.03 * rng.standard_normal((3, 150, 150)), 0, 1)
    calm = get_operation("denoise").run(patch, np.array([60.0, 60.0]), frame)
    assert calm.std(axis=(1, 2)).max() < 0.4 * patch.std()
    assert calm.mean() == pytest.approx(patch.mean(), abs=1e-3)


def test_denoise_keeps_an_edge() -> None:
    rng = np.random.default_rng(7)
    edge = make_step_edge(0.3, 0.7)
    noisy = edge + 0.02 * rng.standard_normal(edge.shape)
    calm = get_operation("denoise").run(noisy, np.array([50.0, 50.0]), Frame(2000, 3000, 2.0))
    left, right = calm[..., 98:100].mean(), calm[..., 100:102].mean()
    assert right - left > 0.9 * 0.4
    assert np.abs(calm - edge).mean() < 0.5 * np.abs(noisy - edge).mean()


def test_denoise_takes_colour_and_lightness_apart() -> None:
    rng = np.random.default_rng(8)
    grey = 0.5 + 0.03 * rng.standard_normal((1, 100, 100)).repeat(3, axis=0)
    frame = Frame(2000, 3000, 2.0)
    assert get_operation("denoise").run(grey, np.array([0.0, 100.0]), frame) == pytest.approx(grey, abs=1e-6)
    calm = get_operation("denoise").run(grey, np.array([100.0, 0.0]), frame)
    assert calm.std() < 0.5 * grey.std()


@pytest.mark.parametrize("name", ["clarity", "dehaze", "denoise"])
@pytest.mark.parametrize("short_side", [100, 900, 1000, 1100, 4000])
def test_what_is_read_grows_with_the_photo(name: str, short_side: int) -> None:
    frame = Frame(short_side, 2 * short_side, 1.0)
    assert operations()[name].reach(frame) <= 0.06 * short_side + 6


def test_a_window_reads_no_further_than_it_says() -> None:
    window = Window.of_share(0.015, Frame(2000, 3000, 2.0))
    assert window.block > 1
    image = np.full((3, 5, 2 * window.reach + 300), 0.4)
    for column in (150, 151, 157, 164):
        changed = image.copy()
        changed[..., column] = 1.0
        frame = Frame(2000, 3000, 2.0, top=700, left=4)
        before, after = (
            get_operation("clarity").run(one, np.array([80.0]), frame) for one in (image, changed)
        )
        touched = np.flatnonzero(np.abs(after - before).max(axis=(0, 1)) > 1e-12)
        assert touched.min() >= column - window.reach
        assert touched.max() <= column + window.reach
