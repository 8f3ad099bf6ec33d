"""A recipe as a table of colours: what it does to a cube of evenly spaced inputs.

Only what depends on a pixel's own colour fits into such a table: a step that looks at neighbours is left out
and named, and a step with a mask is refused, since without its mask it would be another edit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import operations
from ..errors import LookError
from ..executor import apply
from ..recipe import Recipe, Step

_PROBES = 200_000
"""Random colours on which a table is measured."""


@dataclass(frozen=True)
class Table:
    """Output colours (size, size, size, 3) of inputs [blue, green, red], as float32 in [0, 1]."""

    colours: np.ndarray
    left_out: tuple[Step, ...]

    @property
    def size(self) -> int:
        return len(self.colours)


@dataclass(frozen=True)
class Fidelity:
    """How far colours through the table are from the recipe itself, in levels of 255."""

    mean: float
    worst: float


def carried(recipe: Recipe) -> tuple[Recipe, tuple[Step, ...]]:
    """The part of a recipe that a colour table can hold, and the steps it cannot."""
    for number, step in enumerate(recipe.steps, start=1):
        if step.mask is not None:
            raise LookError(
                f"step {number} ({step.operation}) works through a mask, which a colour table cannot hold; "
                "remove the step, or keep the recipe as JSON"
            )
    aside = tuple(s for s in recipe.steps if operations.get(s.operation).reach(1.0) and not s.is_identity)
    kept = tuple(step for step in recipe.steps if step not in aside)
    return recipe.model_copy(update={"steps": kept}), aside


def tabulate(recipe: Recipe, size: int) -> Table:
    """What `recipe` does to size^3 evenly spaced colours."""
    pointwise, left_out = carried(recipe)
    axis = np.linspace(0, 1, size, dtype=np.float32)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    inputs = np.stack([red, green, blue], axis=-1).reshape(size * size, size, 3)
    outputs = np.asarray(apply(pointwise, inputs)).reshape(size, size, size, 3)
    return Table(outputs, left_out)


def look_up(colours: np.ndarray, table: Table) -> np.ndarray:
    """Colours (N, 3) through the table with trilinear interpolation, as other tools do it."""
    place = np.clip(colours, 0, 1)[:, ::-1] * (table.size - 1)
    corner = np.minimum(place.astype(np.int64), table.size - 2)
    share = place - corner
    result = np.zeros_like(colours)
    for offset in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(offset, share, 1 - share), axis=1, keepdims=True)
        result += weight * table.colours[tuple((corner + offset).T)]
    return result


def measure(recipe: Recipe, table: Table) -> Fidelity:
    """`table` against the recipe it came from, on random colours that fall between its entries."""
    pointwise, _ = carried(recipe)
    probes = np.random.default_rng(0).random((_PROBES, 3), dtype=np.float32)
    exact = np.asarray(apply(pointwise, probes[None]))[0]
    error = 255 * np.abs(look_up(probes, table) - exact)
    return Fidelity(mean=float(error.mean()), worst=float(error.max()))
