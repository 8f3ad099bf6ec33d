"""`t2o data plan`: the plans of all pairs of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import DataError
from ..common import INTERRUPTED, AsJson, Ticker, console, print_json, refuse, refusing, say
from .datasets import Folder, Layout, Split, opened, plan_settings, tell_problems

if TYPE_CHECKING:
    from ...data.plans import Engine, Tally
    from ...data.plans.run import Told

SHEET = "best-and-worst.png"


@refusing
def plan_pairs(
    dataset: Folder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the plans.")],
    split: Split = None,
    layout: Layout = None,
    engine: Annotated[
        str,
        typer.Option(metavar="NAME", help="local: processes of this machine; ray: a Ray cluster."),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes to plan in; by default one a core.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a Ray cluster; by default one is started on this machine."),
    ] = None,
    size: Annotated[int, typer.Option(metavar="PX", help="Short side to plan at, in pixels.")] = 128,
    steps: Annotated[int, typer.Option(help="The most steps of a plan.")] = 6,
    operations: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Operations to use, such as 'tone,color'; by default all."),
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="joint fits all operations together; beam, fixed and epsilon-greedy search forward, "
            "as the paper does with the solver nelder-mead.",
        ),
    ] = "joint",
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Solver of a forward search: fast (ours), nelder-mead (the paper's), adam, l-bfgs or "
            "newton.",
        ),
    ] = "fast",
    as_json: AsJson = False,
) -> None:
    """Plan every pair of a dataset once; a run that was stopped goes on where it was."""
    from ...data.contact import plans_sheet
    from ...data.plans import plan_dataset
    from ...image import write_atomically

    settings = plan_settings(size, steps, operations, way, solver)
    doing = _engine(engine, workers, address)
    found = opened(dataset, layout, split)
    done = 0
    try:
        with _progress(len(found.samples)) as show:

            def told(count: int, tally: Tally) -> None:
                nonlocal done
                done = count
                show(count, tally)

            tally = plan_dataset(found, output, engine=doing, settings=settings, told=told)
    except KeyboardInterrupt:
        left = f"{len(found.samples) - done} of {len(found.samples)} samples"
        refuse(f"stopped, {left} to go; the same command goes on there", INTERRUPTED)
    tell_problems(found.problems, "left out")
    tell_problems(tally.damage, "damaged")
    tell_problems(tally.problems, "not planned")
    if tally.pairs:
        write_atomically(output / SHEET, plans_sheet(tally), overwrite=True)
    (_print_data if as_json else _print_summary)(tally, output)


def _engine(name: str, workers: int | None, address: str | None) -> Engine:
    from ...data.plans import LocalEngine, RayEngine

    if name not in ("local", "ray"):
        raise DataError(f"there is no engine {name!r}; there are local and ray")
    return RayEngine(address, workers) if name == "ray" else LocalEngine(workers)


@contextmanager
def _progress(count: int) -> Iterator[Told]:
    """A bar with the rate and the time left on a terminal; a line now and then elsewhere."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        ticker = Ticker()
        yield lambda done, tally: ticker.tell(f"{done} of {count} samples, {tally.rate:.1f} pairs a second")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("planning"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=screen, transient=True) as bars:
        bar = bars.add_task("", total=count, rate="")
        yield lambda done, tally: bars.update(bar, completed=done, rate=f"{tally.rate:.1f} pairs a second")


def _print_summary(tally: Tally, output: Path) -> None:
    from rich.table import Table

    from ...data.plans.tally import PAPER

    table = Table("", "before", "after", box=None, pad_edge=False)
    rows = {
        f"mean L1 of {_pairs(tally.pairs)}": (tally.start_cost, tally.cost),
        "the same at the working size": tally.working_costs,
        "the paper's planner on MA5k-Req": PAPER,
    }
    for name, costs in rows.items():
        table.add_row(name, *(f"{cost:.4f}" for cost in costs))
    console().print(table)
    _print_shares("steps", sorted(tally.lengths.items()), tally.pairs)
    _print_shares("operation", tally.operations_by_count, tally.pairs)
    say(_counts(tally), err=False)
    say(f"-> {output}, and its best and worst plans in {output / SHEET}", err=False)


def _counts(tally: Tally) -> str:
    """How many pairs were planned when, and how many were not; without those that are none."""
    old = tally.pairs - tally.new
    parts = {
        f"{_pairs(tally.new)} planned now, {tally.rate:.1f} a second": tally.new,
        f"{_pairs(old)} {'was' if old == 1 else 'were'} there already": old,
        f"{_pairs(tally.failed)} could not be planned": tally.failed,
    }
    return "; ".join(part for part, count in parts.items() if count)


def _pairs(count: int) -> str:
    return f"{count} pair" if count == 1 else f"{count} pairs"


def _print_shares(what: str, counts: list[tuple[Any, int]], total: int) -> None:
    from rich.table import Table

    table = Table(what, "plans", "", box=None, pad_edge=False)
    for name, count in counts:
        table.add_row(str(name), str(count), "█" * round(40 * count / total))
    console().print(table)


def _print_data(tally: Tally, output: Path) -> None:
    print_json(
        {
            "pairs": tally.pairs,
            "new": tally.new,
            "failed": tally.failed,
            "pairs_a_second": tally.rate,
            "start_cost": tally.start_cost,
            "cost": tally.cost,
            "working_costs": tally.working_costs,
            "steps": {str(length): count for length, count in sorted(tally.lengths.items())},
            "operations": dict(tally.operations_by_count),
            "problems": [{"name": p.name, "reason": p.reason} for p in (*tally.damage, *tally.problems)],
            "output": str(output),
        }
    )
