"""Arrays that are photos, bit depths and orientation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import PIL.Image
import pytest
from PIL import ImageOps

from t2onet.errors import ImageError
from t2onet.image import image_from_array, pixels
from t2onet.image.photo import to_picture
from t2onet.image.pixels import (
    Scratch,
    allocate_padded,
    find_padded,
    find_words,
    reuse_memory,
    to_depth,
    to_uint8,
    to_uint16,
    turn_upright,
)
from tests.image.helpers import photo


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [3, 4])
def test_a_photo_array_comes_back_as_it_was(dtype: type, channels: int) -> None:
    array = photo(channels=channels, dtype=dtype)
    image = image_from_array(array)
    assert image.shape == array.shape
    assert image.dtype == array.dtype
    np.testing.assert_array_equal(np.asarray(image), array)


def test_a_single_row_is_a_photo_as_an_array() -> None:
    assert image_from_array(np.zeros((1, 9, 3), np.uint8)).shape == (1, 9, 3)


def test_a_foreign_byte_order_is_made_native() -> None:
    array = photo(dtype=np.uint16)
    image = image_from_array(array.astype(">u2"))
    assert image.dtype.isnative
    np.testing.assert_array_equal(image.pixels, array)


@pytest.mark.parametrize(
    ("array", "hint"),
    [
        (np.zeros((8, 8), np.uint8), "stack"),
        (np.zeros((8, 8, 1), np.uint8), "np.repeat"),
        (np.zeros((3, 8, 9), np.uint8), "np.moveaxis"),
        (np.zeros((2, 8, 8, 3), np.uint8), "one photo at a time"),
        (np.zeros((0, 8, 3), np.uint8), "no pixels"),
        (np.zeros((8, 8, 3), np.int64), "uint8"),
        (np.zeros((8, 8, 3), bool), "uint8"),
        (np.full((8, 8, 3), np.nan), "finite"),
        (np.full((8, 8, 3), np.inf, np.float32), "finite"),
        (np.full((8, 8, 3), 200.0), "divide it by 255"),
        (np.full((8, 8, 3), -3.0), "another scale"),
    ],
)
def test_other_arrays_are_refused_with_a_hint(array: np.ndarray, hint: str) -> None:
    with pytest.raises(ImageError, match=hint) as refusal:
        image_from_array(array)
    assert "\n" not in str(refusal.value)


def test_floats_a_little_outside_are_fine() -> None:
    assert image_from_array(np.full((2, 2, 3), 1.3)).pixels.max() == 1.3


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_turned_as_pillow_turns_it(orientation: int) -> None:
    array = photo(5, 7)
    stored = PIL.Image.fromarray(array)
    stored.getexif()[0x0112] = orientation
    np.testing.assert_array_equal(
        turn_upright(array, orientation), np.asarray(ImageOps.exif_transpose(stored))
    )


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


def padded_photo() -> np.ndarray:
    pixels = allocate_padded(24, 36)
    pixels[...] = photo()
    return pixels


@pytest.mark.parametrize("rows", [slice(None), slice(5, 9), slice(23, 24)])
def test_rows_of_padded_pixels_share_the_memory_of_a_picture(rows: slice) -> None:
    pixels = padded_photo()
    picture = to_picture(pixels[rows])
    pixels[rows.start or 0, 0] = 7, 8, 9
    np.testing.assert_array_equal(np.asarray(picture)[..., :3], pixels[rows])
    padded, words = find_padded(pixels[rows]), find_words(pixels[rows])
    assert padded is not None
    assert np.shares_memory(padded, pixels)
    assert words is None or words[0, 0] & 0xFFFFFF == 7 + (8 << 8) + (9 << 16)


@pytest.mark.parametrize(
    "pixels",
    [
        photo(),
        padded_photo()[:, 1:],
        padded_photo()[::2],
        padded_photo()[::-1],
        padded_photo()[..., 1:],
        photo(channels=4)[..., 1:],
        photo(channels=4),
        photo(channels=4, dtype=np.uint16)[..., :3],
        padded_photo()[..., 0],
    ],
)
def test_other_pixels_are_not_taken_for_padded_ones(pixels: np.ndarray) -> None:
    assert find_padded(pixels) is None
    assert find_words(pixels) is None


@pytest.mark.parametrize("orientation", range(1, 9))
def test_padded_pixels_stay_padded_when_turned(orientation: int) -> None:
    turned = turn_upright(padded_photo(), orientation)
    np.testing.assert_array_equal(turned, turn_upright(photo(), orientation))
    assert find_padded(turned) is not None


def test_the_next_pixels_take_the_memory_of_those_that_are_gone() -> None:
    with reuse_memory():
        first, other = allocate_padded(40, 50), allocate_padded(40, 50)
        place = first.ctypes.data
        row = first[3]
        del first
        assert not np.shares_memory(allocate_padded(40, 50), row)  # as long as a part of them is used
        del row
        upright = allocate_padded(50, 40)
        assert upright.ctypes.data == place
        assert find_padded(upright) is not None
        assert not np.shares_memory(upright, other)


def test_memory_of_another_size_is_not_kept() -> None:
    with reuse_memory():
        allocate_padded(40, 50)
        large = allocate_padded(80, 50)
        assert large.shape == (80, 50, 3)
    allocate_padded(40, 50)
    assert not pixels._memory.free


def test_scratch_memory_is_used_again_by_its_thread_alone() -> None:
    scratch = Scratch()
    tile = scratch.take(3, 10, 20)
    assert tile.shape == (3, 10, 20)
    assert tile.ctypes.data % 64 == 0
    assert np.shares_memory(scratch.take(3, 4, 5), tile)
    with ThreadPoolExecutor(1) as pool:
        assert not np.shares_memory(pool.submit(scratch.take, 3, 10, 20).result(), tile)
