"""What the commands share: errors, printing, progress, recipes and datasets from files."""

from __future__ import annotations

import glob
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, TypeVar, cast

import typer

from ..errors import Cancelled, DataError, OutputError, RecipeError, T2OError

if TYPE_CHECKING:
    from rich.console import Console

    from ..data import Dataset, Problem
    from ..data.plans import DatasetPlans, PlanSettings
    from ..evaluation.table import ResultTable
    from ..planning.planner import PlanningMethod
    from ..recipe import Recipe

# What the commands share: refusals, printing, progress, and recipes from files.

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


# Open datasets for commands, and print their problems.

# What the commands on datasets share: how one is named, and how its problems are told.

DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
LayoutOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="How the folder is laid out; by default it is recognised.")
]
SplitOption = Annotated[str | None, typer.Option(metavar="NAME", help="Only this split, such as train.")]
PlansOption = Annotated[Path | None, typer.Option("--plans", metavar="DIR", help="Plans of `t2o data plan`.")]
PlanSizeOption = Annotated[
    int, typer.Option("--plan-size", metavar="PX", help="Working size that the plans were made at.")
]
PlanStepsOption = Annotated[
    int, typer.Option("--plan-steps", help="The most steps that the plans were allowed.")
]
PlanOperationsOption = Annotated[
    str | None,
    typer.Option("--plan-operations", metavar="NAMES", help="Operations the plans use, if not all."),
]
PlanWayOption = Annotated[str, typer.Option("--plan-way", metavar="WAY", help="The way the plans were made.")]
PlanSolverOption = Annotated[
    str, typer.Option("--plan-solver", metavar="NAME", help="Solver of the search that made the plans.")
]
ReplaceOption = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]

_MAX_NAMES = 5
"""The most names that are told for one reason."""


def open_dataset_folder(folder: Path, layout: str | None, split: str | None) -> Dataset:
    """The dataset; what was left out of it is told when nothing more can be refused."""
    from ..data import open_dataset

    return open_dataset(folder, layout, None if split is None else (split,))


def make_plan_settings(size: int, steps: int, operations: str | None, way: str, solver: str) -> PlanSettings:
    """As the command line has them."""
    from ..data.plans import PlanSettings

    names = None if operations is None else tuple(split_commas(operations))
    return PlanSettings(size, steps, names, cast("PlanningMethod", way), solver)


def open_plans(folder: Path, dataset: Dataset, settings: PlanSettings) -> DatasetPlans:
    """The plans of a dataset, at least one."""
    from ..data.plans import DatasetPlans

    plans = DatasetPlans(folder, dataset.samples, settings)
    if not plans:
        made = ", ".join(f"{name} {value}" for name, value in settings.key_fields().items())
        raise DataError(
            f"{folder} has no plan of these samples made with {made}; plan the dataset, or say with "
            "--plan-size, --plan-steps, --plan-operations, --plan-way and --plan-solver how it was planned"
        )
    return plans


def check_picture_path(path: Path, overwrite: bool) -> Path:
    """Refuse, before any work, what could not be written."""
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: the picture is written as .png; give that ending")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; create it first")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already; give another name or --overwrite")
    return path


def print_problems(problems: Sequence[Problem], what: str) -> None:
    """A line on stderr for each reason, with the first names and their details."""
    names: dict[str, list[str]] = {}
    for problem in problems:
        detail = f" ({problem.detail})" if problem.detail else ""
        names.setdefault(problem.reason, []).append(f"{problem.name}{detail}")
    for reason, found in names.items():
        more = f" and {len(found) - _MAX_NAMES} more" if len(found) > _MAX_NAMES else ""
        print_line(f"{what}: {', '.join(found[:_MAX_NAMES])}{more}: {reason}")
