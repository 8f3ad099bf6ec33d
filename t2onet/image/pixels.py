"""Pixels as arrays: shapes, sample types, bit depths, alpha and orientation; helpers for NumPy and torch."""

from __future__ import annotations

import math
import mmap
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import ImageError

Array = Any
"""A NumPy array or a torch tensor."""

_SAMPLE_TYPES = {("u", 1), ("u", 2), ("f", 2), ("f", 4), ("f", 8)}
"""Kind and size of uint8, uint16, float16, float32 and float64; any byte order is accepted."""


def check_array(values: Any) -> NDArray[Any]:
    """Return `values` as a native (H, W, 3 or 4) array; raise an ImageError that says how to convert it."""
    array: NDArray[Any] = np.asarray(values)
    _check_shape(array.shape)
    _check_dtype(array.dtype)
    if array.dtype.kind == "f":
        _check_range(array)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def split_alpha(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Split (H, W, 3 or 4) into colour (H, W, 3) and alpha (H, W), or None without a fourth channel."""
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
        f"An array of {dtype} is not a photo; convert it to uint8, uint16, or a float in [0, 1], "
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


def allocate_padded(height: int, width: int) -> NDArray[np.uint8]:
    """An uninitialized (H, W, 3) that has four bytes a pixel in memory, like Pillow's pictures."""
    return _memory.allocate(height, width)[..., :3]


def allocate_touched(height: int, width: int) -> NDArray[np.uint8]:
    """Like `allocate_padded`, and the system has mapped the memory, which takes longer than filling it."""
    pixels = _memory.allocate(height, width)
    pixels.reshape(-1)[:: mmap.PAGESIZE] = 0
    return pixels[..., :3]


@contextmanager
def reuse_memory() -> Iterator[None]:
    """Photos that are let go inside leave their memory to the next: the system clears what is new to it."""
    _memory.users += 1
    try:
        yield
    finally:
        _memory.users -= 1
        _memory.free.clear()


class _PixelMemory:
    """Memory of padded pixels; that of pixels which are gone is kept while the next may fit into it."""

    def __init__(self) -> None:
        self.users = 0
        self.free: list[NDArray[np.uint8]] = []

    def allocate(self, height: int, width: int) -> NDArray[np.uint8]:
        """An uninitialized (H, W, 4)."""
        shape = height, width, 4
        if not self.users:
            return np.empty(shape, np.uint8)
        return np.asarray(_Loan(self, self._take(math.prod(shape)), shape))

    def _take(self, size: int) -> NDArray[np.uint8]:
        try:
            memory = self.free.pop()
        except IndexError:
            return np.empty(size, np.uint8)
        if memory.size == size:
            return memory
        self.free.clear()
        return np.empty(size, np.uint8)

    def give_back(self, memory: NDArray[np.uint8]) -> None:
        if self.users:
            self.free.append(memory)


class _Loan:
    """Memory as an array of some shape; given back when the last array in it is gone."""

    def __init__(self, owner: _PixelMemory, memory: NDArray[np.uint8], shape: tuple[int, ...]) -> None:
        self._owner, self._memory = owner, memory
        self.__array_interface__ = {**memory.__array_interface__, "shape": shape, "strides": None}

    def __del__(self) -> None:
        self._owner.give_back(self._memory)


_memory = _PixelMemory()


class Scratch(threading.local):
    """Floats that a thread uses again and again: fresh memory takes longer than filling it."""

    _ALIGNMENT = 64
    """Bytes of a cache line; vectors that straddle two take twice as long to read."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.float32)

    def take(self, *shape: int) -> NDArray[np.float32]:
        """Uninitialized memory, the same as before in this thread where that was large enough."""
        size = math.prod(shape)
        if self._memory.size < size:
            spare = self._ALIGNMENT // 4
            memory = np.empty(size + spare, np.float32)
            first = -memory.ctypes.data % self._ALIGNMENT // 4
            self._memory = memory[first : first + size]
        return self._memory[:size].reshape(shape)


def find_padded(pixels: NDArray[Any]) -> NDArray[np.uint8] | None:
    """The same memory as (H, W, 4) for whole rows of pixels with four bytes each; None for others."""
    memory = pixels.base
    if not isinstance(memory, np.ndarray) or memory.dtype != np.uint8 or memory.ndim != 3:
        return None
    width = memory.shape[1]
    shape, strides = (len(pixels), width, 3), (4 * width, 4, 1)
    if memory.shape[2] != 4 or (pixels.shape, pixels.strides) != (shape, strides) or pixels.dtype != np.uint8:
        return None
    top, rest = divmod(pixels.ctypes.data - memory.ctypes.data, 4 * width)
    return None if rest or memory.strides != strides else memory[top : top + len(pixels)]


def find_words(pixels: NDArray[Any]) -> NDArray[np.uint32] | None:
    """The same memory as (H, W), one word a pixel with red in its lowest byte; None where there is none."""
    padded = find_padded(pixels) if sys.byteorder == "little" else None
    return None if padded is None else padded.view(np.uint32)[..., 0]


def turn_upright(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Rotate and flip (H, W, ...) by its EXIF orientation (1..8)."""
    padded = find_padded(array)
    if padded is None:
        return np.ascontiguousarray(_turn(array, orientation))
    if orientation == 1:
        return array
    turned = _turn(padded, orientation)
    upright = allocate_padded(*turned.shape[:2])
    upright.base[...] = turned  # type: ignore[index]
    return upright


def _turn(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    if orientation >= 5:
        array = array.swapaxes(0, 1)
    rows = slice(None, None, -1) if orientation in (3, 4, 7, 8) else slice(None)
    columns = slice(None, None, -1) if orientation in (2, 3, 6, 7) else slice(None)
    return array[rows, columns]


def to_depth(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Scale `array` to the range of `dtype` (0..255, 0..65535 or 0..1), rounding half up."""
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


def flatten_on_white(pixels: NDArray[Any], alpha: NDArray[Any]) -> NDArray[Any]:
    """Pixels (H, W, 3) of any depth with their transparent parts filled with white."""
    cover = to_depth(alpha, np.float32)[..., None]
    return to_depth(to_depth(pixels, np.float32) * cover + (1 - cover), pixels.dtype)


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


def array_namespace(array: Array) -> Any:
    """NumPy or torch, whichever `array` belongs to; formulas use only names that both have.

    torch is never imported here: an image can only be a tensor if its owner has imported torch already.
    """
    if isinstance(array, np.ndarray):
        return np
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch
    raise TypeError(f"an image is a NumPy array or a torch tensor, not {type(array).__name__}")


def to_array_like(values: Any, image: Array) -> Array:
    """Convert `values` to the library, dtype and device of `image`; a tensor keeps its gradient."""
    xp = array_namespace(image)
    if xp is np:
        return np.asarray(values, dtype=image.dtype)
    return xp.as_tensor(values, dtype=image.dtype, device=image.device)


def per_pixel(values: Array) -> Array:
    """Reshape one value per image so that it broadcasts over pixels: (...) -> (..., 1, 1, 1)."""
    return values[..., None, None, None]


def make_shifter(image: Array, reach: int, axis: int) -> Callable[[int], Array]:
    """Return a function that shifts `image` along `axis` (-2 down, -1 right) by an offset of up to `reach`.

    Border pixels are repeated beyond the border.
    """
    size = image.shape[axis]
    if axis == -2:
        first, last = [image[..., :1, :]] * reach, [image[..., -1:, :]] * reach
        padded = array_namespace(image).concat([*first, image, *last], axis=axis)
        return lambda offset: padded[..., reach + offset : reach + offset + size, :]
    first, last = [image[..., :1]] * reach, [image[..., -1:]] * reach
    padded = array_namespace(image).concat([*first, image, *last], axis=axis)
    return lambda offset: padded[..., reach + offset : reach + offset + size]
