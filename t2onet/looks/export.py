"""A colour table into the file of another tool, with its measured error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import LookError, OutputError
from ..image import from_array, write_atomically
from ..recipe import Recipe
from .table import Fidelity, Table, measure, tabulate


@dataclass(frozen=True)
class Exported:
    """A written table: where, how large, how faithful, and what it could not carry."""

    path: Path
    size: int
    fidelity: Fidelity
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Format:
    sizes: tuple[int, ...]
    write: Callable[[Table, Recipe, Path, bool], None]


def export(recipe: Recipe, path: str | Path, *, size: int | None = None, overwrite: bool = False) -> Exported:
    """Write `recipe` as `.cube` (33 or 65 a side) or, as `.png`, as HaldCLUT (64 or 144 a side)."""
    path = Path(path)
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise LookError(
            f"{path.name}: a look is written as {' or '.join(FORMATS)}; give one of those endings"
        )
    size = form.sizes[0] if size is None else size
    if size not in form.sizes:
        raise LookError(f"a {path.suffix} has {_either(form.sizes)} entries a side, and {size} was asked for")
    if path.exists() and not overwrite:
        raise OutputError(
            f"{path} exists already; give another name, or ask to replace it (--overwrite, overwrite=True)"
        )
    table = tabulate(recipe, size)
    form.write(table, recipe, path, overwrite)
    notes = tuple(
        f"left out: {step.operation} ({step.describe()}) looks at neighbouring pixels, which a colour table "
        "cannot do"
        for step in table.left_out
    )
    return Exported(path, size, measure(recipe, table), notes)


def _either(sizes: tuple[int, ...]) -> str:
    return " or ".join(map(str, sizes))


def _write_cube(table: Table, recipe: Recipe, path: Path, overwrite: bool) -> None:
    """Adobe's text format: red runs fastest, which is the order of the table."""
    title = "".join(c for c in recipe.name or path.stem if c.isprintable() and c != '"')
    lines = [f'TITLE "{title}"', f"LUT_3D_SIZE {table.size}", "DOMAIN_MIN 0 0 0", "DOMAIN_MAX 1 1 1"]
    lines += [f"{r:.6f} {g:.6f} {b:.6f}" for r, g, b in table.colours.reshape(-1, 3).tolist()]
    write_atomically(path, ("\n".join(lines) + "\n").encode(), overwrite=overwrite)


def _write_hald(table: Table, recipe: Recipe, path: Path, overwrite: bool) -> None:
    """A square 16-bit picture of all entries in reading order: level^3 wide for level^2 entries a side."""
    side = round(table.size**1.5)
    pixels = np.floor(table.colours.reshape(side, side, 3) * 65535 + 0.5).astype(np.uint16)
    from_array(pixels).save(path, overwrite=overwrite)


FORMATS = {
    ".cube": _Format((33, 65), _write_cube),
    ".png": _Format((64, 144), _write_hald),
}
"""File ending -> how many entries a side it may have (the first by default) and how it is written."""
