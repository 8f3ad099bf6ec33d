"""Sidecars: the recipe of an edited picture, in a file beside it.

`a.jpg` has the sidecar `a.jpg.t2o.json`. Before, it was `a.json`; those are still found.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import RecipeError
from .model import Recipe

SIDECAR = ".t2o.json"
"""What is added to the file name of a picture."""


def sidecar_path(picture: Path) -> Path:
    """Where the recipe of a picture is written."""
    return picture.with_name(f"{picture.name}{SIDECAR}")


def old_sidecar_path(picture: Path) -> Path:
    """Where the recipe of a picture was written by earlier releases."""
    return picture.with_suffix(".json")


def find_sidecar(picture: Path) -> Path | None:
    """The sidecar of a picture; one of the old name counts only if there is a recipe in it."""
    if _is_file(path := sidecar_path(picture)):
        return path
    if _is_file(path := old_sidecar_path(picture)) and _holds_recipe(path):
        return path
    return None


def look_name(path: Path) -> str:
    """What results are called after a recipe file: `silver` for silver.json, `a` for a.jpg.t2o.json."""
    if path.name.endswith(SIDECAR):
        return Path(path.name.removesuffix(SIDECAR)).stem
    return path.stem


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long a name, say
        return False


def _holds_recipe(path: Path) -> bool:
    try:
        Recipe.load(path)
    except RecipeError:
        return False
    return True
