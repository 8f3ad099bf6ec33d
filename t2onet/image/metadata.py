"""What a file says besides its pixels: gathered once, made true for an upright photo.

Reads what Pillow's plugins expose and the raw bytes. Never fails a photo: damaged metadata is left out and
said.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from PIL import ImageFile, JpegImagePlugin

from ..errors import ImageError
from . import exif, ifd, limits, structure, xmp
from .model import JpegCoding

_EXTENDED_XMP = b"http://ns.adobe.com/xmp/extension/\0"
_PHOTOSHOP = b"Photoshop 3.0\0"
_RAW_PROFILES = ("Raw profile type exif", "Raw profile type APP1", "Raw profile type xmp")

DAMAGED_EXIF = "the EXIF data is damaged and was left out"


class Exif(NamedTuple):
    """An EXIF block for an upright photo, the orientation it had (1..8), and what was lost."""

    block: bytes | None = None
    orientation: int = 1
    notes: tuple[str, ...] = ()


class Xmp(NamedTuple):
    """An XMP packet for an upright photo, and what was lost."""

    packet: bytes | None = None
    notes: tuple[str, ...] = ()


def read_exif(block: bytes | None) -> Exif:
    """The block as found in a file, with or without its prefix."""
    if not block or not exif.bare(block):
        return Exif()
    block = exif.bare(block)
    try:
        structure.check_tiff(block)
        return Exif(exif.upright(block), exif.orientation(block))
    except (ifd.MalformedError, ImageError):
        return Exif(notes=(DAMAGED_EXIF,))


def read_tiff_exif(data: bytes) -> Exif:
    """The descriptive tags of a TIFF file."""
    try:
        return Exif(exif.from_tiff(data), exif.orientation(data))
    except ifd.MalformedError:
        return Exif(notes=(DAMAGED_EXIF,))


def exif_of(file: ImageFile.ImageFile) -> bytes | None:
    """The EXIF block in a loaded file, also where old tools hid it in a PNG's text."""
    found = file.info.get("exif")
    hidden = file.info.get("Raw profile type exif")
    if found is None and isinstance(hidden, str):
        try:
            # A newline, a name, a length, and then the digits in lines.
            return bytes.fromhex(hidden.split("\n", 3)[3])
        except (ValueError, IndexError):
            return None
    return found if isinstance(found, bytes) else None


def read_xmp(packet: Any) -> Xmp:
    """The packet as found in a file, for an upright photo without gain map."""
    packet = packet.encode() if isinstance(packet, str) else packet
    if not isinstance(packet, bytes) or not packet:
        return Xmp()
    if len(packet) > limits.XMP_BYTES:
        return Xmp(notes=(f"the XMP data has more than {limits.XMP_BYTES} bytes and was left out",))
    return Xmp(xmp.alone(xmp.upright(packet)))


def read_dpi(file: ImageFile.ImageFile) -> tuple[float, float] | None:
    """Pixels an inch, across and down, where the file states a sensible number."""
    try:
        across, down = (float(value) for value in file.info["dpi"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    sensible = all(math.isfinite(value) and 1 < value < 65536 for value in (across, down))
    return (across, down) if sensible else None


def read_text(file: ImageFile.ImageFile) -> tuple[tuple[str, str], ...]:
    """The text entries of a PNG."""
    text: dict[str, str] = getattr(file, "text", {}) if file.format == "PNG" else {}
    skipped = (*_RAW_PROFILES, "XML:com.adobe.xmp")
    return tuple((key, str(value)) for key, value in text.items() if key not in skipped)


def jpeg_parts(file: ImageFile.ImageFile) -> dict[str, Any]:
    """What only a JPEG has, as fields of an Origin: coding, comment, Photoshop resources, extended XMP."""
    if not isinstance(file, JpegImagePlugin.JpegImageFile):
        return {}
    resources = b"".join(
        data[len(_PHOTOSHOP) :]
        for name, data in file.applist
        if name == "APP13" and data.startswith(_PHOTOSHOP)
    )
    extended = tuple(data for name, data in file.applist if name == "APP1" and data.startswith(_EXTENDED_XMP))
    return {
        "jpeg": _coding(file),
        "comment": file.info.get("comment"),
        "photoshop": resources or None,
        "segments": extended,
    }


def _coding(file: JpegImagePlugin.JpegImageFile) -> JpegCoding | None:
    if file.layers not in (1, 3):
        return None
    tables = [tuple(file.quantization[layer[3]]) for layer in file.layer if layer[3] in file.quantization]
    if len(tables) != file.layers or not all(0 < step < 65536 for table in tables for step in table):
        return None
    while len(tables) > 1 and tables[-1] == tables[-2]:
        tables.pop()
    # What Pillow cannot write (4:4:0, 4:1:1) becomes 4:4:4, which loses nothing.
    return JpegCoding(
        tuple(tables), max(JpegImagePlugin.get_sampling(file), 0), bool(file.info.get("progressive"))
    )


def webp_is_lossless(data: bytes) -> bool:
    """Whether a WebP's first picture is stored without loss."""
    lossless, lossy = data.find(b"VP8L"), data.find(b"VP8 ")
    return lossless >= 0 and (lossy < 0 or lossless < lossy)


def photoshop_of_tiff(data: bytes) -> bytes | None:
    """Photoshop's resources, IPTC among them, in a TIFF file."""
    try:
        entry = ifd.read_first(data).entries.get(34377)
    except ifd.MalformedError:
        return None
    return None if entry is None else entry.value
