"""What travels along with a photo into a given format, and what that format has no place for, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import PIL.Image
from numpy.typing import NDArray

from . import colour, exif, ifd
from .formats import Format
from .metadata import DAMAGED_EXIF
from .model import Image, Origin

SEGMENT = 65533
"""The most bytes that one segment of a JPEG holds."""


def fitting(image: Image, format: Format, samples: NDArray[Any], notes: list[str]) -> Origin:
    """What travels along into this format."""
    origin = image.origin
    if colour.space(origin.icc) == "GRAY" and samples.ndim == 3 and samples.shape[2] > 2:
        notes.append("the gray profile was left out: the photo is written in colour")
        origin = replace(origin, icc=None)
    if origin.exif:
        origin = replace(origin, exif=_sized(origin.exif, image, notes))
    if origin.exif and format.name == "AVIF":
        origin = replace(origin, exif=_parsed(origin.exif, notes))
    if format.name == "JPEG":
        return _within_segments(origin, notes)
    return _without_strangers(origin, format, notes)


def _sized(block: bytes, image: Image, notes: list[str]) -> bytes | None:
    try:
        return exif.sized(block, image.width, image.height)
    except ifd.MalformedError:
        notes.append(DAMAGED_EXIF)
        return None


def _parsed(block: bytes, notes: list[str]) -> bytes | None:
    """The block if Pillow can read it, which writes it anew into an AVIF."""
    try:
        parsed = PIL.Image.Exif()
        parsed.load(block)
        if parsed.get(exif.ORIENTATION, 1) == 1 and parsed.tobytes():
            return block
    except Exception:  # Pillow raises anything on bad bytes
        pass
    notes.append(DAMAGED_EXIF)
    return None


def _within_segments(origin: Origin, notes: list[str]) -> Origin:
    """A JPEG holds at most 64 KB of each kind of metadata."""
    return replace(
        origin,
        exif=_short(origin.exif, "EXIF data", 6, notes),
        xmp=_short(origin.xmp, "XMP data", 29, notes),
        comment=_short(origin.comment, "comment", 0, notes),
        text=_said(origin.text, "text entries", "JPEG", notes, ()),
    )


def _short(part: bytes | None, words: str, overhead: int, notes: list[str]) -> bytes | None:
    if part is None or len(part) + overhead <= SEGMENT:
        return part
    notes.append(f"the {words} was left out: it is larger than the 64 KB a JPEG holds")
    return None


def _without_strangers(origin: Origin, format: Format, notes: list[str]) -> Origin:
    if format.name != "TIFF":
        origin = replace(
            origin, photoshop=_said(origin.photoshop, "IPTC and Photoshop records", format.name, notes, None)
        )
    if format.name != "PNG":
        origin = replace(origin, text=_said(origin.text, "text entries", format.name, notes, ()))
    return replace(origin, comment=_said(origin.comment, "comment", format.name, notes, None))


def _said(value: Any, words: str, name: str, notes: list[str], nothing: Any) -> Any:
    if value:
        notes.append(f"the {words} cannot be kept in {name}")
    return nothing
