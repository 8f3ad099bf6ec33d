"""Smaller copies of a photo: every new pixel is the mean of the area it covers. Depth and RGB space stay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import ImageError
from .model import Image


def resized(image: Image, short_side: int) -> Image:
    """The photo with a short side of `short_side` pixels, or itself where it is not larger than that."""
    if short_side < 1:
        raise ImageError(f"A short side of {short_side} pixels is no size; give at least 1.")
    short = min(image.height, image.width)
    if short <= short_side:
        return image
    size = _scaled(image.width, short_side, short), _scaled(image.height, short_side, short)
    return replace(
        image,
        pixels=_averaged(image.pixels, size),
        alpha=None if image.alpha is None else _averaged(image.alpha, size),
        origin=replace(image.origin, encoded=None),
    )


def _scaled(side: int, numerator: int, denominator: int) -> int:
    # Integers round half up exactly where floats would be a hair off.
    return (2 * side * numerator + denominator) // (2 * denominator)


def _averaged(array: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    if array.dtype == np.uint8:
        return np.asarray(_box(array, size))
    if array.ndim == 3:
        return np.stack([_averaged(array[..., channel], size) for channel in range(array.shape[2])], axis=-1)
    mean = np.asarray(_box(array.astype(np.float32), size))
    return np.floor(mean + 0.5).astype(array.dtype) if array.dtype == np.uint16 else mean.astype(array.dtype)


def _box(array: NDArray[Any], size: tuple[int, int]) -> PIL.Image.Image:
    return PIL.Image.fromarray(np.ascontiguousarray(array)).resize(size, PIL.Image.Resampling.BOX)
