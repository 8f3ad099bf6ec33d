"""`t2o apply`, and how commands work on many photos: in parallel, with progress and one report for each."""

from __future__ import annotations

import errno
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import Cancelled, OutputError, T2OError
from .common import (
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    JobsOption,
    JsonOption,
    MaxMegapixelsOption,
    OutputOption,
    OverwriteOption,
    QuietOption,
    RecipeArgument,
    RecursiveOption,
    SkipExistingOption,
    WhereOption,
    exit_on_error,
    exit_with_error,
    load_recipe,
    parse_where_option,
    print_json,
    print_line,
    show_progress,
)
from .photos import PhotoTask, describe_path_error, select_photos

if TYPE_CHECKING:
    from ..image import Image
    from ..operations import RadiusMode
    from ..recipe import Recipe


class PhotoOutcome(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    REFUSED = "refused"


@dataclass(frozen=True)
class WrittenPicture:
    """A picture that was written; `description` says what was done, with a line for each step."""

    path: Path
    description: str = ""


@dataclass(frozen=True)
class PhotoReport:
    """The result for one photo.

    `pictures` are the files that were written, or that exist if the photo was skipped; by default the task's
    target. `error` says why a photo was refused, `error_kind` is the class of the error.
    """

    task: PhotoTask
    outcome: PhotoOutcome
    notes: tuple[str, ...] = ()
    error: str | None = None
    error_kind: str = ""
    pictures: tuple[WrittenPicture, ...] = ()
    remarks: tuple[str, ...] = ()
    """Sentences about what was declined and which limits were kept."""
    details: object = None
    """Further data of a command for its JSON output."""

    @property
    def files(self) -> tuple[WrittenPicture, ...]:
        return self.pictures or (WrittenPicture(self.task.target),)


ShareCallback = Callable[[float], None]
PhotoWork = Callable[[PhotoTask, ShareCallback, threading.Event], PhotoReport]
"""Processes one task; reports the share that is done and stops when the event is set."""


def run_tasks(tasks: list[PhotoTask], work: PhotoWork, *, jobs: int, quiet: bool) -> list[PhotoReport]:
    """Process tasks, `jobs` at a time; returns reports in their order, fewer after an interruption.

    After an interruption (Ctrl-C) files that are being written are completed, and nothing new is started.
    """
    from ..image.pixels import reuse_memory

    stop = threading.Event()
    with (
        reuse_memory(),
        _switch_threads_often(),
        _show_photo_progress(len(tasks), quiet) as advance,
        ThreadPoolExecutor(jobs) as pool,
    ):
        futures: list[Future[PhotoReport]] = []
        try:
            for task in tasks:
                futures.append(pool.submit(_run_task, work, task, advance(task), stop))  # noqa: PERF401
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set()  # only now: a thread that stops would take the next photo
    return list(_collect_reports(futures))


def start_loading_kernels(tasks: list[PhotoTask], *, skip_existing: bool) -> None:
    """Load kernels in a thread, while photos are opened, if any edit of this many pixels would use them.

    The first photo stands for all that are not skipped.
    """
    from ..executor import MIN_CURVE_KERNEL_PIXELS, load_kernels
    from ..image.reading import read_photo_size

    def load() -> None:
        with suppress(Exception):  # raised again where a photo needs them
            load_kernels()

    todo = _list_new(tasks, skip_existing=skip_existing)
    size = read_photo_size(todo[0].source) if todo else None
    if size is not None and math.prod(size) * len(todo) >= MIN_CURVE_KERNEL_PIXELS:
        threading.Thread(target=load).start()


@contextmanager
def open_ahead(
    tasks: list[PhotoTask], count: int, *, skip_existing: bool
) -> Iterator[Callable[[PhotoTask], Image]]:
    """Open the first `count` photos in threads, and get memory for results, while what edits them is loaded.

    Gives a function that opens the photo of any task, once.
    """
    from ..image import open_image
    from ..image.pixels import allocate_touched, reuse_memory

    def open_first(task: PhotoTask) -> tuple[Image, object]:
        photo = open_image(task.source)
        has_bytes = photo.pixels.dtype.itemsize == 1  # only results of 8 bits take such memory
        return photo, allocate_touched(*photo.pixels.shape[:2]) if has_bytes else None

    with reuse_memory(), ThreadPoolExecutor(count) as pool:
        first = _list_new(tasks, skip_existing=skip_existing)[:count]
        opened = {task: pool.submit(open_first, task) for task in first}

        def open_photo(task: PhotoTask) -> Image:
            future = opened.pop(task, None)
            return open_image(task.source) if future is None else future.result()[0]

        yield open_photo


def _list_new(tasks: list[PhotoTask], *, skip_existing: bool) -> list[PhotoTask]:
    """The tasks that are not skipped."""
    return [task for task in tasks if not (skip_existing and task.target.exists())]


@contextmanager
def _switch_threads_often() -> Iterator[None]:
    """Let threads that run kernels have the interpreter soon, while another one answers a request.

    They need it for microseconds at a time, and would wait for milliseconds.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


class FirstTurn:
    """Lets one thread go first; the others wait until it is through."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_over = False

    @contextmanager
    def take(self) -> Iterator[None]:
        with self._lock:
            if not self._is_over:
                try:
                    yield
                finally:
                    self._is_over = True
                return
        yield


class ThreadShare:
    """The threads that each photo of a run may use: the last to begin have those of photos that soon end."""

    def __init__(self, photos: int, jobs: int) -> None:
        self._jobs = jobs
        self._waiting = photos
        self._lock = threading.Lock()

    def take(self) -> int:
        """The threads of the photo that is begun now."""
        from ..image.codecs import count_cores

        with self._lock:
            self._waiting -= 1
            return max(1, count_cores() // max(1, min(self._jobs, self._waiting + 1)))


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
def _show_photo_progress(count: int, quiet: bool) -> Iterator[Callable[[PhotoTask], ShareCallback]]:
    """A progress bar over the shares of all photos, on a terminal only."""
    shares: dict[PhotoTask, float] = {}
    with show_progress(lines=False, quiet=quiet) as show:

        def advance(task: PhotoTask) -> ShareCallback:
            def report(share: float) -> None:
                shares[task] = max(share, shares.get(task, 0.0))
                show("photos", round(sum(shares.values()), 2), count)

            return report

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
    """Print reports of `count` photos; exit code 2 if one was refused, 130 if some are missing.

    `notes` are about photos that were left out; `data` converts a report to JSON.
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
            f"stopped, {left} of {count} photos to go; --skip-existing continues there", EXIT_INTERRUPTED
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
        yield from (f"  {line}" for line in file.description.splitlines())
    yield from (f"  {remark}" for remark in report.remarks)


def to_report_json(report: PhotoReport) -> dict[str, Any]:
    """The JSON of a report that all commands have in common."""
    return {
        "source": str(report.task.source),
        "target": str(report.files[0].path),
        "outcome": report.outcome.value,
        "notes": list(report.notes),
        "error": report.error,
    }


SWITCH_SECONDS = 2e-5
"""After so long a thread of Python lets another run."""
MIN_MEGAPIXELS = 0.001
MAX_MEGAPIXELS = 1_000_000


@exit_on_error
def apply_recipe(
    recipe: RecipeArgument,
    photos: Annotated[
        list[str],
        typer.Argument(metavar="PHOTO", help="Photos, folders, or patterns such as 'trip/*.jpg'."),
    ],
    output: OutputOption = None,
    strength: Annotated[
        float,
        typer.Option(help="0 changes nothing, 1 is the recipe, more than 1 exaggerates it."),
    ] = 1.0,
    where: WhereOption = None,
    quality: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Quality of a lossy format; by default a JPEG's own, 90 for WebP, AVIF, HEIC.",
        ),
    ] = None,
    radius: Annotated[
        Literal["scaled", "pixel"],
        typer.Option(help="Radius of sharpening: scaled with the photo, or one pixel."),
    ] = "scaled",
    recursive: RecursiveOption = False,
    overwrite: OverwriteOption = False,
    skip_existing: SkipExistingOption = False,
    jobs: JobsOption = None,
    max_megapixels: MaxMegapixelsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Apply a recipe or a look to photos at full resolution; the original files are not changed."""
    from ..image.codecs import count_cores
    from ..recipe.looks import derive_result_name

    check_overwrite_options(overwrite, skip_existing)
    if max_megapixels is not None:
        set_max_megapixels(max_megapixels)
    look = load_recipe(recipe).blend(strength)
    if where is not None:
        look = look.restrict(parse_where_option(where))
    selected = select_photos(photos, output, derive_result_name(recipe), recursive=recursive)
    todo = selected.tasks
    start_loading_kernels(todo, skip_existing=skip_existing)
    jobs = min(jobs or count_cores(), len(todo))
    work = _ApplyWorker(
        look, radius, quality, overwrite, skip_existing, len(todo), ThreadShare(len(todo), jobs)
    )
    try:
        reports = run_tasks(todo, work, jobs=jobs, quiet=quiet or as_json)
    finally:
        remove_empty_folders(work.made)
    print_reports(reports, len(todo), as_json=as_json, quiet=quiet, notes=selected.notes)


def set_max_megapixels(megapixels: float) -> None:
    """Set the largest photo that this process reads."""
    import PIL.Image

    if not MIN_MEGAPIXELS <= megapixels <= MAX_MEGAPIXELS:
        usable = f"from {MIN_MEGAPIXELS:g} to {MAX_MEGAPIXELS}"
        exit_with_error(f"--max-megapixels {megapixels:g} is no limit; give a number {usable}")
    PIL.Image.MAX_IMAGE_PIXELS = int(megapixels * 1e6 / 2)  # Pillow refuses above twice this


@dataclass(frozen=True)
class _ApplyWorker:
    """Applies the recipe to each of `count` photos; `made` are folders that were created for the results."""

    look: Recipe
    radius: RadiusMode
    quality: int | None
    overwrite: bool
    skip_existing: bool
    count: int
    threads: ThreadShare
    made: list[Path] = field(default_factory=list)

    def __call__(self, task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        from ..image import open_image

        threads = self.threads.take()
        if self.skip_existing and is_written(task.target):
            return PhotoReport(task, PhotoOutcome.SKIPPED)
        refuse_existing(task, self.overwrite)
        left_out: list[str] = []
        edited = self._apply(open_image(task.source), threads, progress, stop, left_out)
        self.made.extend(make_folders(task.target.parent))
        saved = edited.save(task.target, overwrite=self.overwrite, quality=self.quality)
        explained = self.count == 1 and self.look.is_look
        words = f"{self.look.describe()}\n{self.look.format_settings()}" if explained else ""
        pictures = (WrittenPicture(task.target, words),)
        notes = (*left_out, *saved.notes)
        return PhotoReport(task, PhotoOutcome.DONE, notes=notes, pictures=pictures)

    def _apply(
        self, photo: Image, threads: int, progress: ShareCallback, stop: threading.Event, notes: list[str]
    ) -> Image:
        from ..executor import apply

        return apply(
            self.look,
            photo,
            radius=self.radius,
            threads=threads,
            photos=self.count,
            progress=progress,
            cancel=stop,
            notes=notes,
        )


def check_overwrite_options(overwrite: bool, skip_existing: bool) -> None:
    if overwrite and skip_existing:
        exit_with_error("--overwrite and --skip-existing contradict each other; give one of them")


def is_written(result: Path) -> bool:
    """Whether a result exists and can be skipped; an empty file is not a result."""
    if not result.exists():
        return False
    if result.is_file() and result.stat().st_size == 0:
        raise OutputError(f"{result} is empty and no result to skip; remove it, or give --overwrite instead")
    return True


def refuse_existing(task: PhotoTask, overwrite: bool) -> None:
    if task.target.exists() and not overwrite:
        raise OutputError(f"{task.target} exists already; give another -o, --overwrite or --skip-existing")


def make_folders(folder: Path) -> list[Path]:
    """Create a folder and its parents; returns those that did not exist, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        for place in reversed(missing):  # mkdir(parents=True) would nest a call for each
            place.mkdir(exist_ok=True)
        if not folder.is_dir():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    except OSError as error:
        raise OutputError(f"the folder {folder} cannot be made ({error.strerror}); give another -o") from None
    return missing


def remove_empty_folders(folders: list[Path]) -> None:
    """Remove folders that are still empty, because all of their results failed."""
    for folder in sorted(set(folders), key=lambda place: len(place.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()
