"""Writing a folder whole or not at all. Knows nothing of what it holds."""

from __future__ import annotations

import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import OutputError
from ..image.locks import lock

_LOCK = ".lock"


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """A hidden neighbour that becomes `folder` at the end, or vanishes.

    One that a killed process left behind vanishes when the same folder is next written.
    """
    begins = f".t2o-{zlib.crc32(folder.name.encode('utf-8', 'surrogateescape')):08x}-"
    place = folder.with_name(f"{begins}{secrets.token_hex(8)}.tmp")
    try:
        _sweep(folder.parent, begins)
        place.mkdir()
        with (place / _LOCK).open("xb") as writing:
            lock(writing)
            yield place
        (place / _LOCK).unlink()
        place.rename(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written ({error.strerror}); choose another folder") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _sweep(parent: Path, begins: str) -> None:
    """Remove what nobody is writing any more."""
    for lock_file in parent.glob(f"{begins}*.tmp/{_LOCK}"):
        with lock_file.open("rb") as left:
            if lock(left):
                shutil.rmtree(lock_file.parent, ignore_errors=True)
