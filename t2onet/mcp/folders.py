"""Which files an agent may read and write: those below the folders the server was started with.

Names are resolved before they are compared, so that neither `..` nor a symbolic link leads outside. Whoever
can change the folders while the server runs is trusted.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import OutputError, ServerError
from ..image import has_readable_suffix
from ..recipe.recipe import SIDECAR_SUFFIX, sidecar_path
from ..server.keeping import is_result

_MAX_NAME_LENGTH = 4096


class OutsideError(ServerError):
    """A name that leads out of the allowed folders, or is no name of a file."""


@dataclass(frozen=True)
class ListedPhoto:
    """A photo in an allowed folder; `photo` is its name for the tools."""

    photo: str
    bytes: int


@dataclass
class AllowedFolders:
    """The folders, the photos that were opened in them, and the files that were written."""

    roots: tuple[Path, ...]
    _sources: dict[Path, tuple[int, int]] = field(default_factory=dict)
    _written: set[Path] = field(default_factory=set)

    @classmethod
    def open(cls, folders: Sequence[str | Path]) -> AllowedFolders:
        """The folders themselves, links resolved; each must exist."""
        if not folders:
            raise ServerError("no folder was given; give the folders whose photos may be edited")
        for folder in folders:
            if not str(folder) or not Path(folder).is_dir():
                raise ServerError(f"{str(folder)!r} is not a folder; give folders with photos")
        return cls(tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders)))

    def find_file(self, given: str) -> Path:
        """The file of a name, which need not exist; a relative name is looked for in each folder in turn."""
        found = [path for path in self._resolve(given, self.roots) if self._is_inside(path)]
        if not found:
            raise _refuse_outside(given)
        return next((path for path in found if os.path.lexists(path)), found[0])

    def find_folder(self, given: str) -> Path:
        """An existing folder by its name."""
        folder = self.find_file(given)
        if not folder.is_dir():
            raise OutsideError(f"{given!r:.80} is not a folder here; leave it out to list all photos")
        return folder

    def find_output(self, given: str, beside: Path | None = None) -> Path:
        """The file to write for a name; a relative one is in the folder that holds `beside`."""
        root = self.roots[0] if beside is None else self._find_root(beside)
        (path,) = self._resolve(given, (root,))
        if not self._is_inside(path):
            raise _refuse_outside(given)
        return path

    def check_output(self, path: Path, *, overwrite: bool) -> Path:
        """Check, before any work, that a file may be written; returns where a link leads.

        Even with `overwrite`, no original is replaced: a photo that was opened, or a file that looks like no
        result of t2o, such as a photo without a recipe or the settings of another program.
        """
        target = Path(os.path.realpath(path))
        if not self._is_inside(target):
            raise _refuse_outside(self.name(path))
        if not target.parent.is_dir():
            raise OutputError(f"there is no folder {self.name(target.parent)}; give one that exists")
        if not os.path.lexists(target):
            return target
        found = target.lstat()  # of a link that leads back to itself
        if not stat.S_ISREG(found.st_mode):
            raise OutputError(f"{self.name(target)} is not a regular file; give another name")
        if target in self._sources or (found.st_dev, found.st_ino) in self._sources.values():
            raise OutputError(
                f"{self.name(target)} was opened as a photo, and originals are never replaced; give another "
                "name"
            )
        if not self._is_result(target):
            raise OutputError(
                f"{self.name(target)} is there and does not look written by t2o, and originals "
                "are never replaced; give another name"
            )
        if not overwrite:
            raise OutputError(f"{self.name(target)} exists already; give another name or overwrite=true")
        return target

    def add_source(self, path: Path) -> None:
        """Remember a photo that is opened, so that nothing replaces it."""
        found = path.stat()
        self._sources[path] = found.st_dev, found.st_ino

    def add_written(self, *paths: Path) -> None:
        """Remember files that were written, which may be overwritten."""
        self._written.update(Path(os.path.realpath(path)) for path in paths)

    def name(self, path: Path) -> str:
        """What the tools call a file: relative to its folder, or absolute if an earlier folder has it too."""
        root = next((one for one in self.roots if path.is_relative_to(one)), None)
        if root is None:
            return path.name
        inner = path.relative_to(root)
        earlier = self.roots[: self.roots.index(root)]
        return str(path) if any(os.path.lexists(one / inner) for one in earlier) else str(inner)

    def hide_paths(self, message: str) -> str:
        """A message without the paths that lead to the folders."""
        for root in sorted(self.roots, key=lambda one: len(str(one)), reverse=True):
            message = message.replace(f"{root}{os.sep}", "").replace(str(root), root.name or "the folder")
        return message

    def list_photos(self, folder: Path | None, *, recursive: bool) -> Iterator[ListedPhoto]:
        """Photos in one folder or in all, those of a folder in the order of their names; none is opened.

        Hidden ones are left out, links that lead outside, and names with control characters.
        """
        listed: set[Path] = set()
        for root in self.roots if folder is None else (folder,):
            for place, folders, names in os.walk(root):
                folders[:] = sorted(name for name in folders if name[0] != ".") if recursive else []
                for name in sorted(names):
                    path = Path(place, name)
                    shown = name[0] != "." and _is_plain_text(name)
                    if shown and has_readable_suffix(path) and path not in listed:
                        listed.add(path)
                        yield from self._list_photo(path)

    def _list_photo(self, path: Path) -> Iterator[ListedPhoto]:
        try:
            found = path.stat()
        except OSError:  # a link to nothing, or removed meanwhile
            return
        if stat.S_ISREG(found.st_mode) and self._is_inside(Path(os.path.realpath(path))):
            yield ListedPhoto(self.name(path), found.st_size)

    def _resolve(self, given: str, roots: Sequence[Path]) -> list[Path]:
        """What a name leads to from each folder, all links resolved."""
        if not given.strip():
            raise OutsideError("the name of a file is empty; list_photos gives the names of photos")
        if len(given) > _MAX_NAME_LENGTH or not _is_plain_text(given):
            raise OutsideError(
                f"{given[:60]!r} is not the name of a file; list_photos gives the names of photos"
            )
        try:
            return [Path(os.path.realpath(root / given)) for root in roots]
        except (OSError, ValueError):
            raise OutsideError(
                f"{given[:60]!r} is not the name of a file; list_photos gives the names of photos"
            ) from None

    def _find_root(self, path: Path) -> Path:
        return next((one for one in self.roots if path.is_relative_to(one)), self.roots[0])

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.roots)

    def _is_result(self, path: Path) -> bool:
        """Whether a file may be replaced; a sidecar may also be beside an original, by `t2o serve`."""
        by_name = path.name.endswith((SIDECAR_SUFFIX, ".cube"))
        is_named = is_result(path) and sidecar_path(path).is_file()
        return by_name or path in self._written or is_named


def _is_plain_text(name: str) -> bool:
    """Whether a name has no control characters and no halves of characters; unusual spaces are fine."""
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name)


def _refuse_outside(given: str) -> OutsideError:
    return OutsideError(
        f"{given[:200]!r} is outside the folders this server may use; list_photos gives the names of photos"
    )
