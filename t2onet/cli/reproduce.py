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
from . import evaluate
from .common import JsonOption, exit_on_error, print_json, print_line, print_problems, print_table

if TYPE_CHECKING:
    from ..evaluation.reproduce import ReproduceOptions
    from ..evaluation.runs import PaperRunOptions
    from ..evaluation.table import ResultTable

_RESULTS_FOLDER = Path("results")
ABOUT_FILE = "about.json"


@exit_on_error
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
    inception: evaluate.InceptionOption = None,
    lpips: evaluate.LpipsOption = None,
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
            "--pace",
            metavar="FILE",
            help="Of `time`: timings of another machine, as JSON lines; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder; by default results/NAME.")
    ] = None,
    ask: evaluate.AskOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make one of the paper's tables or pictures; tables stand beside the paper's figures."""
    from ..evaluation.blocks import MeasurementOptions
    from ..evaluation.reproduce import ReproduceOptions
    from ..evaluation.runs import PaperRunOptions
    from ..planning.solvers import find_solver
    from .photos import list_photos

    kind = _get_kind(name)
    find_solver(solver)
    folder = output or _RESULTS_FOLDER / name
    if ask is not None:
        _check_ask_options(name, kind, ask, overwrite, {"--system": system, "-o": output})
    else:
        evaluate.check_output_folder(folder, overwrite)
    shown = list_photos(photos, recursive=False) if photos else []
    place = PaperRunOptions(
        runs, None if load_only else data, tuple(assignments or ()), minutes, cpu, sys.stderr
    )
    extent = MeasurementOptions(split, count, each, seed, gier=gier, jobs=jobs or os.cpu_count() or 1)
    narrow = narrow and _supports_bfloat16()
    wanted = ReproduceOptions(
        dataset, place, extent, tuple(system or ()), shown, planned, solver, gier_data, narrow, seeds
    )
    if ask is not None:
        _write_table_questions(name, wanted, ask, overwrite)
        return
    tables: list[ResultTable] = []
    if kind == "table":
        tables = _make_tables(name, wanted, inception, lpips, folder, overwrite)
    elif kind == "time":
        tables = [_make_time_table(replace(place, data=data), wanted, paces or [], folder, overwrite)]
    else:
        _draw_picture(name, wanted, request, folder, overwrite)
    print_line(f"-> {folder}")
    if as_json:
        print_json([{"title": one.title, "rows": one.cells(), "notes": one.notes} for one in tables])
        return
    for table in tables:
        print_table(table.without_intervals())


def _supports_bfloat16() -> bool:
    """Whether GANs can, which the notes of a table tell; without torch there are none to compute."""
    try:
        from ..models.answering import NO_BFLOAT16_MESSAGE, select_device, supports_bfloat16
    except ImportError:
        return False
    if computes := supports_bfloat16(select_device()):
        return computes
    print_line(NO_BFLOAT16_MESSAGE)
    return False


def _get_kind(name: str) -> str:
    """What is called so."""
    from ..evaluation.paper_tables import PAPER_TABLES
    from ..evaluation.pictures import PAPER_PICTURES
    from ..evaluation.timing import TIME_NAME as TIME

    kinds = {**dict.fromkeys(PAPER_TABLES, "table"), TIME: "time", **dict.fromkeys(PAPER_PICTURES, "picture")}
    if name not in kinds:
        near = get_close_matches(name, kinds, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(kinds)}"
        raise DataError(f"there is no table or picture {name!r}; {hint}")
    return kinds[name]


def _check_ask_options(name: str, kind: str, ask: Path, overwrite: bool, given: Mapping[str, object]) -> None:
    if kind != "table":
        raise DataError(
            f"--ask writes the questions of a table of systems, and {name} is none; give main, say"
        )
    evaluate.check_ask_options(ask, overwrite, given)


def _write_table_questions(name: str, wanted: ReproduceOptions, ask: Path, overwrite: bool) -> None:
    """What one of the tables of systems asks."""
    from ..evaluation.paper_tables import get_paper_table
    from ..evaluation.reproduce import PaperTableBuilder

    with evaluate.show_progress() as told:
        making = PaperTableBuilder(get_paper_table(name), wanted, print_line, told)
        found = making.questions()
    print_problems(making.problems, "left out")
    evaluate.write_questions(found, ask, overwrite)


def _make_tables(
    name: str,
    wanted: ReproduceOptions,
    inception: Path | None,
    lpips: Path | None,
    folder: Path,
    overwrite: bool,
) -> list[ResultTable]:
    """One of the tables of systems."""
    from ..evaluation.paper_tables import get_paper_table
    from ..evaluation.reproduce import PaperTableBuilder

    extent = replace(
        wanted.extent, extractors=evaluate.open_extractors(inception), lpips=evaluate.open_lpips(lpips)
    )
    with evaluate.show_progress() as told:
        making = PaperTableBuilder(get_paper_table(name), replace(wanted, extent=extent), print_line, told)
        found = making.results()
        told("intervals", 0, 1)
        found.write(folder, evaluate.get_command_line(), overwrite=overwrite)
    print_problems(making.problems, "left out")
    return found.tables()


def _make_time_table(
    place: PaperRunOptions, wanted: ReproduceOptions, paces: list[Path], folder: Path, overwrite: bool
) -> ResultTable:
    """The table of times."""
    from ..data import open_dataset
    from ..evaluation.table import encode_provenance
    from ..evaluation.timing import build_time_table

    data = open_dataset(wanted.dataset)
    found = build_time_table(data, place, wanted.planned, paces, print_line)
    told = encode_provenance(
        evaluate.get_command_line(), pairs=wanted.planned, seed=wanted.extent.seed, data=data.fingerprint
    )
    files = {"table.md": found.markdown().encode(), "table.csv": found.csv().encode()}
    _write_files({**files, ABOUT_FILE: told}, folder, overwrite)
    return found


def _draw_picture(name: str, wanted: ReproduceOptions, request: str, folder: Path, overwrite: bool) -> None:
    """One of the pictures."""
    from ..data import open_dataset
    from ..evaluation.pictures import get_paper_picture
    from ..evaluation.sheets import PictureOptions
    from ..evaluation.table import encode_provenance

    data, extent = open_dataset(wanted.dataset), wanted.extent
    wish = PictureOptions(
        data,
        wanted.place.runs,
        folder.parent,
        wanted.photos,
        request,
        extent.split,
        extent.count or PictureOptions.count,
        extent.seed,
        wanted.narrow,
    )
    told = encode_provenance(evaluate.get_command_line(), data=data.fingerprint, seed=extent.seed)
    _write_files({**get_paper_picture(name).draw(wish), ABOUT_FILE: told}, folder, overwrite)


def _write_files(files: Mapping[str, bytes], folder: Path, overwrite: bool) -> None:
    from ..image import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(folder / name, content, overwrite=overwrite)
