"""Colour spaces, against an independent implementation and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.image import colour
from tests.metrics.helpers import lab_to_srgb

skimage = pytest.importorskip("skimage.color")


def pictures(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((2, 3, 5, 7))


@given(st.integers(0, 1000))
def test_lab_is_that_of_scikit_image(seed: int) -> None:
    image = pictures(seed)
    theirs = skimage.rgb2lab(image, channel_axis=1)
    np.testing.assert_allclose(
        colour.srgb_to_lab(image), theirs, atol=0.01
    )  # their matrix has one digit less


@given(st.integers(0, 1000))
def test_every_way_there_has_a_way_back(seed: int) -> None:
    image = pictures(seed)
    np.testing.assert_allclose(colour.encode_srgb(colour.decode_srgb(image)), image, atol=1e-12)
    np.testing.assert_allclose(colour.xyz_to_linear(colour.linear_to_xyz(image)), image, atol=1e-6)
    np.testing.assert_allclose(
        colour.lightness_to_luminance(colour.luminance_to_lightness(image)), image, atol=1e-12
    )
    np.testing.assert_allclose(lab_to_srgb(colour.srgb_to_lab(image[0])), image[0], atol=1e-5)
    np.testing.assert_allclose(colour.lab_to_srgb(colour.srgb_to_lab(image)), image, atol=1e-5)


def test_grey_has_no_colour_and_white_is_white() -> None:
    greys = np.broadcast_to(np.linspace(0, 1, 11), (3, 1, 11))
    light, red, warm = colour.srgb_to_lab(greys)
    np.testing.assert_allclose([red, warm], 0, atol=1e-3)
    assert light[0, 0] == pytest.approx(0, abs=1e-9)
    assert light[0, -1] == pytest.approx(100)


def test_middle_grey_by_hand() -> None:
    light = np.full((3, 1, 1), 0.18)
    assert colour.luminance_to_lightness(colour.luminance(light)).item() == pytest.approx(
        1.16 * 0.18 ** (1 / 3) - 0.16
    )
    assert colour.encode_srgb(light)[0, 0, 0] == pytest.approx(1.055 * 0.18 ** (1 / 2.4) - 0.055)
