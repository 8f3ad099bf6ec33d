"""`t2o study rate`: a table of outputs -> a blind rating study in the browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..common import refusing
from . import serving


@refusing
def rate_outputs(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE.csv", help="Columns input, request, one for each system; perhaps sample, dataset."
        ),
    ],
    preset: Annotated[
        Literal["paper"] | None,
        typer.Option(help="paper: 250 samples of each data set, rated twice, with nothing mixed in."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Of each data set, drawn by chance; by default all.")
    ] = None,
    ratings: Annotated[int | None, typer.Option(help="Raters for each sample; by default 2.")] = None,
    checks: Annotated[
        float | None, typer.Option(help="Share of pages that check attention; by default 0.1.")
    ] = None,
    repeats: Annotated[
        float | None, typer.Option(help="Share of pages shown twice to a rater; by default 0.05.")
    ] = None,
    pages: Annotated[
        int | None, typer.Option(help="The most pages for one rater; by default no limit.")
    ] = None,
    people: Annotated[int | None, typer.Option(help="The most raters; by default 1000.")] = None,
    name: serving.NewName = None,
    seed: serving.Seed = 0,
    database: serving.Database = serving.DATABASE,
    host: serving.Host = serving.LOCAL,
    port: serving.Port = 8770,
    url: serving.Url = None,
    joins: serving.Joins = 200,
    joins_per_address: serving.JoinsPerAddress = 40,
    behind_proxy: serving.BehindProxy = False,
) -> None:
    """Let people rate what several systems made of photos: blind, in random order, one to five stars."""
    given: dict[str, Any] = {"samples": samples, "ratings": ratings, "checks": checks, "repeats": repeats}
    given |= {"pages": pages, "people": people}
    from ...studies.joining import JoinLimits
    from ...studies.settings import PRESETS, RatingSettings
    from ...studies.table import read_table

    base = PRESETS[preset] if preset else RatingSettings()
    settings = replace(base, **{key: value for key, value in given.items() if value is not None})
    limits = JoinLimits(joins, joins_per_address, behind_proxy)
    read_table(table)  # what is refused leaves no new database behind
    with serving.opened(database, create=True) as store:
        from ...studies.creating import open_rating_study

        study = open_rating_study(store, table, settings, name=name, seed=seed)
        serving.serve(store, study, limits, host, port, url)
