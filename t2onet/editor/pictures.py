"""The thumbnail that requests are answered on, and what recipes and steps do to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .. import operations
from ..executor import apply
from ..image import Image
from ..image.photo import resize_to_square
from ..recipe import Recipe, Step

VISIBLE_CHANGE = 1 / 255
"""Mean change of the thumbnail from which on it counts as visible."""
MIN_PARAMETER_CHANGE = 0.02
"""A step whose parameters are all closer than this to their defaults counts as none."""


def make_thumbnail(photo: Image, side: int) -> np.ndarray:
    """(3, side, side) float32 in [0, 1]: the photo in sRGB, area-averaged and squeezed to a square."""
    return np.ascontiguousarray(resize_to_square(photo, side).transpose(2, 0, 1).astype(np.float32) / 255)


def apply_to_thumbnail(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    """Apply a recipe to a picture (3, H, W)."""
    pixels = np.ascontiguousarray(picture.transpose(1, 2, 0))
    after = np.asarray(apply(recipe, pixels, kernels=False, threads=1))
    return np.ascontiguousarray(after.transpose(2, 0, 1))


def apply_policy_steps(steps: Iterable[Step], picture: np.ndarray) -> np.ndarray:
    """Apply a policy's steps to a picture (3, H, W), with exactly the policy's numbers."""
    for step in steps:
        picture = _apply_policy_step(step, picture)
    return picture


def find_visible_steps(steps: Sequence[Step], picture: np.ndarray) -> list[int]:
    """Positions of the steps that visibly change the picture as the visible ones before left it."""
    visible = []
    for position, step in enumerate(steps):
        after = _apply_policy_step(step, picture)
        offsets = np.subtract(step.parameters, operations.get_operation(step.operation).defaults)
        if np.abs(after - picture).mean() >= VISIBLE_CHANGE and np.abs(offsets).max() >= MIN_PARAMETER_CHANGE:
            visible.append(position)
            picture = after
    return visible


def _apply_policy_step(step: Step, picture: np.ndarray) -> np.ndarray:
    values = np.array(step.parameters, np.float32)
    after: np.ndarray = operations.get_operation(step.operation).run(picture, values, 1.0)
    return after


def is_visibly_different(one: Recipe, other: Recipe, picture: np.ndarray) -> bool:
    """Whether two recipes make visibly different pictures."""
    difference = apply_to_thumbnail(one, picture) - apply_to_thumbnail(other, picture)
    return float(np.abs(difference).mean()) >= VISIBLE_CHANGE
