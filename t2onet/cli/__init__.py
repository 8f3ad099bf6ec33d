"""The command `t2o`: commands parse, call and print. Heavy modules are imported inside the commands."""

from __future__ import annotations

import atexit
import gc
import io
import sys
from typing import Annotated

import typer

from .. import __version__
from . import (
    apply,
    data,
    edit,
    evaluate,
    learn,
    match,
    mcp,
    places,
    plan,
    recipes,
    reproduce,
    serve,
    study,
    train,
)

app = typer.Typer(
    name="t2o",
    help="Edit photos with short, adjustable recipes, at full resolution and offline.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("apply")(apply.apply_recipe)
app.command("describe")(recipes.describe_recipe)
app.command("edit")(edit.edit_photos)
app.command("evaluate")(evaluate.evaluate_systems)
app.command("export")(recipes.export_look)
app.command("learn")(learn.learn_style)
app.command("looks")(recipes.list_looks)
app.command("match")(match.match_photos)
app.command("mcp")(mcp.serve_agents)
app.command("ops")(recipes.list_operations)
app.command("places")(places.show_places)
app.command("plan")(plan.plan_recipe)
app.command("reproduce")(reproduce.reproduce_table)
app.command("serve")(serve.serve_darkroom)
app.command("train")(train.train_network)
app.add_typer(data.app, name="data")
app.add_typer(study.app, name="study")


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"t2o {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the command."""
    # Modules are thousands of objects that stay: looking for garbage among them takes a tenth of a second.
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)  # nor among what is there at the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # print names that the terminal cannot encode
            stream.reconfigure(errors="backslashreplace")
    app()
