"""The planner's own view of a recipe: actions on a working picture.

Working pictures are (3, H, W) float32 with a short side of at most the reference size, so sharpness is the
one-pixel Laplacian throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import operations
from ..kernels import TWINS
from ..recipe import Recipe

Picture = np.ndarray
"""(3, H, W) float32, C-contiguous."""


class Action(NamedTuple):
    """An operation and its parameters."""

    operation: str
    values: np.ndarray

    def applied(self, picture: Picture) -> Picture:
        """`picture` (3, H, W) after it; `picture` itself stays."""
        return self.taking(picture.copy() if self.operation in TWINS else picture)

    def taking(self, picture: Picture) -> Picture:
        """`picture` (3, H, W) after it; of `picture` itself nothing may be expected any more."""
        if twin := TWINS.get(self.operation):
            changed: Picture = twin(picture, self.values, 1.0)
            return changed
        values = self.values.astype(np.float32)
        return np.ascontiguousarray(operations.get(self.operation).run(picture, values, 1.0))


Path = tuple[Action, ...]


def idle(operation: str) -> Action:
    """The action that changes nothing."""
    return Action(operation, np.array(operations.get(operation).defaults))


def pictures(path: Sequence[Action], start: Picture) -> list[Picture]:
    """The start and the picture after each action."""
    series = [start]
    for action in path:
        series.append(action.applied(series[-1]))
    return series


def as_recipe(path: Sequence[Action]) -> Recipe:
    """The path as a recipe; parameters are rounded to what anyone could tell apart."""
    return Recipe.from_steps(
        (action.operation, operations.get(action.operation).clipped(np.round(action.values, 5).tolist()))
        for action in path
    )
