"""Sessions: a folder, photos, results and a time after which all of it is forgotten."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import not_found, storing, too_many
from .folders import ServerFolder, open_folder
from .photos import Photo
from .settings import Settings
from .usage import MAKE_ROOM, Usage

if TYPE_CHECKING:
    from .batches import Batch
    from .results import Result

_KEY_BYTES = 16
"""Of a session's id, which cannot be guessed."""


@dataclass
class Session:
    """What one visitor has. `lock` guards the dictionaries, not the photos."""

    id: str
    folder: Path
    settings: Settings
    used: float
    """When it was last used, by the clock of the sessions."""
    stays: bool = False
    """Whether it lives as long as the server."""
    photos: dict[str, Photo] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    usage: Usage = field(init=False)

    def __post_init__(self) -> None:
        self.usage = Usage(self.settings)

    def photo(self, number: str) -> Photo:
        with self.lock:
            if number not in self.photos:
                raise not_found("photo")
            return self.photos[number]

    @property
    def uploaded(self) -> int:
        """Photos that were uploaded."""
        return sum(one.uploaded for one in list(self.photos.values()))

    def add(self, photo: Photo) -> Photo:
        with self.lock:
            if photo.uploaded and self.uploaded >= self.settings.photos:
                raise too_many(f"a session holds {self.settings.photos} photos; {MAKE_ROOM}")
            self.photos[photo.id] = photo
            return photo

    def remove(self, number: str) -> None:
        photo = self.photo(number)
        with self.lock:
            self.photos.pop(number, None)
        photo.previews.pool.forget(photo.id)
        if photo.uploaded:
            self.discard(photo.path.parent)

    def place(self) -> Path:
        """Create a folder for one photo, result or batch."""
        with storing():
            try:
                return Path(tempfile.mkdtemp(dir=self.folder))
            except FileNotFoundError:  # the session was closed meanwhile
                raise not_found("session") from None

    def discard(self, folder: Path) -> None:
        """Remove a folder of `place` and all that is in it."""
        shutil.rmtree(folder, ignore_errors=True)
        self.usage.remove(folder)


@dataclass
class Sessions:
    """All sessions of a server, below one folder."""

    settings: Settings
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _folder: ServerFolder | None = None

    @property
    def folder(self) -> Path:
        """The folder of this server; created if need be."""
        return self.open().path

    def open(self) -> ServerFolder:
        """Create the folder, or refuse; called before the server accepts connections."""
        if self._folder is None:
            self._folder = open_folder(self.settings.folder)
        return self._folder

    def __len__(self) -> int:
        return len(self._open)

    def create(self, *, stays: bool = False) -> Session:
        self.expire()
        with self._lock:
            if len(self._open) >= self.settings.sessions:
                raise too_many("there are as many sessions as this server holds; try again later")
            with storing():
                folder = Path(tempfile.mkdtemp(dir=self.folder))
            session = Session(secrets.token_urlsafe(_KEY_BYTES), folder, self.settings, self.clock(), stays)
            self._open[session.id] = session
            return session

    def get(self, number: str) -> Session:
        """A session that has not expired; asking for it keeps it alive."""
        self.expire()
        with self._lock:
            session = self._open.get(number)
            if session is None:
                raise not_found("session")
            session.used = self.clock()
            return session

    def close(self, number: str) -> None:
        with self._lock:
            session = self._open.pop(number, None)
        if session is None:
            raise not_found("session")
        _cleared(session)

    def expire(self) -> None:
        """Forget the sessions that were not used for long, and remove their folders."""
        with self._lock:
            end = self.clock() - 60 * self.settings.idle_minutes
            old = [one for one in self._open.values() if one.used < end and not one.stays and not _busy(one)]
            for session in old:
                del self._open[session.id]
        for session in old:
            _cleared(session)

    def conceal(self, message: str) -> str:
        """The message without paths of the folder, should one have got into it."""
        if self._folder is None:
            return message
        return re.sub(rf"{re.escape(str(self.folder))}\S*", "the file", message)

    def shut(self) -> None:
        """Stop everything and remove all folders."""
        with self._lock:
            everything, self._open = list(self._open.values()), {}
        for session in everything:
            _cleared(session)
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


def _busy(session: Session) -> bool:
    return any(batch.running for batch in session.batches.values())


def _cleared(session: Session) -> None:
    for batch in session.batches.values():
        batch.stop()
    for photo in session.photos.values():
        photo.previews.pool.forget(photo.id)
    shutil.rmtree(session.folder, ignore_errors=True)
