"""Whether a file is being written by a living process: its writer holds a lock that ends with it."""

from __future__ import annotations

from typing import IO, Any

try:
    import fcntl
except ImportError:  # a system without such locks, where every file counts as being written
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[Any]) -> bool:
    """Lock the open file for as long as it is open; False where another process holds the lock."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
