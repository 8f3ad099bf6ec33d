"""What the commands share: errors, printing, progress, recipes and datasets from files."""

from __future__ import annotations

import glob
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, Protocol, TypeVar, cast, get_type_hints

import typer

from ..errors import Cancelled, DataError, OutputError, RecipeError, T2OError
from ..options import ReaderName

if TYPE_CHECKING:
    from rich.console import Console

    from ..data import Dataset, Problem
    from ..data.plans import DatasetPlans, PlanSettings
    from ..evaluation.compare import ResultTable
    from ..planning.planner import PlanningMethod
    from ..recipe import Recipe
    from ..recipe.where import Where

EXIT_REFUSED = 2
EXIT_INTERRUPTED = 130
TICK_SECONDS = 30.0
"""Seconds between two lines of progress if stderr is no terminal."""

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
RecursiveOption = Annotated[bool, typer.Option("--recursive", "-r", help="Include photos in subfolders.")]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files, even the photo itself.")
]
SkipExistingOption = Annotated[
    bool, typer.Option("--skip-existing", help="Keep existing results and make only those that are missing.")
]
JobsOption = Annotated[
    int | None, typer.Option(min=1, help="Photos processed at a time; by default one for each core.")
]
MaxMegapixelsOption = Annotated[
    float | None, typer.Option(help="Refuse larger photos; by default 179 megapixels.")
]
ReaderOption = Annotated[
    ReaderName,
    typer.Option(help="What reads requests: default reads best, free learned from no research data."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only notes and errors.")]


def exit_on_error(command: Callable[P, R]) -> Callable[P, R]:
    """Decorator of commands: errors become one line on stderr and exit code 2."""

    @wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (Cancelled, KeyboardInterrupt):
            exit_with_error("stopped; nothing is half-written", EXIT_INTERRUPTED)
        except T2OError as error:
            exit_with_error(str(error))

    return wrapper


def exit_with_error(message: str, code: int = EXIT_REFUSED) -> NoReturn:
    """Print an error as one line and exit."""
    print_line(f"t2o: {message}")
    raise typer.Exit(code)


def get_given_options(context: typer.Context) -> dict[str, object]:
    """The options that were given on the command line, without defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name: context.params[name] for name, source in sources.items() if source and source.name != "DEFAULT"
    }


def with_options(group: type, parameter: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Decorator of commands: each field of a dataclass becomes an option.

    The command takes `parameter`, an instance of the dataclass; its options stand where the parameter stands.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        hints = get_type_hints(group, include_extras=True)
        options = [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
            for field in fields(group)
        ]
        own = signature(command, eval_str=True)
        parameters = [
            option
            for one in own.parameters.values()
            for option in (options if one.name == parameter else [one.replace(kind=Parameter.KEYWORD_ONLY)])
        ]

        @wraps(command)
        def wrapper(**arguments: Any) -> R:
            values = {field.name: arguments.pop(field.name) for field in fields(group)}
            return command(**arguments, **{parameter: group(**values)})

        wrapper.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {one.name: one.annotation for one in parameters}
        return wrapper

    return decorate


def print_line(message: str, *, err: bool = True) -> None:
    """Print a line; control characters, as in odd file names, are replaced."""
    typer.echo("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in message), err=err)


def split_commas(given: str) -> list[str]:
    """The parts of a comma-separated list, without empty ones."""
    return [name.strip() for name in given.split(",") if name.strip()]


class Ticker:
    """Prints lines of progress, at most twice a minute, where there is no terminal for a bar."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._printed = clock()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start

    def tell(self, message: str) -> None:
        """Print a line unless one was printed in the last TICK_SECONDS."""
        if self._clock() - self._printed >= TICK_SECONDS:
            self._printed = self._clock()
            print_line(message)


class ProgressCallback(Protocol):
    """Reports that `done` of `total` items are done; `what` names them or the task, `detail` is added."""

    def __call__(self, what: str, done: float, total: int, detail: str = "") -> None: ...


@contextmanager
def show_progress(*, lines: bool = True, quiet: bool = False) -> Iterator[ProgressCallback]:
    """A progress bar on a terminal; elsewhere a line now and then, unless `lines` is false."""
    console = make_console(stderr=True)
    if quiet or not (lines or console.is_terminal):
        yield lambda what, done, total, detail="": None
        return
    if not console.is_terminal:
        ticker = Ticker()
        yield lambda what, done, total, detail="": ticker.tell(
            f"{what}, {done:g} of {total}{f', {detail}' if detail else ''}"
        )
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    details = (TextColumn("{task.fields[detail]}"), TimeRemainingColumn())
    with Progress(*columns, *details, console=console, transient=True) as progress:
        bar = progress.add_task("opening", total=None, detail="")
        yield lambda what, done, total, detail="": progress.update(
            bar, description=what, completed=done, total=total, detail=detail
        )


def print_json(answer: Any) -> None:
    typer.echo(json.dumps(answer, indent=2))  # in ASCII, which holds any file name and suits any terminal


def make_console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or 120 characters wide without one."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream, highlight=False, width=None if stream.isatty() or "COLUMNS" in os.environ else 120
    )


def print_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    numbers_from: int | None = None,
    markup: bool = True,
) -> None:
    """Print rows below their columns; columns from `numbers_from` on are aligned to the right.

    Without `markup`, square brackets in cells are printed as they are.
    """
    from rich.table import Table

    table = Table(*columns, title=title, box=None, pad_edge=False)
    for column in table.columns[len(columns) if numbers_from is None else numbers_from :]:
        column.justify = "right"
    for row in rows:
        table.add_row(*map(str, row))
    make_console().print(table, markup=markup)


def print_table(table: ResultTable) -> None:
    """Print a table of figures with its title and notes."""
    header, *rows = table.cells()
    print_rows(header, rows, title=table.title, numbers_from=1)
    for note in table.notes:
        print_line(note, err=False)


RecipeArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RECIPE", help="Recipe (JSON), edited picture with its recipe beside it, or name of a look."
    ),
]


WhereOption = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="Part of the photo: shadows, reds, top, 'highlights except reds', or JSON.",
    ),
]


def load_recipe(path: Path) -> Recipe:
    """Load a recipe from a JSON file, from the sidecar of an edited picture, or by the name of a look."""
    from ..image import has_readable_suffix
    from ..recipe import Recipe, looks
    from ..recipe.recipe import find_sidecar

    if has_readable_suffix(path) and (sidecar := find_sidecar(path)) is not None:
        return Recipe.load(sidecar)
    if (renamed := _find_renamed_sidecar(path)) is not None:
        raise RecipeError(f"{path} does not exist; perhaps {renamed} was meant")
    return looks.load_recipe(path)


def parse_where_option(given: str) -> Where:
    """A place from --where: text, or a JSON object."""
    from ..recipe.where import parse_where

    if not given.lstrip().startswith("{"):
        return parse_where(given)
    try:
        return parse_where(json.loads(given))
    except (ValueError, RecursionError) as error:
        raise RecipeError(f"--where {given:.60} is not JSON ({error})") from None


def _find_renamed_sidecar(path: Path) -> Path | None:
    """The sidecar `a.jpg.t2o.json` for an `a.json` that does not exist: the current name for the old one."""
    from ..recipe.recipe import SIDECAR_SUFFIX

    try:
        if path.suffix != ".json" or path.exists():
            return None
        return next(iter(sorted(path.parent.glob(f"{glob.escape(path.stem)}.*{SIDECAR_SUFFIX}"))), None)
    except (OSError, ValueError):
        return None


DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
LayoutOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Layout of the folder; by default it is recognised.")
]
SplitOption = Annotated[str | None, typer.Option(metavar="NAME", help="Only this split, such as train.")]
ReplaceOption = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]

_MAX_NAMES = 5
"""The most names that are printed for one reason."""


@dataclass(frozen=True)
class PlanOptions:
    """Options that name stored plans of a dataset, and the settings they were made with."""

    plans: Annotated[
        Path | None, typer.Option("--plans", metavar="DIR", help="Plans of `t2o data plan`.")
    ] = None
    plan_size: Annotated[
        int, typer.Option("--plan-size", metavar="PX", help="Working size of the plans, in pixels.")
    ] = 128
    plan_steps: Annotated[
        int, typer.Option("--plan-steps", help="Maximum number of steps that the plans were made with.")
    ] = 6
    plan_operations: Annotated[
        str | None,
        typer.Option(
            "--plan-operations", metavar="NAMES", help="Operations of the plans, if not the paper's."
        ),
    ] = None
    plan_way: Annotated[
        str, typer.Option("--plan-way", metavar="WAY", help="Planning method of the plans.")
    ] = "joint"
    plan_solver: Annotated[
        str, typer.Option("--plan-solver", metavar="NAME", help="Solver of the search that made the plans.")
    ] = "fast"

    def open(self, dataset: Dataset) -> DatasetPlans | None:
        """The plans of a dataset, at least one; None if no folder was given."""
        from ..data.plans import DatasetPlans

        if self.plans is None:
            return None
        settings = make_plan_settings(
            self.plan_size, self.plan_steps, self.plan_operations, self.plan_way, self.plan_solver
        )
        plans = DatasetPlans(self.plans, dataset.samples, settings)
        if not plans:
            given = ", ".join(f"{name} {value}" for name, value in settings.key_fields().items())
            raise DataError(
                f"{self.plans} has no plan of these samples made with {given}; plan the dataset, or give the "
                "settings of its plans with --plan-size, --plan-steps, --plan-operations, --plan-way and "
                "--plan-solver"
            )
        return plans


def open_dataset_folder(folder: Path, layout: str | None, split: str | None) -> Dataset:
    """Open a dataset, or one split of it."""
    from ..data import open_dataset

    return open_dataset(folder, layout, None if split is None else (split,))


def make_plan_settings(size: int, steps: int, operations: str | None, way: str, solver: str) -> PlanSettings:
    """Settings of plans from the values of command-line options."""
    from ..data.plans import PlanSettings

    names = None
    if operations not in (None, "paper"):
        from ..planning.planner import check_operation_names

        names = tuple(check_operation_names(split_commas(operations)))
    return PlanSettings(size, steps, names, cast("PlanningMethod", way), solver)


def check_picture_path(path: Path, overwrite: bool) -> Path:
    """Check, before any work, that a PNG file can be written."""
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: the picture is written as .png; give that ending")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; create it first")
    check_new_file(path, overwrite)
    return path


def check_new_file(path: Path, overwrite: bool) -> None:
    """Refuse to replace a file by accident, before any work."""
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already; give another name or --overwrite")


def print_problems(problems: Sequence[Problem], what: str) -> None:
    """Print a line on stderr for each reason, with the first names and their details."""
    names_by_reason: dict[str, list[str]] = {}
    for problem in problems:
        detail = f" ({problem.detail})" if problem.detail else ""
        names_by_reason.setdefault(problem.reason, []).append(f"{problem.name}{detail}")
    for reason, names in names_by_reason.items():
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        print_line(f"{what}: {', '.join(names[:_MAX_NAMES])}{more}: {reason}")
