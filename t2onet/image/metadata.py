"""What a file says besides its pixels: gathered once, made true for an upright photo.

Reads what Pillow's plugins expose and the raw bytes. Never fails a photo: damaged metadata is left out and
said.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from PIL import ImageFile, JpegImagePlugin

from t2onet.image import exif, ifd, xmp
from t2onet.image.model import JpegCoding

_ISO_GAIN_MAP = b"urn:iso:std:iso:ts:21496"
_EXTENDED_XMP = b"http://ns.adobe.com/xmp/extension/\0"
_PHOTOSHOP = b"Photoshop 3.0\0"
_RAW_PROFILES = ("Raw profile type exif", "Raw profile type APP1", "Raw profile type xmp")

GAIN_MAP = "the HDR gain map cannot be kept: the photo will look the same on every screen"
MOTION = "the film of this motion photo cannot be kept: the result is a still photo"
DAMAGED_EXIF = "the EXIF data is damaged and was left out"


class Exif(NamedTuple):
    """An EXIF block for an upright photo, the orientation it had (1..8), and what was lost."""

    block: bytes | None = None
    orientation: int = 1
    notes: tuple[str, ...] = ()


def read_exif(block: bytes | None) -> Exif:
    """The block as found in a file, with or without its prefix."""
    if not block or not exif.bare(block):
        return Exif()
    block = exif.bare(block)
    try:
        return Exif(exif.upright(block), exif.orientation(block))
    except ifd.MalformedError:
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
            return bytes.fromhex("".join(hidden.split("\n")[3:]))
        except ValueError:
            return None
    return found if isinstance(found, bytes) else None


def read_xmp(file: ImageFile.ImageFile) -> bytes | None:
    """The XMP packet of a loaded file, for an upright photo without gain map."""
    packet = file.info.get("xmp")
    packet = packet.encode() if isinstance(packet, str) else packet
    return xmp.alone(xmp.upright(packet)) if isinstance(packet, bytes) and packet else None


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


def avif_bits(data: bytes) -> int:
    """The depth an AVIF declares for its samples; 8 where it does not say."""
    at = data.find(b"pixi")
    return data[at + 9] if 0 <= at < len(data) - 9 else 8


def losses(file: ImageFile.ImageFile, data: bytes) -> tuple[str, ...]:
    """The parts of a loaded file that a re-encoded photo will not have, in words."""
    packet = file.info.get("xmp") or b""
    packet = packet.encode() if isinstance(packet, str) else packet
    gain_map = _has_gain_map(file, packet, data)
    extra = _more_frames(file, data)
    if gain_map and file.format == "MPO":
        extra -= 1
    notes = [GAIN_MAP] if gain_map else []
    if xmp.mentions_motion(packet):
        notes.append(MOTION)
    if extra > 0:
        kind = "page" if file.format == "TIFF" else "frame"
        notes.append(
            f"{extra} more {kind}{'s were' if extra > 1 else ' was'} left out: only the first is edited"
        )
    if file.format == "AVIF" and avif_bits(data) > 8:
        notes.append(f"the {avif_bits(data)}-bit photo was read at 8 bits")
    return tuple(notes)


def _has_gain_map(file: ImageFile.ImageFile, packet: bytes, data: bytes) -> bool:
    segments = [segment for _, segment in getattr(file, "applist", [])]
    if any(segment.startswith(_ISO_GAIN_MAP) for segment in segments):
        return True
    # Apple describes the gain map in the second picture's own packet.
    return xmp.mentions_gain_map(data if file.format == "MPO" else packet)


def _more_frames(file: ImageFile.ImageFile, data: bytes) -> int:
    if file.format == "TIFF":
        return _more_pages(data)
    if file.format == "MPO":
        entries = getattr(file, "mpinfo", {}).get(0xB002, [])
        kinds = [str(entry.get("Attribute", {}).get("MPType", "")) for entry in entries[1:]]
        return sum(not kind.startswith("Large Thumbnail") for kind in kinds)
    return int(getattr(file, "n_frames", 1)) - 1


def _more_pages(data: bytes) -> int:
    """Pages after the first that are not just smaller copies of it."""
    pages, seen = 0, set[int]()
    try:
        order = ifd.byte_order(data)
        offset = ifd.number(data, ifd.read_first(data).link, order)
        while offset and offset not in seen:
            seen.add(offset)
            page = ifd.read(data, offset, order)
            pages += not (ifd.integer(page.entries.get(254), order) or 0) & 1
            offset = ifd.number(data, page.link, order)
    except ifd.MalformedError:
        pass
    return pages


def photoshop_of_tiff(data: bytes) -> bytes | None:
    """Photoshop's resources, IPTC among them, in a TIFF file."""
    try:
        entry = ifd.read_first(data).entries.get(34377)
    except ifd.MalformedError:
        return None
    return None if entry is None else entry.value
