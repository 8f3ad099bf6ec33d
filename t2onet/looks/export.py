"""Export a recipe as a colour table (.cube, HaldCLUT) for other tools, with its measured error.

A table holds what depends on a pixel's own colour: a step that reads neighbours, uses the position or changes
the frame is left out and named, and a step with a mask is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import operations
from ..errors import LookError, OutputError
from ..executor import apply
from ..image import image_from_array, write_atomically
from ..image.pixels import to_depth
from ..recipe import Recipe, Step

_PROBE_COUNT = 200_000
"""Random colours on which the error of a table is measured."""


@dataclass(frozen=True)
class ColourTable:
    """Output colours (size, size, size, 3) of inputs [blue, green, red], as float32 in [0, 1]."""

    colours: np.ndarray
    left_out: tuple[Step, ...]

    @property
    def size(self) -> int:
        return len(self.colours)


@dataclass(frozen=True)
class TableFidelity:
    """Absolute difference between the table and the recipe, in levels of 255."""

    mean: float
    worst: float


def split_pointwise(recipe: Recipe) -> tuple[Recipe, tuple[Step, ...]]:
    """The steps that a colour table can hold, as a recipe, and those it cannot: detail, effects, geometry."""
    for number, step in enumerate(recipe.steps, start=1):
        if step.mask is not None:
            raise LookError(
                f"step {number} ({step.operation}) works through a mask, which a colour table cannot hold; "
                "remove the step, or keep the recipe as JSON"
            )
    left_out = tuple(step for step in recipe.steps if not (step.is_identity or _fits_table(step)))
    pointwise = tuple(step for step in recipe.steps if step not in left_out)
    return recipe.model_copy(update={"steps": pointwise}), left_out


def _fits_table(step: Step) -> bool:
    return not step.is_geometry and operations.get_operation(step.operation).is_pointwise


def tabulate_recipe(recipe: Recipe, size: int) -> ColourTable:
    """`recipe` applied to size^3 evenly spaced colours."""
    pointwise, left_out = split_pointwise(recipe)
    axis = np.linspace(0, 1, size, dtype=np.float32)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    inputs = np.stack([red, green, blue], axis=-1).reshape(size * size, size, 3)
    outputs = np.asarray(apply(pointwise, inputs)).reshape(size, size, size, 3)
    return ColourTable(outputs, left_out)


def interpolate_colours(colours: np.ndarray, table: ColourTable) -> np.ndarray:
    """Colours (N, 3) mapped by the table with trilinear interpolation, as other tools do."""
    place = np.clip(colours, 0, 1)[:, ::-1] * (table.size - 1)
    corner = np.minimum(place.astype(np.int64), table.size - 2)
    share = place - corner
    result = np.zeros_like(colours)
    for offset in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(offset, share, 1 - share), axis=1, keepdims=True)
        result += weight * table.colours[tuple((corner + offset).T)]
    return result


def measure_fidelity(recipe: Recipe, table: ColourTable) -> TableFidelity:
    """The error of `table` against its recipe, on random colours between its entries."""
    pointwise, _ = split_pointwise(recipe)
    probes = np.random.default_rng(0).random((_PROBE_COUNT, 3), dtype=np.float32)
    exact = np.asarray(apply(pointwise, probes[None]))[0]
    error = 255 * np.abs(interpolate_colours(probes, table) - exact)
    return TableFidelity(mean=float(error.mean()), worst=float(error.max()))


@dataclass(frozen=True)
class ExportedLook:
    """A written table: its file, entries a side, error, and notes on steps left out."""

    path: Path
    size: int
    fidelity: TableFidelity
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _TableFormat:
    sizes: tuple[int, ...]
    write: Callable[[ColourTable, Recipe, Path, bool], None]


def export_recipe(
    recipe: Recipe, path: str | Path, *, size: int | None = None, overwrite: bool = False
) -> ExportedLook:
    """Write `recipe` as `.cube` (33 or 65 a side) or, as `.png`, as HaldCLUT (64 or 144 a side)."""
    path = Path(path)
    table_format = TABLE_FORMATS.get(path.suffix.lower())
    if table_format is None:
        raise LookError(
            f"{path.name}: a look is written as {' or '.join(TABLE_FORMATS)}; give one of those endings"
        )
    size = table_format.sizes[0] if size is None else size
    if size not in table_format.sizes:
        raise LookError(f"a {path.suffix} has {_format_sizes(table_format.sizes)} entries a side, not {size}")
    if path.exists() and not overwrite:
        raise OutputError(
            f"{path} exists already; give another name, or ask to replace it (--overwrite, overwrite=True)"
        )
    table = tabulate_recipe(recipe, size)
    table_format.write(table, recipe, path, overwrite)
    notes = tuple(
        f"left out: {step.operation} ({step.describe()}) {_explain_left_out(step)}, which a colour table "
        "cannot do"
        for step in table.left_out
    )
    return ExportedLook(path, size, measure_fidelity(recipe, table), notes)


def _explain_left_out(step: Step) -> str:
    return "changes the frame" if step.is_geometry else "looks at neighbouring pixels"


def _format_sizes(sizes: tuple[int, ...]) -> str:
    return " or ".join(map(str, sizes))


def _write_cube(table: ColourTable, recipe: Recipe, path: Path, overwrite: bool) -> None:
    """Adobe's text format: red varies fastest, as in the table."""
    title = "".join(c for c in recipe.name or path.stem if c.isprintable() and c != '"')
    lines = [f'TITLE "{title}"', f"LUT_3D_SIZE {table.size}", "DOMAIN_MIN 0 0 0", "DOMAIN_MAX 1 1 1"]
    lines += [f"{r:.6f} {g:.6f} {b:.6f}" for r, g, b in table.colours.reshape(-1, 3).tolist()]
    write_atomically(path, ("\n".join(lines) + "\n").encode(), overwrite=overwrite)


def _write_hald(table: ColourTable, recipe: Recipe, path: Path, overwrite: bool) -> None:
    """A square 16-bit picture of all entries in reading order: level^3 wide for level^2 entries a side."""
    side = round(table.size**1.5)
    pixels = to_depth(table.colours.reshape(side, side, 3), np.uint16)
    image_from_array(pixels).save(path, overwrite=overwrite)


TABLE_FORMATS = {
    ".cube": _TableFormat((33, 65), _write_cube),
    ".png": _TableFormat((64, 144), _write_hald),
}
"""File ending -> allowed entries a side (the first is the default) and the function that writes it."""
