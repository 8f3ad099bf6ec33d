"""Photographic changes: what each does by hand, what it leaves alone, and that torch does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.data.simulation import edits
from t2onet.data.simulation.strengths import COLUMNS, UNITS, edited
from t2onet.data.simulation.wish import ChangeKind
from t2onet.image import colour
from t2onet.language import Attribute
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_changes
from tests.data.simulation.helpers import photos

Edit = Callable[..., Any]
SINGLE: dict[str, tuple[Edit, tuple[float, float], Attribute]] = {
    "exposure": (edits.exposure, UNITS[ChangeKind.EXPOSURE], Attribute.LIGHTNESS),
    "shadows": (edits.shadows, UNITS[ChangeKind.SHADOWS], Attribute.LIGHTNESS),
    "highlights": (edits.highlights, UNITS[ChangeKind.HIGHLIGHTS], Attribute.LIGHTNESS),
    "contrast": (edits.contrast, UNITS[ChangeKind.CONTRAST], Attribute.CONTRAST),
    "temperature": (edits.temperature, UNITS[ChangeKind.TEMPERATURE], Attribute.WARMTH),
    "chroma": (edits.chroma, UNITS[ChangeKind.CHROMA], Attribute.COLOURFULNESS),
    "sharpness": (edits.sharpness, UNITS[ChangeKind.SHARPNESS], Attribute.SHARPNESS),
}
each = pytest.mark.parametrize("name", SINGLE)


def greys(*light: float) -> np.ndarray:
    """A picture (1, 3, 1, W) of greys with this linear light."""
    return np.broadcast_to(colour.encode_srgb(np.array(light)), (1, 3, 1, len(light)))


def apply_edit(name: str, amount: float) -> np.ndarray:
    edit, (down, up), _ = SINGLE[name]
    strength = amount * (up if amount > 0 else down)
    return edit(photos(), np.full(len(photos()), strength, np.float32))


@each
def test_no_strength_is_no_change(name: str) -> None:
    assert np.abs(apply_edit(name, 0.0) - photos()).max() < 2e-3


@each
@pytest.mark.parametrize("amount", [-3.0, 3.0])
def test_pictures_stay_pictures(name: str, amount: float) -> None:
    picture = apply_edit(name, amount)
    assert picture.dtype == np.float32
    assert picture.min() >= 0
    assert picture.max() <= 1


@each
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_touch_is_seen_on_every_photo_and_more_is_more(name: str, sign: int) -> None:
    column = ATTRIBUTE_INDEX[SINGLE[name][2]]
    seen = [
        sign * measure_changes(photos(), apply_edit(name, sign * amount))[:, column] for amount in (0.4, 1, 2)
    ]
    assert (seen[0] > JUST_NOTICEABLE[column]).all()
    assert (seen[1] > 1.5 * seen[0]).all()
    assert (seen[2] > 1.2 * seen[1]).all()


@pytest.mark.parametrize("name", ["contrast", "temperature", "chroma", "sharpness"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_what_is_not_meant_to_change_the_lightness_does_not(name: str, sign: int) -> None:
    change = measure_changes(photos(), apply_edit(name, sign))[:, ATTRIBUTE_INDEX[Attribute.LIGHTNESS]]
    assert np.abs(change).max() < JUST_NOTICEABLE[ATTRIBUTE_INDEX[Attribute.LIGHTNESS]]


def test_a_stop_doubles_the_light_of_shadows_and_middle_grey_and_spares_white() -> None:
    light = colour.decode_srgb(edits.exposure(greys(0.01, 0.09, 0.18, 1.0), np.array([1.0])))[0, 0, 0]
    np.testing.assert_allclose(light, [0.02, 0.18, 0.36, 1.0], rtol=0.06)


def test_a_stop_down_halves_the_light_and_keeps_white_bright() -> None:
    light = colour.decode_srgb(edits.exposure(greys(0.01, 0.18, 1.0), np.array([-1.0])))[0, 0, 0]
    np.testing.assert_allclose(light, [0.005, 0.09, 0.5 / 0.65], rtol=0.07)


def test_shadows_leave_highlights_alone_and_the_other_way_round() -> None:
    tones = greys(0.02, 0.6)
    lifted, lit = edits.shadows(tones, np.array([0.8])), edits.highlights(tones, np.array([0.5]))
    assert lifted[0, 0, 0, 0] > tones[0, 0, 0, 0] + 0.03
    assert lifted[0, 0, 0, 1] == pytest.approx(tones[0, 0, 0, 1])
    assert lit[0, 0, 0, 0] == pytest.approx(tones[0, 0, 0, 0])
    assert lit[0, 0, 0, 1] > tones[0, 0, 0, 1] + 0.03


@pytest.mark.slow
@given(st.sampled_from(["exposure", "shadows", "highlights", "contrast"]), st.floats(-3.2, 3.2))
def test_no_amount_swaps_tones(name: str, amount: float) -> None:
    edit, (down, up), _ = SINGLE[name]
    ramp = edit(greys(*np.linspace(0, 1, 200)), np.array([amount * (up if amount > 0 else down)]))
    assert (np.diff(ramp[0, 0, 0]) > -1e-9).all()


def test_less_contrast_scales_the_deviation_by_its_slope() -> None:
    after = edits.contrast(photos(), np.full(len(photos()), -1.0, np.float32))
    column = ATTRIBUTE_INDEX[Attribute.CONTRAST]
    before = measure_changes(np.zeros_like(after), photos())[:, column]
    np.testing.assert_allclose(measure_changes(photos(), after)[:, column] / before, -0.5, atol=0.01)


def test_a_cast_moves_white_light_as_said() -> None:
    grey = greys(0.3, 0.3)
    light, red, yellow = colour.srgb_to_lab(edits.cast(grey, np.array([12.0]), np.array([-8.0])))[0]
    share = (0.3) ** (1 / 3)  # of white's shift, at this light
    np.testing.assert_allclose(red, 12 * share, atol=0.01)
    np.testing.assert_allclose(yellow, -8 * share, atol=0.01)
    np.testing.assert_allclose(light, colour.srgb_to_lab(grey)[0, 0], atol=1e-3)


@pytest.mark.parametrize(("kelvin", "white"), [(5003, (0.9642, 0.8251)), (2856, (1.0985, 0.3558))])
def test_temperature_follows_the_illuminants(kelvin: float, white: tuple[float, float]) -> None:
    mired = 1e6 / kelvin - 1e6 / 6504
    _, red, yellow = colour.srgb_to_lab(edits.temperature(greys(0.2), np.array([mired])))[0, :, 0, 0]
    share = 0.2 ** (1 / 3)
    assert red / share == pytest.approx(500 * ((white[0] / 0.95047) ** (1 / 3) - 1), abs=1)
    assert yellow / share == pytest.approx(200 * (1 - (white[1] / 1.08883) ** (1 / 3)), abs=1)


def test_half_the_chroma_is_half_the_chroma() -> None:
    faded = colour.srgb_to_lab(edits.chroma(photos(), np.full(len(photos()), -1.0, np.float32)))
    np.testing.assert_allclose(faded[:, 1:], colour.srgb_to_lab(photos())[:, 1:] / 2, atol=0.5)


def test_monochrome_is_grey_of_the_same_lightness() -> None:
    grey = colour.srgb_to_lab(edits.monochrome(photos(), np.ones(len(photos()), np.float32)))
    np.testing.assert_allclose(grey[:, 1:], 0, atol=0.01)
    np.testing.assert_allclose(grey[:, 0], colour.srgb_to_lab(photos())[:, 0], atol=0.05)


def test_extremely_soft_is_softer_than_one_blur_can_make_it() -> None:
    """A line of light is spread so far that little of its height is left."""
    line = np.full((1, 3, 64, 64), 0.2)
    line[..., 32] = 0.8
    heights = [
        float(edits.sharpness(line, np.array([-amount * UNITS[ChangeKind.SHARPNESS][0]]))[0, 0, 32, 32]) - 0.2
        for amount in (0.0, 1.0, 2.0, 2.6, 3.2)
    ]
    shares = np.array(heights) / heights[0]
    assert (np.diff(shares) < -0.05).all()
    assert shares[3] < 0.35


def test_a_touch_sharper_is_seen_on_a_soft_photo() -> None:
    soft = edits.sharpness(photos(), np.full(len(photos()), -1.0, np.float32))
    touch = edits.sharpness(soft, np.full(len(soft), 0.4 * UNITS[ChangeKind.SHARPNESS][1], np.float32))
    moved = np.abs(colour.srgb_to_lab(touch)[:, 0] - colour.srgb_to_lab(soft)[:, 0])
    assert (np.percentile(moved.reshape(len(soft), -1), 95, axis=1) > 0.75).all()


def test_torch_makes_the_same_pictures() -> None:
    torch = pytest.importorskip("torch")
    images = photos(32).astype(np.float64)
    rng = np.random.default_rng(3)
    limits = np.array([1.5, 1.0, 0.8, 0.8, 60, 15, 15, 0.8, 1.0, 1.5])
    wanted = rng.uniform(-1, 1, (len(images), len(COLUMNS))) * limits
    wanted *= rng.random(wanted.shape) < 0.6
    np.testing.assert_allclose(
        edited(torch.tensor(images), wanted).numpy(), edited(images, wanted), atol=1e-6
    )
