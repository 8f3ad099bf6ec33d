"""The small picture that requests are answered on, and what recipes and thoughts make of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import operations
from ..executor import apply
from ..image import Image
from ..image.scaling import squeezed
from ..policy import Thought
from ..recipe import Recipe

VISIBLE = 1 / 255
"""What moves the small picture by less, on average, is not seen."""
LEAST = 0.02
"""What differs less from doing nothing, in every parameter, was not meant."""


def small(photo: Image, side: int) -> np.ndarray:
    """(3, side, side) float32 in [0, 1]: the photo in sRGB, area-averaged and squeezed to a square."""
    return np.ascontiguousarray(squeezed(photo, side).transpose(2, 0, 1).astype(np.float32) / 255)


def performed(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after a recipe."""
    pixels = np.ascontiguousarray(picture.transpose(1, 2, 0))
    after = np.asarray(apply(recipe, pixels, kernels=False, threads=1))
    return np.ascontiguousarray(after.transpose(2, 0, 1))


def performed_thoughts(thoughts: Sequence[Thought], picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after what a policy thought of."""
    for thought in thoughts:
        picture = _after(thought, picture)
    return picture


def visible(thoughts: Sequence[Thought], picture: np.ndarray) -> list[Thought]:
    """Those that can be seen on the picture, in turn, and are more than a hair's breadth of a slider."""
    kept = []
    for thought in thoughts:
        after = _after(thought, picture)
        apart = np.subtract(thought.parameters, operations.get(thought.operation).defaults)
        if np.abs(after - picture).mean() >= VISIBLE and np.abs(apart).max() >= LEAST:
            kept.append(thought)
            picture = after
    return kept


def _after(thought: Thought, picture: np.ndarray) -> np.ndarray:
    values = np.array(thought.parameters, np.float32)
    after: np.ndarray = operations.get(thought.operation).run(picture, values, 1.0)
    return after


def differ(one: Recipe, other: Recipe, picture: np.ndarray) -> bool:
    """Whether anybody can tell the pictures of two recipes apart."""
    return float(np.abs(performed(one, picture) - performed(other, picture)).mean()) >= VISIBLE
