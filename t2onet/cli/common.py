"""What the commands share: how they refuse, and how they print."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, TypeVar

import typer

from ..errors import Cancelled, T2OError

if TYPE_CHECKING:
    from rich.console import Console

    from ..reports import Table

REFUSED = 2
INTERRUPTED = 130
TICK = 30.0
"""Seconds between two lines of progress where there is no terminal."""

P = ParamSpec("P")
R = TypeVar("R")

AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for scripts.")]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="File or folder to write; by default a file beside each photo, a folder beside a folder.",
    ),
]
Recursive = Annotated[bool, typer.Option("--recursive", "-r", help="Look into folders below folders.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files, even the photo itself.")
]
SkipExisting = Annotated[
    bool, typer.Option("--skip-existing", help="Leave existing results as they are and make what is missing.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Photos at a time; by default one for each core.")]
MaxMegapixels = Annotated[float | None, typer.Option(help="Refuse larger photos; by default 179 megapixels.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only notes and errors.")]


def refusing(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose refusals are one line on stderr and exit code 2."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (Cancelled, KeyboardInterrupt):
            refuse("stopped; nothing is half-written", INTERRUPTED)
        except T2OError as error:
            refuse(str(error))

    return wrapped


def refuse(message: str, code: int = REFUSED) -> NoReturn:
    say(f"t2o: {message}")
    raise typer.Exit(code)


def say(message: str, *, err: bool = True) -> None:
    """A line for a person; control characters of odd file names cannot reach the terminal."""
    typer.echo("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in message), err=err)


def listed(given: str) -> list[str]:
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
        if self._clock() - self._told >= TICK:
            self._told = self._clock()
            say(message)


def print_json(answer: Any) -> None:
    typer.echo(json.dumps(answer, indent=2))  # in ASCII, which holds any file name and suits any terminal


def console(*, stderr: bool = False) -> Console:
    """Rich output as wide as the terminal, or plain and wide enough where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream, highlight=False, width=None if stream.isatty() or "COLUMNS" in os.environ else 120
    )


def print_table(table: Table) -> None:
    """A table of figures with its title and notes."""
    from rich.table import Table as Drawn

    header, *rows = table.cells()
    drawn = Drawn(*header, title=table.title, box=None, pad_edge=False)
    for column in drawn.columns[1:]:
        column.justify = "right"
    for row in rows:
        drawn.add_row(*row)
    console().print(drawn)
    for note in table.notes:
        say(note, err=False)
