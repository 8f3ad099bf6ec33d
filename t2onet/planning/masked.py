"""Steps in places: on working pictures and in a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import operations
from ..executor import intermediates
from ..recipe import Mask, Recipe
from .path import Action, Picture
from .places import Place
from .removal import grown

FEATHER = 2.0
"""Softness of a planned mask, in pixels at the reference size."""


@dataclass(frozen=True, eq=False)
class LocalStep:
    """An action, or a repair (which has no values), in a place."""

    action: Action
    place: Place

    @property
    def complexity(self) -> int:
        return self.action.values.size

    @property
    def is_repair(self) -> bool:
        return self.action.operation in operations.repairs()

    def applied(self, picture: Picture) -> Picture:
        """(3, H, W) with the place edited, its edge hard."""
        result, box = picture.copy(), (slice(None), *self.place.box)
        if self.is_repair:
            repair = operations.repairs()[self.action.operation]
            inside = self.place.inside.astype(np.float32)
            edited = repair.function(picture, inside, operations.pixel_scale(*inside.shape))[box]
        else:
            edited = self.action.applied(np.ascontiguousarray(picture[box]))
        result[box] = np.where(self.place.inside[box[1:]], edited, picture[box])
        return result

    @cached_property
    def mask(self) -> Mask | None:
        """As the recipe has it, at the resolution of its candidate."""
        region = self.place.region
        if region is None:
            return None
        return Mask.from_array(grown(region) if self.is_repair else region, FEATHER)

    @property
    def share(self) -> np.ndarray:
        """(H, W) float32: how much of the step each pixel takes, its edge soft."""
        if self.mask is None:
            return np.ones(self.place.shape, np.float32)
        levels = self.mask.over(*self.place.shape)
        return levels.astype(np.float32) / np.float32(255)

    def written(self) -> tuple[str, Sequence[float], Mask | None]:
        """For a recipe; parameters are rounded to what anyone could tell apart."""
        name, values = self.action
        if self.is_repair:
            return name, [], self.mask
        return name, operations.get(name).clipped(np.round(values, 5).tolist()), self.mask


def executed(steps: Sequence[LocalStep], start: Picture) -> tuple[Recipe, tuple[Picture, ...]]:
    """The recipe, and the working picture at first and after each of its steps."""
    recipe = Recipe.from_steps(step.written() for step in steps)
    pixels = np.ascontiguousarray(start.transpose(1, 2, 0))
    later = (np.asarray(image).transpose(2, 0, 1) for image in intermediates(recipe, pixels))
    return recipe, (start, *map(np.ascontiguousarray, later))
