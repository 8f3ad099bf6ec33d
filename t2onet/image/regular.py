"""Reading files that somebody named: only regular files, never a pipe that waits or a device without end.

A path that names something else raises an OSError whose `strerror` says what it is, so that whoever reads
files needs no other handling than for a file that cannot be read.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class UnreadableFileError(OSError):
    """What a path names is not read; the text says why, without a number."""

    def __init__(self, reason: str, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, reason, os.fspath(path))

    def __str__(self) -> str:
        return str(self.strerror)


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise an OSError unless `path` names a regular file; for files that a library opens by itself."""
    _check_mode(Path(path).stat().st_mode, path)


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file for reading bytes."""
    check_regular(path)  # before opening: that alone may wait, or set a device going
    file = os.fdopen(os.open(path, _FLAGS), "rb")
    try:
        _check_mode(os.fstat(file.fileno()).st_mode, path)  # it may be another one by now
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """The bytes of a regular file, of at most `limit` bytes if that is given."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if limit is not None and size > limit:
            raise UnreadableFileError(
                f"it has {size} bytes, and at most {limit} ({limit >> 20} MiB) are read", path
            )
        return file.read() if limit is None else file.read(limit)


def _check_mode(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise UnreadableFileError(f"it is {kind}, not a regular file", path)
