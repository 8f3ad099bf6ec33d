"""`t2o reproduce`: the paper's tables and pictures, on data and runs of your own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError
from . import measured
from .common import AsJson, print_json, print_table, refusing, say
from .data.datasets import tell_problems

if TYPE_CHECKING:
    from ..reports import Table
    from ..reports.tables.making import Wanted
    from ..reports.tables.runs import Place

_RESULTS = Path("results")
ABOUT = "about.json"


@refusing
def reproduce_table(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A table: main, image-losses, sampling-width, history, operation-sets, single-operations, "
            "maximum-steps, rl-pretraining or time. Or a picture: planning-trajectories, trade-off, "
            "requests-by-width, several-answers, side-by-side or resolution.",
        ),
    ],
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="MA5k-Req, or pairs of your own with requests.")
    ],
    gier: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="GIER: its labelled requests and, with images, its columns."),
    ] = None,
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs, one for each row.")] = Path(
        "runs"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="PACKED",
            help="Packed set to train rows on that have no weights yet; without it nothing is trained.",
        ),
    ] = None,
    gier_data: Annotated[
        Path | None, typer.Option(metavar="PACKED", help="The same of GIER; its runs lie in DIR/gier.")
    ] = None,
    load_only: Annotated[
        bool, typer.Option("--load-only", help="Never train: rows without weights are left out.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Train each row so long at most; it goes on the next time.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Train each row so many times; its figures are means over the runs.")
    ] = 1,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of every row; repeatable."),
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Train without accelerators.")] = False,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM", help="A row more, as for `t2o evaluate`; repeatable."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to measure on.")] = "val",
    count: Annotated[
        int | None,
        typer.Option(min=1, help="The most pairs to measure on; of a picture, photos. By default all, or 4."),
    ] = None,
    each: Annotated[int, typer.Option(min=1, help="Photos for each labelled request.")] = 2,
    planned: Annotated[
        int, typer.Option(min=1, help="Pairs to plan, in tables and times that plan, drawn by --seed.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of all drawing.")] = 0,
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="Solver of the search: fast, or nelder-mead as in the paper.")
    ] = "fast",
    inception: measured.Inception = None,
    lpips: measured.LpipsWeights = None,
    narrow: Annotated[
        bool,
        typer.Option(
            "--narrow", help="Let GANs compute in bfloat16, where the device can: often twice as fast."
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Systems to measure at once, a thread for each; by default one a core."),
    ] = None,
    photos: Annotated[
        list[str] | None,
        typer.Option(metavar="PHOTO", help="Photos or folders to show edits of; repeatable."),
    ] = None,
    request: Annotated[str, typer.Option(metavar="TEXT", help="Of a picture: what is asked.")] = "",
    paces: Annotated[
        list[Path] | None,
        typer.Option(
            "--pace", metavar="FILE", help="Of `time`: what t2onet.training.pace told elsewhere; repeatable."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder; by default results/NAME.")
    ] = None,
    ask: measured.Ask = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make one of the paper's tables or pictures; tables stand beside the paper's figures."""
    from ..planning.solvers import solver as find_solver
    from ..reports.tables.making import Wanted
    from ..reports.tables.measuring import Extent
    from ..reports.tables.runs import Place
    from .photos import sources

    kind = _kind(name)
    find_solver(solver)
    folder = output or _RESULTS / name
    if ask is not None:
        _check_asking(name, kind, ask, overwrite, {"--system": system, "-o": output})
    else:
        measured.check_folder(folder, overwrite)
    shown = sources(photos, recursive=False) if photos else []
    place = Place(runs, None if load_only else data, tuple(assignments or ()), minutes, cpu, sys.stderr)
    extent = Extent(split, count, each, seed, gier=gier, jobs=jobs or os.cpu_count() or 1)
    narrow = narrow and _computes_bfloat16()
    wanted = Wanted(
        dataset, place, extent, tuple(system or ()), shown, planned, solver, gier_data, narrow, seeds
    )
    if ask is not None:
        _asked(name, wanted, ask, overwrite)
        return
    tables: list[Table] = []
    if kind == "table":
        tables = _made(name, wanted, inception, lpips, folder, overwrite)
    elif kind == "time":
        tables = [_timed(replace(place, data=data), wanted, paces or [], folder, overwrite)]
    else:
        _drawn(name, wanted, request, folder, overwrite)
    say(f"-> {folder}")
    if as_json:
        print_json([{"title": one.title, "rows": one.cells(), "notes": one.notes} for one in tables])
        return
    for table in tables:
        print_table(table.without_intervals())


def _computes_bfloat16() -> bool:
    """Whether GANs can, which the notes of a table tell; without torch there are none to compute."""
    try:
        from ..models.precision import NO_BFLOAT16, answering_device, computes_bfloat16
    except ImportError:
        return False
    if computes := computes_bfloat16(answering_device()):
        return computes
    say(NO_BFLOAT16)
    return False


def _kind(name: str) -> str:
    """What is called so."""
    from ..reports.pictures import PICTURES
    from ..reports.tables import TABLES
    from ..reports.tables.timing import NAME as TIME

    kinds = {**dict.fromkeys(TABLES, "table"), TIME: "time", **dict.fromkeys(PICTURES, "picture")}
    if name not in kinds:
        near = get_close_matches(name, kinds, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(kinds)}"
        raise DataError(f"there is no table or picture {name!r}; {hint}")
    return kinds[name]


def _check_asking(name: str, kind: str, ask: Path, overwrite: bool, given: Mapping[str, object]) -> None:
    if kind != "table":
        raise DataError(
            f"--ask writes the questions of a table of systems, and {name} is none; give main, say"
        )
    measured.check_asking(ask, overwrite, given)


def _asked(name: str, wanted: Wanted, ask: Path, overwrite: bool) -> None:
    """What one of the tables of systems asks."""
    from ..reports.tables import table_of
    from ..reports.tables.making import Making

    with measured.progress() as told:
        making = Making(table_of(name), wanted, say, told)
        found = making.questions()
    tell_problems(making.problems, "left out")
    measured.write_questions(found, ask, overwrite)


def _made(
    name: str, wanted: Wanted, inception: Path | None, lpips: Path | None, folder: Path, overwrite: bool
) -> list[Table]:
    """One of the tables of systems."""
    from ..reports.tables import table_of
    from ..reports.tables.making import Making

    extent = replace(
        wanted.extent, extractors=measured.extractors_of(inception), lpips=measured.lpips_of(lpips)
    )
    with measured.progress() as told:
        making = Making(table_of(name), replace(wanted, extent=extent), say, told)
        found = making.results()
        told("intervals", 0, 1)
        found.write(folder, measured.command_line(), overwrite=overwrite)
    tell_problems(making.problems, "left out")
    return found.tables()


def _timed(place: Place, wanted: Wanted, paces: list[Path], folder: Path, overwrite: bool) -> Table:
    """The table of times."""
    from ..data import open_dataset
    from ..reports.provenance import about
    from ..reports.tables.timing import time_table

    data = open_dataset(wanted.dataset)
    found = time_table(data, place, wanted.planned, paces, say)
    told = about(
        measured.command_line(), pairs=wanted.planned, seed=wanted.extent.seed, data=data.fingerprint
    )
    files = {"table.md": found.markdown().encode(), "table.csv": found.csv().encode()}
    _write({**files, ABOUT: told}, folder, overwrite)
    return found


def _drawn(name: str, wanted: Wanted, request: str, folder: Path, overwrite: bool) -> None:
    """One of the pictures."""
    from ..data import open_dataset
    from ..reports.pictures import Wish, picture_of
    from ..reports.provenance import about

    data, extent = open_dataset(wanted.dataset), wanted.extent
    wish = Wish(
        data,
        wanted.place.runs,
        folder.parent,
        wanted.photos,
        request,
        extent.split,
        extent.count or Wish.count,
        extent.seed,
        wanted.narrow,
    )
    told = about(measured.command_line(), data=data.fingerprint, seed=extent.seed)
    _write({**picture_of(name).draw(wish), ABOUT: told}, folder, overwrite)


def _write(files: Mapping[str, bytes], folder: Path, overwrite: bool) -> None:
    from ..image import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(folder / name, content, overwrite=overwrite)
