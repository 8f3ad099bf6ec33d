"""What the commands share: refusals, printing, progress, and recipes from files."""

from __future__ import annotations

import glob
import json
import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, TypeVar

import typer

from ..errors import Cancelled, RecipeError, T2OError

if TYPE_CHECKING:
    from rich.console import Console

    from ..evaluation.table import ResultTable
    from ..recipe import Recipe

# What the commands share: how they refuse, and how they print.

EXIT_REFUSED = 2
EXIT_INTERRUPTED = 130
TICK_SECONDS = 30.0
"""Seconds between two lines of progress where there is no terminal."""

P = ParamSpec("P")
R = TypeVar("R")

JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for scripts.")]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="File or folder to write; by default a file beside each photo, a folder beside a folder.",
    ),
]
RecursiveOption = Annotated[bool, typer.Option("--recursive", "-r", help="Look into folders below folders.")]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files, even the photo itself.")
]
SkipExistingOption = Annotated[
    bool, typer.Option("--skip-existing", help="Leave existing results as they are and make what is missing.")
]
JobsOption = Annotated[
    int | None, typer.Option(min=1, help="Photos at a time; by default one for each core.")
]
MaxMegapixelsOption = Annotated[
    float | None, typer.Option(help="Refuse larger photos; by default 179 megapixels.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only notes and errors.")]


def exit_on_error(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose refusals are one line on stderr and exit code 2."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (Cancelled, KeyboardInterrupt):
            exit_with_error("stopped; nothing is half-written", EXIT_INTERRUPTED)
        except T2OError as error:
            exit_with_error(str(error))

    return wrapped


def exit_with_error(message: str, code: int = EXIT_REFUSED) -> NoReturn:
    print_line(f"t2o: {message}")
    raise typer.Exit(code)


def print_line(message: str, *, err: bool = True) -> None:
    """A line for a person; control characters of odd file names cannot reach the terminal."""
    typer.echo("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in message), err=err)


def split_commas(given: str) -> list[str]:
    """What stands between commas."""
    return [name.strip() for name in given.split(",") if name.strip()]


class Ticker:
    """Says how far a command is, at most twice a minute; for output that is kept and not watched."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._told = clock()

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._start

    def tell(self, message: str) -> None:
        if self._clock() - self._told >= TICK_SECONDS:
            self._told = self._clock()
            print_line(message)


def print_json(answer: Any) -> None:
    typer.echo(json.dumps(answer, indent=2))  # in ASCII, which holds any file name and suits any terminal


def make_console(*, stderr: bool = False) -> Console:
    """Rich output as wide as the terminal, or plain and wide enough where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream, highlight=False, width=None if stream.isatty() or "COLUMNS" in os.environ else 120
    )


def print_table(table: ResultTable) -> None:
    """A table of figures with its title and notes."""
    from rich.table import Table as Drawn

    header, *rows = table.cells()
    drawn = Drawn(*header, title=table.title, box=None, pad_edge=False)
    for column in drawn.columns[1:]:
        column.justify = "right"
    for row in rows:
        drawn.add_row(*row)
    make_console().print(drawn)
    for note in table.notes:
        print_line(note, err=False)


# Recipes as the commands are given them: a JSON file, or an edited picture with its sidecar.

RecipeArgument = Annotated[
    Path,
    typer.Argument(metavar="RECIPE", help="Recipe (JSON), or an edited picture with its recipe beside it."),
]


def load_recipe(path: Path) -> Recipe:
    """The recipe of a file; of a picture, that of its sidecar."""
    from ..image import READABLE_SUFFIXES
    from ..recipe import Recipe
    from ..recipe.recipe import find_sidecar

    if path.suffix.lower() in READABLE_SUFFIXES and (sidecar := find_sidecar(path)) is not None:
        return Recipe.load(sidecar)
    if (renamed := _find_renamed_sidecar(path)) is not None:
        raise RecipeError(f"{path} does not exist; perhaps {renamed} was meant")
    return Recipe.load(path)


def _find_renamed_sidecar(path: Path) -> Path | None:
    """The sidecar `a.jpg.t2o.json` for an `a.json` that does not exist: the current name for the old one."""
    from ..recipe.recipe import SIDECAR_SUFFIX

    try:
        if path.suffix != ".json" or path.exists():
            return None
        return next(iter(sorted(path.parent.glob(f"{glob.escape(path.stem)}.*{SIDECAR_SUFFIX}"))), None)
    except (OSError, ValueError):
        return None
