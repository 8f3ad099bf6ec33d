"""The small picture that requests are answered on, and what recipes and thoughts make of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import operations
from ..executor import apply
from ..image import Image
from ..image.photo import resize_to_square
from ..recipe import Recipe
from .policy import PolicyStep

VISIBLE_CHANGE = 1 / 255
"""What moves the small picture by less, on average, is not seen."""
MIN_PARAMETER_CHANGE = 0.02
"""What differs less from doing nothing, in every parameter, was not meant."""


def make_thumbnail(photo: Image, side: int) -> np.ndarray:
    """(3, side, side) float32 in [0, 1]: the photo in sRGB, area-averaged and squeezed to a square."""
    return np.ascontiguousarray(resize_to_square(photo, side).transpose(2, 0, 1).astype(np.float32) / 255)


def apply_to_thumbnail(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after a recipe."""
    pixels = np.ascontiguousarray(picture.transpose(1, 2, 0))
    after = np.asarray(apply(recipe, pixels, kernels=False, threads=1))
    return np.ascontiguousarray(after.transpose(2, 0, 1))


def apply_policy_steps(thoughts: Sequence[PolicyStep], picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after what a policy thought of."""
    for thought in thoughts:
        picture = _apply_policy_step(thought, picture)
    return picture


def keep_visible_steps(thoughts: Sequence[PolicyStep], picture: np.ndarray) -> list[PolicyStep]:
    """Those that can be seen on the picture, in turn, and are more than a hair's breadth of a slider."""
    kept = []
    for thought in thoughts:
        after = _apply_policy_step(thought, picture)
        apart = np.subtract(thought.parameters, operations.get_operation(thought.operation).defaults)
        if np.abs(after - picture).mean() >= VISIBLE_CHANGE and np.abs(apart).max() >= MIN_PARAMETER_CHANGE:
            kept.append(thought)
            picture = after
    return kept


def _apply_policy_step(thought: PolicyStep, picture: np.ndarray) -> np.ndarray:
    values = np.array(thought.parameters, np.float32)
    after: np.ndarray = operations.get_operation(thought.operation).run(picture, values, 1.0)
    return after


def is_visibly_different(one: Recipe, other: Recipe, picture: np.ndarray) -> bool:
    """Whether anybody can tell the pictures of two recipes apart."""
    return (
        float(np.abs(apply_to_thumbnail(one, picture) - apply_to_thumbnail(other, picture)).mean())
        >= VISIBLE_CHANGE
    )
