"""`t2o study results`: what a study has found so far."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import AsJson, console, print_json, refusing, say
from .serving import DATABASE, Database, Name, opened

if TYPE_CHECKING:
    from ...studies.results import Results
    from ...studies.review import Progress


@refusing
def show_results(
    name: Name = None,
    attention: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the attention checks that a rater has to pass to count."),
    ] = 0.7,
    seed: Annotated[int, typer.Option(min=0, help="Of the confidence intervals.")] = 0,
    database: Database = DATABASE,
    as_json: AsJson = False,
) -> None:
    """Print means, confidence intervals and agreement, or how far an annotation study is."""
    with opened(database) as store:
        from ...studies.creating import find_study
        from ...studies.models import Kind
        from ...studies.results import results
        from ...studies.review import progress

        study = find_study(store, name)
        about = progress(store, study)
        found = results(store, study, attention=attention, seed=seed) if about.kind == Kind.RATING else None
    if as_json:
        facts = {"study": about.study, "kind": about.kind, "answers": about.answers, "wanted": about.wanted}
        people = [_without_link(asdict(person)) for person in about.people]
        print_json({**facts, "results": asdict(found)} if found else {**facts, "people": people})
        return
    say(
        f"{about.study}: {about.answers} of {about.wanted} answers from {len(about.people)} people", err=False
    )
    if found is None:
        _print_people(about)
    else:
        _print_means(found)


def _without_link(person: dict[str, object]) -> dict[str, object]:
    """A personal link is nobody else's business."""
    return {key: value for key, value in person.items() if key != "link"}


def _print_means(found: Results) -> None:
    _print_table(
        ("data set", "system", "mean", "95 % interval", "ratings", "samples"),
        [
            (m.dataset, m.system, f"{m.mean:.2f}", f"{m.low:.2f} .. {m.high:.2f}", m.ratings, m.samples)
            for m in found.means
        ],
    )
    say(f"agreement between raters (Krippendorff's alpha, ordinal): {_shown(found.agreement)}", err=False)
    again = f"of raters with themselves, {found.repeated} ratings repeated: {_shown(found.self_agreement)}"
    say(again, err=False)
    for rater in found.raters:
        if rater.left_out:
            checks = f"{rater.passed} of {rater.known} checks passed"
            say(f"left out: {rater.name}, {rater.ratings} ratings: {rater.left_out} ({checks})", err=False)


def _print_people(about: Progress) -> None:
    _print_table(
        ("annotator", "state", "requests", "accepted", "rejected", "to review", "different"),
        [(p.name, p.state, p.pages, p.accepted, p.rejected, p.pending, p.different) for p in about.people],
    )


def _print_table(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*map(str, row))
    console().print(table, markup=False)


def _shown(figure: float | None) -> str:
    return "nothing to compare" if figure is None else f"{figure:.3f}"
