"""Named looks, and recipes as colour tables (.cube, HaldCLUT) for other tools, with the measured error.

A table holds what depends on a pixel's own colour; other steps are left out and named. For RawTherapee (.pp3)
and darktable (.xmp), a settings file applies a HaldCLUT from their folder.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import operations
from .errors import LookError, OutputError
from .executor import apply
from .image import image_from_array, write_atomically
from .image.pixels import to_depth
from .recipe import Recipe, Step
from .recipe.looks import Look, find_look, looks

__all__ = ["TABLE_FORMATS", "ExportedLook", "Look", "export_recipe", "find_look", "looks"]

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
    """The steps that a colour table can hold, as a recipe, and those it cannot."""
    left_out = tuple(step for step in recipe.steps if explain_left_out(step))
    pointwise = tuple(step for step in recipe.steps if not explain_left_out(step))
    if left_out and all(step.is_identity for step in pointwise):
        names = ", ".join(f"{step.operation} {explain_left_out(step)}" for step in left_out)
        raise LookError(f"a colour table can hold none of its steps ({names}); keep the recipe as JSON")
    return recipe.model_copy(update={"steps": pointwise}), left_out


def explain_left_out(step: Step) -> str:
    """Why a colour table cannot hold a step; empty if it can."""
    if step.is_identity:
        return ""
    if step.mask is not None:
        return "works through a mask"
    if step.where is not None:
        return "applies to a part of the photo"
    if step.is_geometry:
        return "changes the frame"
    operation = operations.get_operation(step.operation)
    if operation.reads_neighbours:
        return "looks at neighbouring pixels"
    return "depends on the place in the photo" if operation.uses_position else ""


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
    """A written look: its file, entries a side, error, and notes on steps left out and files to move.

    `table` is the file with the colours: `path` itself, or the HaldCLUT beside a settings file.
    """

    path: Path
    table: Path
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
    """Write `recipe` as `.cube` (33 or 65 a side) or, as `.png`, as HaldCLUT (64 or 144 a side).

    For RawTherapee (`.pp3`) and darktable (`.xmp`) a HaldCLUT of 144 a side is written beside the file.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        listed = " or ".join((", ".join(ENDINGS[:-1]), ENDINGS[-1]))
        raise LookError(f"{path.name}: a look is written as {listed}; give one of those endings")
    settings = SETTINGS_FORMATS.get(ending)
    table_path = path if settings is None else path.with_suffix(".png")
    size = choose_size(ending, size)
    for existing in (path, table_path):
        if existing.exists() and not overwrite:
            raise OutputError(
                f"{existing} exists already; give another name, or ask to replace it "
                "(--overwrite, overwrite=True)"
            )
    table = tabulate_recipe(recipe, size)
    TABLE_FORMATS[table_path.suffix.lower()].write(table, recipe, table_path, overwrite)
    notes = [
        f"left out: {step.operation} ({step.describe()}) {explain_left_out(step)}, "
        "which a colour table cannot do"
        for step in table.left_out
    ]
    if settings is not None:
        write_atomically(path, settings.format(table_path.name).encode(), overwrite=overwrite)
        notes.append(settings.explain_table(path.name, table_path.name))
    return ExportedLook(path, table_path, size, measure_fidelity(recipe, table), tuple(notes))


def choose_size(ending: str, size: int | None) -> int:
    """Entries a side of the table for a file with this ending; refuses a size that it cannot have."""
    sizes = (HALD_SIZES[-1],) if ending in SETTINGS_FORMATS else TABLE_FORMATS[ending].sizes
    if size is not None and size not in sizes:
        raise LookError(f"a {ending} has {_format_sizes(sizes)} entries a side, not {size}")
    return sizes[0] if size is None else size


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


HALD_SIZES = (64, 144)
"""Entries a side of a HaldCLUT of level 8 and 12."""
TABLE_FORMATS = {
    ".cube": _TableFormat((33, 65), _write_cube),
    ".png": _TableFormat(HALD_SIZES, _write_hald),
}
"""File ending -> allowed entries a side (the first is the default) and the function that writes it."""


_PP3 = """[Version]
AppVersion=5.9
Version=349

[Film Simulation]
Enabled=true
ClutFilename={table}
Strength=100

[Color Management]
WorkingProfile=sRGB
OutputProfile=RTv4_sRGB
"""

_LUT3D_VERSION = 3
_LUT3D = struct.Struct("<512s i i i 12288s 128s")
"""Parameters of darktable's module: file, colour space (sRGB), interpolation (tetrahedral), keypoints (none),
and a compressed table with its name (none)."""
_XMP = """<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:darktable="http://darktable.sf.net/"
    darktable:xmp_version="5" darktable:auto_presets_applied="1" darktable:history_end="1">
   <darktable:history>
    <rdf:Seq>
     <rdf:li darktable:num="0" darktable:operation="lut3d" darktable:enabled="1"
      darktable:modversion="{version}" darktable:params="{parameters}"
      darktable:multi_name="" darktable:multi_priority="0"/>
    </rdf:Seq>
   </darktable:history>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""


@dataclass(frozen=True)
class SettingsFormat:
    """A program's settings file: its text, which names a HaldCLUT, and its folder of those."""

    format: Callable[[str], str]
    """File name of the HaldCLUT -> text."""
    folder: str
    """Where the program looks for the HaldCLUT."""

    def explain_table(self, name: str, table: str) -> str:
        """What to do with the HaldCLUT `table` that the settings file `name` applies."""
        return f"{name} applies {table}: move that to {self.folder}"


def format_pp3(table: str) -> str:
    """Film Simulation at full strength, in the colour space that the HaldCLUT is made for."""
    escaped = table.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return _PP3.format(table="\\s" + escaped[1:] if escaped.startswith(" ") else escaped)


def format_xmp(table: str) -> str:
    """A history of one step: the module "LUT 3D"."""
    parameters = _LUT3D.pack(table.encode(), 0, 0, 0, b"", b"")
    return _XMP.format(version=_LUT3D_VERSION, parameters=parameters.hex())


SETTINGS_FORMATS = {
    ".pp3": SettingsFormat(
        format_pp3, "RawTherapee's folder of HaldCLUTs (Preferences, Image Processing, Film Simulation)"
    ),
    ".xmp": SettingsFormat(
        format_xmp, "darktable's folder of 3D LUTs (preferences, processing, LUT 3D root folder)"
    ),
}
"""File ending -> settings file of a program that applies a HaldCLUT."""
ENDINGS = (*TABLE_FORMATS, *SETTINGS_FORMATS)
