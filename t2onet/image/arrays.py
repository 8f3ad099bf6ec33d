"""Array functions for NumPy and torch alike, as the formulas need them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

# What the formulas need of an array library, for NumPy arrays and torch tensors alike.
#
# Formulas ask `namespace(image)` for NumPy or torch and use only names both have. torch is never imported
# from
# here: an image can only be a tensor if its owner has imported torch already.

Array = Any
"""A NumPy array or a torch tensor."""


def array_namespace(array: Array) -> Any:
    """The library `array` belongs to."""
    if isinstance(array, np.ndarray):
        return np
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch
    raise TypeError(f"an image is a NumPy array or a torch tensor, not {type(array).__name__}")


def to_array_like(values: Any, image: Array) -> Array:
    """`values` in the library, precision and place of `image`; a tensor keeps its gradient."""
    xp = array_namespace(image)
    if xp is np:
        return np.asarray(values, dtype=image.dtype)
    return xp.as_tensor(values, dtype=image.dtype, device=image.device)


def per_pixel(values: Array) -> Array:
    """A number for each image of a batch, shaped to meet its pixels: (...) -> (..., 1, 1, 1)."""
    return values[..., None, None, None]


def make_shifter(image: Array, reach: int, axis: int) -> Callable[[int], Array]:
    """A function from an offset, up to `reach`, to the image moved by it along `axis` (-2 down, -1 right).

    Beyond the border stands the border pixel.
    """
    size = image.shape[axis]
    if axis == -2:
        first, last = [image[..., :1, :]] * reach, [image[..., -1:, :]] * reach
        padded = array_namespace(image).concat([*first, image, *last], axis=axis)
        return lambda offset: padded[..., reach + offset : reach + offset + size, :]
    first, last = [image[..., :1]] * reach, [image[..., -1:]] * reach
    padded = array_namespace(image).concat([*first, image, *last], axis=axis)
    return lambda offset: padded[..., reach + offset : reach + offset + size]
