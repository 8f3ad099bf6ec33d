"""Which photo it is, whatever its name."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(path: Path) -> str:
    """Of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
