"""What one session stores and receives, counted as it changes.

The limits are checked for every upload and every result. Walking the session's folder each time would cost
more with every file in it, and would meet folders that are being removed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .errors import too_large, too_many
from .settings import MIB, Settings

MAKE_ROOM = "remove some, or begin another"


@dataclass
class Usage:
    """Bytes by the folder that holds them, and uploads under way. Its lock is held for arithmetic only."""

    settings: Settings
    stored: int = 0
    """Bytes of all folders."""
    uploads: int = 0
    """Under way."""
    _sizes: dict[Path, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Refuse where there is no room for another byte."""
        with self._lock:
            self._check(1)

    def add(self, folder: Path, size: int) -> None:
        """Count `size` more bytes in a folder, or refuse them."""
        with self._lock:
            self._check(size)
            self.stored += size
            self._sizes[folder] = self._sizes.get(folder, 0) + size

    def remove(self, folder: Path) -> None:
        """Forget all bytes of a folder; one that was never counted is no error."""
        with self._lock:
            self.stored -= self._sizes.pop(folder, 0)

    @contextmanager
    def uploading(self, photos: int) -> Iterator[None]:
        """One upload beside the `photos` that were uploaded before; refused where there are too many."""
        most = self.settings
        with self._lock:
            if self.uploads >= most.uploads:
                raise too_many(f"a session takes {most.uploads} uploads at a time; wait until one has ended")
            if photos + self.uploads >= most.photos:
                raise too_many(f"a session holds {most.photos} photos; {MAKE_ROOM}")
            self.uploads += 1
        try:
            yield
        finally:
            with self._lock:
                self.uploads -= 1

    def _check(self, more: int) -> None:
        if self.stored + more > MIB * self.settings.session_mb:
            held_most = f"{self.settings.session_mb} MiB of photos and results"
            raise too_large(f"a session holds {held_most}; {MAKE_ROOM}")
