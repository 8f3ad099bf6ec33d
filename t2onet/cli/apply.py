"""`t2o apply`: a recipe on one photo or on many."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import OutputError
from .batch import PhotoOutcome, PhotoReport, ShareCallback, print_reports, run_tasks
from .common import (
    JobsOption,
    JsonOption,
    MaxMegapixelsOption,
    OutputOption,
    OverwriteOption,
    QuietOption,
    RecipeArgument,
    RecursiveOption,
    SkipExistingOption,
    exit_on_error,
    exit_with_error,
    load_recipe,
)
from .photos import PhotoTask, select_photos

if TYPE_CHECKING:
    from ..image import Image
    from ..operations import RadiusMode
    from ..recipe import Recipe


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
        typer.Option(help="0 changes nothing, 1 is the recipe, above 1 goes beyond as far as ranges allow."),
    ] = 1.0,
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
        typer.Option(help="Sharpness widens with the photo (scaled) or is one pixel wide (pixel)."),
    ] = "scaled",
    recursive: RecursiveOption = False,
    overwrite: OverwriteOption = False,
    skip_existing: SkipExistingOption = False,
    jobs: JobsOption = None,
    max_megapixels: MaxMegapixelsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Apply a recipe to photos at full resolution; the photos themselves stay as they are."""
    from ..image.codecs import count_cores
    from ..recipe.recipe import derive_look_name

    check_overwrite_options(overwrite, skip_existing)
    if max_megapixels is not None:
        set_max_megapixels(max_megapixels)
    look = load_recipe(recipe).blend(strength)
    selected = select_photos(photos, output, derive_look_name(recipe), recursive=recursive)
    todo = selected.tasks
    jobs = min(jobs or count_cores(), len(todo))
    work = _ApplyWorker(
        look, radius, quality, overwrite, skip_existing, len(todo), max(1, count_cores() // jobs)
    )
    try:
        reports = run_tasks(todo, work, jobs=jobs, quiet=quiet or as_json)
    finally:
        remove_empty_folders(work.made)
    print_reports(reports, len(todo), as_json=as_json, quiet=quiet, notes=selected.notes)


def set_max_megapixels(megapixels: float) -> None:
    """Photos of so many megapixels, for this process."""
    import PIL.Image

    if not MIN_MEGAPIXELS <= megapixels <= MAX_MEGAPIXELS:
        usable = f"from {MIN_MEGAPIXELS:g} to {MAX_MEGAPIXELS}"
        exit_with_error(f"--max-megapixels {megapixels:g} is no limit; give a number {usable}")
    PIL.Image.MAX_IMAGE_PIXELS = int(megapixels * 1e6 / 2)  # Pillow refuses above twice this


@dataclass(frozen=True)
class _ApplyWorker:
    """What is done with each of `count` photos; `made` are the folders that were made for the results."""

    look: Recipe
    radius: RadiusMode
    quality: int | None
    overwrite: bool
    skip_existing: bool
    count: int
    threads: int
    made: list[Path] = field(default_factory=list)

    def __call__(self, task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        from ..image import open_image

        if self.skip_existing and is_written(task.target):
            return PhotoReport(task, PhotoOutcome.SKIPPED)
        _refuse_existing(task, self.overwrite)
        edited = self._edited(open_image(task.source), progress, stop)
        self.made.extend(make_folders(task.target.parent))
        saved = edited.save(task.target, overwrite=self.overwrite, quality=self.quality)
        return PhotoReport(task, PhotoOutcome.DONE, notes=saved.notes)

    def _edited(self, photo: Image, progress: ShareCallback, stop: threading.Event) -> Image:
        from ..executor import apply, should_use_kernels

        return apply(
            self.look,
            photo,
            radius=self.radius,
            threads=self.threads,
            kernels=should_use_kernels(photo.height * photo.width * self.count),
            progress=progress,
            cancel=stop,
        )


def check_overwrite_options(overwrite: bool, skip_existing: bool) -> None:
    if overwrite and skip_existing:
        exit_with_error("--overwrite and --skip-existing contradict each other; give one of them")


def is_written(result: Path) -> bool:
    """Whether a result exists that can be skipped; results are written whole, so an empty file is none."""
    if not result.exists():
        return False
    if result.is_file() and result.stat().st_size == 0:
        raise OutputError(f"{result} is empty and no result to skip; remove it, or give --overwrite instead")
    return True


def _refuse_existing(task: PhotoTask, overwrite: bool) -> None:
    if task.target.exists() and not overwrite:
        raise OutputError(f"{task.target} exists already; give another -o, --overwrite or --skip-existing")


def make_folders(folder: Path) -> list[Path]:
    """The folders that had to be made, the innermost first."""
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
    """Take back folders whose results all failed; one with anything in it stays."""
    for folder in sorted(set(folders), key=lambda place: len(place.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()
