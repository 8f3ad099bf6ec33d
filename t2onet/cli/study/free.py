"""`t2o study free`: places of people who never began, for others."""

from __future__ import annotations

from typing import Annotated

import typer

from ..common import refusing, say
from .serving import DATABASE, Database, Name, opened


@refusing
def free_study_places(
    name: Name = None,
    idle: Annotated[
        float,
        typer.Option(min=0, metavar="MINUTES", help="Leave those alone who have done something since."),
    ] = 60,
    database: Database = DATABASE,
) -> None:
    """Remove people who joined and have not answered anything, so that others can join; answers all stay."""
    with opened(database) as store:
        from ...studies.creating import find_study
        from ...studies.people import free_places
        from ...studies.review import progress

        study = find_study(store, name)
        freed = free_places(store, study, idle=60 * idle)
        about = progress(store, study)
    say(f"{about.study}: {freed} freed, {about.taken} of {about.places} places are taken", err=False)
