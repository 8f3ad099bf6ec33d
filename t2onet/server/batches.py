"""Many photos, one after the other, beside everything else: with progress, and until someone says stop."""

from __future__ import annotations

import logging
import secrets
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..errors import Cancelled, T2OError
from ..recipe import Recipe
from .darkroom import Darkroom
from .errors import resource_refusal
from .photos import Photo
from .results import Result, edited
from .sessions import Session

_STOP_SECONDS = 5.0
"""That a batch has to end once it is cancelled; what it writes later finds no folder and is lost."""
_LOG = logging.getLogger(__name__)

Outcome = Literal["waiting", "running", "done", "refused", "cancelled"]
RecipeFor = Callable[[Photo], tuple[Recipe, tuple[str, ...]]]
"""The recipe that a photo gets, and what is to be said of it; refuses where a request cannot be answered."""


@dataclass
class Item:
    """One photo of a batch."""

    photo: Photo
    outcome: Outcome = "waiting"
    share: float = 0.0
    error: str | None = None
    result: Result | None = None
    remarks: tuple[str, ...] = ()


@dataclass
class Batch:
    """Works on its items in a thread of its own."""

    items: list[Item]
    recipe_for: RecipeFor
    format: str | None
    folder: Path
    session: Session
    room: Darkroom
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=f"batch {self.id}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def cancelled(self) -> bool:
        return self._stop.is_set()

    def cancel(self) -> None:
        """Finish what is being written, and begin nothing more."""
        self._stop.set()

    def stop(self) -> None:
        """Cancel, and wait until nothing is being written any more; not for a photo that takes too long."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def remove(self) -> None:
        self.stop()
        self.session.discard(self.folder)

    def _run(self) -> None:
        for number, item in enumerate(self.items):
            if self.cancelled:
                item.outcome = "cancelled"
            else:
                item.outcome = "running"
                self._attempt(item, self.folder / str(number))

    def _attempt(self, item: Item, place: Path) -> None:
        def told(share: float) -> None:
            item.share = share

        try:
            with self.room.working():
                self.session.usage.check()
                item.photo.editor  # noqa: B018  opens it, or refuses
                recipe, item.remarks = self.recipe_for(item.photo)
                result = edited(
                    place, item.photo, recipe, format=self.format, progress=told, cancel=self._stop
                )
            item.result = self._counted(result)
            item.outcome, item.share = "done", 1.0
        except Cancelled:
            item.outcome = "cancelled"
        except T2OError as error:
            item.outcome, item.share, item.error = "refused", 1.0, str(error)
        except Exception as error:
            item.outcome, item.share = "refused", 1.0
            if refusal := resource_refusal(error):
                item.error = f"{item.photo.name}: {refusal}"
            else:
                _LOG.exception("an error that should not happen, in a batch")
                item.error = f"{item.photo.name} failed in the server; its log says why"

    def _counted(self, result: Result) -> Result:
        """A result that the session has room for; one that it has not is removed."""
        try:
            self.session.usage.add(self.folder, result.path.stat().st_size)
        except BaseException:
            result.path.unlink(missing_ok=True)
            raise
        return result


def archive(batch: Batch) -> Iterator[bytes]:
    """All results as a ZIP, piece by piece; photos are compressed already, so they are only stored."""
    sink = _Sink()
    taken: set[str] = set()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as file:
        for number, item in enumerate(batch.items, start=1):
            if item.result is None:
                continue
            name = item.result.name if item.result.name not in taken else f"{number}-{item.result.name}"
            taken.add(name)
            with file.open(name, "w") as entry, item.result.path.open("rb") as source:
                while piece := source.read(2**20):
                    entry.write(piece)
                    yield sink.taken()
    yield sink.taken()


class _Sink:
    """A file that only goes forward and hands out what was written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
