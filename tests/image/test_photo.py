"""An image in memory: arrays, new pixels, smaller copies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.errors import ImageError
from t2onet.image import image_from_array, open_image
from t2onet.image.photo import _COARSE_FACTOR, Image, Origin, resize_to_square
from t2onet.image.pixels import allocate_padded
from tests.image.helpers import photo, pillow, profile


def test_an_image_is_an_array() -> None:
    array = photo(channels=4)
    image = image_from_array(array)
    assert (image.height, image.width) == (24, 36)
    assert np.asarray(image, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array(image), array)


def test_an_image_says_what_it_is(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.jpg", photo()))
    assert repr(image) == "<Image 36 x 24, uint8, JPEG>"
    assert repr(image.with_pixels(photo(dtype=np.float32))) == "<Image 36 x 24, float32, JPEG>"
    assert (
        repr(image_from_array(photo(channels=4, dtype=np.uint16))) == "<Image 36 x 24, uint16, alpha, array>"
    )


def test_an_array_without_a_copy_only_where_there_is_one() -> None:
    assert np.array(image_from_array(photo()), copy=False).shape == (24, 36, 3)
    with pytest.raises(ValueError, match="copy"):
        np.array(image_from_array(photo(channels=4)), copy=False)


def test_pixels_are_read_only_and_the_given_array_is_not() -> None:
    array = photo()
    image = image_from_array(array)
    with pytest.raises(ValueError, match="read-only"):
        image.pixels[0, 0, 0] = 1
    array[0, 0, 0] = 1


def test_new_pixels_keep_alpha_and_origin(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo(channels=4)))
    edited = image.with_pixels(photo(dtype=np.float32))
    assert edited.alpha is not None
    assert edited.alpha.dtype == np.float32
    assert edited.alpha.max() == image.alpha.max() / 255
    assert edited.origin.path == image.origin.path
    assert edited.origin.encoded is None


def test_the_same_pixels_are_the_same_photo(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo()))
    assert image.with_pixels(image.pixels) is image


def test_new_pixels_must_fit_the_alpha() -> None:
    with pytest.raises(ImageError, match="36 x 24"):
        image_from_array(photo(channels=4)).with_pixels(photo(5, 5))
    assert image_from_array(photo(channels=4)).with_pixels(photo(5, 5, channels=4)).shape == (5, 5, 4)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_a_pixel_is_the_mean_of_its_area(dtype: type) -> None:
    array = photo(16, 24, channels=4, dtype=dtype)
    means = array.astype(np.float64).reshape(4, 4, 6, 4, 4).mean(axis=(1, 3))
    small = image_from_array(array).resize(4)
    assert small.dtype == dtype
    tolerance = 1e-6 if np.issubdtype(dtype, np.floating) else 0.5 + 1e-2
    np.testing.assert_allclose(np.asarray(small), means, atol=tolerance)


def test_a_photo_is_never_enlarged() -> None:
    image = image_from_array(photo())
    assert image.resize(24) is image
    assert image.resize(5000) is image


@given(st.integers(2, 60), st.integers(2, 60), st.integers(1, 59))
def test_sides_stay_in_proportion(height: int, width: int, short_side: int) -> None:
    small = image_from_array(np.zeros((height, width, 3), np.uint8)).resize(short_side)
    short = min(height, width)
    if short > short_side:
        assert min(small.height, small.width) == short_side
        assert abs(max(small.height, small.width) - max(height, width) * short_side / short) <= 0.5


def test_a_side_without_pixels_is_refused() -> None:
    with pytest.raises(ImageError, match="at least 1"):
        image_from_array(photo()).resize(0)


@given(st.integers(2, 200), st.integers(2, 200), st.integers(1, 500))
def test_a_squeezed_photo_is_pillows_in_bands(height: int, width: int, pixels: int) -> None:
    array = np.random.default_rng(height).integers(0, 256, (height, width, 3), dtype=np.uint8)
    box = PIL.Image.Resampling.BOX
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("t2onet.image.photo._BAND_PIXELS", pixels)
        small = resize_to_square(image_from_array(array), 16)
    np.testing.assert_array_equal(
        small, PIL.Image.fromarray(array).resize((16, 16), box, reducing_gap=_COARSE_FACTOR)
    )


def test_a_large_photo_is_squeezed_from_every_second_row() -> None:
    array = np.random.default_rng(3).integers(0, 256, (2 * 8 * 16 + 1, 300, 3), dtype=np.uint8)
    array[1::2] = 0  # the rows that are not read
    padded = allocate_padded(*array.shape[:2])
    padded[...] = array
    small = resize_to_square(image_from_array(array), 16)
    half = np.ascontiguousarray(array[:-1:2])
    expected = PIL.Image.fromarray(half).resize(
        (16, 16), PIL.Image.Resampling.BOX, reducing_gap=_COARSE_FACTOR
    )
    np.testing.assert_array_equal(small, expected)
    np.testing.assert_array_equal(resize_to_square(image_from_array(padded), 16), small)


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_a_squeezed_photo_has_eight_bits_and_no_alpha(dtype: type) -> None:
    small = resize_to_square(image_from_array(photo(160, 240, channels=4, dtype=dtype)), 16)
    assert (small.shape, small.dtype) == ((16, 16, 3), np.uint8)
    np.testing.assert_allclose(
        small.astype(int), resize_to_square(image_from_array(photo(160, 240)), 16), atol=1
    )


def test_a_squeezed_photo_is_in_srgb() -> None:
    wide = Image(photo(160, 240), origin=Origin(icc=profile(gamma=2.2)))
    assert (
        np.abs(
            resize_to_square(wide, 16) - resize_to_square(image_from_array(wide.pixels), 16).astype(int)
        ).max()
        > 10
    )
    np.testing.assert_allclose(
        resize_to_square(wide, 16).astype(int), resize_to_square(wide.to_srgb(), 16), atol=3
    )
