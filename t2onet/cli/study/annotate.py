"""`t2o study annotate`: a folder of pairs -> requests for them, written by people in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import refusing
from ..data.datasets import Layout
from .serving import (
    DATABASE,
    LOCAL,
    BehindProxy,
    Database,
    Host,
    Joins,
    JoinsPerAddress,
    NewName,
    Port,
    Seed,
    Url,
    opened,
    serve,
)


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
    name: NewName = None,
    seed: Seed = 0,
    database: Database = DATABASE,
    host: Host = LOCAL,
    port: Port = 8770,
    url: Url = None,
    joins: Joins = 200,
    joins_per_address: JoinsPerAddress = 40,
    behind_proxy: BehindProxy = False,
) -> None:
    """Let people say what leads from one photo to the other; review and export what they write."""
    from ...data import open_dataset
    from ...studies.joining import JoinLimits
    from ...studies.settings import AnnotationSettings

    settings = AnnotationSettings(requests=requests, qualification=qualification, people=people)
    limits = JoinLimits(joins, joins_per_address, behind_proxy)
    open_dataset(pairs, layout)  # what is refused leaves no new database behind
    with opened(database, create=True) as store:
        from ...studies.creating import open_annotation_study

        study = open_annotation_study(store, pairs, settings, name=name, layout=layout, seed=seed)
        serve(store, study, limits, host, port, url)
