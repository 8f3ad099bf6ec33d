"""What the routes work on: sessions, and the darkroom that holds them.

A session has a folder, photos, results and a time after which it is removed. The darkroom also holds the
previews, the policy, and slots for heavy work.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import Depends, Request

from ..errors import ServerError, T2OError
from ..executor import render_stages
from ..image.codecs import count_cores
from ..image.files import try_lock
from ..language.reader import load_reader
from ..operations import Operation, declarations
from ..recipe import Recipe
from .errors import not_found, refuse_storage_errors, too_large, too_many
from .photos import PreviewCache, PreviewRenderer, SessionPhoto, to_display_name
from .running import raise_if_disconnected
from .schemas import ResourceId, has_masks
from .settings import MIB, ServerSettings

if TYPE_CHECKING:
    from .results import BatchJob, ResultFile


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
        folder.handle = _lock_folder(folder.path)
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
        if not _FOLDER_NAME.fullmatch(path.name) or (handle := _lock_folder(path)) is None:
            continue
        if (path / MARKER_FILE).is_file():
            ServerFolder(path, handle).remove()
        else:
            os.close(handle)


def _lock_folder(path: Path) -> int | None:
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


MAKE_ROOM_HINT = "remove some, or begin another"


@dataclass
class SessionUsage:
    """Bytes that a session stores, by folder, and uploads in progress.

    Counted instead of measured: walking the folder for every upload would be slow, and would race with
    removals.
    """

    settings: ServerSettings
    stored: int = 0
    """Bytes of all folders."""
    uploads: int = 0
    """Uploads in progress."""
    _sizes: dict[Path, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Refuse if the session is full."""
        with self._lock:
            self._check(1)

    def add(self, folder: Path, size: int) -> None:
        """Count `size` more bytes in a folder, or refuse them."""
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

    def _check(self, more: int) -> None:
        if self.stored + more > MIB * self.settings.session_mb:
            held_most = f"{self.settings.session_mb} MiB of photos and results"
            raise too_large(f"a session holds {held_most}; {MAKE_ROOM_HINT}")


_SESSION_ID_BYTES = 16
"""Random bytes of a session's id."""


@dataclass
class Session:
    """The photos, results and batches of one client. `lock` guards the dictionaries, not the photos."""

    id: str
    folder: Path
    settings: ServerSettings
    last_used: float
    """Time of the last request, by the clock of the store."""
    permanent: bool = False
    """Whether it lives as long as the server."""
    photos: dict[str, SessionPhoto] = field(default_factory=dict)
    results: dict[str, ResultFile] = field(default_factory=dict)
    batches: dict[str, BatchJob] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    usage: SessionUsage = field(init=False)

    def __post_init__(self) -> None:
        self.usage = SessionUsage(self.settings)

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
            if photo.uploaded and self.upload_count >= self.settings.photos:
                raise too_many(f"a session holds {self.settings.photos} photos; {MAKE_ROOM_HINT}")
            self.photos[photo.id] = photo
            return photo

    def remove(self, number: str) -> None:
        photo = self.get_photo(number)
        with self.lock:
            self.photos.pop(number, None)
        photo.previews.cache.drop(photo.id)
        if photo.uploaded:
            self.remove_folder(photo.path.parent)

    def make_folder(self) -> Path:
        """Create a folder for one photo, result or batch."""
        with refuse_storage_errors():
            try:
                return Path(tempfile.mkdtemp(dir=self.folder))
            except FileNotFoundError:  # the session was closed meanwhile
                raise not_found("session") from None

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder of `make_folder` with everything in it."""
        shutil.rmtree(folder, ignore_errors=True)
        self.usage.remove(folder)


@dataclass
class SessionStore:
    """All sessions of a server, below one folder."""

    settings: ServerSettings
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _folder: ServerFolder | None = None

    @property
    def folder(self) -> Path:
        """The folder of this server, created at first use."""
        return self.open().path

    def open(self) -> ServerFolder:
        """Create the folder, or raise ServerError; called before the server accepts connections."""
        if self._folder is None:
            self._folder = open_server_folder(self.settings.folder)
        return self._folder

    def __len__(self) -> int:
        return len(self._open)

    def create(self, *, permanent: bool = False) -> Session:
        self.expire()
        with self._lock:
            if len(self._open) >= self.settings.sessions:
                raise too_many("there are as many sessions as this server holds; try again later")
            with refuse_storage_errors():
                folder = Path(tempfile.mkdtemp(dir=self.folder))
            session = Session(
                secrets.token_urlsafe(_SESSION_ID_BYTES), folder, self.settings, self.clock(), permanent
            )
            self._open[session.id] = session
            return session

    def get(self, number: str) -> Session:
        """A session that has not expired; using it keeps it alive."""
        self.expire()
        with self._lock:
            session = self._open.get(number)
            if session is None:
                raise not_found("session")
            session.last_used = self.clock()
            return session

    def close(self, number: str) -> None:
        with self._lock:
            session = self._open.pop(number, None)
        if session is None:
            raise not_found("session")
        _clear_session(session)

    def expire(self) -> None:
        """Remove sessions that were idle for too long, with their folders."""
        with self._lock:
            end = self.clock() - 60 * self.settings.idle_minutes
            old = [
                one
                for one in self._open.values()
                if one.last_used < end and not one.permanent and not _is_busy(one)
            ]
            for session in old:
                del self._open[session.id]
        for session in old:
            _clear_session(session)

    def hide_paths(self, message: str) -> str:
        """A message without paths of the server's folder."""
        if self._folder is None:
            return message
        return re.sub(rf"{re.escape(str(self.folder))}\S*", "the file", message)

    def close_all(self) -> None:
        """Stop everything and remove all folders."""
        with self._lock:
            everything, self._open = list(self._open.values()), {}
        for session in everything:
            _clear_session(session)
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


def _is_busy(session: Session) -> bool:
    return any(batch.running for batch in session.batches.values())


def _clear_session(session: Session) -> None:
    for batch in session.batches.values():
        batch.stop()
    for photo in session.photos.values():
        photo.previews.cache.drop(photo.id)
    shutil.rmtree(session.folder, ignore_errors=True)


_POLL_SECONDS = 0.5
"""How often a request that waits for its turn checks that its client is still connected."""


@dataclass
class DarkroomService:
    """The state of one server; nothing of it outlives the server."""

    settings: ServerSettings
    sessions: SessionStore
    previews: PreviewRenderer
    _slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(count_cores()))

    @classmethod
    def create(cls, settings: ServerSettings) -> DarkroomService:
        previews = PreviewRenderer(PreviewCache(MIB * settings.cache_mb), settings.preview, count_cores())
        return cls(settings, SessionStore(settings), previews)

    @contextmanager
    def hold_slot(self) -> Iterator[None]:
        """Hold one of as many slots as there are cores, for work that keeps a core busy.

        Raises Cancelled if the client has disconnected. Enter it before a photo is locked, never after.
        """
        while not self._slots.acquire(timeout=_POLL_SECONDS):
            raise_if_disconnected()
        try:
            raise_if_disconnected()
            yield
        finally:
            self._slots.release()

    @contextmanager
    def hold_decoding_slot(self, *recipes: Any) -> Iterator[None]:
        """Hold a slot while recipes of a client are read, if they have masks to decode."""
        with self.hold_slot() if any(map(has_masks, recipes)) else nullcontext():
            yield

    def make_photo(self, name: str, path: Path, *, uploaded: bool) -> SessionPhoto:
        return SessionPhoto(to_display_name(name), path, uploaded, self.settings, self.previews)

    def open_photo(self, photo: SessionPhoto) -> SessionPhoto:
        """Open a photo if it is not open yet."""
        if photo.info is None:
            with self.hold_slot():
                photo.open_editor()
        return photo

    def preload(self, paths: Sequence[Path]) -> Session:
        """Create a session that lives as long as the server, with photos of this machine."""
        session = self.sessions.create(permanent=True)
        for path in paths:
            session.add(self.make_photo(path.name, path.absolute(), uploaded=False))
        return session

    def warm_up(self, stopping: threading.Event) -> None:
        """Load what the first request would wait for: the network, then the compiled kernels.

        A server that stops waits for what is being loaded; nothing more is loaded once `stopping` is set.
        """
        kinds = [one for one in declarations().values() if isinstance(one, Operation) or one.reads_neighbours]
        numbers = [(one.name, [slot.high / 2 for slot in one.slots]) for one in kinds]
        with suppress(T2OError):
            load_reader(self.settings.reader)
            if stopping.is_set():
                return
            render_stages(
                Recipe.from_steps(numbers), np.zeros((8, 8, 3), np.uint16), last=np.uint8, kernels=True
            )


async def get_darkroom(request: Request) -> DarkroomService:
    darkroom = request.app.state.darkroom
    assert isinstance(darkroom, DarkroomService)
    return darkroom


DarkroomDep = Annotated[DarkroomService, Depends(get_darkroom)]


def get_session(session: ResourceId, darkroom: DarkroomDep) -> Session:
    return darkroom.sessions.get(session)


SessionDep = Annotated[Session, Depends(get_session)]


def get_photo(photo: ResourceId, session: SessionDep, darkroom: DarkroomDep) -> SessionPhoto:
    return darkroom.open_photo(session.get_photo(photo))


PhotoDep = Annotated[SessionPhoto, Depends(get_photo)]
