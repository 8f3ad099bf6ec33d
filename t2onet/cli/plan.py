"""`t2o plan`: the recipe behind a before/after pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import OutputError
from .common import AsJson, console, print_json, refusing, say
from .photos import unusable

if TYPE_CHECKING:
    from ..planning import Plan


@refusing
def plan_recipe(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Photo.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The same photo, edited.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="File for the recipe (JSON).")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="File for a report: .html, a page that needs nothing else, or .png."
        ),
    ] = None,
    way: Annotated[
        Literal["joint", "beam", "fixed", "epsilon-greedy"] | None,
        typer.Option(
            metavar="WAY",
            help="joint (the default) fits all operations together; beam (the default with --solver or "
            "--repeats), fixed and epsilon-greedy search forward, as in the paper.",
        ),
    ] = None,
    operations: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Operations to use, such as 'tone,color'; by default all."),
    ] = None,
    steps: Annotated[int, typer.Option(help="The most steps of the recipe.")] = 6,
    beam: Annotated[int, typer.Option(help="Pictures a forward search goes on from.")] = 3,
    tolerance: Annotated[
        float, typer.Option(help="Mean difference, in [0, 1], at which a forward search ends.")
    ] = 0.01,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="Let a forward search use an operation more than once.")
    ] = False,
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Solver of a forward search: fast, nelder-mead, adam, l-bfgs or newton."
        ),
    ] = "fast",
    refine: Annotated[
        bool, typer.Option("--refine/--no-refine", help="Fit what a forward search found once more, jointly.")
    ] = True,
    size: Annotated[int, typer.Option(metavar="PX", help="Short side to plan at, in pixels.")] = 256,
    seed: Annotated[int, typer.Option(min=0, help="Of the random choices of epsilon-greedy.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the recipe that turns one photo into another and say how close it comes."""
    from ..planning import plan
    from ..planning.report import checked_ending, write_report

    if report is not None:
        checked_ending(report)
    places = [place for place in (output, report) if place is not None]
    _check_places([before, after], places, overwrite)
    with console(stderr=True).status("planning"):
        found = plan(
            before,
            after,
            way=way,
            operations=None if operations is None else _names(operations),
            steps=steps,
            beam=beam,
            tolerance=tolerance,
            repeats=repeats,
            solver=solver,
            refine=refine,
            size=size,
            seed=seed,
        )
    if output is not None:
        found.recipe.save(output, overwrite=overwrite)
    if report is not None:
        write_report(found, report, overwrite=overwrite)
    if as_json:
        _print_data(found)
    else:
        _print_table(found)
        for place in places:
            say(f"-> {place}", err=False)


def _names(given: str) -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()]


def _check_places(photos: list[Path], places: list[Path], overwrite: bool) -> None:
    """Refuse, before any work, what could not be written or would replace what it should not."""
    for number, place in enumerate(places):
        try:
            exists, parent_exists = place.exists(), place.parent.is_dir()
        except OSError as error:
            raise OutputError(unusable(error)) from None
        if not parent_exists:
            raise OutputError(f"{place}: there is no folder {place.parent}; create it first")
        if place.resolve() in [other.resolve() for other in (*photos, *places[:number])]:
            raise OutputError(f"{place} is given twice; give every file a name of its own")
        if exists and not overwrite:
            raise OutputError(f"{place} exists already; give another name or --overwrite")


def _print_table(plan: Plan) -> None:
    from rich.table import Table

    if plan.recipe.steps:
        table = Table("step", "operation", "what it does", "cost after", box=None, pad_edge=False)
        rows = zip(plan.recipe.steps, plan.costs[1:], strict=True)
        for number, (step, cost) in enumerate(rows, start=1):
            table.add_row(str(number), step.operation, step.describe(), f"{cost:.4f}")
        console().print(table)
    say(
        f"Mean difference from the edited photo: {plan.start_cost:.4f} -> {plan.cost:.4f}, "
        f"in levels of 255: {255 * plan.start_cost:.1f} -> {255 * plan.cost:.1f}",
        err=False,
    )
    say(plan.recipe.describe(), err=False)


def _print_data(plan: Plan) -> None:
    print_json(
        {
            "recipe": plan.recipe.model_dump(mode="json", exclude_none=True),
            "description": plan.recipe.describe(),
            "start_cost": plan.start_cost,
            "cost": plan.cost,
            "costs": list(plan.costs),
        }
    )
