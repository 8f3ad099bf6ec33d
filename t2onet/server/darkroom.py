"""What the routes share: sessions, previews, the policy, and how many things are computed at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import Depends, Request

from ..errors import T2OError
from ..executor import cores, stages
from ..operations import operations
from ..policy import Policy, shipped
from ..recipe import Recipe
from .disconnects import stop_if_gone
from .intake import display_name
from .photos import Photo
from .previews import Pool, Previews
from .recipes import has_masks
from .schemas import Name
from .sessions import Session, Sessions
from .settings import MIB, Settings

_POLL_SECONDS = 0.5
"""How often a request that waits for its turn checks that its client is still connected."""


@dataclass
class Darkroom:
    """One server's state; nothing of it outlives the server."""

    settings: Settings
    sessions: Sessions
    previews: Previews
    given: Policy | None = None
    _gate: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(cores()))

    @classmethod
    def of(cls, settings: Settings, policy: Policy | None = None) -> Darkroom:
        previews = Previews(Pool(MIB * settings.cache_mb), settings.preview, cores())
        return cls(settings, Sessions(settings), previews, policy)

    def policy(self) -> Policy:
        return self.given or shipped()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold one of as many slots as there are cores, for work that keeps a core busy.

        Raises Cancelled if the client has disconnected. Enter it before a photo is locked, never after.
        """
        while not self._gate.acquire(timeout=_POLL_SECONDS):
            stop_if_gone()
        try:
            stop_if_gone()
            yield
        finally:
            self._gate.release()

    @contextmanager
    def reading(self, *recipes: Any) -> Iterator[None]:
        """For reading recipes that a visitor sent: masks are decoded in turn, other recipes do not wait."""
        with self.working() if any(map(has_masks, recipes)) else nullcontext():
            yield

    def photo(self, name: str, path: Path, *, uploaded: bool) -> Photo:
        return Photo(display_name(name), path, uploaded, self.settings, self.previews, self.policy)

    def ready(self, photo: Photo) -> Photo:
        """The photo, opened."""
        if photo.facts is None:
            with self.working():
                photo.editor  # noqa: B018
        return photo

    def preload(self, paths: Sequence[Path]) -> Session:
        """A session that lives as long as the server, with photos that stay where they are."""
        session = self.sessions.create(stays=True)
        for path in paths:
            session.add(self.photo(path.name, path.absolute(), uploaded=False))
        return session

    def warm_up(self, stopping: threading.Event) -> None:
        """Load what the first visitor would wait for: the network, then the compiled kernels.

        A server that stops waits for what is being loaded; nothing more is begun once `stopping` is set.
        """
        numbers = [(one.name, [slot.high / 2 for slot in one.slots]) for one in operations().values()]
        with suppress(T2OError):
            self.policy()
            if stopping.is_set():
                return
            stages(Recipe.from_steps(numbers), np.zeros((8, 8, 3), np.uint16), last=np.uint8, kernels=True)


async def darkroom(request: Request) -> Darkroom:
    found = request.app.state.darkroom
    assert isinstance(found, Darkroom)
    return found


Room = Annotated[Darkroom, Depends(darkroom)]


def session(session: Name, room: Room) -> Session:
    return room.sessions.get(session)


Visit = Annotated[Session, Depends(session)]


def photo(photo: Name, visit: Visit, room: Room) -> Photo:
    return room.ready(visit.photo(photo))


Chosen = Annotated[Photo, Depends(photo)]
