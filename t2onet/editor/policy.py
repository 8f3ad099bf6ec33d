"""The thumbnail of a photo, and policies: what may answer requests in place of the editor's own way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .. import operations
from ..errors import RequestError
from ..executor import apply
from ..image import Image
from ..image.photo import resize_array, resize_to_square
from ..options import LITERAL
from ..recipe import Recipe, Step

VISIBLE_CHANGE = 1 / 255
"""Mean change of the thumbnail from which on it counts as visible."""
MIN_PARAMETER_CHANGE = 0.02
"""A step whose parameters are all closer than this to their defaults counts as none."""
THUMBNAIL_SIDE = 128
"""Side in pixels of the small pictures that wishes are checked on."""


def make_thumbnail(photo: Image, side: int) -> np.ndarray:
    """(3, side, side) float32 in [0, 1]: the photo in sRGB, area-averaged and squeezed to a square."""
    return np.ascontiguousarray(resize_to_square(photo, side).transpose(2, 0, 1).astype(np.float32) / 255)


def apply_to_thumbnail(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    """Apply a recipe to a picture (3, H, W).

    The result keeps that size: a thumbnail shows a photo of any shape squeezed to a square, so what a crop
    leaves is stretched again. Straightening is approximate, as its angle is measured in the squeezed picture.
    """
    pixels = np.ascontiguousarray(picture.transpose(1, 2, 0))
    after = np.asarray(apply(recipe, pixels, kernels=False, threads=1, notes=[]))
    if after.shape != pixels.shape:
        after = resize_array(after, (pixels.shape[1], pixels.shape[0]))
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
    after: np.ndarray = operations.get_operation(step.operation).run(picture, values)
    return after


@dataclass(frozen=True)
class PolicyAnswer:
    """A policy's answer to a request: the words it read, and steps.

    The steps have the policy's own numbers, neither rounded nor clipped to the declared ranges.
    """

    words: tuple[str, ...]
    steps: tuple[Step, ...]


class Policy(Protocol):
    """Answers requests about thumbnails (3, side, side) in [0, 1], sRGB."""

    side: int

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer: ...


def check_mode(policy: Policy, mode: str) -> None:
    """Raise RequestError if a policy says that it does not have a mode; every policy has `literal`."""
    modes = getattr(policy, "modes", (mode,))
    if mode not in (LITERAL, *modes):
        raise RequestError(
            f"this network has no mode {mode}, it answers every request in one way; ask without a mode"
        )
