"""`t2o export`: a recipe as a colour table for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import AsJson, print_json, refusing, say


@refusing
def export_look(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="Recipe (JSON).")],
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write: .cube, or .png for a HaldCLUT.")
    ],
    size: Annotated[
        int | None, typer.Option(help="Entries a side: 33 or 65 for .cube, 64 or 144 for .png.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a recipe as a .cube or HaldCLUT colour table and say how faithful it is."""
    from ..looks import export
    from ..recipe import Recipe

    done = export(Recipe.load(recipe), output, size=size, overwrite=overwrite)
    if as_json:
        print_json(
            {
                "path": str(done.path),
                "size": done.size,
                "mean_error": done.fidelity.mean,
                "worst_error": done.fidelity.worst,
                "notes": list(done.notes),
            }
        )
        return
    say(
        f"{done.path}: {done.size} entries a side; against the recipe itself, on random colours, "
        f"off by {done.fidelity.mean:.2f}/255 on average and {done.fidelity.worst:.1f}/255 at worst",
        err=False,
    )
    for note in done.notes:
        say(f"note: {note}")
