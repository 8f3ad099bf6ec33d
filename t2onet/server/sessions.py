"""What the routes work on: sessions, and the darkroom that holds them.

A session has a folder, photos, results and a time after which it is removed. The darkroom also holds the
previews, the policy, and slots for heavy work.
"""

from __future__ import annotations

import hashlib
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
from .errors import Refused, not_found, refuse_storage_errors, too_large, too_many
from .keeping import SECRET_BYTES, EditKeeper, KeptSession, SessionArchive
from .own_looks import OwnLooks
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
            if photo.uploaded and self.upload_count >= self.settings.photos:
                raise too_many(f"a session holds {self.settings.photos} photos; {MAKE_ROOM_HINT}")
            self.photos[photo.id] = photo
            return photo

    def remove(self, number: str) -> None:
        """Remove a photo; for a while it can be brought back."""
        photo, now = self.get_photo(number), time.time()
        with self.lock:
            position = list(self.photos).index(number)
            self.removed[number] = RemovedPhoto(self.photos.pop(number), position, now)
        photo.previews.cache.drop(photo.id)
        photo.keeper.mark_removed(now)
        while len(self.removed) > _MAX_REMOVED:
            self._forget(next(iter(self.removed)))

    def restore(self, number: str) -> None:
        """Bring a removed photo back, where it was."""
        with self.lock:
            if (found := self.removed.get(number)) is None:
                raise not_found("photo")
            self.add(found.photo)
            del self.removed[number]
            order = [one for one in self.photos if one != number]
            order.insert(found.position, number)
            self.photos = {one: self.photos[one] for one in order}
        found.photo.keeper.mark_removed(None)

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


@dataclass
class SessionStore:
    """All sessions of a server, below one folder; sessions that are kept are opened again when asked for.

    `load_photos` fills a session from its folder in the archive.
    """

    settings: ServerSettings
    load_photos: Callable[[Session], None] = lambda session: None
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _folder: ServerFolder | None = None
    _archive: SessionArchive | None = None

    @property
    def folder(self) -> Path:
        """The folder of this server, created at first use."""
        return self.open().path

    def open(self) -> ServerFolder:
        """Create the folders, or raise ServerError; called before the server accepts connections."""
        if self._folder is None:
            self._archive = SessionArchive.open(self.settings)
            self._folder = open_server_folder(self.settings.folder)
            self._sweep()
        return self._folder

    def __len__(self) -> int:
        return len(self._open)

    def create(self, *, permanent: bool = False) -> Session:
        """A new session; a `permanent` one lives as long as the server."""
        self.expire()
        with self._lock:
            return self._add(secrets.token_urlsafe(SECRET_BYTES), permanent=permanent)

    def create_served(self, given: Sequence[str]) -> Session:
        """A session that lives as long as the server; the same at every start with what is `given`."""
        self.open()
        with self._lock:
            number, kept = secrets.token_urlsafe(SECRET_BYTES), None
            if self._archive is not None and given:
                served = self._archive.make_served_id(given)
                if (kept := self._archive.create(served)) is not None:  # unless another server has it open
                    number = served
            return self._add(number, kept, permanent=True)

    def _add(self, number: str, kept: KeptSession | None = None, *, permanent: bool = False) -> Session:
        try:
            if len(self._open) >= self.settings.sessions:
                raise too_many("there are as many sessions as this server holds; try again later")
            with refuse_storage_errors():
                folder = Path(tempfile.mkdtemp(dir=self.folder))
        except BaseException:
            if kept is not None:
                kept.close()
            raise
        now = self.clock()
        session = Session(number, folder, self.settings, now, permanent, self._archive, kept)
        if kept is not None:
            self.load_photos(session)
        self._open[session.id] = session
        return session

    def get(self, number: str) -> Session:
        """A session that has not expired, or is kept; using it keeps it alive."""
        self.expire()
        with self._lock:
            session = self._open.get(number) or self._reopen(number)
            session.last_used = self.clock()
            return session

    def _reopen(self, number: str) -> Session:
        """A session of an earlier run, or one that was idle."""
        kept = None if self._archive is None else self._archive.find(number)
        if kept is None:
            raise not_found("session")
        session = self._add(number, kept)
        if not session.photos and not session.removed:  # such as that of a folder which is not served now
            _clear_session(self._open.pop(number))
            raise not_found("session")
        return session

    def close(self, number: str) -> None:
        with self._lock:
            session = self._open.pop(number, None)
        if session is None:
            raise not_found("session")
        _clear_session(session, for_good=True)

    def expire(self) -> None:
        """Close sessions that were idle for too long; those that are kept are opened again when asked for."""
        with self._lock:
            end = self.clock() - 60 * self.settings.idle_minutes
            old = [
                one
                for one in self._open.values()
                if one.last_used < end and not one.permanent and not _is_busy(one)
            ]
            for session in old:
                del self._open[session.id]
            rest = list(self._open.values())
        for session in old:
            _clear_session(session)
        for session in rest:
            session.forget_removed(self.settings.restore_minutes)

    def tidy(self) -> None:
        """Close idle sessions, and remove kept ones that are too old or too large."""
        self.expire()
        self._sweep()

    def _sweep(self) -> None:
        if self._archive is not None:
            with self._lock:
                in_use = [one.kept.path for one in self._open.values() if one.kept is not None]
            self._archive.sweep(in_use)

    def hide_paths(self, message: str) -> str:
        """A message without paths of the server's folder."""
        if self._folder is None:
            return message
        folders = [self.folder, *([] if self._archive is None else [self._archive.folder.parent])]
        pattern = "|".join(re.escape(str(folder)) for folder in folders)
        return re.sub(rf"(?:{pattern})\S*", "the file", message)

    def close_all(self) -> None:
        """Stop everything, and remove all folders but those that are kept."""
        with self._lock:
            everything, self._open = list(self._open.values()), {}
        for session in everything:
            _clear_session(session)
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


def _is_busy(session: Session) -> bool:
    return any(batch.running for batch in session.batches.values())


def _clear_session(session: Session, *, for_good: bool = False) -> None:
    """Stop a session and remove its results and, where they are not kept or `for_good`, its uploads."""
    for batch in session.batches.values():
        batch.stop()
    for photo in session.photos.values():
        photo.previews.cache.drop(photo.id)
    shutil.rmtree(session.folder, ignore_errors=True)
    if session.kept is not None:
        (session.kept.remove if for_good else session.kept.close)()


_POLL_SECONDS = 0.5
"""How often a request that waits for its turn checks that its client is still connected."""


@dataclass
class DarkroomService:
    """The state of one server."""

    settings: ServerSettings
    sessions: SessionStore
    previews: PreviewRenderer
    own_looks: OwnLooks
    _slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(count_cores()))

    @classmethod
    def create(cls, settings: ServerSettings) -> DarkroomService:
        previews = PreviewRenderer(PreviewCache(MIB * settings.cache_mb), settings.preview, count_cores())
        service = cls(settings, SessionStore(settings), previews, OwnLooks(settings))
        service.sessions.load_photos = service._load_photos
        return service

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

    def make_upload(self, session: Session, name: str, path: Path) -> SessionPhoto:
        """A photo that was uploaded, and is the only file in its folder."""
        shown = to_display_name(name)
        folder = None if session.kept is None else path.parent
        keeper = EditKeeper(self.settings, shown, folder, path.name)
        number = path.parent.name
        return SessionPhoto(shown, path, True, self.settings, self.previews, keeper, number)

    def _load_photos(self, session: Session) -> None:
        """Fill a session with the uploads in its folder of the archive."""
        assert session.kept is not None
        for folder, record in session.kept.list_records():
            assert record.file is not None
            photo = self.make_upload(session, record.name, folder / record.file)
            photo.keeper.added = record.added
            session.usage.count(folder, photo.path.stat().st_size)
            if record.removed is None:
                session.photos[photo.id] = photo
            else:
                session.removed[photo.id] = RemovedPhoto(photo, len(session.photos), record.removed)

    def _make_served_photo(self, session: Session, path: Path) -> SessionPhoto:
        """A photo of this machine; its id is the same in the same session of every run."""
        shown = to_display_name(path.name)
        number = hashlib.sha256(f"{session.id} {path}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
        folder = None if session.kept is None else session.kept.path / number
        keeper = EditKeeper(self.settings, shown, folder, sidecar_of=path if self.settings.sidecars else None)
        return SessionPhoto(shown, path, False, self.settings, self.previews, keeper, number)

    def open_photo(self, photo: SessionPhoto) -> SessionPhoto:
        """Open a photo if it is not open yet."""
        if photo.info is None:
            with self.hold_slot():
                photo.open_editor()
        return photo

    def preload(self, paths: Sequence[Path], given: Sequence[str] = ()) -> Session:
        """Create a session that lives as long as the server, with photos of this machine.

        `given` is what the user named them by, so that the next start can continue the session.
        """
        session = self.sessions.create_served(given)
        uploads, session.photos = session.photos, {}
        for path in paths:
            session.add(self._make_served_photo(session, path.absolute()))
        session.photos.update(uploads)
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
