"""Recipe files that agents name, and the files they have written: photos, their recipes, colour tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..bands import CancelToken
from ..errors import OutputError, RecipeError
from ..executor import apply
from ..image import WRITABLE_SUFFIXES, choose_output_suffix, has_readable_suffix, read_regular_file
from ..looks import SETTINGS_FORMATS, export_recipe
from ..options import EDITED_SUFFIX
from ..recipe import Recipe
from ..recipe.recipe import sidecar_path
from ..server.photos import SessionPhoto
from ..server.schemas import OUTPUT_FORMATS
from ..server.settings import MIB
from .declarations import ToolData
from .folders import AllowedFolders

_MAX_RECIPE_BYTES = 8 * MIB


def read_recipe_data(folders: AllowedFolders, given: str) -> Any:
    """The JSON of a recipe file, or of the recipe beside a picture; not checked yet."""
    path = folders.find_file(given)
    name = folders.name(path)
    if has_readable_suffix(path):
        path = folders.find_file(str(sidecar_path(path)))
    try:
        return json.loads(read_regular_file(path, _MAX_RECIPE_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        raise RecipeError(
            f"{name} cannot be read as a recipe; give a JSON file, or a picture with its recipe beside it"
        ) from None


def write_photo(
    folders: AllowedFolders,
    photo: SessionPhoto,
    target: Path | None,
    quality: int | None,
    *,
    sidecar: bool,
    overwrite: bool,
    cancel: CancelToken,
) -> ToolData:
    """Write a photo with its current edit, and perhaps the recipe; by default as NAME-edited beside it."""
    if target is None:
        name = f"{photo.path.stem}-{EDITED_SUFFIX}{choose_output_suffix(photo.path.suffix)}"
        target = photo.path.with_name(name)
    if target.suffix.lower() not in WRITABLE_SUFFIXES:
        raise OutputError(
            f"{folders.name(target)} has no suffix of a format that can be written; give one of "
            f"{', '.join(OUTPUT_FORMATS)}"
        )
    target = folders.check_output(target, overwrite=overwrite)
    recipe_file = sidecar_path(target)
    if sidecar:
        recipe_file = folders.check_output(recipe_file, overwrite=overwrite)
    notes: list[str] = []
    edited = apply(photo.recipe, photo.open(), cancel=cancel, notes=notes)
    saved = edited.save(target, overwrite=overwrite, quality=quality)
    folders.add_written(target)
    if sidecar:
        photo.recipe.save(recipe_file, overwrite=overwrite)
    elif recipe_file.exists():
        notes.append("the recipe beside it is there from an earlier edit and does not belong to this one")
    return {
        "photo": photo.name,
        "target": folders.name(target),
        "sidecar": folders.name(recipe_file) if sidecar else None,
        "width": edited.width,
        "height": edited.height,
        "bytes": target.stat().st_size,
        "notes": [*notes, *saved.notes],
    }


def write_table(
    folders: AllowedFolders, recipe: Recipe, target: Path, size: int | None, *, overwrite: bool
) -> ToolData:
    """Write a recipe as a colour table, or as another program's settings and the table that they apply."""
    target = folders.check_output(target, overwrite=overwrite)
    if target.suffix.lower() in SETTINGS_FORMATS:
        folders.check_output(target.with_suffix(".png"), overwrite=overwrite)
    done = export_recipe(recipe, target, size=size, overwrite=overwrite)
    folders.add_written(done.path, done.table)
    return {
        "target": folders.name(done.path),
        "table": folders.name(done.table),
        "size": done.size,
        "mean_error": round(done.fidelity.mean, 3),
        "worst_error": round(done.fidelity.worst, 3),
        "notes": list(done.notes),
    }
