"""Files and folders: read only regular files, write whole or not at all, lock while writing."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from ..errors import OutputError

# Reading files that somebody named: only regular files, never a pipe that waits or a device without end.
#
# A path that names something else raises an OSError whose `strerror` says what it is, so that whoever reads
# files needs no other handling than for a file that cannot be read.

_FILE_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class UnreadableFileError(OSError):
    """What a path names is not read; the text says why, without a number."""

    def __init__(self, reason: str, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, reason, os.fspath(path))

    def __str__(self) -> str:
        return str(self.strerror)


def check_regular_file(path: str | os.PathLike[str]) -> None:
    """Raise an OSError unless `path` names a regular file; for files that a library opens by itself."""
    _check_file_mode(Path(path).stat().st_mode, path)


def open_regular_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file for reading bytes."""
    check_regular_file(path)  # before opening: that alone may wait, or set a device going
    file = os.fdopen(os.open(path, _OPEN_FLAGS), "rb")
    try:
        _check_file_mode(os.fstat(file.fileno()).st_mode, path)  # it may be another one by now
    except BaseException:
        file.close()
        raise
    return file


def read_regular_file(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """The bytes of a regular file, of at most `limit` bytes if that is given."""
    with open_regular_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if limit is not None and size > limit:
            raise UnreadableFileError(
                f"it has {size} bytes, and at most {limit} ({limit >> 20} MiB) are read", path
            )
        return file.read() if limit is None else file.read(limit)


def _check_file_mode(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        kind = _FILE_KINDS.get(stat.S_IFMT(mode), "something else")
        raise UnreadableFileError(f"it is {kind}, not a regular file", path)


# Whether a file is being written by a living process: its writer holds a lock that ends with it.

try:
    import fcntl
except ImportError:  # a system without such locks, where every file counts as being written
    fcntl = None  # type: ignore[assignment]


def try_lock(file: IO[Any] | int) -> bool:
    """Lock an open file, or a folder by its handle, until it is closed; False where another process has."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# Writing a file whole or not at all. Knows bytes and paths, not what they hold.

_TEMPORARY_NAME = re.compile(r"\.t2o-[0-9a-f]{16}\.tmp")
_LEFTOVER_AGE = 3600.0
"""Seconds after its last change at which a temporary file may be a leftover."""
_OS_ERROR_REASONS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your disk quota is used up; free some space",
    errno.EFBIG: "the file would be larger than allowed here",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.EACCES: "this is not permitted; choose another folder",
    errno.EPERM: "this is not permitted; choose another folder",
    errno.ENAMETOOLONG: "the name is too long",
}


def write_atomically(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write `data` to `path` through a hidden neighbour, so that no reader ever sees a part of it.

    Without `overwrite` the file is created exclusively: of two processes that write the same name, one is
    refused. With it, an existing file keeps its permissions and a link keeps pointing where it does. A
    failure leaves both the old file and the folder as they were.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = check_writable(path, overwrite=overwrite)
        remove_leftovers(target.parent)
        _write_through_temporary(target, data, mode, overwrite)
    except FileExistsError as error:
        raise _already_exists_error(path) from error
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be written: {_explain_write_error(error)}.") from error


def check_writable(path: Path, *, overwrite: bool) -> int | None:
    """Refuse what cannot be written; the permissions of the file to replace, None where there is none yet."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}; create it first.")
    # Permission bits are honoured even where the system would not (root may write anywhere).
    if not target.parent.stat().st_mode & stat.S_IWUSR:
        raise OutputError(f"{path} cannot be written: the folder {path.parent} is read-only; choose another.")
    if not target.exists():
        return None
    mode = target.stat().st_mode
    if stat.S_ISDIR(mode):
        raise OutputError(f"{path} cannot be written: it is a folder; give the name of a file.")
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path} cannot be written: it is not a regular file; give another name.")
    if not overwrite:
        raise _already_exists_error(path)
    if not mode & stat.S_IWUSR:
        raise OutputError(f"{path} cannot be written: the file is read-only; give another name.")
    return stat.S_IMODE(mode)


def _already_exists_error(path: Path) -> OutputError:
    return OutputError(f"{path} already exists; give another name or ask to overwrite it.")


def _write_through_temporary(target: Path, data: bytes, mode: int | None, overwrite: bool) -> None:
    temporary = target.with_name(f".t2o-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            locked = try_lock(file)  # until the file has its name, so that nobody takes it for a leftover
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if not locked:  # Windows has no such locks, and moves closed files only
                file.close()
            if mode is not None:
                temporary.chmod(mode)
            if overwrite:
                temporary.replace(target)
            else:
                _move_exclusively(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _move_exclusively(temporary: Path, target: Path) -> None:
    """Give a complete file its name, unless that name is taken (FileExistsError)."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links here (FAT, some network drives): take the name first, then fill it
        target.open("xb").close()
        try:
            temporary.replace(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


@lru_cache(maxsize=256)
def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left in a folder half-written; once in this process."""
    with suppress(OSError), os.scandir(folder) as entries:  # a folder that may be written, but not read
        for entry in entries:
            if _TEMPORARY_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_leftover(Path(entry.path))


def _remove_leftover(path: Path) -> None:
    """Remove a temporary file that is old and not locked.

    Locks alone do not tell: earlier releases, other machines on a network drive and a process that has only
    just created its file hold none.
    """
    with suppress(OSError), path.open("rb") as file:
        age = time.time() - os.fstat(file.fileno()).st_mtime
        if age > _LEFTOVER_AGE and try_lock(file):
            path.unlink()


def _explain_write_error(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        words = error.strerror or type(error).__name__
        return _OS_ERROR_REASONS.get(error.errno or 0, words[:1].lower() + words[1:])
    return "the name is not valid"


# Writing a folder whole or not at all. Knows nothing of what it holds.

_LOCK_FILE = ".lock"


@contextmanager
def write_folder_atomically(folder: Path) -> Iterator[Path]:
    """A hidden neighbour that becomes `folder` at the end, or vanishes.

    One that a killed process left behind vanishes when the same folder is next written.
    """
    begins = f".t2o-{zlib.crc32(folder.name.encode('utf-8', 'surrogateescape')):08x}-"
    place = folder.with_name(f"{begins}{secrets.token_hex(8)}.tmp")
    try:
        _remove_stale_folders(folder.parent, begins)
        place.mkdir()
        with (place / _LOCK_FILE).open("xb") as writing:
            try_lock(writing)
            yield place
        (place / _LOCK_FILE).unlink()
        place.rename(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written ({error.strerror}); choose another folder") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _remove_stale_folders(parent: Path, begins: str) -> None:
    """Remove what nobody is writing any more."""
    for lock_file in parent.glob(f"{begins}*.tmp/{_LOCK_FILE}"):
        with lock_file.open("rb") as left:
            if try_lock(left):
                shutil.rmtree(lock_file.parent, ignore_errors=True)
