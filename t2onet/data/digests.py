"""Which photo it is, whatever its name."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..image import open_regular


def digest(path: Path) -> str:
    """Of the bytes of a file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
