"""Which NumPy arrays are photos, which of those are gray, and how to turn them. Knows nothing of files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError

# Kind and bytes of a sample: uint8, uint16, float16, float32, float64, in any byte order.
_TYPES = {("u", 1), ("u", 2), ("f", 2), ("f", 4), ("f", 8)}


def checked(given: Any) -> NDArray[Any]:
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
        f"An array of shape {shape} is not a photo of shape (H, W, 3) or (H, W, 4); {_hint(shape)}."
    )


def _hint(shape: tuple[int, ...]) -> str:
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
    if (dtype.kind, dtype.itemsize) in _TYPES:
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


def upright(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn (H, W, ...) as the EXIF orientation 1..8 asks, so that it stands upright."""
    if orientation >= 5:
        array = array.swapaxes(0, 1)
    rows = slice(None, None, -1) if orientation in (3, 4, 7, 8) else slice(None)
    columns = slice(None, None, -1) if orientation in (2, 3, 6, 7) else slice(None)
    return np.ascontiguousarray(array[rows, columns])
