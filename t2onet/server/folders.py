"""Folders of a server: one for results while it runs, and private ones for what outlives it."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import ServerError
from ..image.files import try_lock

FOLDER_MODE = 0o700
"""Permissions of private folders."""


def get_data_folder() -> Path:
    """Folder of what is kept between runs: T2O_DATA_DIR, or the user's data folder."""
    if chosen := os.environ.get("T2O_DATA_DIR"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "t2onet" / "data"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "t2onet"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "t2onet"


def make_private_folder(path: Path) -> Path:
    """Create a folder that no other user may read, or raise an OSError."""
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
        raise PermissionError(1, "it belongs to another user", str(path))
    path.chmod(FOLDER_MODE)
    return path


_FOLDER_PREFIX = "t2o-serve-"
_FOLDER_NAME = re.compile(rf"{_FOLDER_PREFIX}[a-z0-9_]{{8}}")
"""Names that `tempfile.mkdtemp` gives with that prefix."""
MARKER_FILE = ".t2o-serve"
"""File by which a server knows the folders of other servers. It is written once the folder is locked."""
_MARKER_TEXT = "Uploads and results of t2o serve. This folder is removed when the server stops.\n"
_PROBE_BYTES = 2**16
"""Bytes that a new folder must have room for."""


@dataclass
class ServerFolder:
    """The folder of a running server for photos and results; removed when the server stops.

    It is locked while the server runs, and holds a marker file. The lock of a killed server ends with its
    process: the next server removes folders beside its own that have the marker and no lock.
    """

    path: Path
    handle: int | None = None
    """Holds the lock while it is open."""

    def remove(self) -> None:
        """Remove the folder, the marker last, so that the next server finishes an interrupted removal."""
        with suppress(OSError):
            for path in self.path.iterdir():
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self.path, ignore_errors=True)
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


def open_server_folder(parent: Path | None) -> ServerFolder:
    """Create a folder below `parent` (default: the system's temporary folder).

    Folders that killed servers left there are removed.
    """
    try:
        place = Path(tempfile.gettempdir()) if parent is None else parent
        place.mkdir(parents=True, exist_ok=True)
        _remove_abandoned_folders(place)
        folder = ServerFolder(Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=place)))
    except OSError as error:
        raise ServerError(_describe_folder_error(parent, error)) from error
    try:
        folder.handle = lock_folder(folder.path)
        if folder.handle is not None:  # without a lock, a marker would let other servers remove the folder
            (folder.path / MARKER_FILE).write_text(_MARKER_TEXT, encoding="utf-8")
        with tempfile.TemporaryFile(dir=folder.path) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as error:
        folder.remove()
        raise ServerError(_describe_folder_error(parent, error)) from error
    return folder


def _describe_folder_error(parent: Path | None, error: OSError) -> str:
    shown = "the temporary folder of this system" if parent is None else str(parent)
    if isinstance(error, FileExistsError):
        return f"{shown} cannot hold uploads: it is not a folder; give another --folder"
    reason = (error.strerror or str(error)).lower()
    return f"{shown} cannot hold uploads ({reason}); give another --folder"


def _remove_abandoned_folders(place: Path) -> None:
    for path in place.iterdir():
        if not _FOLDER_NAME.fullmatch(path.name) or (handle := lock_folder(path)) is None:
            continue
        if (path / MARKER_FILE).is_file():
            ServerFolder(path, handle).remove()
        else:
            os.close(handle)


def lock_folder(path: Path) -> int | None:
    """Lock a folder of this user. Returns its handle, or None where another process holds the lock or the
    system has no such locks."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, AttributeError):  # Windows has no handles of folders
        return None
    if os.fstat(handle).st_uid == os.getuid() and try_lock(handle):
        return handle
    os.close(handle)
    return None
