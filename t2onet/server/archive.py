"""Sessions that outlive the server: uploads and records, in private folders of the user's data folder."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import shutil
import tempfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import OutputError, ServerError
from ..image import read_regular_file, write_atomically
from ..image.files import try_lock
from .errors import refuse_storage_errors
from .folders import FOLDER_MODE, make_private_folder
from .keeping import BROKEN_RECORD_FILE, RECORD_FILE, KeptEdit, read_record
from .settings import MIB, ServerSettings

SECRET_BYTES = 16
"""Random bytes of a session's id."""
_SESSIONS = "sessions"
_KEY_FILE = "key"
_KEY_BYTES = 32
_DAY = 24 * 60 * 60


@dataclass
class KeptSession:
    """The folder of a session in the archive, locked by the server that has the session open."""

    path: Path
    handle: int | None = None

    def list_records(self) -> Iterator[tuple[Path, KeptEdit]]:
        """Uploaded photos and their records, in their order; what was not complete is removed."""
        found = []
        for folder in self.path.iterdir():
            if not any((folder / name).exists() for name in (RECORD_FILE, BROKEN_RECORD_FILE)):
                shutil.rmtree(
                    folder, ignore_errors=True
                )  # the server was killed before the upload was complete
            elif (record := read_record(folder)) and record.file and (folder / record.file).is_file():
                found.append((folder, record))
        yield from sorted(found, key=lambda one: one[1].added)

    def close(self) -> None:
        """Let others open it; a folder with nothing in it is removed."""
        with suppress(OSError):
            self.path.rmdir()
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.close()


@dataclass(frozen=True)
class SessionArchive:
    """Sessions that outlive the server, each in a private folder named after a digest of its id."""

    folder: Path
    max_days: float
    max_bytes: int

    @classmethod
    def open(cls, settings: ServerSettings) -> SessionArchive | None:
        """The archive in the folder that is set, or ServerError; None if nothing is kept."""
        if settings.keep is None:
            return None
        try:
            folder = make_private_folder(settings.keep / _SESSIONS)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ServerError(
                f"{settings.keep} cannot keep sessions ({reason}); set T2O_DATA_DIR to another folder, or "
                "give --no-keep"
            ) from error
        return cls(folder, settings.keep_days, MIB * settings.keep_mb)

    def make_served_id(self, given: Sequence[str]) -> str:
        """The id of the session for what is served: the same at every start, and known to this user alone."""
        digest = hmac.digest(self._read_key(), json.dumps(list(given)).encode(), "sha256")
        return urlsafe_b64encode(digest[:SECRET_BYTES]).decode().rstrip("=")

    def _read_key(self) -> bytes:
        path = self.folder.parent / _KEY_FILE
        if not path.exists():
            with suppress(OutputError):  # another server has just made one
                write_atomically(path, secrets.token_bytes(_KEY_BYTES), overwrite=False, private=True)
        try:
            key = read_regular_file(path, _KEY_BYTES)
        except OSError as error:
            raise ServerError(f"{path} cannot be read ({error}); remove it") from error
        if len(key) != _KEY_BYTES:
            raise ServerError(f"{path} is no key of t2o serve; remove it, and a new one is made")
        return key

    def find(self, number: str) -> KeptSession | None:
        """The session of this id, unless another server has it open."""
        return self._lock(self._get_path(number))

    def create(self, number: str) -> KeptSession | None:
        """The folder for a session; None if another server has it open."""
        path = self._get_path(number)
        with refuse_storage_errors():
            path.mkdir(exist_ok=True, mode=FOLDER_MODE)
        return self._lock(path)

    def _get_path(self, number: str) -> Path:
        return self.folder / hashlib.sha256(number.encode("utf-8", "replace")).hexdigest()[:32]

    def _lock(self, path: Path) -> KeptSession | None:
        if not path.is_dir() or path.is_symlink():
            return None
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except (OSError, AttributeError):  # Windows has no handles of folders, and no locks
            return KeptSession(path)
        if try_lock(handle):
            return KeptSession(path, handle)
        os.close(handle)
        return None

    def sweep(self, in_use: Collection[Path]) -> None:
        """Remove sessions that are too old, then the oldest while all together are too large.

        Sessions `in_use`, and those of other servers, stay.
        """
        with suppress(OSError):
            ages = {path: path.stat().st_mtime for path in self.folder.iterdir()}
            sizes = {path: _measure(path) for path in ages}
            oldest = sorted(ages, key=ages.__getitem__)
            total, end = sum(sizes.values()), time.time() - _DAY * self.max_days
            for path in oldest:
                if path in in_use or not (ages[path] < end or total > self.max_bytes):
                    continue
                if (kept := self._lock(path)) is not None:
                    kept.remove()
                    total -= sizes[path]


def _measure(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118  strings are faster here
    return total
