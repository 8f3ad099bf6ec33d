"""`t2o data pack`: a dataset as a few files for training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import DataError, OutputError
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
    plan_settings,
    plans_of,
    tell_problems,
)


@refusing
def pack_dataset(
    dataset: Folder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the shards.")],
    plans: PlansFolder = None,
    plan_size: PlanSize = 128,
    plan_steps: PlanSteps = 6,
    plan_operations: PlanOperations = None,
    plan_way: PlanWay = "joint",
    plan_solver: PlanSolver = "fast",
    photos_of: Annotated[
        Path | None,
        typer.Option(
            metavar="PACKED",
            help="A packed set of the same pairs: its photos and texts are used where they lie, and DIR "
            "holds the other plans alone. Needs --plans.",
        ),
    ] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            "--texts", metavar="DATASET", help="Its requests go along without photos; may be given again."
        ),
    ] = None,
    size: Annotated[int, typer.Option(metavar="PX", help="Side of the photos, in pixels.")] = 128,
    quality: Annotated[int, typer.Option(min=1, max=100, help="Of the photos (WebP).")] = 90,
    split: Split = None,
    layout: Layout = None,
    overwrite: Overwrite = False,
) -> None:
    """Pack photos, requests and plans into shards that a training run reads once."""
    from ...data import open_dataset
    from ...data.packed import pack, repack, texts_of
    from ...data.packed.model import INDEX

    if (output / INDEX).is_file() and not overwrite:
        raise OutputError(f"{output} exists already; give another name or --overwrite")
    if photos_of is not None and (plans is None or texts):
        raise DataError("with --photos-of only plans are packed; give --plans, and leave out --texts")
    found = opened(dataset, layout, split)
    made = None
    if plans is not None:
        settings = plan_settings(plan_size, plan_steps, plan_operations, plan_way, plan_solver)
        made = plans_of(plans, found, settings)
    said = [text for other in texts or () for text in texts_of(open_dataset(other, photos=False), found)]
    with console(stderr=True).status("packing"):
        if photos_of is not None and made is not None:
            done = repack(photos_of, output, found, made, overwrite=overwrite)
        else:
            done = pack(
                found, output, plans=made, texts=said, size=size, quality=quality, overwrite=overwrite
            )
    tell_problems(() if made is None else made.damage, "damaged")
    tell_problems((*found.problems, *done.problems), "left out")
    say(
        f"{done.samples} samples ({done.planned} with a plan), {done.photos} photos and {done.texts} further "
        f"requests -> {output}, {done.bytes / 1e6:.1f} MB",
        err=False,
    )
