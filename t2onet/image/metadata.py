"""Metadata of a file besides its pixels (EXIF, XMP, IPTC, DPI), and what an edited copy loses."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from typing import Any, NamedTuple

from PIL import ImageFile, JpegImagePlugin

from ..errors import ImageError
from . import exif, structure
from .photo import JpegCoding

# The XMP packet of a photo, as text: made true again after the picture was turned or re-encoded.
#
# Works on the few well-known names by pattern, so that everything else stays as it was written. Every pattern
# takes time in proportion to the packet, whatever is in it.

_XMP_ORIENTATION = re.compile(rb"(tiff:Orientation(?:\s*+=\s*+[\"']|\s*+>\s*+))[2-8]")
_GAIN_MAP_WORDS = (b"hdrgm:", b"HDRGainMap")
_MOTION_WORDS = (b"MotionPhoto", b"MicroVideo")

# Whatever points a viewer at pictures or films that are no longer there. A declaration of a namespace stays.
_STALE_ATTRIBUTE = rb"(?:hdrgm|HDRGainMap|G?Camera:MotionPhoto|G?Camera:MicroVideo)[\w:]*+"
_STALE_ELEMENT = rb"(?:" + _STALE_ATTRIBUTE + rb"|G?Container:Directory(?![\w:]))"
_OPENING_TAG = re.compile(rb"<(" + _STALE_ELEMENT + rb")[^<>]*+>")
_CLOSING_TAG = re.compile(rb"</(" + _STALE_ELEMENT + rb")>")
_STALE_ATTRIBUTE_PATTERN = re.compile(rb"\s" + _STALE_ATTRIBUTE + rb"\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+')")


def reset_xmp_orientation(packet: bytes) -> bytes:
    """The packet of the same photo once it stands upright."""
    return _XMP_ORIENTATION.sub(rb"\g<1>1", packet)


def mentions_gain_map(text: bytes) -> bool:
    """Whether the text speaks of an HDR gain map."""
    return any(word in text for word in _GAIN_MAP_WORDS)


def mentions_motion(text: bytes) -> bool:
    """Whether the text speaks of a film that is part of the photo."""
    return any(word in text for word in _MOTION_WORDS)


def remove_stale_references(packet: bytes) -> bytes:
    """The packet without what points at gain maps and films, which a re-encoded photo does not have."""
    if not (mentions_gain_map(packet) or mentions_motion(packet)):
        return packet
    return _STALE_ATTRIBUTE_PATTERN.sub(b"", _remove_stale_elements(packet))


def _remove_stale_elements(packet: bytes) -> bytes:
    """The packet without the elements that are lost, from their tag to the next that closes them.

    One that is never closed stays.
    """
    ends: defaultdict[bytes, list[int]] = defaultdict(list)
    for tag in _CLOSING_TAG.finditer(packet):
        ends[tag[1]].append(tag.end())
    kept, at = [], 0
    for tag in _OPENING_TAG.finditer(packet):
        if tag.start() < at:
            continue
        end = tag.end()
        if not tag[0].endswith(b"/>"):
            closings = ends[tag[1]]
            found = bisect_left(closings, end)
            if found == len(closings):
                continue
            end = closings[found]
        kept.append(packet[at : tag.start()])
        at = end
    return b"".join([*kept, packet[at:]])


# What a file says besides its pixels: gathered once, made true for an upright photo.
#
# Reads what Pillow's plugins expose and the raw bytes. Never fails a photo: damaged metadata is left out and
# said.

_EXTENDED_XMP_PREFIX = b"http://ns.adobe.com/xmp/extension/\0"
_PHOTOSHOP_PREFIX = b"Photoshop 3.0\0"
_RAW_PROFILE_KEYS = ("Raw profile type exif", "Raw profile type APP1", "Raw profile type xmp")

DAMAGED_EXIF_NOTE = "the EXIF data is damaged and was left out"


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
    if not block or not exif.strip_exif_prefix(block):
        return Exif()
    block = exif.strip_exif_prefix(block)
    try:
        structure.check_tiff_structure(block)
        return Exif(exif.reset_exif_orientation(block), exif.read_orientation(block))
    except (exif.MalformedError, ImageError):
        return Exif(notes=(DAMAGED_EXIF_NOTE,))


def read_tiff_exif(data: bytes) -> Exif:
    """The descriptive tags of a TIFF file."""
    try:
        return Exif(exif.extract_exif_from_tiff(data), exif.read_orientation(data))
    except exif.MalformedError:
        return Exif(notes=(DAMAGED_EXIF_NOTE,))


def find_exif_block(file: ImageFile.ImageFile) -> bytes | None:
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
    if len(packet) > structure.MAX_XMP_BYTES:
        return Xmp(notes=(f"the XMP data has more than {structure.MAX_XMP_BYTES} bytes and was left out",))
    return Xmp(remove_stale_references(reset_xmp_orientation(packet)))


def read_dpi(file: ImageFile.ImageFile) -> tuple[float, float] | None:
    """Pixels an inch, across and down, where the file states a sensible number."""
    try:
        across, down = (float(value) for value in file.info["dpi"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    sensible = all(math.isfinite(value) and 1 < value < 65536 for value in (across, down))
    return (across, down) if sensible else None


def read_png_text(file: ImageFile.ImageFile) -> tuple[tuple[str, str], ...]:
    """The text entries of a PNG."""
    text: dict[str, str] = getattr(file, "text", {}) if file.format == "PNG" else {}
    skipped = (*_RAW_PROFILE_KEYS, "XML:com.adobe.xmp")
    return tuple((key, str(value)) for key, value in text.items() if key not in skipped)


def read_jpeg_parts(file: ImageFile.ImageFile) -> dict[str, Any]:
    """What only a JPEG has, as fields of an Origin: coding, comment, Photoshop resources, extended XMP."""
    if not isinstance(file, JpegImagePlugin.JpegImageFile):
        return {}
    resources = b"".join(
        data[len(_PHOTOSHOP_PREFIX) :]
        for name, data in file.applist
        if name == "APP13" and data.startswith(_PHOTOSHOP_PREFIX)
    )
    extended = tuple(
        data for name, data in file.applist if name == "APP1" and data.startswith(_EXTENDED_XMP_PREFIX)
    )
    return {
        "jpeg": _read_jpeg_coding(file),
        "comment": file.info.get("comment"),
        "photoshop": resources or None,
        "segments": extended,
    }


def _read_jpeg_coding(file: JpegImagePlugin.JpegImageFile) -> JpegCoding | None:
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


def is_lossless_webp(data: bytes) -> bool:
    """Whether a WebP's first picture is stored without loss."""
    lossless, lossy = data.find(b"VP8L"), data.find(b"VP8 ")
    return lossless >= 0 and (lossy < 0 or lossless < lossy)


def read_tiff_photoshop(data: bytes) -> bytes | None:
    """Photoshop's resources, IPTC among them, in a TIFF file."""
    try:
        entry = exif.read_first_directory(data).entries.get(34377)
    except exif.MalformedError:
        return None
    return None if entry is None else entry.value


# What an edited photo will not have of its source file, in words: gain maps, films, frames, depth, spaces.
#
# Only looks and says; the pixels and the metadata that are kept are the business of `decoding` and
# `metadata`.

GAIN_MAP_NOTE = "the HDR gain map cannot be kept: the photo will look the same on every screen"
_MOTION_NOTE = "the film of this motion photo cannot be kept: the result is a still photo"
_COLOUR_SPACE_NOTE = (
    "the photo has a colour space without a profile, which cannot be kept: its colours may look different"
)
_BIG_TIFF_NOTE = "the metadata of a BigTIFF cannot be kept"
_SUBFILE_TYPE_TAG = 254
_ISO_GAIN_MAP_PREFIX = b"urn:iso:std:iso:ts:21496"


def describe_file_losses(file: ImageFile.ImageFile, data: bytes) -> tuple[str, ...]:
    """What is lost of a file that Pillow has loaded from `data`."""
    packet = file.info.get("xmp") or b""
    packet = packet.encode() if isinstance(packet, str) else packet
    gain_map = _has_gain_map(file, packet, data)
    extra = _count_further_frames(file, data) - (gain_map and file.format == "MPO")
    notes = [
        (gain_map, GAIN_MAP_NOTE),
        (mentions_motion(packet), _MOTION_NOTE),
        (extra > 0, describe_left_out_pictures(extra, "page" if file.format == "TIFF" else "frame")),
        (
            file.format == "AVIF" and _read_avif_bits(data) > 8,
            f"the {_read_avif_bits(data)}-bit photo was read at 8 bits",
        ),
        (file.format == "TIFF" and 43 in data[2:4], _BIG_TIFF_NOTE),
    ]
    said = tuple(words for lost, words in notes if lost)
    return said if file.info.get("icc_profile") else said + describe_colour_space_loss(data)


def describe_left_out_pictures(count: int, kind: str) -> str:
    """That `count` more pictures were left out; not all are counted where there are very many."""
    shown = f"more than {structure.MAX_PAGES}" if count > structure.MAX_PAGES else f"{count} more"
    return f"{shown} {kind}{'s were' if count > 1 else ' was'} left out: only the first is edited"


def describe_colour_space_loss(data: bytes) -> tuple[str, ...]:
    """Said of a photo without an ICC profile whose colours are coded by number as neither sRGB nor BT.709."""
    coded = b""
    if data[4:8] == b"ftyp":
        coded = data.partition(b"colrnclx")[2][1:4:2]
    elif data.startswith(b"\x89PNG"):
        coded = data.partition(b"IDAT")[0].partition(b"cICP")[2][:2]
    known = len(coded) < 2 or (coded[0] in (1, 2) and coded[1] in (1, 2, 6, 13))
    return () if known else (_COLOUR_SPACE_NOTE,)


def declares_gain_map(data: bytes) -> bool:
    """Whether a HEIC or AVIF names, among its kinds, a picture that is mapped to HDR."""
    return data[4:8] == b"ftyp" and b"tmap" in data[8 : min(256, int.from_bytes(data[:4], "big"))]


def _has_gain_map(file: ImageFile.ImageFile, packet: bytes, data: bytes) -> bool:
    segments = [segment for _, segment in getattr(file, "applist", [])]
    if any(segment.startswith(_ISO_GAIN_MAP_PREFIX) for segment in segments) or declares_gain_map(data):
        return True
    # Apple describes the gain map in the second picture's own packet.
    return mentions_gain_map(data if file.format == "MPO" else packet)


def _count_further_frames(file: ImageFile.ImageFile, data: bytes) -> int:
    if file.format == "TIFF":
        return _count_further_pages(data)
    if file.format == "MPO":
        entries = getattr(file, "mpinfo", {}).get(0xB002, [])
        kinds = [str(entry.get("Attribute", {}).get("MPType", "")) for entry in entries[1:]]
        return sum(not kind.startswith("Large Thumbnail") for kind in kinds)
    if file.format == "GIF":
        return structure.count_gif_frames(data) - 1
    return int(getattr(file, "n_frames", 1)) - 1


def _count_further_pages(data: bytes) -> int:
    """Pages after the first that are not just smaller copies of it, up to one more than `limits.PAGES`."""
    pages, seen = 0, set[int]()
    try:
        order = exif.read_byte_order(data)
        offset = exif.read_number(data, 4, order)
        while (
            offset
            and offset not in seen
            and pages <= structure.MAX_PAGES
            and len(seen) < 2 * structure.MAX_PAGES
        ):
            pages += bool(seen) and not _is_smaller_copy(data, offset, order)
            seen.add(offset)
            offset = exif.read_number(data, exif.find_link_position(data, offset, order), order)
    except exif.MalformedError:
        pass
    return pages


def _is_smaller_copy(data: bytes, page: int, order: str) -> bool:
    """Whether a page says so in its first entry: entries are sorted, and no other tag of a page is lower."""
    if exif.read_number(data, page + 2, order, "H") != _SUBFILE_TYPE_TAG:
        return False
    kind = exif.read_number(data, page + 4, order, "H")
    return bool(exif.read_number(data, page + 10, order, "H" if kind == exif.SHORT else "L") & 1)


def _read_avif_bits(data: bytes) -> int:
    """The depth an AVIF declares for its samples; 8 where it does not say."""
    at = data.find(b"pixi")
    return data[at + 9] if 0 <= at < len(data) - 9 else 8
