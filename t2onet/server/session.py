"""A session: the photos, results and batches of one client, and the bytes that they take."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .archive import KeptSession, SessionArchive
from .errors import Refused, not_found, refuse_storage_errors, too_large, too_many
from .photos import SessionPhoto
from .settings import MIB, ServerSettings

if TYPE_CHECKING:
    from .results import BatchJob, ResultFile

MAKE_ROOM_HINT = "remove some, or begin another"


@dataclass
class SessionUsage:
    """Bytes that a session stores, by folder, and uploads in progress.

    Counted instead of measured: walking the folder for every upload would be slow, and would race with
    removals.
    """

    settings: ServerSettings
    make_room: Callable[[], None] = lambda: None
    """Called before an upload or a result is refused for want of room."""
    stored: int = 0
    """Bytes of all folders."""
    uploads: int = 0
    """Uploads in progress."""
    _sizes: dict[Path, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Refuse if the session is full."""
        self._try_to_fit(1)
        with self._lock:
            self._check(1)

    def add(self, folder: Path, size: int) -> None:
        """Count `size` more bytes in a folder, or refuse them."""
        self._try_to_fit(size)
        with self._lock:
            self._check(size)
            self.stored += size
            self._sizes[folder] = self._sizes.get(folder, 0) + size

    def remove(self, folder: Path) -> None:
        """Stop counting a folder; unknown folders are ignored."""
        with self._lock:
            self.stored -= self._sizes.pop(folder, 0)

    @contextmanager
    def uploading(self, photos: int) -> Iterator[None]:
        """Count an upload while it runs; refused if there are too many uploads or `photos`."""
        with self._lock:
            if self.uploads >= self.settings.uploads:
                limit = self.settings.uploads
                raise too_many(f"a session takes {limit} uploads at a time; wait until one has ended")
            if photos + self.uploads >= self.settings.photos:
                raise too_many(f"a session holds {self.settings.photos} photos; {MAKE_ROOM_HINT}")
            self.uploads += 1
        try:
            yield
        finally:
            with self._lock:
                self.uploads -= 1

    def count(self, folder: Path, size: int) -> None:
        """Count what is there already."""
        with self._lock:
            self.stored += size
            self._sizes[folder] = self._sizes.get(folder, 0) + size

    def _try_to_fit(self, more: int) -> None:
        if not self._has_room(more):
            self.make_room()

    def _has_room(self, more: int) -> bool:
        return self.stored + more <= MIB * self.settings.session_mb

    def _check(self, more: int) -> None:
        if not self._has_room(more):
            held_most = f"{self.settings.session_mb} MiB of photos and results"
            raise too_large(f"a session holds {held_most}; {MAKE_ROOM_HINT}")


_MAX_REMOVED = 10
"""Removed photos of a session that can be brought back."""


@dataclass(frozen=True)
class RemovedPhoto:
    """A photo that can be brought back, and where it was in the session."""

    photo: SessionPhoto
    position: int
    removed: float
    """Time."""


@dataclass
class Session:
    """The photos, results and batches of one client. `lock` guards the dictionaries, not the photos.

    Results are in `folder`, uploads in `kept` where sessions outlive the server.
    """

    id: str
    folder: Path
    settings: ServerSettings
    last_used: float
    """Time of the last request, by the clock of the store."""
    permanent: bool = False
    """Whether it lives as long as the server."""
    archive: SessionArchive | None = None
    kept: KeptSession | None = None
    photos: dict[str, SessionPhoto] = field(default_factory=dict)
    removed: dict[str, RemovedPhoto] = field(default_factory=dict)
    results: dict[str, ResultFile] = field(default_factory=dict)
    batches: dict[str, BatchJob] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _removal_lock: threading.Lock = field(default_factory=threading.Lock)
    """Guards what is written about removals; `lock` must not be held while a photo is waited for."""
    usage: SessionUsage = field(init=False)

    def __post_init__(self) -> None:
        self.usage = SessionUsage(self.settings, lambda: self.forget_removed(0))

    def get_photo(self, number: str) -> SessionPhoto:
        with self.lock:
            if number not in self.photos:
                raise not_found("photo")
            return self.photos[number]

    @property
    def upload_count(self) -> int:
        """Number of uploaded photos."""
        return sum(one.uploaded for one in list(self.photos.values()))

    def add(self, photo: SessionPhoto) -> SessionPhoto:
        with self.lock:
            self._check_room(photo)
            self.photos[photo.id] = photo
            return photo

    def _check_room(self, photo: SessionPhoto) -> None:
        if photo.uploaded and self.upload_count >= self.settings.photos:
            raise too_many(f"a session holds {self.settings.photos} photos; {MAKE_ROOM_HINT}")

    def remove(self, number: str) -> None:
        """Remove a photo; for a while it can be brought back. If that cannot be written, it stays."""
        with self._removal_lock:
            photo, now = self.get_photo(number), time.time()
            photo.mark_removed(now)
            with self.lock:
                position = list(self.photos).index(number)
                self.removed[number] = RemovedPhoto(self.photos.pop(number), position, now)
                too_many_removed = list(self.removed)[:-_MAX_REMOVED]
        photo.previews.cache.drop(photo.id)
        for one in too_many_removed:
            self._forget(one)

    def restore(self, number: str) -> None:
        """Bring a removed photo back, where it was. If that cannot be written, it stays removed."""
        with self._removal_lock:
            with self.lock:
                if (found := self.removed.get(number)) is None:
                    raise not_found("photo")
                self._check_room(found.photo)
            found.photo.mark_removed(None)
            with self.lock:
                if self.removed.pop(number, None) is None:  # its room was needed meanwhile
                    raise not_found("photo")
                order = list(self.photos)
                order.insert(found.position, number)
                self.photos = {one: self.photos.get(one, found.photo) for one in order}

    def forget_removed(self, minutes: float) -> None:
        """Delete photos that were removed longer ago than this."""
        end = time.time() - 60 * minutes
        for number, one in list(self.removed.items()):
            if one.removed <= end:
                self._forget(number)

    def _forget(self, number: str) -> None:
        with self.lock:
            gone = self.removed.pop(number, None)
        if gone is not None and gone.photo.uploaded:
            self.remove_folder(gone.photo.path.parent)

    def make_upload_folder(self) -> Path:
        """Create a folder for an upload; its name is the id of the photo."""
        with self.lock:
            if self.kept is None and self.archive is not None:
                self.kept = self.archive.create(self.id)
        return self._make_folder_in(self.folder if self.kept is None else self.kept.path)

    def make_folder(self) -> Path:
        """Create a folder for one photo, result or batch."""
        return self._make_folder_in(self.folder)

    def _make_folder_in(self, place: Path) -> Path:
        """Create a folder; on a full disk, removed photos make room for it."""
        try:
            return _make_folder_in(place)
        except Refused:
            if not self.removed:
                raise
            self.forget_removed(0)
            return _make_folder_in(place)

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder of `make_folder` with everything in it."""
        shutil.rmtree(folder, ignore_errors=True)
        self.usage.remove(folder)


def _make_folder_in(place: Path) -> Path:
    with refuse_storage_errors():
        try:
            return Path(tempfile.mkdtemp(dir=place))
        except FileNotFoundError:  # the session was closed meanwhile
            raise not_found("session") from None
