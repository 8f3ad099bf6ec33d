"""Select the photos of a command, and the file of each result."""

from __future__ import annotations

import fnmatch
import glob
import os
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import ImageError, OutputError
from ..options import EDITED_SUFFIX


@dataclass(frozen=True)
class PhotoTask:
    """A photo and the file of its result."""

    source: Path
    target: Path

    def list_targets(self, variants: int = 1) -> list[Path]:
        """The target, or one numbered file for each variant."""
        if variants == 1:
            return [self.target]
        stem = self.target.stem
        return [self.target.with_stem(f"{stem}-{number}") for number in range(1, variants + 1)]


@dataclass(frozen=True)
class PhotoSelection:
    """Tasks of a command; `notes` say which photos were left out, and why."""

    tasks: list[PhotoTask]
    notes: list[str]


@dataclass(frozen=True)
class _FoundPhoto:
    source: Path
    inside: Path
    """Its path below the folder that was given, or just its name."""
    folder: Path | None = None
    """The folder that was given, if any."""


def select_photos(
    given: list[str],
    output: str | None,
    look: str,
    *,
    recursive: bool,
    variants: int = 1,
    sidecars: bool = False,
) -> PhotoSelection:
    """Tasks for photos, folders and patterns; no two share a result.

    Results of other photos of the same run are left out, so that a second run does not edit the results of
    the first: files this run would write, and files beside a photo with the name of a result. With `sidecars`
    such a file counts as a result only if it has a sidecar; without, its name is enough.
    """
    try:
        found = list(_find_photos(given, recursive))
        if output is not None and _is_picture_name(output, found):
            placed = [PhotoTask(photo.source, Path(output)) for photo in found]
        else:
            placed = [PhotoTask(photo.source, _make_target(photo, output, look)) for photo in found]
        edits = _find_earlier_results(placed, None if sidecars else look)
        todo, repeated = _drop_repeats([task for task in placed if task.source not in edits], variants)
    except OSError as error:
        raise ImageError(describe_path_error(error)) from None
    results = {picture for task in todo for picture in task.list_targets(variants) if picture != task.source}
    return PhotoSelection(
        [task for task in todo if task.source not in results],
        [
            *(f"{photo}: given more than once, and taken once" for photo in repeated),
            *(
                f"{edit}: left out, it is an edit of {photo}; name it alone to edit it further"
                for edit, photo in edits.items()
                if edit not in results
            ),
        ],
    )


def list_photos(given: list[str], *, recursive: bool) -> list[Path]:
    """The photos in a list of photos, folders and patterns, each once."""
    try:
        return list(dict.fromkeys(photo.source for photo in _find_photos(given, recursive)))
    except OSError as error:
        raise ImageError(describe_path_error(error)) from None


def describe_path_error(error: OSError) -> str:
    """An error of the system about a path, in words."""
    return f"{error.filename} cannot be used ({error.strerror}); check the name and the permissions"


def _find_photos(given: list[str], recursive: bool) -> Iterator[_FoundPhoto]:
    for name in given:
        if not name:
            raise ImageError("the name of a photo is empty; give a photo, a folder or a pattern")
        path = Path(name)
        if path.is_dir():
            yield from _find_in_folder(path, recursive)
        elif glob.has_magic(name) and not path.exists():
            yield from _find_matching(name)
        else:
            yield _FoundPhoto(path, Path(path.name))


def _find_in_folder(folder: Path, recursive: bool) -> Iterator[_FoundPhoto]:
    from ..image import has_readable_suffix

    folders: Iterable[Path] = walk_folders(folder) if recursive else [folder]
    entries = (place / name for place in folders for name in os.listdir(place))  # noqa: PTH208
    photos = sorted(p for p in entries if has_readable_suffix(p) and p.is_file() and p.name[0] != ".")
    if not photos:
        hint = "" if recursive else "; --recursive looks into the folders below it too"
        raise ImageError(f"{folder} is a folder without photos{hint}")
    yield from (_FoundPhoto(photo, photo.relative_to(folder), folder) for photo in photos)


def walk_folders(folder: Path) -> Iterator[Path]:
    """A folder and all subfolders; symbolic links are not followed, so there are no loops."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as entries:
                waiting += [place / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except (NotADirectoryError, PermissionError):
            continue
        yield place


def _find_matching(pattern: str) -> Iterator[_FoundPhoto]:
    matches = sorted(path for path in _expand_pattern(pattern) if path.is_file())
    if not matches:
        raise ImageError(f"no file matches {pattern}; check the pattern")
    yield from (_FoundPhoto(path, Path(path.name)) for path in matches)


def _expand_pattern(pattern: str) -> Iterable[Path]:
    """Expand a pattern like a shell: hidden names match only if the pattern has the dot.

    Unlike `glob.glob`, it neither follows links below `**` nor recurses as deep as folders are nested.
    """
    parts = Path(pattern).parts
    found: dict[Path, None] = {Path(): None}
    for part in parts:
        if part == "**":
            steps = (inner for place in found for inner in walk_folders(place) if _is_shown(inner, place))
        elif glob.has_magic(part):
            steps = (place / name for place in found for name in _match_names(place, part))
        else:
            steps = (place / part for place in found if (place / part).exists())
        found = dict.fromkeys(steps)
    if parts[-1] == "**":
        return [place / name for place in found for name in _match_names(place, "*")]
    return found


def _is_shown(inner: Path, place: Path) -> bool:
    return not any(part.startswith(".") for part in inner.parts[len(place.parts) :])


def _match_names(folder: Path, pattern: str) -> list[str]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except (NotADirectoryError, PermissionError):
        return []
    return [name for name in fnmatch.filter(names, pattern) if name[0] != "." or pattern[0] == "."]


def _is_picture_name(output: str, found: list[_FoundPhoto]) -> bool:
    """Whether -o names a picture: there is one photo, and a suffix of letters ("2024.05" is a folder)."""
    from ..image import WRITABLE_SUFFIXES

    path = Path(output)
    if not output or output == "-":
        raise OutputError(f"-o {output!r} is no place to write; give a file or a folder")
    if output.endswith(("/", "\\")) or path.is_dir() or not path.suffix[1:].isalpha():
        return False
    if len({os.path.realpath(photo.source) for photo in found}) == 1 and found[0].folder is None:
        return True
    if path.suffix.lower() in WRITABLE_SUFFIXES:
        raise OutputError(f"-o {output} is the name of one picture, and there may be more; give a folder")
    return False


def _make_target(photo: _FoundPhoto, output: str | None, look: str) -> Path:
    """Path of a result: in the folder of -o, or beside the photo or its folder with the look's name."""
    from ..image import choose_output_suffix

    suffix = choose_output_suffix(photo.source.suffix)
    if output is not None:
        return Path(output) / photo.inside.with_suffix(suffix)
    if photo.folder is not None:
        folder = photo.folder.resolve() if photo.folder.name in ("", "..") else photo.folder
        if not folder.name:
            raise OutputError(f"{folder} has no place beside it; say with -o where the results go")
        return folder.with_name(f"{folder.name}-{look}") / photo.inside.with_suffix(suffix)
    return photo.source.with_name(f"{photo.source.stem}-{look}{suffix}")


def _drop_repeats(tasks: list[PhotoTask], variants: int) -> tuple[list[PhotoTask], list[Path]]:
    """Drop repeated photos, and return them; raise OutputError if different photos share a result.

    Results share a file if the file system treats their names as equal, as many ignore upper and lower case.
    """
    kept: list[PhotoTask] = []
    repeated: dict[Path, None] = {}
    taken: dict[str, list[tuple[Path, PhotoTask]]] = {}
    for task in tasks:
        pictures = [Path(os.path.realpath(picture)) for picture in task.list_targets(variants)]
        rivals = [
            (picture, other)
            for picture in pictures
            for path, other in taken.get(_fold_name(picture), [])
            if path == picture or _is_one_file(path, picture)
        ]
        for picture, other in rivals:
            if not _is_same_photo(other.source, task.source):
                shown = task.list_targets(variants)[pictures.index(picture)]
                raise OutputError(
                    f"{other.source} and {task.source} would both become {shown}; "
                    "give them in separate runs with separate output folders"
                )
            repeated[other.source] = None
        if not rivals:
            kept.append(task)
            for picture in pictures:
                taken.setdefault(_fold_name(picture), []).append((picture, task))
    return kept, list(repeated)


def _fold_name(path: Path) -> str:
    """A key that is equal for names that differ only in case or Unicode normalization."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", str(path)).casefold())


def _is_one_file(one: Path, other: Path) -> bool:
    """Whether two spellings of a path name one file, tested with a temporary file where they differ.

    False if nothing can be written there; then nothing can be lost either.
    """
    parts = zip(one.parts, other.parts, strict=True)
    depth = next(at for at, (left, right) in enumerate(parts) if left != right)
    folder = Path(*one.parts[:depth])
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".t2o-", dir=folder) as place:
            Path(place, one.parts[depth]).touch()
            return Path(place, other.parts[depth]).exists()
    except OSError:
        return False


def _is_same_photo(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # it does not exist, which is reported when it is opened
        return os.path.realpath(one) == os.path.realpath(other)


def _find_earlier_results(placed: list[PhotoTask], look: str | None) -> dict[Path, Path]:
    """Photos that are results of other photos, with those photos.

    A result has -NAME after the name of its photo or folder. NAME is `look`, or `edited` if it has a sidecar.
    """
    from ..recipe.recipe import find_sidecar, guess_originals

    photos = {task.source.with_suffix(""): task.source for task in placed}
    edits: dict[Path, Path] = {}
    for task in placed:
        names = [EDITED_SUFFIX] if find_sidecar(task.source) is not None else []
        for name in [*names, *([] if look is None else [look])]:
            for original in guess_originals(task.source.with_suffix(""), f"-{name}"):
                if original in photos:
                    edits[task.source] = photos[original]
    return edits
