"""Whether a file is being written by a living process: its writer holds a lock that ends with it."""

from __future__ import annotations

from typing import IO, Any

try:
    import fcntl
except ImportError:  # a system without such locks, where every file counts as being written
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[Any] | int) -> bool:
    """Lock an open file, or a folder by its handle, until it is closed; False where another process has."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
