"""Many photos at once, with progress; one that fails does not stop the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from ..errors import Cancelled, OutputError, T2OError
from .common import INTERRUPTED, REFUSED, console, print_json, refuse, say
from .photos import Task, unusable


class Outcome(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    REFUSED = "refused"


@dataclass(frozen=True)
class Written:
    """A picture that was written, and what was done, in words; `told` has a line for each step."""

    path: Path
    told: str = ""


@dataclass(frozen=True)
class Report:
    """How one photo went.

    `pictures` are the files that were written, or that exist where the photo was skipped; by default the
    task's target. `error` says why a photo was refused, and `error_kind` is the class of that error.
    """

    task: Task
    outcome: Outcome
    notes: tuple[str, ...] = ()
    error: str | None = None
    error_kind: str = ""
    pictures: tuple[Written, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was not done or not kept, in sentences."""
    details: object = None
    """More about it, for what the command prints as JSON."""

    @property
    def files(self) -> tuple[Written, ...]:
        return self.pictures or (Written(self.task.target),)


Share = Callable[[float], None]
Work = Callable[[Task, Share, threading.Event], Report]
"""Does one task, telling its share done and stopping at the event."""


def run(tasks: list[Task], work: Work, *, jobs: int, quiet: bool) -> list[Report]:
    """All tasks, `jobs` at a time; reports in their order, fewer where it was interrupted.

    An interruption lets what is being written be written whole, and starts nothing new.
    """
    stop = threading.Event()
    with _progress(len(tasks), quiet) as advance, ThreadPoolExecutor(jobs) as pool:
        futures: list[Future[Report]] = []
        try:
            for task in tasks:
                futures.append(pool.submit(_attempt, work, task, advance(task), stop))  # noqa: PERF401
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set()  # only now: a thread that stops would take the next photo
    return list(_finished(futures))


def _finished(futures: list[Future[Report]]) -> Iterator[Report]:
    for future in futures:
        try:
            yield future.result()
        except (Cancelled, CancelledError):
            continue


def _attempt(work: Work, task: Task, progress: Share, stop: threading.Event) -> Report:
    try:
        return work(task, progress, stop)
    except Cancelled:
        raise
    except T2OError as error:
        return Report(task, Outcome.REFUSED, error=str(error), error_kind=type(error).__name__)
    except OSError as error:
        return Report(task, Outcome.REFUSED, error=unusable(error), error_kind=OutputError.__name__)
    finally:
        progress(1.0)


@contextmanager
def _progress(count: int, quiet: bool) -> Iterator[Callable[[Task], Share]]:
    """A bar on a terminal; nothing elsewhere."""
    screen = console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda task: lambda share: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bars:
        bar = bars.add_task("photos", total=count)
        shares: dict[Task, float] = {}

        def advance(task: Task) -> Share:
            def told(share: float) -> None:
                shares[task] = max(share, shares.get(task, 0.0))
                bars.update(bar, completed=round(sum(shares.values()), 2))

            return told

        yield advance


def present(
    reports: list[Report],
    count: int,
    *,
    as_json: bool,
    quiet: bool,
    notes: Sequence[str] = (),
    data: Callable[[Report], dict[str, Any]] | None = None,
) -> None:
    """What became of `count` photos; exit code 2 where one was refused, 130 where some are missing.

    `notes` are about photos that were left out; `data` makes the JSON of a report.
    """
    for note in notes:
        say(f"note: {note}")
    if as_json:
        print_json([(data or as_data)(report) for report in reports])
    else:
        for report in reports:
            _tell(report, quiet)
    if left := count - len(reports):
        refuse(f"stopped, {left} of {count} photos to go; --skip-existing goes on there", INTERRUPTED)
    refused = sum(report.outcome is Outcome.REFUSED for report in reports)
    if refused and count > 1 and not as_json:
        others = "; the others are done" if refused < count else ""
        refuse(f"{refused} of {count} photos refused{others}")
    if refused:
        raise typer.Exit(REFUSED)


def _tell(report: Report, quiet: bool) -> None:
    source = report.task.source
    if report.error is not None:
        say(f"t2o: {report.error}")
    elif not quiet:
        for line in _lines(report):
            say(line, err=False)
    for note in report.notes:
        say(f"note: {source}: {note}")


def _lines(report: Report) -> Iterator[str]:
    source, files = report.task.source, report.files
    if report.outcome is Outcome.SKIPPED:
        names = ", ".join(str(file.path) for file in files)
        yield f"{source}: skipped, {names} exist{'s' if len(files) == 1 else ''}"
        return
    for file in files:
        yield f"{source} -> {file.path}"
        yield from (f"  {line}" for line in file.told.splitlines())
    yield from (f"  {remark}" for remark in report.remarks)


def as_data(report: Report) -> dict[str, Any]:
    """What every command says of a photo."""
    return {
        "source": str(report.task.source),
        "target": str(report.files[0].path),
        "outcome": report.outcome.value,
        "notes": list(report.notes),
        "error": report.error,
    }
