"""What the commands on datasets share: how one is named, and how its problems are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import DataError, OutputError
from ..common import say

if TYPE_CHECKING:
    from ...data import Dataset, Problem
    from ...data.plans import Plans

Folder = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
Layout = Annotated[
    str | None, typer.Option(metavar="NAME", help="How the folder is laid out; by default it is recognised.")
]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="Only this split, such as train.")]
PlansFolder = Annotated[Path | None, typer.Option("--plans", metavar="DIR", help="Plans of `t2o data plan`.")]
PlanSize = Annotated[
    int, typer.Option("--plan-size", metavar="PX", help="Working size that the plans were made at.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]

_TOLD = 10
"""The most problems that are told one by one."""


def opened(folder: Path, layout: str | None, split: str | None) -> Dataset:
    """The dataset, with at least one sample."""
    from ...data import open_dataset

    dataset: Dataset = open_dataset(folder, layout=layout, splits=None if split is None else (split,))
    if not dataset.samples:
        where = f"{folder} has no usable sample" + (f" in the split {split!r}" if split else "")
        raise DataError(f"{where}; check the folder, its layout and the split")
    return dataset


def plans_of(folder: Path, dataset: Dataset, size: int) -> Plans:
    """The plans of a dataset, at least one."""
    from ...data.plans import Plans, Settings

    plans = Plans(folder, dataset.samples, Settings(size))
    tell_problems(plans.damage, "damaged")
    if not plans:
        raise DataError(
            f"{folder} has no plan of these samples at a working size of {size} pixels; "
            "plan the dataset, or say with --plan-size how it was planned"
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
    """The first of them by name, on stderr, and how many there are."""
    for problem in problems[:_TOLD]:
        say(f"{what}: {problem.name}: {problem.reason}")
    if len(problems) > _TOLD:
        say(f"{what}: and {len(problems) - _TOLD} more")
