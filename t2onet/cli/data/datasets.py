"""What the commands on datasets share: how one is named, and how its problems are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ...errors import DataError, OutputError
from ..common import listed, say

if TYPE_CHECKING:
    from ...data import Dataset, Problem
    from ...data.plans import Plans, Settings
    from ...planning.planner import Way

Folder = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
Layout = Annotated[
    str | None, typer.Option(metavar="NAME", help="How the folder is laid out; by default it is recognised.")
]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="Only this split, such as train.")]
PlansFolder = Annotated[Path | None, typer.Option("--plans", metavar="DIR", help="Plans of `t2o data plan`.")]
PlanSize = Annotated[
    int, typer.Option("--plan-size", metavar="PX", help="Working size that the plans were made at.")
]
PlanSteps = Annotated[int, typer.Option("--plan-steps", help="The most steps that the plans were allowed.")]
PlanOperations = Annotated[
    str | None,
    typer.Option("--plan-operations", metavar="NAMES", help="Operations the plans use, if not all."),
]
PlanWay = Annotated[str, typer.Option("--plan-way", metavar="WAY", help="The way the plans were made.")]
PlanSolver = Annotated[
    str, typer.Option("--plan-solver", metavar="NAME", help="Solver of the search that made the plans.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]

_TOLD = 5
"""The most names that are told for one reason."""


def opened(folder: Path, layout: str | None, split: str | None) -> Dataset:
    """The dataset; what was left out of it is told when nothing more can be refused."""
    from ...data import open_dataset

    return open_dataset(folder, layout, None if split is None else (split,))


def plan_settings(size: int, steps: int, operations: str | None, way: str, solver: str) -> Settings:
    """As the command line has them."""
    from ...data.plans import Settings

    names = None if operations is None else tuple(listed(operations))
    return Settings(size, steps, names, cast("Way", way), solver)


def plans_of(folder: Path, dataset: Dataset, settings: Settings) -> Plans:
    """The plans of a dataset, at least one."""
    from ...data.plans import Plans

    plans = Plans(folder, dataset.samples, settings)
    if not plans:
        made = ", ".join(f"{name} {value}" for name, value in settings.told().items())
        raise DataError(
            f"{folder} has no plan of these samples made with {made}; plan the dataset, or say with "
            "--plan-size, --plan-steps, --plan-operations, --plan-way and --plan-solver how it was planned"
        )
    return plans


def picture_place(path: Path, overwrite: bool) -> Path:
    """Refuse, before any work, what could not be written."""
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: the picture is written as .png; give that ending")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; create it first")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already; give another name or --overwrite")
    return path


def tell_problems(problems: Sequence[Problem], what: str) -> None:
    """A line on stderr for each reason, with the first names and their details."""
    names: dict[str, list[str]] = {}
    for problem in problems:
        detail = f" ({problem.detail})" if problem.detail else ""
        names.setdefault(problem.reason, []).append(f"{problem.name}{detail}")
    for reason, found in names.items():
        more = f" and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
        say(f"{what}: {', '.join(found[:_TOLD])}{more}: {reason}")
