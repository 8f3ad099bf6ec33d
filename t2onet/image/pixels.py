"""Pixels as arrays: accepted shapes and types, bit depths, alpha, orientation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import ImageError

# Which NumPy arrays are photos, which of those are gray, and how to turn them. Knows nothing of files.

# Kind and bytes of a sample: uint8, uint16, float16, float32, float64, in any byte order.
_SAMPLE_TYPES = {("u", 1), ("u", 2), ("f", 2), ("f", 4), ("f", 8)}


def check_array(given: Any) -> NDArray[Any]:
    """A native (H, W, 3) or (H, W, 4) array of a photo, or an ImageError that says how to make it one."""
    array: NDArray[Any] = np.asarray(given)
    _check_shape(array.shape)
    _check_dtype(array.dtype)
    if array.dtype.kind == "f":
        _check_range(array)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def split_alpha(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """(H, W, 3 or 4) -> the three colour channels, and alpha where there is a fourth."""
    return (array, None) if array.shape[2] == 3 else (array[..., :3], array[..., 3])


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) == 3 and shape[2] in (3, 4):
        if 0 in shape:
            raise ImageError(f"An array of shape {shape} has no pixels; give one of shape (H, W, 3).")
        return
    raise ImageError(
        f"An array of shape {shape} is not a photo of shape (H, W, 3) or (H, W, 4); {_suggest_shape(shape)}."
    )


def _suggest_shape(shape: tuple[int, ...]) -> str:
    if len(shape) == 2:
        return "stack the gray channel three times: np.stack([gray] * 3, axis=-1)"
    if len(shape) == 3 and shape[0] in (3, 4):
        return "move the channel axis last: np.moveaxis(array, 0, -1)"
    if len(shape) == 3 and shape[2] == 1:
        return "stack the gray channel three times: np.repeat(array, 3, axis=-1)"
    if len(shape) == 4:
        return "give one photo at a time"
    return "give rows, columns and three channels"


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if (dtype.kind, dtype.itemsize) in _SAMPLE_TYPES:
        return
    raise ImageError(
        f"An array of {dtype} is not a photo's; convert it to uint8, uint16, or a float in [0, 1], "
        "for example array.astype(np.uint8)."
    )


def _check_range(array: NDArray[Any]) -> None:
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ImageError(
            "The float array has values that are not finite; replace them, for example np.nan_to_num(array)."
        )
    if low < -1 or high > 2:
        raise ImageError(
            f"The float array runs from {low:g} to {high:g}, which looks like another scale than [0, 1]; "
            "divide it by 255 (or by its white)."
        )


def is_gray(pixels: NDArray[Any]) -> bool:
    """Whether the three channels of (H, W, 3) are equal everywhere."""
    red = pixels[..., 0]
    return np.array_equal(red, pixels[..., 1]) and np.array_equal(red, pixels[..., 2])


def turn_upright(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn (H, W, ...) as the EXIF orientation 1..8 asks, so that it stands upright."""
    if orientation >= 5:
        array = array.swapaxes(0, 1)
    rows = slice(None, None, -1) if orientation in (3, 4, 7, 8) else slice(None)
    columns = slice(None, None, -1) if orientation in (2, 3, 6, 7) else slice(None)
    return np.ascontiguousarray(array[rows, columns])


# Between the depths of a pixel: 8 bit, 16 bit and float in [0, 1], rounded half up. Knows nothing else.


def to_depth(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """`array` scaled to the range of `dtype`: 0..255, 0..65535 or 0..1."""
    dtype = np.dtype(dtype)
    if array.dtype == dtype:
        return array
    if dtype == np.uint8:
        return to_uint8(array)
    if dtype == np.uint16:
        return to_uint16(array)
    if array.dtype.kind == "f":
        return array.astype(dtype)
    white = np.iinfo(array.dtype).max
    wide: NDArray[Any] = array.astype(np.float64 if dtype == np.float64 else np.float32)
    scaled: NDArray[Any] = wide / wide.dtype.type(white)
    return scaled.astype(dtype)


def to_uint8(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Any depth -> 0..255."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == np.uint16:
        return ((array.astype(np.uint32) + 128) // 257).astype(np.uint8)
    return _quantize(array, 255).astype(np.uint8)


def to_uint16(array: NDArray[Any]) -> NDArray[np.uint16]:
    """Any depth -> 0..65535."""
    if array.dtype == np.uint16:
        return array
    if array.dtype == np.uint8:
        return array.astype(np.uint16) * np.uint16(257)
    return _quantize(array, 65535).astype(np.uint16)


def _quantize(array: NDArray[Any], white: int) -> NDArray[Any]:
    # float32 holds 65535.5 exactly, float16 does not.
    wide: NDArray[Any] = array.astype(np.float32) if array.dtype == np.float16 else array
    scaled: NDArray[Any] = np.clip(wide, 0, 1) * wide.dtype.type(white)
    rounded: NDArray[Any] = np.floor(scaled + wide.dtype.type(0.5))
    return rounded
