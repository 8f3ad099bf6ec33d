"""Between depths: exact where a depth holds the other, rounded half up where it does not."""

import numpy as np
import pytest

from t2onet.image.pixels import to_depth, to_uint8, to_uint16

LEVELS = np.arange(256, dtype=np.uint8)
DEEP = np.arange(65536, dtype=np.uint16)


def test_eight_bits_survive_sixteen() -> None:
    assert to_uint16(LEVELS)[255] == 65535
    np.testing.assert_array_equal(to_uint8(to_uint16(LEVELS)), LEVELS)


def test_sixteen_bits_are_rounded_half_up() -> None:
    np.testing.assert_array_equal(to_uint8(DEEP), np.floor(DEEP / 257 + 0.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integers_survive_floats(dtype: type) -> None:
    np.testing.assert_array_equal(to_uint16(to_depth(DEEP, dtype)), DEEP)
    np.testing.assert_array_equal(to_uint8(to_depth(LEVELS, dtype)), LEVELS)


def test_floats_are_clipped_and_rounded_half_up() -> None:
    assert to_uint8(np.array([-0.2, 0.0, 0.5, 1.0, 1.7])).tolist() == [0, 0, 128, 255, 255]
    assert to_uint16(np.array([0.5, 1.0], np.float16)).tolist() == [32768, 65535]
