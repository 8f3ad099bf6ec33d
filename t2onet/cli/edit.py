"""`t2o edit`: photos and a sentence -> edited photos and their recipes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from ..errors import OutputError, RequestError
from .apply import allow, make_folder, refuse_contradiction, remove_empty
from .batch import Outcome, Report, Share, present, run
from .common import (
    AsJson,
    Jobs,
    MaxMegapixels,
    Output,
    Overwrite,
    Quiet,
    Recursive,
    SkipExisting,
    refuse,
    refusing,
)
from .photos import Task, tasks

if TYPE_CHECKING:
    from ..editor import Edit, Manner
    from ..policy import Policy

LOOK = "edited"
"""What results are called after their photos."""


@refusing
def edit_photos(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="PHOTO... REQUEST",
            help="Photos, folders or patterns, and last the request, in quotes: what you want.",
        ),
    ],
    output: Output = None,
    manner: Annotated[
        Literal["literal", "expert"],
        typer.Option(help="literal does what the sentence says; expert also what a retoucher would."),
    ] = "literal",
    strength: Annotated[
        float, typer.Option(help="0 changes nothing, 1 is the answer, above 1 goes beyond.")
    ] = 1.0,
    variants: Annotated[
        int, typer.Option(min=1, max=16, help="Different answers to choose from, numbered.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the variants.")] = 0,
    sidecar: Annotated[
        bool, typer.Option("--sidecar/--no-sidecar", help="Write each recipe beside its picture (JSON).")
    ] = True,
    recursive: Recursive = False,
    overwrite: Overwrite = False,
    skip_existing: SkipExisting = False,
    jobs: Jobs = None,
    network: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A network of yours, from `t2o export`."),
    ] = None,
    max_megapixels: MaxMegapixels = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Say what you want: photos and a sentence become edited photos, with their recipes beside them."""
    from ..executor import cores
    from ..policy import opened, shipped

    refuse_contradiction(overwrite, skip_existing)
    photos, request = _split(given)
    todo = tasks(photos, output, LOOK, recursive=recursive)
    if max_megapixels is not None:
        allow(max_megapixels)
    jobs = min(jobs or cores(), len(todo))
    policy = shipped() if network is None else opened(network)
    threads = max(1, cores() // jobs)
    existing = _Existing(overwrite, skip_existing)
    work = _Editing(policy, request, manner, strength, variants, seed, sidecar, existing, threads)
    made: list[Path] = []
    try:
        reports = run(
            todo, lambda task, share, stop: work(task, share, stop, made), jobs=jobs, quiet=quiet or as_json
        )
    finally:
        remove_empty(made)
    present(reports, len(todo), as_json=as_json, quiet=quiet)


def _split(given: list[str]) -> tuple[list[str], str]:
    *photos, request = given
    if not photos:
        refuse('a photo and a request are needed, such as: t2o edit photo.jpg "a bit brighter"')
    if _is_file(request):
        raise RequestError(
            f'{request} is a file, and the request comes last: t2o edit PHOTO... "a bit brighter"'
        )
    return photos, request


def _is_file(request: str) -> bool:
    try:
        return bool(request) and Path(request).exists()
    except OSError:  # longer than any name
        return False


class _Existing(NamedTuple):
    """What becomes of files that are there: they are replaced, or their photos are left alone."""

    overwrite: bool
    skip: bool


@dataclass(frozen=True)
class _Editing:
    """What is done with each photo."""

    policy: Policy
    request: str
    manner: Manner
    strength: float
    variants: int
    seed: int
    sidecar: bool
    existing: _Existing
    threads: int

    def __call__(self, task: Task, progress: Share, stop: threading.Event, made: list[Path]) -> Report:
        from ..editor import Editor

        if self.existing.skip and all(place.exists() for place in self._places(task, self.variants)):
            return Report(task, Outcome.SKIPPED)
        editor = Editor(task.source, self.policy)
        found = editor.variants(self.request, self.variants, manner=self.manner, seed=self.seed)
        edits = [one.at(self.strength) for one in found]
        if not edits[0].answered:
            return Report(task, Outcome.REFUSED, error=f"{task.source}: {edits[0].explain()}")
        places = self._places(task, len(edits))
        self._check(places)
        made.extend(make_folder(task.target.parent))
        notes: list[str] = []
        for number, (one, place) in enumerate(zip(edits, places, strict=True), start=1):
            notes += self._saved(one, place, stop)
            progress(number / len(edits))
        return Report(task, Outcome.DONE, notes=tuple(notes), told=self._told(edits, places))

    def _places(self, task: Task, count: int) -> list[Path]:
        if count == 1:
            return [task.target]
        return [task.target.with_stem(f"{task.target.stem}-{number}") for number in range(1, count + 1)]

    def _check(self, places: list[Path]) -> None:
        for place in places if not self.existing.overwrite else ():
            for file in (place, place.with_suffix(".json")) if self.sidecar else (place,):
                if file.exists():
                    raise OutputError(
                        f"{file} exists already; give another -o, --overwrite or --skip-existing"
                    )

    def _saved(self, edit: Edit, place: Path, stop: threading.Event) -> tuple[str, ...]:
        from ..executor import apply

        image = apply(edit.recipe, edit.photo, threads=self.threads, cancel=stop)
        saved = image.save(place, overwrite=self.existing.overwrite)
        if self.sidecar:
            edit.recipe.save(place.with_suffix(".json"), overwrite=self.existing.overwrite)
        return saved.notes

    def _told(self, edits: list[Edit], places: list[Path]) -> str:
        if len(edits) == 1:
            return edits[0].explain()
        told = [f"{place.name}: {one.recipe.describe()}" for one, place in zip(edits, places, strict=True)]
        return "\n".join([*told, *edits[0].remarks])
