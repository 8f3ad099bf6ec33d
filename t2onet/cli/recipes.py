"""Recipes as the commands are given them: a JSON file, or an edited picture with its sidecar."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import RecipeError

if TYPE_CHECKING:
    from ..recipe import Recipe

RecipeFile = Annotated[
    Path,
    typer.Argument(metavar="RECIPE", help="Recipe (JSON), or an edited picture with its recipe beside it."),
]


def load_recipe(path: Path) -> Recipe:
    """The recipe of a file; of a picture, that of its sidecar."""
    from ..image import READABLE
    from ..recipe import Recipe
    from ..recipe.sidecar import find_sidecar

    if path.suffix.lower() in READABLE and (sidecar := find_sidecar(path)) is not None:
        return Recipe.load(sidecar)
    if (renamed := _renamed(path)) is not None:
        raise RecipeError(f"{path} does not exist; perhaps {renamed} was meant")
    return Recipe.load(path)


def _renamed(path: Path) -> Path | None:
    """The sidecar `a.jpg.t2o.json` for an `a.json` that does not exist: the current name for the old one."""
    from ..recipe.sidecar import SIDECAR

    try:
        if path.suffix != ".json" or path.exists():
            return None
        return next(iter(sorted(path.parent.glob(f"{glob.escape(path.stem)}.*{SIDECAR}"))), None)
    except (OSError, ValueError):
        return None
