"""Writing a file whole or not at all. Knows bytes and paths, not what they hold."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ..errors import OutputError
from .locks import lock

_TEMPORARY = re.compile(r"\.t2o-[0-9a-f]{16}\.tmp")
_LEFTOVER_AGE = 3600.0
"""Seconds after its last change at which a temporary file may be a leftover."""
_REASONS = {
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
        _write(target, data, mode, overwrite)
    except FileExistsError as error:
        raise _exists(path) from error
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be written: {_reason(error)}.") from error


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
        raise _exists(path)
    if not mode & stat.S_IWUSR:
        raise OutputError(f"{path} cannot be written: the file is read-only; give another name.")
    return stat.S_IMODE(mode)


def _exists(path: Path) -> OutputError:
    return OutputError(f"{path} already exists; give another name or ask to overwrite it.")


def _write(target: Path, data: bytes, mode: int | None, overwrite: bool) -> None:
    temporary = target.with_name(f".t2o-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            locked = lock(file)  # until the file has its name, so that nobody takes it for a leftover
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
                _create(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _create(temporary: Path, target: Path) -> None:
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
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_leftover(Path(entry.path))


def _remove_leftover(path: Path) -> None:
    """Remove a temporary file that is old and not locked.

    Locks alone do not tell: earlier releases, other machines on a network drive and a process that has only
    just created its file hold none.
    """
    with suppress(OSError), path.open("rb") as file:
        age = time.time() - os.fstat(file.fileno()).st_mtime
        if age > _LEFTOVER_AGE and lock(file):
            path.unlink()


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        words = error.strerror or type(error).__name__
        return _REASONS.get(error.errno or 0, words[:1].lower() + words[1:])
    return "the name is not valid"
