"""`t2o study export`: what was collected, as a table or a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import OutputError
from ..common import refusing, say
from ..data.datasets import Overwrite
from .serving import DATABASE, Database, Name, opened


@refusing
def export_study(
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="A .csv of everything; or, for requests, a new folder of pairs with them.",
        ),
    ],
    name: Name = None,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="Into a folder, only requests that you have accepted.")
    ] = False,
    overwrite: Overwrite = False,
    database: Database = DATABASE,
) -> None:
    """Write the ratings as a table, or the requests as a table or a dataset."""
    with opened(database) as store:
        from ...data.spreadsheet import from_csv
        from ...studies.creating import find_study
        from ...studies.exporting import ratings_csv, requests_csv
        from ...studies.models import Kind
        from ...studies.pairs import export_pairs
        from ...studies.review import progress

        study = find_study(store, name)
        rated = progress(store, study).kind == Kind.RATING
        if output.suffix.lower() == ".csv":
            from ...image import write_atomically

            text = (ratings_csv if rated else requests_csv)(store, study)
            write_atomically(output, text.encode(), overwrite=overwrite)
            say(f"{len(from_csv(text))} {'ratings' if rated else 'requests'} -> {output}", err=False)
            return
        if rated:
            raise OutputError(f"{output}: ratings are written as .csv; give that ending")
        done = export_pairs(store, study, output, reviewed=reviewed)
        say(f"{done.pairs} pairs with {done.requests} requests -> {output}", err=False)
