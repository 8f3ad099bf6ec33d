"""Reading regular files only, and writing files and folders atomically.

Pipes, sockets and devices are refused with an OSError whose `strerror` says what the path is, so that callers
handle them like a file that cannot be read. Writers go through a hidden temporary neighbour, locked while it
is written, so that leftovers of killed processes can be told from files in use and removed.
"""

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

try:
    import fcntl
except ImportError:  # Windows: without locks, every file counts as being written
    fcntl = None  # type: ignore[assignment]

_FILE_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_TEMPORARY_NAME = re.compile(r"\.t2o-[0-9a-f]{16}\.tmp")
_LEFTOVER_AGE = 3600.0
"""Seconds since its last change after which a temporary file may be a leftover."""
_OS_ERROR_REASONS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your disk quota is used up; free some space",
    errno.EFBIG: "the file would be larger than allowed here",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.EACCES: "this is not permitted; choose another folder",
    errno.EPERM: "this is not permitted; choose another folder",
    errno.ENAMETOOLONG: "the name is too long",
}
_LOCK_FILE = ".lock"


class UnreadableFileError(OSError):
    """A path that is refused; the text is the reason, without an error number."""

    def __init__(self, reason: str, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, reason, os.fspath(path))

    def __str__(self) -> str:
        return str(self.strerror)


def check_regular_file(path: str | os.PathLike[str]) -> None:
    """Raise an OSError unless `path` is a regular file; for files that a library opens itself."""
    _check_file_mode(Path(path).stat().st_mode, path)


def open_regular_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file for reading bytes."""
    check_regular_file(path)  # before opening, which may block or start a device
    file = os.fdopen(os.open(path, _OPEN_FLAGS), "rb")
    try:
        _check_file_mode(os.fstat(file.fileno()).st_mode, path)  # it may have been replaced
    except BaseException:
        file.close()
        raise
    return file


def read_regular_file(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """The bytes of a regular file; a file of more than `limit` bytes is refused."""
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


def try_lock(file: IO[Any] | int) -> bool:
    """Lock an open file or folder handle until it is closed; False if another process holds the lock."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_atomically(path: Path, data: bytes, *, overwrite: bool, private: bool = False) -> None:
    """Write `data` to `path` through a temporary file, so that no reader ever sees a part of it.

    A `private` file can be read by this user alone. Without `overwrite` the file is created exclusively: of
    two processes that write the same name, one gets an OutputError. With it, an existing file keeps its
    permissions and a link keeps its target. A failure leaves both the old file and the folder as they were.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = check_writable(path, overwrite=overwrite)
        remove_leftovers(target.parent)
        _write_through_temporary(target, data, mode, overwrite, 0o600 if private else 0o666)
    except FileExistsError as error:
        raise _already_exists_error(path) from error
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be written: {_explain_write_error(error)}.") from error


def check_writable(path: Path, *, overwrite: bool) -> int | None:
    """Raise an OutputError if `path` cannot be written; return the mode of the file to replace, if any."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}; create it first.")
    # Permission bits are respected even if the system would not (root may write anywhere).
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


def open_new_file(path: Path, mode: int) -> IO[bytes]:
    """Create a file for writing, with these permissions at most."""
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def _write_through_temporary(
    target: Path, data: bytes, mode: int | None, overwrite: bool, new_mode: int
) -> None:
    temporary = target.with_name(f".t2o-{secrets.token_hex(8)}.tmp")
    try:
        with open_new_file(temporary, new_mode) as file:
            locked = try_lock(file)  # until it is renamed, so that it is not taken for a leftover
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if not locked:  # Windows, which only moves closed files
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
    """Rename a complete file; FileExistsError if the name is taken."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links (FAT, some network drives): take the name first
        target.open("xb").close()
        try:
            temporary.replace(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


@lru_cache(maxsize=256)
def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes from a folder; once per process."""
    with suppress(OSError), os.scandir(folder) as entries:  # the folder may be writable but not readable
        for entry in entries:
            if _TEMPORARY_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_leftover(Path(entry.path))


def _remove_leftover(path: Path) -> None:
    """Remove a temporary file that is old and not locked.

    The lock alone does not decide: earlier releases, other machines on a network drive and a process that has
    only just created its file hold none.
    """
    with suppress(OSError), path.open("rb") as file:
        age = time.time() - os.fstat(file.fileno()).st_mtime
        if age > _LEFTOVER_AGE and try_lock(file):
            path.unlink()


def _explain_write_error(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return _OS_ERROR_REASONS.get(error.errno or 0, reason[:1].lower() + reason[1:])
    return "the name is not valid"


@contextmanager
def write_folder_atomically(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `folder` at the end, or removed on failure.

    Leftovers of killed processes are removed when the same folder is written next.
    """
    prefix = f".t2o-{zlib.crc32(folder.name.encode('utf-8', 'surrogateescape')):08x}-"
    temporary = folder.with_name(f"{prefix}{secrets.token_hex(8)}.tmp")
    try:
        _remove_stale_folders(folder.parent, prefix)
        temporary.mkdir()
        with (temporary / _LOCK_FILE).open("xb") as lock:
            try_lock(lock)
            yield temporary
        (temporary / _LOCK_FILE).unlink()
        temporary.rename(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written ({error.strerror}); choose another folder") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _remove_stale_folders(parent: Path, prefix: str) -> None:
    """Remove temporary folders with that prefix that no process is writing."""
    for lock_file in parent.glob(f"{prefix}*.tmp/{_LOCK_FILE}"):
        with lock_file.open("rb") as lock:
            if try_lock(lock):
                shutil.rmtree(lock_file.parent, ignore_errors=True)
