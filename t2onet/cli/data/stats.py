"""`t2o data stats`: how a dataset is distributed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import console, refusing, say
from .datasets import (
    Folder,
    Layout,
    Overwrite,
    PlanOperations,
    PlansFolder,
    PlanSize,
    PlanSolver,
    PlanSteps,
    PlanWay,
    Split,
    opened,
    picture_place,
    plan_settings,
    plans_of,
    tell_problems,
)

if TYPE_CHECKING:
    from ...data.distributions import Distribution


@refusing
def show_statistics(
    dataset: Folder,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="File for the charts (PNG).")
    ] = None,
    plans: PlansFolder = None,
    plan_size: PlanSize = 128,
    plan_steps: PlanSteps = 6,
    plan_operations: PlanOperations = None,
    plan_way: PlanWay = "joint",
    plan_solver: PlanSolver = "fast",
    split: Split = None,
    layout: Layout = None,
    overwrite: Overwrite = False,
) -> None:
    """Count the words of requests, what they ask for, and what plans use and cost."""
    from ...data.distributions import distributions
    from ...image import write_atomically

    if output is not None:
        picture_place(output, overwrite)
    found = opened(dataset, layout, split)
    made = None
    if plans is not None:
        settings = plan_settings(plan_size, plan_steps, plan_operations, plan_way, plan_solver)
        made = plans_of(plans, found, settings)
    counted = distributions(found.samples, made)
    tell_problems(() if made is None else made.damage, "damaged")
    tell_problems(found.problems, "left out")
    for distribution in counted:
        _print(distribution)
    if output is not None:
        from ...data.charts import picture

        title = f"{found.root.name or found.layout}: {len(found.samples)} samples"
        write_atomically(output, picture(title, counted), overwrite=overwrite)
        say(f"-> {output}", err=False)


def _print(distribution: Distribution) -> None:
    from rich.table import Table

    heads = [name or "count" for name, _ in distribution.series]
    table = Table(distribution.title, *heads, "share", box=None, pad_edge=False)
    columns = [counts for _, counts in distribution.series]
    for label, *counts in zip(distribution.labels, *columns, strict=True):
        if any(counts):
            shares = " ".join(f"{100 * count / distribution.total:.1f} %" for count in counts)
            table.add_row(label, *map(str, counts), shares)
    console().print(table)
    say(distribution.note, err=False)
