"""Smaller copies of a photo: every new pixel is the mean of the area it covers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import ImageError
from .colour import to_srgb
from .depth import to_uint8
from .model import Image

_BAND_PIXELS = 64 * 1024
_GAP = 2
"""A photo is first averaged over whole pixels to this many times the wanted size at least, which is fast."""


def resized(image: Image, short_side: int) -> Image:
    """The photo with a short side of `short_side` pixels, or itself where it is not larger than that.

    Depth and RGB space stay.
    """
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


def squeezed(image: Image, side: int) -> NDArray[np.uint8]:
    """(side, side, 3): the photo in sRGB at 8 bits, whatever its proportions.

    It is converted between two steps of averaging: every pixel of a large photo would take most of a second.
    """
    across, down = (max(int(length / side / _GAP), 1) for length in (image.width, image.height))
    means = _reduced(to_uint8(image.pixels), across, down)
    coarse = PIL.Image.fromarray(to_srgb(replace(image, pixels=means, alpha=None)).pixels)
    whole = (0, 0, image.width / across, image.height / down)
    return np.asarray(coarse.resize((side, side), PIL.Image.Resampling.BOX, whole))


def _reduced(pixels: NDArray[np.uint8], across: int, down: int) -> NDArray[np.uint8]:
    """Means of `down` x `across` pixels, of fewer at the edges; in bands, so that no photo is copied."""
    height, width = pixels.shape[:2]
    rows = down * max(_BAND_PIXELS // (width * down), 1)
    bands = (np.ascontiguousarray(pixels[top : top + rows]) for top in range(0, height, rows))
    return np.concatenate([PIL.Image.fromarray(band).reduce((across, down)) for band in bands])


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
