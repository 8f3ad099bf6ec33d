"""`t2o study`: ratings and requests from people."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import OutputError, StudyError
from .common import (
    JsonOption,
    LayoutOption,
    ReplaceOption,
    exit_on_error,
    print_json,
    print_line,
    print_rows,
    with_options,
)

if TYPE_CHECKING:
    from ..studies.database import StudyDatabase
    from ..studies.people import JoinLimits
    from ..studies.results import RatingResults
    from ..studies.review import StudyProgress

DEFAULT_DATABASE = "studies.db"

DatabaseOption = Annotated[
    str,
    typer.Option(
        metavar="FILE|URL",
        envvar="T2O_DATABASE",
        help="An SQLite file, or postgresql://user:password@host/name.",
    ),
]
StudyNameOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the study, if the database has several.")
]


@dataclass(frozen=True)
class StudyServerOptions:
    """Options of the commands that create a study and serve it."""

    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the study; by default that of the input."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Random seed.")] = 0
    database: DatabaseOption = DEFAULT_DATABASE
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 makes the study reachable from your network.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")] = 8770
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Public address of this server, for the links it prints."),
    ] = None
    joins: Annotated[
        int, typer.Option(min=1, help="Maximum number of people who can join by the link per hour.")
    ] = 200
    joins_per_address: Annotated[
        int,
        typer.Option(
            min=1, help="Maximum number of these from one address, such as a class behind a router."
        ),
    ] = 40
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="Take addresses from the X-Forwarded-For of the proxy in front of this server.",
        ),
    ] = False

    @property
    def limits(self) -> JoinLimits:
        from ..studies.people import JoinLimits

        return JoinLimits(self.joins, self.joins_per_address, self.behind_proxy)


def open_study_store(database: str, *, create: bool = False) -> StudyDatabase:
    """Open the database of studies."""
    try:
        from ..studies.database import StudyDatabase

        return StudyDatabase(database, create=create)
    except ImportError as error:
        raise StudyError(f"studies need an extra: pip install 't2onet[study]' ({error})") from None


def serve_study(store: StudyDatabase, study: int, limits: JoinLimits, options: StudyServerOptions) -> None:
    """Print the links of a study and serve it until stopped."""
    from ..server.running import bind_socket, build_server_url, end_busy_threads, run_server
    from ..server.study import create_study_app
    from ..studies.people import JoinLimiter

    token = secrets.token_urlsafe(24)
    with bind_socket(options.host, options.port) as listening:
        base = (options.url or build_server_url(listening)).rstrip("/")
        with suppress(KeyboardInterrupt):
            app = create_study_app(store, study, token, JoinLimiter(limits))
            run_server(app, listening, lambda: _announce_links(store, study, base, token))
    print_line("stopped; everything that was acknowledged is kept")
    end_busy_threads()


def _announce_links(store: StudyDatabase, study: int, base: str, token: str) -> None:
    from ..server.settings import encode_token
    from ..studies.review import summarize_progress

    about = summarize_progress(store, study)
    print_line(f"{about.kind} study {about.study!r}: {about.answers} of {about.wanted} answers", err=False)
    print_line(f"kept in:    {store}", err=False)
    print_line(f"to join:    {base}/join/{about.token}", err=False)
    print_line(f"for you:    {base}/owner#{encode_token(token)}", err=False)
    print_line(
        "Ctrl-C stops the server; links to the study stay good, yours is a new one each time", err=False
    )


@exit_on_error
@with_options(StudyServerOptions, "server")
def annotate_pairs(
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Folder with before/ and after/, or any dataset.")
    ],
    requests: Annotated[
        int, typer.Option(help="Number of annotators for each pair, one request from each.")
    ] = 3,
    qualification: Annotated[
        int,
        typer.Option(help="Number of pairs that everybody starts with, until you let them continue."),
    ] = 5,
    people: Annotated[int, typer.Option(help="Maximum number of annotators.")] = 1000,
    layout: LayoutOption = None,
    *,
    server: StudyServerOptions,
) -> None:
    """Let people write requests that lead from one photo to the other; review and export them."""
    from ..data import open_dataset
    from ..studies.database import AnnotationSettings

    settings = AnnotationSettings(requests=requests, qualification=qualification, people=people)
    limits = server.limits
    open_dataset(pairs, layout)  # what is refused leaves no new database behind
    with open_study_store(server.database, create=True) as store:
        from ..studies.creating import open_annotation_study

        study = open_annotation_study(
            store, pairs, settings, name=server.name, layout=layout, seed=server.seed
        )
        serve_study(store, study, limits, server)


@exit_on_error
def export_study(
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="A .csv file of everything; or, for requests, a new folder of pairs with requests.",
        ),
    ],
    name: StudyNameOption = None,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="Export only requests that you have accepted, into a folder.")
    ] = False,
    overwrite: ReplaceOption = False,
    database: DatabaseOption = DEFAULT_DATABASE,
) -> None:
    """Write the ratings as a table, or the requests as a table or a dataset."""
    with open_study_store(database) as store:
        from ..data.spreadsheet import from_csv
        from ..studies.creating import find_study
        from ..studies.database import StudyKind
        from ..studies.results import export_pairs, export_ratings_csv, export_requests_csv
        from ..studies.review import summarize_progress

        study = find_study(store, name)
        rated = summarize_progress(store, study).kind == StudyKind.RATING
        if output.suffix.lower() == ".csv":
            from ..image import write_atomically

            text = (export_ratings_csv if rated else export_requests_csv)(store, study)
            write_atomically(output, text.encode(), overwrite=overwrite)
            print_line(f"{len(from_csv(text))} {'ratings' if rated else 'requests'} -> {output}", err=False)
            return
        if rated:
            raise OutputError(f"{output}: ratings are written as .csv; give that ending")
        done = export_pairs(store, study, output, reviewed=reviewed)
        print_line(f"{done.pairs} pairs with {done.requests} requests -> {output}", err=False)


@exit_on_error
def free_study_places(
    name: StudyNameOption = None,
    idle: Annotated[
        float,
        typer.Option(min=0, metavar="MINUTES", help="Keep people who were active within this time."),
    ] = 60,
    database: DatabaseOption = DEFAULT_DATABASE,
) -> None:
    """Remove people who joined but answered nothing, so that others can join; all answers are kept."""
    with open_study_store(database) as store:
        from ..studies.creating import find_study
        from ..studies.people import free_places
        from ..studies.review import summarize_progress

        study = find_study(store, name)
        freed = free_places(store, study, idle=60 * idle)
        about = summarize_progress(store, study)
    print_line(f"{about.study}: {freed} freed, {about.taken} of {about.places} places are taken", err=False)


@exit_on_error
@with_options(StudyServerOptions, "server")
def rate_outputs(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE.csv",
            help="Columns: input, request, one for each system; optionally sample, dataset.",
        ),
    ],
    preset: Annotated[
        Literal["paper"] | None,
        typer.Option(help="paper: 250 samples of each data set, rated twice, without checks and repeats."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Number of samples of each data set, chosen at random; by default all.")
    ] = None,
    ratings: Annotated[
        int | None, typer.Option(help="Number of raters for each sample; by default 2.")
    ] = None,
    checks: Annotated[
        float | None, typer.Option(help="Share of pages that check attention; by default 0.1.")
    ] = None,
    repeats: Annotated[
        float | None, typer.Option(help="Share of pages shown twice to a rater; by default 0.05.")
    ] = None,
    pages: Annotated[
        int | None, typer.Option(help="Maximum number of pages for one rater; by default no limit.")
    ] = None,
    people: Annotated[int | None, typer.Option(help="Maximum number of raters; by default 1000.")] = None,
    *,
    server: StudyServerOptions,
) -> None:
    """Let people rate the pictures of several systems: blind, in random order, one to five stars."""
    given: dict[str, Any] = {"samples": samples, "ratings": ratings, "checks": checks, "repeats": repeats}
    given |= {"pages": pages, "people": people}
    from ..studies.creating import read_rating_table
    from ..studies.database import PRESETS, RatingSettings

    base = PRESETS[preset] if preset else RatingSettings()
    settings = replace(base, **{key: value for key, value in given.items() if value is not None})
    limits = server.limits
    read_rating_table(table)  # what is refused leaves no new database behind
    with open_study_store(server.database, create=True) as store:
        from ..studies.creating import open_rating_study

        study = open_rating_study(store, table, settings, name=server.name, seed=server.seed)
        serve_study(store, study, limits, server)


@exit_on_error
def show_results(
    name: StudyNameOption = None,
    attention: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the attention checks that a rater has to pass to count."),
    ] = 0.7,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the confidence intervals.")] = 0,
    database: DatabaseOption = DEFAULT_DATABASE,
    as_json: JsonOption = False,
) -> None:
    """Print means, confidence intervals and agreement, or the progress of an annotation study."""
    with open_study_store(database) as store:
        from ..studies.creating import find_study
        from ..studies.database import StudyKind
        from ..studies.results import compute_results
        from ..studies.review import summarize_progress

        study = find_study(store, name)
        about = summarize_progress(store, study)
        found = (
            compute_results(store, study, attention=attention, seed=seed)
            if about.kind == StudyKind.RATING
            else None
        )
    if as_json:
        facts = {"study": about.study, "kind": about.kind, "answers": about.answers, "wanted": about.wanted}
        people = [_drop_link(asdict(person)) for person in about.people]
        print_json({**facts, "results": asdict(found)} if found else {**facts, "people": people})
        return
    print_line(
        f"{about.study}: {about.answers} of {about.wanted} answers from {len(about.people)} people", err=False
    )
    if found is None:
        _print_people(about)
    else:
        _print_means(found)


def _drop_link(person: dict[str, object]) -> dict[str, object]:
    """Without the personal link, which gives access to the study."""
    return {key: value for key, value in person.items() if key != "link"}


def _print_means(found: RatingResults) -> None:
    print_rows(
        ("data set", "system", "mean", "95 % interval", "ratings", "samples"),
        [
            (m.dataset, m.system, f"{m.mean:.2f}", f"{m.low:.2f} .. {m.high:.2f}", m.ratings, m.samples)
            for m in found.means
        ],
        numbers_from=2,
        markup=False,
    )
    print_line(
        f"agreement between raters (Krippendorff's alpha, ordinal): {_format_agreement(found.agreement)}",
        err=False,
    )
    agreement = _format_agreement(found.self_agreement)
    again = f"of raters with themselves, {found.repeated} ratings repeated: {agreement}"
    print_line(again, err=False)
    for rater in found.raters:
        if rater.left_out:
            checks = f"{rater.passed} of {rater.known} checks passed"
            print_line(
                f"left out: {rater.name}, {rater.ratings} ratings: {rater.left_out} ({checks})", err=False
            )


def _print_people(about: StudyProgress) -> None:
    print_rows(
        ("annotator", "state", "requests", "accepted", "rejected", "to review", "different"),
        [(p.name, p.state, p.pages, p.accepted, p.rejected, p.pending, p.different) for p in about.people],
        numbers_from=2,
        markup=False,
    )


def _format_agreement(figure: float | None) -> str:
    return "nothing to compare" if figure is None else f"{figure:.3f}"


app = typer.Typer(
    help="Studies with people: rate pictures blind, write requests for pairs (the extra `study`).",
    no_args_is_help=True,
)
app.command("rate")(rate_outputs)
app.command("annotate")(annotate_pairs)
app.command("results")(show_results)
app.command("export")(export_study)
app.command("free")(free_study_places)
