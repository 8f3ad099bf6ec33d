"""What the routes work on: sessions, and the darkroom that holds them.

Sessions are closed when they were idle for some time. The darkroom also holds the previews, and slots for
heavy work.
"""

from __future__ import annotations

import hashlib
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
from typing import Annotated, Any

import numpy as np
from fastapi import Depends, Request

from ..errors import T2OError
from ..executor import render_stages
from ..image.codecs import count_cores
from ..language.reader import load_reader
from ..operations import Operation, declarations
from ..recipe import Recipe
from .archive import SECRET_BYTES, KeptSession, SessionArchive
from .errors import not_found, refuse_storage_errors, too_many
from .folders import ServerFolder, open_server_folder
from .keeping import EditKeeper, is_result
from .own_looks import OwnLooks
from .photos import PreviewCache, PreviewRenderer, SessionPhoto, to_display_name
from .running import raise_if_disconnected
from .schemas import ResourceId, has_masks
from .session import RemovedPhoto, Session
from .settings import MIB, ServerSettings


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
            try:
                self.load_photos(session)
            except BaseException:
                _clear_session(session)
                raise
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
    return session.usage.uploads > 0 or any(batch.running for batch in session.batches.values())


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
        has_sidecar = self.settings.sidecars and not is_result(path)
        keeper = EditKeeper(self.settings, shown, folder, sidecar_of=path if has_sidecar else None)
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
