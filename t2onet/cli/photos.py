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


def tasks(given: list[str], output: Path | None, suffix: str, *, recursive: bool) -> list[Task]:
    """Photos, folders and patterns as tasks; every result has a place of its own.

    A photo that is the result of another is left out, so that a second run does not edit the first one's.
    """
    try:
        found = list(_found(given, recursive))
        alone = len(found) == 1
        placed = [Task(photo.source, _target(photo, output, suffix, alone=alone)) for photo in found]
    except OSError as error:
        raise ImageError(unusable(error)) from None
    _refuse_collisions(placed)
    results = {task.target for task in placed if task.target != task.source}
    return [task for task in placed if task.source not in results]


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
    yield from (_Found(photo, photo.relative_to(folder)) for photo in photos)


def _matching(pattern: str) -> Iterator[_Found]:
    matches = sorted(path for path in map(Path, glob.glob(pattern, recursive=True)) if path.is_file())  # noqa: PTH207
    if not matches:
        raise ImageError(f"no file matches {pattern}; check the pattern")
    yield from (_Found(path, Path(path.name)) for path in matches)


def _target(photo: _Found, output: Path | None, suffix: str, *, alone: bool) -> Path:
    from ..image import default_suffix

    ending = default_suffix(photo.source.suffix)
    if output is None:
        return photo.source.with_name(f"{photo.source.stem}-{suffix}{ending}")
    if alone and output.suffix and not output.is_dir():
        return output
    return output / photo.inside.with_suffix(ending)


def _refuse_collisions(placed: list[Task]) -> None:
    first: dict[Path, Path] = {}
    for task in placed:
        other = first.setdefault(task.target, task.source)
        if other is not task.source:
            raise OutputError(
                f"{other} and {task.source} would both become {task.target}; "
                "give them in separate runs with separate output folders"
            )
