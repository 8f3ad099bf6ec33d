"""Smaller copies: means of areas, in proportion, never larger."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.errors import ImageError
from t2onet.image import from_array

from .made import photo


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_a_pixel_is_the_mean_of_its_area(dtype: type) -> None:
    array = photo(16, 24, channels=4, dtype=dtype)
    means = array.astype(np.float64).reshape(4, 4, 6, 4, 4).mean(axis=(1, 3))
    small = from_array(array).resized(4)
    assert small.dtype == dtype
    tolerance = 1e-6 if np.issubdtype(dtype, np.floating) else 0.5 + 1e-2
    np.testing.assert_allclose(np.asarray(small), means, atol=tolerance)


def test_a_photo_is_never_enlarged() -> None:
    image = from_array(photo())
    assert image.resized(24) is image
    assert image.resized(5000) is image


@given(st.integers(2, 60), st.integers(2, 60), st.integers(1, 59))
def test_sides_stay_in_proportion(height: int, width: int, short_side: int) -> None:
    small = from_array(np.zeros((height, width, 3), np.uint8)).resized(short_side)
    short = min(height, width)
    if short > short_side:
        assert min(small.height, small.width) == short_side
        assert abs(max(small.height, small.width) - max(height, width) * short_side / short) <= 0.5


def test_a_side_without_pixels_is_refused() -> None:
    with pytest.raises(ImageError, match="at least 1"):
        from_array(photo()).resized(0)
