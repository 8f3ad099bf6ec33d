"""`t2o edit`: photos and a sentence -> edited photos and their recipes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import OutputError, RequestError, T2OError
from ..options import (
    DEFAULT_MODE,
    DEFAULT_READER,
    EDITED_SUFFIX,
    EXPERT,
    LITERAL,
    MAX_CLI_VARIANTS,
    Mode,
    ReaderName,
    reconcile_mode,
)
from .apply import (
    FirstTurn,
    PhotoOutcome,
    PhotoReport,
    ShareCallback,
    ThreadShare,
    WrittenPicture,
    check_overwrite_options,
    is_written,
    make_folders,
    open_ahead,
    print_reports,
    remove_empty_folders,
    run_tasks,
    set_max_megapixels,
    start_loading_kernels,
)
from .common import (
    JobsOption,
    JsonOption,
    MaxMegapixelsOption,
    OutputOption,
    OverwriteOption,
    QuietOption,
    ReaderOption,
    RecursiveOption,
    SkipExistingOption,
    WhereOption,
    exit_on_error,
    exit_with_error,
    get_given_options,
    parse_where_option,
    show_progress,
)
from .photos import PhotoTask, select_photos

if TYPE_CHECKING:
    from ..editor import Edit
    from ..editor.networks import T2ONetPolicy
    from ..editor.styles import Style
    from ..image import Image
    from ..recipe import Mask, Recipe
    from ..recipe.where import Where


@exit_on_error
def edit_photos(
    ctx: typer.Context,
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="PHOTO... REQUEST",
            help="Photos, folders or patterns, then the request in quotes.",
        ),
    ],
    output: OutputOption = None,
    mode: Annotated[
        Mode,
        typer.Option(help="literal does only what the request says; expert also retouches the photo."),
    ] = DEFAULT_MODE,
    manner: Annotated[Mode | None, typer.Option(help="Old name of --mode.", hidden=True)] = None,
    reader: ReaderOption = DEFAULT_READER,
    where: WhereOption = None,
    mask: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Grey picture, white where the photo is edited."),
    ] = None,
    strength: Annotated[
        float, typer.Option(help="0 changes nothing, 1 is the answer, more than 1 exaggerates it.")
    ] = 1.0,
    variants: Annotated[
        int, typer.Option(min=1, max=MAX_CLI_VARIANTS, help="Number of different answers to choose from.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the variants.")] = 0,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Give photos of one scene one look, whatever their exposure.")
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="PHOTO",
            help="Give all photos the look that the request gives this one; implies --consistent.",
        ),
    ] = None,
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
    network: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of your own network, written by `t2o export`."),
    ] = None,
    style: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Retouch in your own style, learned by `t2o learn`; implies mode expert."
        ),
    ] = None,
    max_megapixels: MaxMegapixelsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Edit photos by a request in words; recipes are written beside the edited photos."""
    from ..image.codecs import count_cores

    check_overwrite_options(overwrite, skip_existing)
    mode = reconcile_mode(mode, manner, "--mode", "--manner")
    consistent = consistent or like is not None
    if consistent and (variants > 1 or network is not None):
        other = "--variants" if variants > 1 else "--network"
        exit_with_error(f"--consistent gives each photo one answer of the editor; leave out {other}")
    own_style = None if style is None else _open_style(style, network, ctx)
    if own_style is not None:
        mode = EXPERT
    if max_megapixels is not None:
        set_max_megapixels(max_megapixels)
    photos, request = _split_arguments(given)
    selected = select_photos(
        photos, output, EDITED_SUFFIX, recursive=recursive, variants=variants, sidecars=True
    )
    todo = selected.tasks
    jobs = min(jobs or count_cores(), len(todo))
    made: list[Path] = []
    with open_ahead(todo, jobs, skip_existing=skip_existing) as open_photo:
        if network is None:
            _start_loading_reader(reader)
        start_loading_kernels(todo, skip_existing=skip_existing)
        work = _EditWorker(
            open_photo,
            _open_policy(network, reader, mode),
            request,
            mode,
            reader,
            _EditedPart.parse(where, mask),
            own_style,
            strength,
            variants,
            seed,
            sidecar,
            _ExistingFileRule(overwrite, skip_existing),
            ThreadShare(len(todo), jobs),
            len(todo),
        )
        try:
            if consistent:
                work = replace(work, series=_plan_series(work, todo, like, jobs, quiet=quiet or as_json))
            reports = run_tasks(
                todo,
                lambda task, share, stop: work(task, share, stop, made),
                jobs=jobs,
                quiet=quiet or as_json,
            )
        finally:
            remove_empty_folders(made)
    print_reports(reports, len(todo), as_json=as_json, quiet=quiet, notes=selected.notes, data=work.to_json)


def _open_policy(network: Path | None, reader: ReaderName, mode: Mode) -> T2ONetPolicy | None:
    """The network in a folder, if it has the mode; None without a folder."""
    if network is None:
        return None
    from ..editor.networks import open_policy
    from ..editor.policy import check_mode

    policy = open_policy(network, reader)
    check_mode(policy, mode)
    return policy


def _open_style(path: Path, network: Path | None, ctx: typer.Context) -> Style:
    """The style in a file; refused beside options that say otherwise."""
    from ..editor.styles import load_style_file

    options = get_given_options(ctx)
    if network is not None:
        exit_with_error("--style and --network both say what retouches; give one of them")
    if LITERAL in (options.get("mode"), options.get("manner")):
        exit_with_error("--style retouches photos, and --mode literal does not; give one of them")
    return load_style_file(path)


def _start_loading_reader(name: ReaderName) -> None:
    """Load the reader in a thread, while photos are opened."""
    from ..language.reader import load_reader

    def load() -> None:
        with suppress(Exception):  # raised again where the request is read
            load_reader(name)

    threading.Thread(target=load).start()


def _split_arguments(given: list[str]) -> tuple[list[str], str]:
    *photos, request = given
    if not photos:
        exit_with_error('a photo and a request are needed, such as: t2o edit photo.jpg "a bit brighter"')
    if _exists(request):
        raise RequestError(
            f'{request} is a file, and the request comes last: t2o edit PHOTO... "a bit brighter"'
        )
    names = list(dropwhile(lambda word: not _is_bare_word(word), photos))
    if len(photos) > len(names) > 0:
        known = " ".join(photos[: -len(names)])
        raise RequestError(
            f"{names[0]} does not exist; if it is a word of the request, put the request in quotes: "
            f't2o edit {known} "{" ".join([*names, request])}"'
        )
    return photos, request


def _is_bare_word(given: str) -> bool:
    """Whether an argument is rather a word of a request than a photo, a folder or a pattern."""
    return given.isalpha() and not _exists(given)


def _exists(given: str) -> bool:
    try:
        return bool(given) and Path(given).exists()
    except OSError:  # too long for a file name
        return False


class _ExistingFileRule(NamedTuple):
    """What to do with existing files: replace them, or keep them and write only the others."""

    overwrite: bool
    skip: bool


class _EditedPart(NamedTuple):
    """The part of each photo that the request is for: a place, or a mask."""

    where: Where | None
    mask: Mask | None

    @classmethod
    def parse(cls, where: str | None, mask: Path | None) -> _EditedPart:
        from ..recipe import Mask

        return cls(
            None if where is None else parse_where_option(where),
            None if mask is None else Mask.from_file(mask),
        )


@dataclass(frozen=True)
class _EditWorker:
    """Edits each photo."""

    open_photo: Callable[[PhotoTask], Image]
    policy: T2ONetPolicy | None
    request: str
    mode: Mode
    reader: ReaderName
    part: _EditedPart
    style: Style | None
    strength: float
    variants: int
    seed: int
    sidecar: bool
    existing: _ExistingFileRule
    threads: ThreadShare
    count: int
    """Photos of the run."""
    series: Mapping[PhotoTask, _FollowedEdit] = field(default_factory=dict)
    """Answers that are known beforehand."""
    first_turn: FirstTurn = field(default_factory=FirstTurn)
    """While the program is still loading, threads that answer requests would hold each other up."""

    def __call__(
        self, task: PhotoTask, progress: ShareCallback, stop: threading.Event, made: list[Path]
    ) -> PhotoReport:
        from .edit_json import EditDetails

        threads = self.threads.take()
        if self.existing.skip and all(map(self._is_complete, task.list_targets(self.variants))):
            return self._report_skipped(task, task.list_targets(self.variants))
        variants = self._answer(task)
        edits = [edit.at(self.strength) for edit in variants]
        if not _is_answer(variants[0]):
            error = f"{task.source}: {edits[0].reply}"
            details = EditDetails.from_edit(edits[0])
            return PhotoReport(
                task, PhotoOutcome.REFUSED, error=error, error_kind="Declined", details=details
            )
        pictures = task.list_targets(self.variants)[: len(edits)]  # only one if nothing can be varied
        todo = [not (self.existing.skip and self._is_complete(picture)) for picture in pictures]
        if not any(todo):
            return self._report_skipped(task, pictures)
        self._check_not_existing(pictures)
        for one, picture, missing in zip(edits, pictures, todo, strict=True):
            if not missing and (sidecar := self._find_sidecar(picture)) is not None:
                _check_same_recipe(one.recipe, sidecar, f"{sidecar} is")
        made.extend(make_folders(task.target.parent))
        notes: list[str] = []
        for number, (one, picture) in enumerate(zip(edits, pictures, strict=True)):
            if todo[number]:
                notes += self._save(one, picture, threads, stop)
            progress((number + 1) / len(edits))
        return self._report(task, edits, pictures, todo, notes)

    def _answer(self, task: PhotoTask) -> list[Edit]:
        photo = self.open_photo(task)
        if (known := self.series.get(task)) is not None:
            return [replace(known.edit, photo=photo)]
        with self.first_turn.take():
            return self.ask(photo)

    def ask(self, photo: Image) -> list[Edit]:
        """The answers to the request on a photo."""
        from ..editor import Editor

        editor = Editor(
            photo,
            self.policy,
            reader=self.reader,
            where=self.part.where,
            mask=self.part.mask,
            style=self.style,
        )
        return editor.variants(self.request, self.variants, mode=self.mode, seed=self.seed)

    def _report(
        self, task: PhotoTask, edits: list[Edit], pictures: list[Path], new: list[bool], notes: list[str]
    ) -> PhotoReport:
        from .edit_json import EditDetails, VariantFiles, read_existing_variant

        several = len(edits) > 1
        descriptions = [edit.recipe.describe() if several else edit.explain() for edit in edits]
        variants = [
            VariantFiles(picture, self._find_sidecar(picture), one.recipe, one.reasons, written=True)
            if written
            else read_existing_variant(picture, self._find_sidecar(picture))
            for picture, one, written in zip(pictures, edits, new, strict=True)
        ]
        return PhotoReport(
            task,
            PhotoOutcome.DONE,
            notes=tuple(notes),
            pictures=tuple(
                WrittenPicture(pictures[number], descriptions[number])
                for number in range(len(edits))
                if new[number]
            ),
            remarks=(*(edits[0].remarks if several else ()), *self._name_guide(task)),
            details=EditDetails.from_edit(edits[0], tuple(variants), self._find_guide(task)),
        )

    def _find_guide(self, task: PhotoTask) -> Path | None:
        known = self.series.get(task)
        return None if known is None else known.guide

    def _name_guide(self, task: PhotoTask) -> Iterator[str]:
        guide = self._find_guide(task)
        if guide not in (None, task.source):
            yield f"Made to look like {guide}, of the same scene."

    def _is_complete(self, picture: Path) -> bool:
        """Whether all files of a variant exist."""
        return is_written(picture) and (not self.sidecar or self._find_sidecar(picture) is not None)

    def _find_sidecar(self, picture: Path) -> Path | None:
        from ..recipe.recipe import find_sidecar

        return find_sidecar(picture) if self.sidecar else None

    def _report_skipped(self, task: PhotoTask, pictures: list[Path]) -> PhotoReport:
        from .edit_json import EditDetails, read_existing_variant

        variants = [read_existing_variant(picture, self._find_sidecar(picture)) for picture in pictures]
        return PhotoReport(
            task,
            PhotoOutcome.SKIPPED,
            pictures=tuple(map(WrittenPicture, pictures)),
            details=EditDetails(tuple(variants)),
        )

    def _check_not_existing(self, pictures: list[Path]) -> None:
        from ..recipe.recipe import sidecar_path

        for picture in pictures if not any(self.existing) else ():
            for file in (picture, sidecar_path(picture)) if self.sidecar else (picture,):
                if file.exists():
                    raise OutputError(
                        f"{file} exists already; give another -o, --overwrite or --skip-existing"
                    )

    def _save(self, edit: Edit, picture: Path, threads: int, stop: threading.Event) -> tuple[str, ...]:
        """Write the files of a variant; with --skip-existing only missing ones, if the others match."""
        from ..executor import apply
        from ..recipe.recipe import find_sidecar, sidecar_path

        overwrite, skip = self.existing
        left_out: list[str] = []
        image = apply(
            edit.recipe, edit.photo, threads=threads, photos=self.count, cancel=stop, notes=left_out
        )
        found = find_sidecar(picture)
        if overwrite and self.sidecar:
            return (*left_out, *replace_files(image, edit.recipe, picture))
        notes: tuple[str, ...] = tuple(left_out)
        if skip and picture.exists():
            _check_same_picture(image, picture)
        else:
            if skip and found is not None:
                _check_same_recipe(edit.recipe, found, f"{found} exists without its picture and is")
            notes = (*notes, *image.save(picture, overwrite=overwrite).notes)
        if self.sidecar and not (skip and found is not None):
            edit.recipe.save(sidecar_path(picture))
        elif found is not None and overwrite:
            notes = (*notes, describe_stale_sidecar(found))
        return notes

    def to_json(self, report: PhotoReport) -> dict[str, Any]:
        """A report as an entry of `--json`."""
        from .edit_json import to_photo_entry

        target = report.task.list_targets(self.variants)[0]
        entry = to_photo_entry(
            report,
            target,
            request=self.request,
            mode=self.mode,
            reader=self.policy.reader if self.policy else self.reader,
            strength=self.strength,
        )
        return entry.model_dump(mode="json")


class _FollowedEdit(NamedTuple):
    """The edit of a photo of a series, with another photo in it, and the guide whose answer it follows."""

    edit: Edit
    guide: Path


def _plan_series(
    work: _EditWorker, tasks: list[PhotoTask], like: Path | None, jobs: int, *, quiet: bool
) -> dict[PhotoTask, _FollowedEdit]:
    """The edits of a series; photos that cannot be opened are left to be refused in their turn."""
    import numpy as np

    from ..editor.series import SeriesPhoto, plan_series
    from ..image import image_from_array, open_image

    sources = [task.source for task in tasks]
    if like is not None and not any(_is_same_file(like, source) for source in sources):
        SeriesPhoto.of(open_image(like))  # refused at once if it cannot be opened
        sources.append(like)

    def look_at(source: Path) -> SeriesPhoto | None:
        try:
            return SeriesPhoto.of(open_image(source))
        except (T2OError, OSError):
            return None

    with ThreadPoolExecutor(jobs) as pool, show_progress(lines=False, quiet=quiet) as show:
        found: list[tuple[Path, SeriesPhoto]] = []
        for number, (source, seen) in enumerate(
            zip(sources, pool.map(look_at, sources), strict=True), start=1
        ):
            found += [] if seen is None else [(source, seen)]
            show("comparing photos", number, len(sources))

    def answer(at: int) -> Edit:
        (edit,) = work.ask(open_image(found[at][0]))
        small = np.ascontiguousarray(found[at][1].picture.transpose(1, 2, 0))
        return replace(edit, photo=image_from_array(small))  # so that not all guides stay in memory

    guide = (
        None if like is None else next(at for at, (path, _) in enumerate(found) if _is_same_file(like, path))
    )
    planned = plan_series([seen for _, seen in found], answer, like=guide)
    by_source = {
        source: _FollowedEdit(one.edit, found[one.guide][0])
        for (source, _), one in zip(found, planned, strict=True)
    }
    return {task: by_source[task.source] for task in tasks if task.source in by_source}


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _is_answer(edit: Edit) -> bool:
    """Whether there is a result to write; "undo" or "what did you do?" alone are about an earlier edit."""
    return edit.answered and bool(edit.recipe.steps or not edit.command)


def _check_same_picture(image: Image, picture: Path) -> None:
    """Raise OutputError unless an existing picture is exactly the one this request makes."""
    from ..image import read_regular_file
    from ..image.writing import encode_for_path

    data, _ = encode_for_path(image, picture)
    if read_regular_file(picture) != data:
        raise OutputError(
            f"{picture} exists without its recipe and is not what this request makes; give another -o, or "
            "--overwrite"
        )


def _check_same_recipe(recipe: Recipe, sidecar: Path, problem: str) -> None:
    """Raise OutputError unless an existing sidecar holds the recipe this request makes."""
    from ..recipe import Recipe

    if Recipe.load(sidecar) != recipe:
        raise OutputError(f"{problem} not what this request makes; give another -o, or --overwrite")


def describe_stale_sidecar(sidecar: Path) -> str:
    """The note about the recipe of a picture that was replaced without its recipe."""
    return f"{sidecar} is there from an earlier edit and does not belong to the new one"


def replace_files(image: Image, recipe: Recipe, picture: Path) -> tuple[str, ...]:
    """Replace a picture and its recipe.

    The old recipe is removed first: if the process is killed in between, the picture has no recipe rather
    than a wrong one, and --skip-existing adds it. If the picture cannot be written, the recipe is restored.
    """
    from ..image import check_writable, write_atomically
    from ..recipe.recipe import sidecar_path

    sidecar = sidecar_path(picture)
    check_writable(sidecar, overwrite=True)
    file = Path(os.path.realpath(sidecar))
    old = file.read_bytes() if file.exists() else None
    file.unlink(missing_ok=True)
    try:
        notes = image.save(picture, overwrite=True).notes
    except BaseException:
        if old is not None:
            write_atomically(file, old, overwrite=False)
        raise
    recipe.save(sidecar, overwrite=True)
    return notes
