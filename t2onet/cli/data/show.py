"""`t2o data show`: pairs of a dataset on one sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import refusing, say
from .datasets import Folder, Layout, Overwrite, Split, opened, picture_place, tell_problems


@refusing
def show_pairs(
    dataset: Folder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="File for the sheet (PNG).")],
    count: Annotated[int, typer.Option(min=1, help="Pairs to show.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of pairs.")] = 0,
    split: Split = None,
    layout: Layout = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw pairs of a dataset, and what was asked for, on a contact sheet."""
    from ...data.contact import chosen, pairs_sheet
    from ...image import write_atomically

    picture_place(output, overwrite)
    found = opened(dataset, layout, split)
    samples = chosen(found.samples, count, seed)
    write_atomically(output, pairs_sheet(found, samples, len(found.samples)), overwrite=overwrite)
    tell_problems(found.problems, "left out")
    say(f"{len(samples)} of {len(found.samples)} samples -> {output}", err=False)
