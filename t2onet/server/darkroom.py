"""State shared by the routes: sessions, previews, the policy, and slots for heavy work."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import Depends, Request

from ..editor.policy import Policy, load_shipped_policy
from ..errors import T2OError
from ..executor import render_stages
from ..image.codecs import count_cores
from ..operations import Operation, declarations
from ..recipe import Recipe
from .photos import PreviewCache, PreviewRenderer, SessionPhoto, to_display_name
from .running import raise_if_disconnected
from .schemas import ResourceId, has_masks
from .sessions import Session, SessionStore
from .settings import MIB, ServerSettings

_POLL_SECONDS = 0.5
"""How often a request that waits for its turn checks that its client is still connected."""


@dataclass
class DarkroomService:
    """The state of one server; nothing of it outlives the server."""

    settings: ServerSettings
    sessions: SessionStore
    previews: PreviewRenderer
    custom_policy: Policy | None = None
    _slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(count_cores()))

    @classmethod
    def create(cls, settings: ServerSettings, policy: Policy | None = None) -> DarkroomService:
        previews = PreviewRenderer(PreviewCache(MIB * settings.cache_mb), settings.preview, count_cores())
        return cls(settings, SessionStore(settings), previews, policy)

    def get_policy(self) -> Policy:
        return self.custom_policy or load_shipped_policy()

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
        return SessionPhoto(
            to_display_name(name), path, uploaded, self.settings, self.previews, self.get_policy
        )

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
            self.get_policy()
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
