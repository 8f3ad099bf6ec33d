"""What the commands that measure share: features, progress, and folders of results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, OutputError
from .common import Ticker, console, say

if TYPE_CHECKING:
    from ..metrics.features import Extractor
    from ..reports.cases import Told


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


def check_folder(output: Path, overwrite: bool) -> None:
    """Before an hour is spent."""
    if output.exists() and not output.is_dir():
        raise OutputError(f"{output} is a file; give the name of a folder")
    if output.is_dir() and any(output.iterdir()) and not overwrite:
        raise OutputError(f"{output} is not empty; give another folder or --overwrite")


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
