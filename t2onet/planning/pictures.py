"""Working pictures: steps applied to them, and the cost to minimize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import operations
from ..kernels import KERNELS
from ..kernels.fitting import mean_absolute_difference
from ..recipe import Recipe

# The planner's own view of a recipe: actions on a working picture.
#
# Working pictures are (3, H, W) float32 with a short side of at most the reference size, so sharpness is the
# one-pixel Laplacian throughout.

Picture = np.ndarray
"""(3, H, W) float32, C-contiguous."""


class Action(NamedTuple):
    """An operation and its parameters."""

    operation: str
    values: np.ndarray

    def applied(self, picture: Picture) -> Picture:
        """`picture` (3, H, W) after it; `picture` itself stays."""
        return self.taking(picture.copy() if self.operation in KERNELS else picture)

    def taking(self, picture: Picture) -> Picture:
        """`picture` (3, H, W) after it; of `picture` itself nothing may be expected any more."""
        if twin := KERNELS.get(self.operation):
            changed: Picture = twin(picture, self.values, 1.0)
            return changed
        values = self.values.astype(np.float32)
        return np.ascontiguousarray(operations.get_operation(self.operation).run(picture, values, 1.0))


StepSequence = tuple[Action, ...]


def make_identity_step(operation: str) -> Action:
    """The action that changes nothing."""
    return Action(operation, np.array(operations.get_operation(operation).defaults))


def render_intermediates(path: Sequence[Action], start: Picture) -> list[Picture]:
    """The start and the picture after each action."""
    series = [start]
    for action in path:
        series.append(action.applied(series[-1]))
    return series


def to_recipe(path: Sequence[Action]) -> Recipe:
    """The path as a recipe; parameters are rounded to what anyone could tell apart."""
    return Recipe.from_steps(
        (
            action.operation,
            operations.get_operation(action.operation).clip(np.round(action.values, 5).tolist()),
        )
        for action in path
    )


# What a plan tries to make small.
#
# A cost is any callable from a picture (3, H, W) to a number. Solvers that use gradients call it with torch
# tensors and need a tensor back; the others call it with NumPy arrays.


class CostFunction(Protocol):
    """A picture (3, H, W) in [0, 1] -> how bad it is."""

    def __call__(self, picture: Any, /) -> Any: ...


class L1Cost:
    """Mean absolute difference from a target picture."""

    def __init__(self, target: np.ndarray) -> None:
        self.target = np.ascontiguousarray(target, np.float32)

    def __call__(self, picture: Any, /) -> Any:
        if isinstance(picture, np.ndarray):
            return float(mean_absolute_difference(picture.reshape(-1), self.target.reshape(-1)))
        return (picture - picture.new_tensor(self.target)).abs().mean()
