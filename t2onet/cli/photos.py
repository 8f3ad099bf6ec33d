"""Which photos a command works on, and where each result goes."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import ImageError, OutputError


@dataclass(frozen=True)
class Task:
    """A photo and the file its result becomes."""

    source: Path
    target: Path


@dataclass(frozen=True)
class _Found:
    source: Path
    inside: Path
    """Its place below the folder that was named, or just its name."""
    folder: Path | None = None
    """The folder that was named, if one was."""


def tasks(given: list[str], output: str | None, look: str, *, recursive: bool) -> list[Task]:
    """Photos, folders and patterns as tasks; every result has a place of its own.

    A photo that is the result of another is left out, so that a second run does not edit the first one's.
    """
    try:
        found = list(_found(given, recursive))
        if output is not None and _names_a_file(output, found):
            placed = [Task(found[0].source, Path(output))]
        else:
            placed = [Task(photo.source, _place(photo, output, look)) for photo in found]
    except OSError as error:
        raise ImageError(unusable(error)) from None
    _refuse_collisions(placed)
    results = {task.target for task in placed if task.target != task.source}
    return [task for task in placed if task.source not in results]


def sources(given: list[str], *, recursive: bool) -> list[Path]:
    """Photos, folders and patterns as photos, each once."""
    try:
        return list(dict.fromkeys(photo.source for photo in _found(given, recursive)))
    except OSError as error:
        raise ImageError(unusable(error)) from None


def unusable(error: OSError) -> str:
    """What the system has against a path, in words."""
    return f"{error.filename} cannot be used ({error.strerror}); check the name and the permissions"


def _found(given: list[str], recursive: bool) -> Iterator[_Found]:
    for name in given:
        if not name:
            raise ImageError("the name of a photo is empty; give a photo, a folder or a pattern")
        path = Path(name)
        if path.is_dir():
            yield from _in_folder(path, recursive)
        elif glob.has_magic(name) and not path.exists():
            yield from _matching(name)
        else:
            yield _Found(path, Path(path.name))


def _in_folder(folder: Path, recursive: bool) -> Iterator[_Found]:
    from ..image import READABLE

    entries: Iterable[Path] = folder.rglob("*") if recursive else folder.iterdir()
    photos = sorted(p for p in entries if p.suffix.lower() in READABLE and p.is_file() and p.name[0] != ".")
    if not photos:
        hint = "" if recursive else "; --recursive looks into the folders below it too"
        raise ImageError(f"{folder} is a folder without photos{hint}")
    yield from (_Found(photo, photo.relative_to(folder), folder) for photo in photos)


def _matching(pattern: str) -> Iterator[_Found]:
    matches = sorted(path for path in map(Path, glob.glob(pattern, recursive=True)) if path.is_file())  # noqa: PTH207
    if not matches:
        raise ImageError(f"no file matches {pattern}; check the pattern")
    yield from (_Found(path, Path(path.name)) for path in matches)


def _names_a_file(output: str, found: list[_Found]) -> bool:
    """Whether -o is the name of a picture: one photo, and an ending of letters ("2024.05" is a folder)."""
    from ..image import WRITABLE

    path = Path(output)
    if not output or output == "-":
        raise OutputError(f"-o {output!r} is no place to write; give a file or a folder")
    if output.endswith(("/", "\\")) or path.is_dir() or not path.suffix[1:].isalpha():
        return False
    if len(found) == 1 and found[0].folder is None:
        return True
    if path.suffix.lower() in WRITABLE:
        raise OutputError(f"-o {output} is the name of one picture, and there may be more; give a folder")
    return False


def _place(photo: _Found, output: str | None, look: str) -> Path:
    """In the folder of -o; or under the look's name beside the photo, or beside the folder it came from."""
    from ..image import default_suffix

    ending = default_suffix(photo.source.suffix)
    if output is not None:
        return Path(output) / photo.inside.with_suffix(ending)
    if photo.folder is not None:
        folder = photo.folder.resolve() if photo.folder.name in ("", "..") else photo.folder
        if not folder.name:
            raise OutputError(f"{folder} has no place beside it; say with -o where the results go")
        return folder.with_name(f"{folder.name}-{look}") / photo.inside.with_suffix(ending)
    return photo.source.with_name(f"{photo.source.stem}-{look}{ending}")


def _refuse_collisions(placed: list[Task]) -> None:
    first: dict[Path, Path] = {}
    for task in placed:
        other = first.setdefault(task.target, task.source)
        if other is not task.source:
            raise OutputError(
                f"{other} and {task.source} would both become {task.target}; "
                "give them in separate runs with separate output folders"
            )
