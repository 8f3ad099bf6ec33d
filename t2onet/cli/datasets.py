"""Open datasets for commands, and print their problems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ..errors import DataError, OutputError
from .common import print_line, split_commas

if TYPE_CHECKING:
    from ..data import Dataset, Problem
    from ..data.plans import DatasetPlans, PlanSettings
    from ..planning.planner import PlanningMethod

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
        made = ", ".join(f"{name} {value}" for name, value in settings.told().items())
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
