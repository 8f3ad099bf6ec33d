"""`t2o reproduce`: the paper's tables on pairs of your own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ..errors import DataError, OutputError
from .common import AsJson, console, print_json, print_table, refusing, say
from .data.datasets import tell_problems

if TYPE_CHECKING:
    from ..reports import Table

T = TypeVar("T")


@refusing
def reproduce_table(
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="operation-sets, single-operations or maximum-steps."),
    ],
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="Folder of pairs: before/ and after/, MA5k-Req or GIER.")
    ],
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Split to take pairs from; by default all.")
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, help="The most pairs to use, drawn by --seed from all there are.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawing of pairs.")] = 0,
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="Solver of the search: fast, or nelder-mead as in the paper.")
    ] = "fast",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="File for the table: .md or .csv."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make one of the paper's tables on a folder of pairs and print it beside the paper's figures."""
    from ..data import Problem, open_dataset
    from ..planning.solvers import solver as find_solver
    from ..reports.ablations import ablation
    from ..reports.pairs import chosen_pairs, pictures_of

    make = ablation(table)
    find_solver(solver)
    _check_output(output, overwrite)
    data = open_dataset(dataset, splits=None if split is None else [split])
    pairs = chosen_pairs(data.samples, count, seed)
    problems: list[Problem] = []
    pictures = list(_shown("reading", pictures_of(pairs, problems), len(pairs)))
    if not pictures:
        many = f"none of the {len(pairs)} pairs can be used; of the first"
        what = "its pair cannot be used" if len(pairs) == 1 else many
        raise DataError(f"{dataset}: {what}: {problems[0].reason}")
    tell_problems((*data.problems, *problems), "left out")
    made = make(_shown("planning", pictures, len(pictures)), solver)
    _write(made, output, overwrite)
    if as_json:
        print_json({"title": made.title, "columns": made.columns, "rows": made.rows, "notes": made.notes})
    else:
        print_table(made)


def _shown(what: str, items: Iterable[T], count: int) -> Iterator[T]:
    from rich.progress import track

    screen = console(stderr=True)
    yield from track(items, what, count, console=screen, transient=True, disable=not screen.is_terminal)


def _check_output(output: Path | None, overwrite: bool) -> None:
    if output is None:
        return
    if output.suffix not in (".md", ".csv"):
        raise OutputError(f"{output}: a table is written as .md or .csv; give a name that ends so")
    if not output.parent.is_dir():
        raise OutputError(f"{output}: there is no folder {output.parent}; create it first")
    if output.exists() and not overwrite:
        raise OutputError(f"{output} exists already; give another name or --overwrite")


def _write(table: Table, output: Path | None, overwrite: bool) -> None:
    from ..image import write_atomically

    if output is not None:
        text = table.csv() if output.suffix == ".csv" else table.markdown()
        write_atomically(output, text.encode(), overwrite=overwrite)
        say(f"-> {output}")
