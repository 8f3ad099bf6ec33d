"""`t2o match`: photos with the tones and colours of a reference picture."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import OutputError
from ..options import MATCHED_SUFFIX
from .apply import (
    PhotoOutcome,
    PhotoReport,
    ShareCallback,
    ThreadShare,
    WrittenPicture,
    check_overwrite_options,
    is_written,
    make_folders,
    print_reports,
    refuse_existing,
    remove_empty_folders,
    run_tasks,
    set_max_megapixels,
    start_loading_kernels,
    to_report_json,
)
from .common import (
    JobsOption,
    JsonOption,
    MaxMegapixelsOption,
    OutputOption,
    OverwriteOption,
    QuietOption,
    RecursiveOption,
    SkipExistingOption,
    exit_on_error,
    exit_with_error,
)
from .edit import describe_stale_sidecar, replace_files
from .photos import PhotoTask, select_photos

if TYPE_CHECKING:
    from ..editor.matching import PictureLook
    from ..recipe import Recipe


@exit_on_error
def match_photos(
    reference: Annotated[
        Path, typer.Argument(metavar="REFERENCE", help="Picture with the tones and colours you want.")
    ],
    photos: Annotated[
        list[str],
        typer.Argument(metavar="PHOTO", help="Photos, folders, or patterns such as 'trip/*.jpg'."),
    ],
    output: OutputOption = None,
    strength: Annotated[
        float, typer.Option(help="0 changes nothing, 1 is the match, more than 1 exaggerates it.")
    ] = 1.0,
    sidecar: Annotated[
        bool,
        typer.Option(
            "--sidecar/--no-sidecar", help="Write each recipe beside its picture, as PICTURE.t2o.json."
        ),
    ] = True,
    recursive: RecursiveOption = False,
    overwrite: OverwriteOption = False,
    skip_existing: SkipExistingOption = False,
    jobs: JobsOption = None,
    max_megapixels: MaxMegapixelsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Match photos to the tones and colours of one reference picture; each gets a recipe of its own.

    For a photo before and after an edit, `t2o plan` finds the edit itself.
    """
    from ..editor.matching import measure_look
    from ..image.codecs import count_cores

    check_overwrite_options(overwrite, skip_existing)
    if not (math.isfinite(strength) and strength >= 0):
        exit_with_error(f"--strength {strength:g} is not a strength; give 0 or more, 1 is the match as it is")
    if max_megapixels is not None:
        set_max_megapixels(max_megapixels)
    selected = select_photos(photos, output, MATCHED_SUFFIX, recursive=recursive)
    todo = selected.tasks
    look = measure_look(reference)
    start_loading_kernels(todo, skip_existing=skip_existing)
    jobs = min(jobs or count_cores(), len(todo))
    work = _MatchWorker(
        look, strength, sidecar, overwrite, skip_existing, len(todo), ThreadShare(len(todo), jobs)
    )
    try:
        reports = run_tasks(todo, work, jobs=jobs, quiet=quiet or as_json)
    finally:
        remove_empty_folders(work.made)
    print_reports(reports, len(todo), as_json=as_json, quiet=quiet, notes=selected.notes, data=_to_match_json)


@dataclass(frozen=True)
class _MatchWorker:
    """Matches each of `count` photos to a look; `made` are folders that were created for the results."""

    look: PictureLook
    strength: float
    sidecar: bool
    overwrite: bool
    skip_existing: bool
    count: int
    threads: ThreadShare
    made: list[Path] = field(default_factory=list)

    def __call__(self, task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        from ..editor.matching import match_look
        from ..executor import apply
        from ..recipe.recipe import find_sidecar, sidecar_path

        threads = self.threads.take()
        if self.skip_existing and is_written(task.target):
            return PhotoReport(task, PhotoOutcome.SKIPPED)
        refuse_existing(task, self.overwrite)
        sidecar = sidecar_path(task.target)
        if self.sidecar and not self.overwrite and sidecar.exists():
            raise OutputError(f"{sidecar} exists already; give another -o, or --overwrite")
        edit = match_look(self.look, task.source).at(self.strength)
        left_out: list[str] = []
        image = apply(
            edit.recipe,
            edit.photo,
            threads=threads,
            photos=self.count,
            progress=progress,
            cancel=stop,
            notes=left_out,
        )
        self.made.extend(make_folders(task.target.parent))
        if self.sidecar and self.overwrite:
            notes = replace_files(image, edit.recipe, task.target)
        else:
            notes = image.save(task.target, overwrite=self.overwrite).notes
            if self.sidecar:
                edit.recipe.save(sidecar)
            elif self.overwrite and (stale := find_sidecar(task.target)) is not None:
                notes = (*notes, describe_stale_sidecar(stale))
        words = edit.reply
        if edit.recipe.steps:
            words = f"{edit.recipe.describe()}\n{edit.recipe.format_settings()}"
        return PhotoReport(
            task,
            PhotoOutcome.DONE,
            notes=(*left_out, *notes),
            pictures=(WrittenPicture(task.target, words),),
            details=edit.recipe,
        )


def _to_match_json(report: PhotoReport) -> dict[str, Any]:
    """A report as an entry of `--json`: as of every command, with the recipe."""
    recipe: Recipe | None = report.details  # type: ignore[assignment]
    found = {} if recipe is None else {"recipe": recipe.model_dump(mode="json", exclude_none=True)}
    return to_report_json(report) | found
