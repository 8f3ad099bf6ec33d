"""`t2o describe`: a recipe in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import AsJson, print_json, refusing, say
from .recipes import RecipeFile, load_recipe

if TYPE_CHECKING:
    from ..recipe import Recipe


@refusing
def describe_recipe(
    recipe: RecipeFile,
    diff: Annotated[
        Path | None, typer.Option("--diff", metavar="OTHER", help="Say what changes from RECIPE to OTHER.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say in plain English what a recipe does."""
    from ..recipe.sidecar import look_name

    loaded = load_recipe(recipe)
    if diff is not None:
        _print_diff(loaded, load_recipe(diff), as_json)
        return
    name = loaded.name or look_name(recipe)
    if as_json:
        steps = [
            {
                "operation": s.operation,
                "parameters": s.parameters,
                "masked": s.mask is not None,
                "does": s.describe(),
            }
            for s in loaded.steps
        ]
        print_json({"name": name, "description": loaded.describe(), "steps": steps})
    else:
        _print_steps(name, loaded)


def _print_steps(name: str, recipe: Recipe) -> None:
    say(f"{name}: {recipe.describe()}", err=False)
    for number, step in enumerate(recipe.steps, start=1):
        say(f"  {number}. {step.operation:<10}  {step.describe()}", err=False)


def _print_diff(old: Recipe, new: Recipe, as_json: bool) -> None:
    changes = [str(change) for change in old.diff(new)]
    if as_json:
        print_json({"changes": changes})
    else:
        typer.echo("\n".join(changes) if changes else "The steps are the same.")
