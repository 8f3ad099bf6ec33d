"""The formats by name and suffix: what can be read, what can be written, what each holds. Opens nothing."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from ..errors import OutputError


@dataclass(frozen=True)
class Format:
    """A format that can be written, and its limits: channels, depth, longest side in pixels."""

    name: str
    suffixes: tuple[str, ...]
    alpha: bool = True
    deep: bool = False
    lossy: bool = True
    longest_side: int = 2**31 - 1


_FORMATS = (
    Format("JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), alpha=False, longest_side=65500),
    Format("PNG", (".png",), deep=True, lossy=False),
    Format("TIFF", (".tif", ".tiff"), deep=True, lossy=False),
    Format("WEBP", (".webp",), longest_side=16383),
    Format("AVIF", (".avif",), longest_side=65536),
    Format("HEIC", (".heic", ".heif", ".hif")),
)
_BY_SUFFIX = {suffix: format for format in _FORMATS for suffix in format.suffixes}

WRITABLE: tuple[str, ...] = tuple(_BY_SUFFIX)
# fmt: off
RAW_SUFFIXES: tuple[str, ...] = (
    ".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dcr", ".dng", ".erf", ".fff", ".iiq", ".kdc", ".mef",
    ".mos", ".mrw", ".nef", ".nrw", ".orf", ".pef", ".raf", ".raw", ".rw2", ".rwl", ".sr2", ".srf",
    ".srw", ".x3f",
)
# fmt: on
_OTHERS = {".mpo": ".jpg", ".apng": ".png", ".gif": ".png", ".bmp": ".png"}
READABLE: tuple[str, ...] = (*WRITABLE, *_OTHERS, *RAW_SUFFIXES)


def default_suffix(source_suffix: str) -> str:
    """The suffix a result gets: the source's own where writable; ".tif" keeps the 16 bits of a RAW."""
    suffix = source_suffix.lower()
    if suffix in WRITABLE:
        return source_suffix
    return ".tif" if suffix in RAW_SUFFIXES else _OTHERS.get(suffix, ".png")


def format_to_write(path: Path) -> Format:
    """The format that the path's suffix asks for."""
    suffix = path.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    near = difflib.get_close_matches(suffix, WRITABLE, n=1)
    hint = f"did you mean {path.stem}{near[0]}? Otherwise " if near else ""
    given = f"has the suffix {path.suffix}" if suffix else "has no suffix"
    raise OutputError(
        f"{path} {given}, so the format to write is not known; {hint}use one of {', '.join(WRITABLE)}."
    )
