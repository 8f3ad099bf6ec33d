"""`t2o describe` and `t2o ops`: a recipe in words, and the operations there are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import (
    JsonOption,
    RecipeArgument,
    exit_on_error,
    load_recipe,
    make_console,
    print_json,
    print_line,
)

if TYPE_CHECKING:
    from ..recipe import Recipe

# `t2o describe`: a recipe in words.


@exit_on_error
def describe_recipe(
    recipe: RecipeArgument,
    diff: Annotated[
        Path | None, typer.Option("--diff", metavar="OTHER", help="Say what changes from RECIPE to OTHER.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say in plain English what a recipe does."""
    from ..recipe.recipe import derive_look_name

    loaded = load_recipe(recipe)
    if diff is not None:
        _print_diff(loaded, load_recipe(diff), as_json)
        return
    name = loaded.name or derive_look_name(recipe)
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
    print_line(f"{name}: {recipe.describe()}", err=False)
    for number, step in enumerate(recipe.steps, start=1):
        print_line(f"  {number}. {step.operation:<10}  {step.describe()}", err=False)


def _print_diff(old: Recipe, new: Recipe, as_json: bool) -> None:
    changes = [str(change) for change in old.diff(new)]
    if as_json:
        print_json({"changes": changes})
    else:
        typer.echo("\n".join(changes) if changes else "The steps are the same.")


# `t2o ops`: which operations there are, and what they take.


def list_operations(as_json: JsonOption = False) -> None:
    """List the operations with their parameters, ranges and defaults."""
    from ..operations import operations

    if as_json:
        print_json(
            [
                {"name": op.name, "help": op.help, "parameters": [asdict(p) for p in op.parameters]}
                for op in operations().values()
            ]
        )
        return
    from rich.table import Table

    table = Table("operation", "parameter", "range", "default", "unit", "meaning", box=None, pad_edge=False)
    for op in operations().values():
        table.add_row(f"[bold]{op.name}[/bold]", "", "", "", "", op.help)
        for p in op.parameters:
            name = p.name if p.count == 1 else f"{p.name} (x{p.count})"
            table.add_row("", name, f"{p.low:g} .. {p.high:g}", f"{p.default:g}", p.unit, p.help)
    make_console().print(table)
