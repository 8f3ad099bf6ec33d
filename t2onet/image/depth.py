"""Between the depths of a pixel: 8 bit, 16 bit and float in [0, 1], rounded half up. Knows nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def as_depth(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
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
    return _quantized(array, 255).astype(np.uint8)


def to_uint16(array: NDArray[Any]) -> NDArray[np.uint16]:
    """Any depth -> 0..65535."""
    if array.dtype == np.uint16:
        return array
    if array.dtype == np.uint8:
        return array.astype(np.uint16) * np.uint16(257)
    return _quantized(array, 65535).astype(np.uint16)


def _quantized(array: NDArray[Any], white: int) -> NDArray[Any]:
    # float32 holds 65535.5 exactly, float16 does not.
    wide: NDArray[Any] = array.astype(np.float32) if array.dtype == np.float16 else array
    scaled: NDArray[Any] = np.clip(wide, 0, 1) * wide.dtype.type(white)
    rounded: NDArray[Any] = np.floor(scaled + wide.dtype.type(0.5))
    return rounded
