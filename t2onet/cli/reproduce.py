"""`t2o reproduce`: the paper's tables and pictures, from data and runs of your own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError, suggest
from . import evaluate
from .common import (
    JsonOption,
    exit_on_error,
    print_json,
    print_line,
    print_problems,
    print_table,
    show_progress,
)

if TYPE_CHECKING:
    from ..evaluation.compare import ResultTable
    from ..evaluation.reproduce import ReproduceOptions
    from ..evaluation.runs import PaperRunOptions

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
        typer.Option(metavar="DIR", help="Folder of GIER: labelled requests and, with images, its columns."),
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
        Path | None, typer.Option(metavar="PACKED", help="The same for GIER; its runs are in DIR/gier.")
    ] = None,
    load_only: Annotated[
        bool, typer.Option("--load-only", help="Never train: rows without weights are left out.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Maximum minutes for each row; the next call resumes it."),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Train each row this many times; its figures are means over the runs.")
    ] = 1,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of every row; repeatable."),
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Train without accelerators.")] = False,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM", help="An additional row, as for `t2o evaluate`; repeatable."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to measure on.")] = "val",
    count: Annotated[
        int | None,
        typer.Option(
            min=1, help="Maximum number of pairs (default: all), or of photos in a picture (default: 4)."
        ),
    ] = None,
    each: Annotated[int, typer.Option(min=1, help="Photos for each labelled request.")] = 2,
    planned: Annotated[
        int, typer.Option(min=1, help="Pairs to plan in tables about planning, drawn by --seed.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="Solver of the search: fast, or nelder-mead as in the paper.")
    ] = "fast",
    inception: evaluate.InceptionOption = None,
    lpips: evaluate.LpipsOption = None,
    narrow: Annotated[
        bool,
        typer.Option("--narrow", help="Let GANs compute in bfloat16 if the device can: often twice as fast."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Systems to measure at once, one thread each; by default one per core."),
    ] = None,
    photos: Annotated[
        list[str] | None,
        typer.Option(metavar="PHOTO", help="Photos or folders to show edits of; repeatable."),
    ] = None,
    request: Annotated[str, typer.Option(metavar="TEXT", help="Request of a picture.")] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder; by default results/NAME.")
    ] = None,
    ask: evaluate.AskOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make one of the paper's tables, beside the paper's figures, or one of its pictures."""
    from ..evaluation.measure import MeasurementOptions
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
    training = PaperRunOptions(
        runs, None if load_only else data, tuple(assignments or ()), minutes, cpu, sys.stderr
    )
    measurement = MeasurementOptions(split, count, each, seed, jobs=jobs or os.cpu_count() or 1)
    options = ReproduceOptions(
        dataset,
        training,
        measurement,
        systems=tuple(system or ()),
        photos=list_photos(photos, recursive=False) if photos else [],
        planned_pairs=planned,
        solver=solver,
        gier=gier,
        gier_data=gier_data,
        bfloat16=narrow and _supports_bfloat16(),
        seeds=seeds,
    )
    if ask is not None:
        _write_table_questions(name, options, ask, overwrite)
        return
    tables: list[ResultTable] = []
    if kind == "table":
        tables = _make_tables(name, options, inception, lpips, folder, overwrite)
    elif kind == "time":
        tables = [_make_time_table(replace(training, data=data), options, folder, overwrite)]
    else:
        _draw_picture(name, options, request, folder, overwrite)
    print_line(f"-> {folder}")
    if as_json:
        print_json([{"title": one.title, "rows": one.cells(), "notes": one.notes} for one in tables])
        return
    for table in tables:
        print_table(table.without_intervals())


def _supports_bfloat16() -> bool:
    """Whether GANs can compute in bfloat16 here; says so if not. False without torch, which GANs need."""
    try:
        from ..models.answering import NO_BFLOAT16_MESSAGE, select_device, supports_bfloat16
    except ImportError:
        return False
    if supported := supports_bfloat16(select_device()):
        return supported
    print_line(NO_BFLOAT16_MESSAGE)
    return False


def _get_kind(name: str) -> str:
    """`table`, `time` or `picture`."""
    from ..evaluation.paper_tables import PAPER_TABLES
    from ..evaluation.pictures import PAPER_PICTURES
    from ..evaluation.timing import TIME_NAME

    kinds = {
        **dict.fromkeys(PAPER_TABLES, "table"),
        TIME_NAME: "time",
        **dict.fromkeys(PAPER_PICTURES, "picture"),
    }
    if name not in kinds:
        hint = suggest(name, kinds, f"there are {', '.join(kinds)}")
        raise DataError(f"there is no table or picture {name!r}; {hint}")
    return kinds[name]


def _check_ask_options(
    name: str, kind: str, ask: Path, overwrite: bool, measuring: Mapping[str, object]
) -> None:
    if kind != "table":
        raise DataError(
            f"--ask writes the questions of a table of systems, and {name} is none; give main, say"
        )
    evaluate.check_ask_options(ask, overwrite, measuring)


def _write_table_questions(name: str, options: ReproduceOptions, ask: Path, overwrite: bool) -> None:
    from ..evaluation.paper_tables import find_paper_table
    from ..evaluation.reproduce import PaperTableBuilder

    with show_progress() as progress:
        builder = PaperTableBuilder(find_paper_table(name), options, print_line, progress)
        questions = builder.collect_questions()
    print_problems(builder.problems, "left out")
    evaluate.write_questions(questions, ask, overwrite)


def _make_tables(
    name: str,
    options: ReproduceOptions,
    inception: Path | None,
    lpips: Path | None,
    folder: Path,
    overwrite: bool,
) -> list[ResultTable]:
    from ..evaluation.paper_tables import find_paper_table
    from ..evaluation.reproduce import PaperTableBuilder

    extractors, distance = evaluate.open_extractors(inception), evaluate.open_lpips(lpips)
    measurement = replace(options.measurement, extractors=extractors, lpips=distance)
    options = replace(options, measurement=measurement)
    with show_progress() as progress:
        builder = PaperTableBuilder(find_paper_table(name), options, print_line, progress)
        result = builder.build()
        progress("intervals", 0, 1)
        result.write(folder, evaluate.get_command_line(), overwrite=overwrite)
    print_problems(builder.problems, "left out")
    return result.build_tables()


def _make_time_table(
    training: PaperRunOptions, options: ReproduceOptions, folder: Path, overwrite: bool
) -> ResultTable:
    from ..data import open_dataset
    from ..evaluation.compare import encode_provenance
    from ..evaluation.timing import build_time_table

    data, pairs = open_dataset(options.dataset), options.planned_pairs
    table = build_time_table(data, training, pairs, print_line)
    about = encode_provenance(
        evaluate.get_command_line(), pairs=pairs, seed=options.measurement.seed, data=data.fingerprint
    )
    files = {
        "table.md": table.to_markdown().encode(),
        "table.csv": table.to_csv().encode(),
        ABOUT_FILE: about,
    }
    _write_files(files, folder, overwrite)
    return table


def _draw_picture(name: str, options: ReproduceOptions, request: str, folder: Path, overwrite: bool) -> None:
    from ..data import open_dataset
    from ..evaluation.compare import encode_provenance
    from ..evaluation.pictures import PictureOptions, find_paper_picture

    data, measurement = open_dataset(options.dataset), options.measurement
    picture_options = PictureOptions(
        data,
        options.training.runs,
        folder.parent,
        options.photos,
        request,
        measurement.split,
        measurement.count or PictureOptions.count,
        measurement.seed,
        options.bfloat16,
    )
    about = encode_provenance(evaluate.get_command_line(), data=data.fingerprint, seed=measurement.seed)
    _write_files({**find_paper_picture(name).draw(picture_options), ABOUT_FILE: about}, folder, overwrite)


def _write_files(files: Mapping[str, bytes], folder: Path, overwrite: bool) -> None:
    from ..image import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(folder / name, content, overwrite=overwrite)
