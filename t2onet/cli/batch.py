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
from .common import EXIT_INTERRUPTED, EXIT_REFUSED, exit_with_error, make_console, print_json, print_line
from .photos import PhotoTask, describe_path_error


class PhotoOutcome(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    REFUSED = "refused"


@dataclass(frozen=True)
class WrittenPicture:
    """A picture that was written, and what was done, in words; `told` has a line for each step."""

    path: Path
    told: str = ""


@dataclass(frozen=True)
class PhotoReport:
    """How one photo went.

    `pictures` are the files that were written, or that exist where the photo was skipped; by default the
    task's target. `error` says why a photo was refused, and `error_kind` is the class of that error.
    """

    task: PhotoTask
    outcome: PhotoOutcome
    notes: tuple[str, ...] = ()
    error: str | None = None
    error_kind: str = ""
    pictures: tuple[WrittenPicture, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was not done or not kept, in sentences."""
    details: object = None
    """More about it, for what the command prints as JSON."""

    @property
    def files(self) -> tuple[WrittenPicture, ...]:
        return self.pictures or (WrittenPicture(self.task.target),)


ShareCallback = Callable[[float], None]
PhotoWork = Callable[[PhotoTask, ShareCallback, threading.Event], PhotoReport]
"""Does one task, telling its share done and stopping at the event."""


def run_tasks(tasks: list[PhotoTask], work: PhotoWork, *, jobs: int, quiet: bool) -> list[PhotoReport]:
    """All tasks, `jobs` at a time; reports in their order, fewer where it was interrupted.

    An interruption lets what is being written be written whole, and starts nothing new.
    """
    stop = threading.Event()
    with _show_progress(len(tasks), quiet) as advance, ThreadPoolExecutor(jobs) as pool:
        futures: list[Future[PhotoReport]] = []
        try:
            for task in tasks:
                futures.append(pool.submit(_run_task, work, task, advance(task), stop))  # noqa: PERF401
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set()  # only now: a thread that stops would take the next photo
    return list(_collect_reports(futures))


def _collect_reports(futures: list[Future[PhotoReport]]) -> Iterator[PhotoReport]:
    for future in futures:
        try:
            yield future.result()
        except (Cancelled, CancelledError):
            continue


def _run_task(
    work: PhotoWork, task: PhotoTask, progress: ShareCallback, stop: threading.Event
) -> PhotoReport:
    try:
        return work(task, progress, stop)
    except Cancelled:
        raise
    except T2OError as error:
        return PhotoReport(task, PhotoOutcome.REFUSED, error=str(error), error_kind=type(error).__name__)
    except OSError as error:
        return PhotoReport(
            task, PhotoOutcome.REFUSED, error=describe_path_error(error), error_kind=OutputError.__name__
        )
    finally:
        progress(1.0)


@contextmanager
def _show_progress(count: int, quiet: bool) -> Iterator[Callable[[PhotoTask], ShareCallback]]:
    """A bar on a terminal; nothing elsewhere."""
    screen = make_console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda task: lambda share: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bars:
        bar = bars.add_task("photos", total=count)
        shares: dict[PhotoTask, float] = {}

        def advance(task: PhotoTask) -> ShareCallback:
            def told(share: float) -> None:
                shares[task] = max(share, shares.get(task, 0.0))
                bars.update(bar, completed=round(sum(shares.values()), 2))

            return told

        yield advance


def print_reports(
    reports: list[PhotoReport],
    count: int,
    *,
    as_json: bool,
    quiet: bool,
    notes: Sequence[str] = (),
    data: Callable[[PhotoReport], dict[str, Any]] | None = None,
) -> None:
    """What became of `count` photos; exit code 2 where one was refused, 130 where some are missing.

    `notes` are about photos that were left out; `data` makes the JSON of a report.
    """
    for note in notes:
        print_line(f"note: {note}")
    if as_json:
        print_json([(data or to_report_json)(report) for report in reports])
    else:
        for report in reports:
            _print_report(report, quiet)
    if left := count - len(reports):
        exit_with_error(
            f"stopped, {left} of {count} photos to go; --skip-existing goes on there", EXIT_INTERRUPTED
        )
    refused = sum(report.outcome is PhotoOutcome.REFUSED for report in reports)
    if refused and count > 1 and not as_json:
        others = "; the others are done" if refused < count else ""
        exit_with_error(f"{refused} of {count} photos refused{others}")
    if refused:
        raise typer.Exit(EXIT_REFUSED)


def _print_report(report: PhotoReport, quiet: bool) -> None:
    source = report.task.source
    if report.error is not None:
        print_line(f"t2o: {report.error}")
    elif not quiet:
        for line in _format_report(report):
            print_line(line, err=False)
    for note in report.notes:
        print_line(f"note: {source}: {note}")


def _format_report(report: PhotoReport) -> Iterator[str]:
    source, files = report.task.source, report.files
    if report.outcome is PhotoOutcome.SKIPPED:
        names = ", ".join(str(file.path) for file in files)
        yield f"{source}: skipped, {names} exist{'s' if len(files) == 1 else ''}"
        return
    for file in files:
        yield f"{source} -> {file.path}"
        yield from (f"  {line}" for line in file.told.splitlines())
    yield from (f"  {remark}" for remark in report.remarks)


def to_report_json(report: PhotoReport) -> dict[str, Any]:
    """What every command says of a photo."""
    return {
        "source": str(report.task.source),
        "target": str(report.files[0].path),
        "outcome": report.outcome.value,
        "notes": list(report.notes),
        "error": report.error,
    }
