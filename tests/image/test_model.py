"""An image: what it shows of itself, and what happens when its pixels are replaced."""

from pathlib import Path

import numpy as np
import pytest

from t2onet.errors import ImageError
from t2onet.image import image_from_array, open_image
from tests.image.made import photo, pillow


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
