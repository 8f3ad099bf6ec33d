"""A folder of photos, looked into once: which file is meant by a name. Opens none of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..image import READABLE
from .entries import UnusableError
from .sample import Problem


class PhotoFolder:
    """The photos of a folder by name, or by stem where the suffix is another than stated.

    Where photos are not `needed`, one that is absent is taken to be where it would have been.
    """

    def __init__(self, folder: Path, *, needed: bool = True) -> None:
        self.folder, self.needed = folder, needed
        self.problems: list[Problem] = []
        self._by_stem: dict[str, list[str]] = {}
        for name in photo_names(folder):
            self._by_stem.setdefault(Path(name).stem, []).append(name)

    def find(self, name: str) -> Path | None:
        """The photo of that name; else the one of that stem."""
        names = self._by_stem.get(Path(name).stem, [])
        if not names:
            return None
        if name not in names and len(names) > 1:
            self._tell(Path(name).stem, names)
        return self.folder / (name if name in names else names[0])

    def pair(self, before: str, after: str, name: str) -> tuple[Path, Path]:
        """The two photos of the sample of that name."""
        return self._photo(before, "before", name), self._photo(after, "after", name)

    def _photo(self, file: str, side: str, name: str) -> Path:
        found = self.find(file)
        if found is None and self.needed:
            raise UnusableError(f"the photo {side} the edit is missing", f"{self.folder.name}/{file}", name)
        return found or self.folder / Path(file).name

    def _tell(self, stem: str, names: list[str]) -> None:
        problem = several(f"{self.folder.name}/{stem}", names)
        if problem not in self.problems:
            self.problems.append(problem)


def several(name: str, names: list[str]) -> Problem:
    """The first is taken, the others are left out."""
    return Problem(name, "several photos of one name", f"{', '.join(names)}; the first is used")


def photo_names(folder: Path) -> Iterator[str]:
    """Names of readable kinds in a folder, sorted; none where there is no folder."""
    return (name for name in file_names(folder) if Path(name).suffix.lower() in READABLE)


def file_names(folder: Path) -> list[str]:
    """Names of all files in a folder that are not hidden, sorted; none where there is no folder."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as found:
        return sorted(entry.name for entry in found if not entry.name.startswith(".") and entry.is_file())
