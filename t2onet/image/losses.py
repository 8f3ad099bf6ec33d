"""What an edited photo will not have of its source file, in words: gain maps, films, frames, depth, spaces.

Only looks and says; the pixels and the metadata that are kept are the business of `decoding` and `metadata`.
"""

from __future__ import annotations

from PIL import ImageFile

from . import ifd, limits, structure, xmp

GAIN_MAP = "the HDR gain map cannot be kept: the photo will look the same on every screen"
_MOTION = "the film of this motion photo cannot be kept: the result is a still photo"
_SPACE = (
    "the photo has a colour space without a profile, which cannot be kept: its colours may look different"
)
_BIG_TIFF = "the metadata of a BigTIFF cannot be kept"
_SUBFILE_TYPE = 254
_ISO_GAIN_MAP = b"urn:iso:std:iso:ts:21496"


def of_file(file: ImageFile.ImageFile, data: bytes) -> tuple[str, ...]:
    """What is lost of a file that Pillow has loaded from `data`."""
    packet = file.info.get("xmp") or b""
    packet = packet.encode() if isinstance(packet, str) else packet
    gain_map = _has_gain_map(file, packet, data)
    extra = _more_frames(file, data) - (gain_map and file.format == "MPO")
    notes = [
        (gain_map, GAIN_MAP),
        (xmp.mentions_motion(packet), _MOTION),
        (extra > 0, more(extra, "page" if file.format == "TIFF" else "frame")),
        (
            file.format == "AVIF" and _avif_bits(data) > 8,
            f"the {_avif_bits(data)}-bit photo was read at 8 bits",
        ),
        (file.format == "TIFF" and 43 in data[2:4], _BIG_TIFF),
    ]
    said = tuple(words for lost, words in notes if lost)
    return said if file.info.get("icc_profile") else said + of_space(data)


def more(count: int, kind: str) -> str:
    """That `count` more pictures were left out; not all are counted where there are very many."""
    shown = f"more than {limits.PAGES}" if count > limits.PAGES else f"{count} more"
    return f"{shown} {kind}{'s were' if count > 1 else ' was'} left out: only the first is edited"


def of_space(data: bytes) -> tuple[str, ...]:
    """Said of a photo without an ICC profile whose colours are coded by number as neither sRGB nor BT.709."""
    coded = b""
    if data[4:8] == b"ftyp":
        coded = data.partition(b"colrnclx")[2][1:4:2]
    elif data.startswith(b"\x89PNG"):
        coded = data.partition(b"IDAT")[0].partition(b"cICP")[2][:2]
    known = len(coded) < 2 or (coded[0] in (1, 2) and coded[1] in (1, 2, 6, 13))
    return () if known else (_SPACE,)


def declares_gain_map(data: bytes) -> bool:
    """Whether a HEIC or AVIF names, among its kinds, a picture that is mapped to HDR."""
    return data[4:8] == b"ftyp" and b"tmap" in data[8 : min(256, int.from_bytes(data[:4], "big"))]


def _has_gain_map(file: ImageFile.ImageFile, packet: bytes, data: bytes) -> bool:
    segments = [segment for _, segment in getattr(file, "applist", [])]
    if any(segment.startswith(_ISO_GAIN_MAP) for segment in segments) or declares_gain_map(data):
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
    if file.format == "GIF":
        return structure.count_gif_frames(data) - 1
    return int(getattr(file, "n_frames", 1)) - 1


def _more_pages(data: bytes) -> int:
    """Pages after the first that are not just smaller copies of it, up to one more than `limits.PAGES`."""
    pages, seen = 0, set[int]()
    try:
        order = ifd.byte_order(data)
        offset = ifd.number(data, 4, order)
        while offset and offset not in seen and pages <= limits.PAGES and len(seen) < 2 * limits.PAGES:
            pages += bool(seen) and not _is_smaller_copy(data, offset, order)
            seen.add(offset)
            offset = ifd.number(data, ifd.link_position(data, offset, order), order)
    except ifd.MalformedError:
        pass
    return pages


def _is_smaller_copy(data: bytes, page: int, order: str) -> bool:
    """Whether a page says so in its first entry: entries are sorted, and no other tag of a page is lower."""
    if ifd.number(data, page + 2, order, "H") != _SUBFILE_TYPE:
        return False
    kind = ifd.number(data, page + 4, order, "H")
    return bool(ifd.number(data, page + 10, order, "H" if kind == ifd.SHORT else "L") & 1)


def _avif_bits(data: bytes) -> int:
    """The depth an AVIF declares for its samples; 8 where it does not say."""
    at = data.find(b"pixi")
    return data[at + 9] if 0 <= at < len(data) - 9 else 8
