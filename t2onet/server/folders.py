"""The folder in which a running server keeps photos and results: its own, and gone with it.

It is locked while the server runs. A killed server cannot remove its folder, but its lock ends with it, so
that the next server in the same place can tell it from one that is in use.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import ServerError
from ..image.locks import lock

_PREFIX = "t2o-serve-"
_TRIES = 5
_ENOUGH = 2**16
"""Bytes that a new folder must have room for."""


@dataclass
class ServerFolder:
    """A folder that no other server removes."""

    path: Path
    handle: int | None = None
    """Holds the lock while it is open."""

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


def open_folder(parent: Path | None) -> ServerFolder:
    """A new folder below `parent`, or below the temporary one; what killed servers left there is removed."""
    try:
        place = Path(tempfile.gettempdir()) if parent is None else parent
        place.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(place)
        folder = _locked_folder(place)
    except OSError as error:
        raise ServerError(_refusal(parent, error)) from error
    try:
        with tempfile.TemporaryFile(dir=folder.path) as probe:
            probe.write(bytes(_ENOUGH))
    except OSError as error:
        folder.remove()
        raise ServerError(_refusal(parent, error)) from error
    return folder


def _refusal(parent: Path | None, error: OSError) -> str:
    shown = "the temporary folder of this system" if parent is None else str(parent)
    if isinstance(error, FileExistsError):
        return f"{shown} cannot hold uploads: it is not a folder; give another --folder"
    reason = (error.strerror or str(error)).lower()
    return f"{shown} cannot hold uploads ({reason}); give another --folder"


def _locked_folder(place: Path) -> ServerFolder:
    """Another server that starts may find a folder before it is locked, and remove it: then a further one."""
    for _ in range(_TRIES):
        folder = ServerFolder(Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place)))
        folder.handle = _claim(folder.path)
        if folder.handle is not None and folder.path.exists():
            return folder
        folder.remove()
    return ServerFolder(Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place)))  # there are no locks here


def _remove_leftovers(place: Path) -> None:
    for path in place.glob(f"{_PREFIX}*"):
        if (handle := _claim(path)) is not None:
            ServerFolder(path, handle).remove()


def _claim(path: Path) -> int | None:
    """A handle that locks a folder of this user; None where another process does, or none can be had."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, AttributeError):  # Windows has no handles of folders
        return None
    if os.fstat(handle).st_uid == os.getuid() and lock(handle):
        return handle
    os.close(handle)
    return None
