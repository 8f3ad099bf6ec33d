"""Shards: plain zip files of bounded size, listed with their checksums."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

LARGEST = 24_000_000
"""Bytes of a shard."""
_OVERHEAD = 256
"""Bytes that a zip file needs for an entry beside its data, at most, and for its end."""
_SOME_DAY = (1980, 1, 1, 0, 0, 0)
"""Of all entries, so that the same data gives the same bytes."""


class Shards:
    """Takes entries in order and writes a shard whenever the next entry would not fit."""

    def __init__(self, folder: Path, largest: int = LARGEST) -> None:
        self.listed: list[dict[str, Any]] = []
        self._folder = folder
        self._largest = largest
        self._entries: list[tuple[zipfile.ZipInfo, bytes]] = []
        self._size = _OVERHEAD

    def add(self, name: str, data: bytes, *, squeeze: bool = False) -> None:
        """`squeeze` compresses; photos are compressed already."""
        if self._size + len(data) + _OVERHEAD > self._largest:
            self.finish()
        entry = zipfile.ZipInfo(name, _SOME_DAY)
        entry.compress_type = zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED
        self._entries.append((entry, data))
        self._size += len(data) + _OVERHEAD

    def finish(self) -> None:
        """Writes what has come since the last shard."""
        if not self._entries:
            return
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as shard:
            for entry, data in self._entries:
                shard.writestr(entry, data)
        whole = stream.getvalue()
        name = f"shard-{len(self.listed):03}.zip"
        (self._folder / name).write_bytes(whole)
        self.listed.append({"file": name, "bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()})
        self._entries, self._size = [], _OVERHEAD
