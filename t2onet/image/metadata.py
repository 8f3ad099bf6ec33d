"""Metadata of a file (EXIF, XMP, IPTC, DPI, text), kept true for an upright photo, and what gets lost.

An EXIF block is a bare TIFF structure. It is patched in place by hand: maker notes hold offsets that only
their maker understands, so nothing in a block may move, and every library would rewrite it. Only the metadata
of a TIFF file, which is scattered over the file, is collected into a new block. XMP is patched by pattern, so
that everything else stays as it was written; every pattern takes linear time, whatever the packet holds.

Damaged metadata never fails a photo: it is left out, with a note.
"""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect_left
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from PIL import ImageFile, JpegImagePlugin

from ..errors import ImageError
from . import formats, tiff
from .formats import MAX_PAGES
from .photo import Image, JpegCoding
from .tiff import Tag

_EXTENDED_XMP_PREFIX = b"http://ns.adobe.com/xmp/extension/\0"
_EXTENDED_XMP_HEADER = len(_EXTENDED_XMP_PREFIX) + 40
"""The prefix, a checksum, and the length and place of the part."""
PHOTOSHOP_PREFIX = b"Photoshop 3.0\0"
_RAW_PROFILE_KEYS = ("Raw profile type exif", "Raw profile type APP1", "Raw profile type xmp")
DAMAGED_EXIF_NOTE = "the EXIF data is damaged and was left out"
GAIN_MAP_NOTE = "the HDR gain map cannot be kept: the photo will look the same on every screen"
_MOTION_NOTE = "the film of this motion photo cannot be kept: the result is a still photo"
_COLOUR_SPACE_NOTE = (
    "the photo has a colour space without a profile, which cannot be kept: its colours may look different"
)
_BIG_TIFF_NOTE = "the metadata of a BigTIFF cannot be kept"
_ISO_GAIN_MAP_PREFIX = b"urn:iso:std:iso:ts:21496"

# Baseline tags that describe the photo; all others below 32768 describe how its pixels are stored.
_DESCRIPTIVE_TAGS = {
    *(Tag.DOCUMENT_NAME, Tag.DESCRIPTION, Tag.MAKE, Tag.MODEL, Tag.PAGE_NAME, Tag.SOFTWARE, Tag.DATE_TIME),
    *(Tag.ARTIST, Tag.HOST_COMPUTER, Tag.RATING, Tag.RATING_PERCENT),
}
# Private tags that describe storage, or that are kept separately.
_STORAGE_TAGS = {
    *(Tag.CFA_REPEAT, Tag.CFA_PATTERN, Tag.IMAGE_SOURCE_DATA, Tag.PHOTOSHOP, Tag.ICC_PROFILE),
    *(Tag.EXIF, Tag.GPS, Tag.INTEROPERABILITY),
}
_DNG_TAGS = range(50706, 52600)

_XMP_ORIENTATION = re.compile(rb"(tiff:Orientation(?:\s*+=\s*+[\"']|\s*+>\s*+))[2-8]")
_XMP_SIZES = {
    "width": re.compile(rb"((?:tiff:ImageWidth|exif:PixelXDimension)(?:\s*+=\s*+[\"']|\s*+>\s*+))\d++"),
    "height": re.compile(rb"((?:tiff:ImageLength|exif:PixelYDimension)(?:\s*+=\s*+[\"']|\s*+>\s*+))\d++"),
}
_GAIN_MAP_WORDS = (b"hdrgm:", b"HDRGainMap")
_MOTION_WORDS = (b"MotionPhoto", b"MicroVideo")

# References to pictures or films that a re-encoded photo does not have. Namespace declarations stay.
_STALE_ATTRIBUTE = rb"(?:hdrgm|HDRGainMap|G?Camera:MotionPhoto|G?Camera:MicroVideo)[\w:]*+"
_STALE_ELEMENT = rb"(?:" + _STALE_ATTRIBUTE + rb"|G?Container:Directory(?![\w:]))"
# Places of faces and other subjects: of the Metadata Working Group, Microsoft, IPTC and ACDSee.
_REGION_ELEMENT = rb"(?:mwg-rs:Regions|MP:RegionInfo|Iptc4xmpExt:ImageRegion|acdsee-rs:Regions)(?![\w:])"
_REGION_PATTERN = re.compile(_REGION_ELEMENT)
_REGIONS_NOTE = "the marked faces and regions were left out: the recipe crops or turns the photo"
_STALE_ATTRIBUTE_PATTERN = re.compile(rb"\s" + _STALE_ATTRIBUTE + rb"\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+')")


class Exif(NamedTuple):
    """An EXIF block for an upright photo, the orientation it had (1..8), and notes on what was lost."""

    block: bytes | None = None
    orientation: int = 1
    notes: tuple[str, ...] = ()


class Xmp(NamedTuple):
    """An XMP packet for an upright photo, and notes on what was lost."""

    packet: bytes | None = None
    notes: tuple[str, ...] = ()


def read_exif(block: bytes | None) -> Exif:
    """Check an EXIF block from a file, with or without its prefix, and mark it as upright."""
    if not block or not strip_exif_prefix(block):
        return Exif()
    block = strip_exif_prefix(block)
    try:
        tiff.check_tiff_structure(block)
        return Exif(reset_exif_orientation(block), read_orientation(block))
    except (tiff.MalformedError, ImageError):
        return Exif(notes=(DAMAGED_EXIF_NOTE,))


def read_tiff_exif(data: bytes) -> Exif:
    """Extract the descriptive tags of a TIFF file as an EXIF block."""
    try:
        return Exif(extract_exif_from_tiff(data), read_orientation(data))
    except tiff.MalformedError:
        return Exif(notes=(DAMAGED_EXIF_NOTE,))


def find_exif_block(file: ImageFile.ImageFile) -> bytes | None:
    """The EXIF block of a loaded file; old tools put it into the text of a PNG, as hexadecimal digits."""
    block = file.info.get("exif")
    text = file.info.get("Raw profile type exif")
    if block is None and isinstance(text, str):
        try:
            # A newline, a name and a length precede the digits.
            return bytes.fromhex(text.split("\n", 3)[3])
        except (ValueError, IndexError):
            return None
    return block if isinstance(block, bytes) else None


def strip_exif_prefix(block: bytes) -> bytes:
    """The block without its prefix, which some programs write twice."""
    return block.removeprefix(tiff.EXIF_PREFIX).removeprefix(tiff.EXIF_PREFIX)


def read_orientation(block: bytes) -> int:
    """The EXIF orientation, 1..8; 1 is upright."""
    entry = tiff.read_first_directory(block).entries.get(Tag.ORIENTATION)
    value = tiff.read_integer(entry, tiff.read_byte_order(block))
    return value if value is not None and 1 <= value <= 8 else 1


def read_capture_time(block: bytes | None) -> float | None:
    """When a photo was taken, in seconds by the clock of its camera; None where its EXIF does not say."""
    if block is None:
        return None
    try:
        order = tiff.read_byte_order(block)
        first = tiff.read_first_directory(block).entries
        entry = _read_linked_directory(block, first.get(Tag.EXIF), order).get(Tag.DATE_TIME_ORIGINAL)
        text = b"" if entry is None else entry.value.split(b"\0")[0]
        taken = datetime.strptime(text.decode("ascii"), "%Y:%m:%d %H:%M:%S")
    except ValueError:  # also what tiff.MalformedError is
        return None
    return taken.replace(tzinfo=UTC).timestamp()


def reset_exif_orientation(block: bytes) -> bytes:
    """The block of the upright photo; the thumbnail of the old picture is unlinked."""
    patched = bytearray(block)
    order = tiff.read_byte_order(block)
    if tiff.read_number(block, 2, order, "H") != 42:
        raise tiff.MalformedError("no TIFF header")
    directory = tiff.read_first_directory(block)
    _overwrite_integer(patched, directory.entries.get(Tag.ORIENTATION), 1, order)
    if directory.link + 4 <= len(patched):
        struct.pack_into(order + "L", patched, directory.link, 0)
    return bytes(patched)


def reset_tiff_orientation(block: bytes) -> bytes:
    """A TIFF file marked as upright, its other pages untouched."""
    patched = bytearray(block)
    entry = tiff.read_first_directory(block).entries.get(Tag.ORIENTATION)
    _overwrite_integer(patched, entry, 1, tiff.read_byte_order(block))
    return bytes(patched)


def update_exif_size(block: bytes, width: int, height: int) -> bytes:
    """The block with the pixel sizes it states, if any, replaced."""
    patched = bytearray(block)
    order = tiff.read_byte_order(block)
    root = tiff.read_first_directory(block).entries
    details = _read_linked_directory(block, root.get(Tag.EXIF), order)
    for entries, across, down in (
        (root, Tag.WIDTH, Tag.HEIGHT),
        (details, Tag.PIXEL_WIDTH, Tag.PIXEL_HEIGHT),
    ):
        _overwrite_integer(patched, entries.get(across), width, order)
        _overwrite_integer(patched, entries.get(down), height, order)
    return bytes(patched)


def extract_exif_from_tiff(data: bytes, *, maker_note: bool = True) -> bytes | None:
    """Collect the descriptive tags of a TIFF file, or of a RAW file built like one, in a block."""
    order = tiff.read_byte_order(data)
    root = tiff.read_first_directory(data).entries
    block = bytearray(data[:2] + struct.pack(order + "HL", 42, 0))
    kept = [entry for entry in root.values() if _is_descriptive(entry.tag)]
    details = _read_linked_directory(data, root.get(Tag.EXIF), order)
    interop = _read_linked_directory(data, details.pop(Tag.INTEROPERABILITY, None), order)
    if not maker_note:
        details.pop(Tag.MAKER_NOTE, None)
    gps = _read_linked_directory(data, root.get(Tag.GPS), order)
    kept += _append_linked_directory(block, Tag.GPS, list(gps.values()), order)
    inner = _append_linked_directory(block, Tag.INTEROPERABILITY, list(interop.values()), order)
    kept += _append_linked_directory(block, Tag.EXIF, [*details.values(), *inner], order)
    if not kept:
        return None
    struct.pack_into(order + "L", block, 4, _append_directory(block, kept, order))
    return bytes(block)


def list_descriptive_entries(block: bytes) -> list[tiff.TiffEntry]:
    """The entries that a TIFF file can take over if it begins with this block."""
    entries = tiff.read_first_directory(block).entries.values()
    return [entry for entry in entries if _is_descriptive(entry.tag) or entry.tag in (Tag.EXIF, Tag.GPS)]


def _is_descriptive(tag: int) -> bool:
    return tag in _DESCRIPTIVE_TAGS or (tag >= 32768 and tag not in _STORAGE_TAGS and tag not in _DNG_TAGS)


def _read_linked_directory(
    block: bytes, pointer: tiff.TiffEntry | None, order: str
) -> dict[int, tiff.TiffEntry]:
    offset = tiff.read_integer(pointer, order)
    if offset is None:
        return {}
    try:
        return dict(tiff.read_directory(block, offset, order).entries)
    except tiff.MalformedError:
        return {}


def _append_linked_directory(
    block: bytearray, tag: int, entries: list[tiff.TiffEntry], order: str
) -> list[tiff.TiffEntry]:
    """Append a directory, unless it is empty; return the entry that points to it."""
    if not entries:
        return []
    return [tiff.make_integer_entry(tag, tiff.LONG, [_append_directory(block, entries, order)], order)]


def _append_directory(block: bytearray, entries: list[tiff.TiffEntry], order: str) -> int:
    block += b"\0" * (len(block) % 2)
    start = len(block)
    block += tiff.pack_directory(entries, start, order)
    return start


def _overwrite_integer(block: bytearray, entry: tiff.TiffEntry | None, value: int, order: str) -> None:
    if entry is None or entry.length != 1 or entry.type not in (tiff.SHORT, tiff.LONG):
        return
    if entry.type == tiff.LONG:
        struct.pack_into(order + "L", block, entry.position, value)
    elif value < 65536:
        struct.pack_into(order + "H", block, entry.position, value)


def read_xmp(packet: Any) -> Xmp:
    """Check an XMP packet from a file, mark it as upright and remove stale references."""
    packet = packet.encode() if isinstance(packet, str) else packet
    if not isinstance(packet, bytes) or not packet:
        return Xmp()
    if len(packet) > formats.MAX_XMP_BYTES:
        return Xmp(notes=(f"the XMP data has more than {formats.MAX_XMP_BYTES} bytes and was left out",))
    return Xmp(remove_stale_references(reset_xmp_orientation(packet)))


def reset_xmp_orientation(packet: bytes) -> bytes:
    """The packet of the upright photo."""
    return _XMP_ORIENTATION.sub(rb"\g<1>1", packet)


def update_xmp_size(packet: bytes, width: int, height: int) -> bytes:
    """The packet with the pixel sizes it states, if any, replaced."""
    packet = _XMP_SIZES["width"].sub(rb"\g<1>%d" % width, packet)
    return _XMP_SIZES["height"].sub(rb"\g<1>%d" % height, packet)


def mentions_gain_map(text: bytes) -> bool:
    """Whether the text mentions an HDR gain map."""
    return any(word in text for word in _GAIN_MAP_WORDS)


def mentions_motion(text: bytes) -> bool:
    """Whether the text mentions the film of a motion photo."""
    return any(word in text for word in _MOTION_WORDS)


def remove_stale_references(packet: bytes) -> bytes:
    """The packet without references to gain maps and films, which a re-encoded photo does not have."""
    if not (mentions_gain_map(packet) or mentions_motion(packet)):
        return packet
    return _STALE_ATTRIBUTE_PATTERN.sub(b"", _remove_elements(packet, _STALE_ELEMENT))


def remove_regions(image: Image) -> Image:
    """The image without marked regions (faces, say) in its metadata, for a photo whose frame has changed."""
    origin, notes = image.origin, image.notes
    packet = origin.xmp and _remove_elements(origin.xmp, _REGION_ELEMENT)
    # A packet of more than 64 KB goes on in segments, which cannot be changed without their checksum.
    extended = b"".join(part[_EXTENDED_XMP_HEADER:] for part in origin.segments)
    segments = () if _REGION_PATTERN.search(extended) else origin.segments
    if packet == origin.xmp and segments == origin.segments:
        return image
    return replace(
        image, origin=replace(origin, xmp=packet, segments=segments), notes=(*notes, _REGIONS_NOTE)
    )


def _remove_elements(packet: bytes, name: bytes) -> bytes:
    """Remove elements from their opening tag to the next closing one; unclosed elements stay."""
    ends: defaultdict[bytes, list[int]] = defaultdict(list)
    for tag in re.finditer(rb"</(" + name + rb")>", packet):
        ends[tag[1]].append(tag.end())
    kept, at = [], 0
    for tag in re.finditer(rb"<(" + name + rb")[^<>]*+>", packet):
        if tag.start() < at:
            continue
        end = tag.end()
        if not tag[0].endswith(b"/>"):
            closings = ends[tag[1]]
            index = bisect_left(closings, end)
            if index == len(closings):
                continue
            end = closings[index]
        kept.append(packet[at : tag.start()])
        at = end
    return b"".join([*kept, packet[at:]])


def read_dpi(file: ImageFile.ImageFile) -> tuple[float, float] | None:
    """Pixels per inch, horizontal and vertical, if the file states sensible numbers."""
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
    """Fields of Origin that only a JPEG has: coding, comment, Photoshop resources, extended XMP."""
    if not isinstance(file, JpegImagePlugin.JpegImageFile):
        return {}
    resources = b"".join(
        data[len(PHOTOSHOP_PREFIX) :]
        for name, data in file.applist
        if name == "APP13" and data.startswith(PHOTOSHOP_PREFIX)
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
    # Pillow cannot write 4:4:0 and 4:1:1; 4:4:4 loses nothing.
    return JpegCoding(
        tuple(tables), max(JpegImagePlugin.get_sampling(file), 0), bool(file.info.get("progressive"))
    )


def is_lossless_webp(data: bytes) -> bool:
    """Whether the first picture of a WebP is lossless."""
    lossless, lossy = data.find(b"VP8L"), data.find(b"VP8 ")
    return lossless >= 0 and (lossy < 0 or lossless < lossy)


def read_tiff_photoshop(data: bytes) -> bytes | None:
    """Photoshop's resources in a TIFF file; they include IPTC."""
    try:
        entry = tiff.read_first_directory(data).entries.get(Tag.PHOTOSHOP)
    except tiff.MalformedError:
        return None
    return None if entry is None else entry.value


def describe_file_losses(file: ImageFile.ImageFile, data: bytes) -> tuple[str, ...]:
    """Notes on what an edited copy loses of a file that Pillow loaded from `data`."""
    packet = file.info.get("xmp") or b""
    packet = packet.encode() if isinstance(packet, str) else packet
    gain_map = _has_gain_map(file, packet, data)
    extra = _count_further_frames(file, data) - (gain_map and file.format == "MPO")
    bits = _read_avif_bits(data) if file.format == "AVIF" else 8
    notes = [
        (gain_map, GAIN_MAP_NOTE),
        (mentions_motion(packet), _MOTION_NOTE),
        (extra > 0, describe_left_out_pictures(extra, "page" if file.format == "TIFF" else "frame")),
        (bits > 8, f"the {bits}-bit photo was read at 8 bits"),
        (file.format == "TIFF" and tiff.is_big_tiff(data), _BIG_TIFF_NOTE),
    ]
    losses = tuple(note for lost, note in notes if lost)
    return losses if file.info.get("icc_profile") else losses + describe_colour_space_loss(data)


def describe_left_out_pictures(count: int, kind: str) -> str:
    """A note that `count` further pictures were left out; counting stops at MAX_PAGES."""
    shown = f"more than {MAX_PAGES}" if count > MAX_PAGES else f"{count} more"
    return f"{shown} {kind}{'s were' if count > 1 else ' was'} left out: only the first is edited"


def describe_colour_space_loss(data: bytes) -> tuple[str, ...]:
    """A note if a photo without ICC profile declares, by code, neither sRGB nor BT.709."""
    coded = b""
    if formats.is_iso_media(data):
        coded = data.partition(b"colrnclx")[2][1:4:2]
    elif formats.is_png(data):
        coded = data.partition(b"IDAT")[0].partition(b"cICP")[2][:2]
    known = len(coded) < 2 or (coded[0] in (1, 2) and coded[1] in (1, 2, 6, 13))
    return () if known else (_COLOUR_SPACE_NOTE,)


def declares_gain_map(data: bytes) -> bool:
    """Whether a HEIC or AVIF lists a tone-mapped picture ("tmap") among its brands."""
    return formats.is_iso_media(data) and b"tmap" in data[8 : min(256, int.from_bytes(data[:4], "big"))]


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
        return formats.count_gif_frames(data) - 1
    return int(getattr(file, "n_frames", 1)) - 1


def _count_further_pages(data: bytes) -> int:
    """Pages after the first that are not smaller copies of it, counted up to MAX_PAGES + 1."""
    pages, seen = 0, set[int]()
    try:
        order = tiff.read_byte_order(data)
        offset = tiff.read_number(data, 4, order)
        while offset and offset not in seen and pages <= MAX_PAGES and len(seen) < 2 * MAX_PAGES:
            pages += bool(seen) and not _is_smaller_copy(data, offset, order)
            seen.add(offset)
            offset = tiff.read_number(data, tiff.find_link_position(data, offset, order), order)
    except tiff.MalformedError:
        pass
    return pages


def _is_smaller_copy(data: bytes, page: int, order: str) -> bool:
    """Whether a page is a reduced copy; its first entry says so: entries are sorted, and no tag is lower."""
    if tiff.read_number(data, page + 2, order, "H") != Tag.SUBFILE_TYPE:
        return False
    kind = tiff.read_number(data, page + 4, order, "H")
    return bool(tiff.read_number(data, page + 10, order, "H" if kind == tiff.SHORT else "L") & 1)


def _read_avif_bits(data: bytes) -> int:
    """The bits per sample an AVIF declares; 8 if it does not."""
    at = data.find(b"pixi")
    return data[at + 9] if 0 <= at < len(data) - 9 else 8
