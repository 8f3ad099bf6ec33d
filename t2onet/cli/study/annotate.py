"""`t2o study annotate`: a folder of pairs -> requests for them, written by people in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import refusing
from ..data.datasets import Layout
from . import serving


@refusing
def annotate_pairs(
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Folder with before/ and after/, or any dataset.")
    ],
    requests: Annotated[int, typer.Option(help="Annotators for each pair, one request from each.")] = 3,
    qualification: Annotated[
        int,
        typer.Option(help="Pairs that everybody begins with, before you let them go on; 0 for none."),
    ] = 5,
    people: Annotated[int, typer.Option(help="The most annotators.")] = 1000,
    layout: Layout = None,
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
    """Let people say what leads from one photo to the other; review and export what they write."""
    from ...data import open_dataset
    from ...studies.joining import JoinLimits
    from ...studies.settings import AnnotationSettings

    settings = AnnotationSettings(requests=requests, qualification=qualification, people=people)
    limits = JoinLimits(joins, joins_per_address, behind_proxy)
    open_dataset(pairs, layout)  # what is refused leaves no new database behind
    with serving.opened(database, create=True) as store:
        from ...studies.creating import open_annotation_study

        study = open_annotation_study(store, pairs, settings, name=name, layout=layout, seed=seed)
        serving.serve(store, study, limits, host, port, url)
