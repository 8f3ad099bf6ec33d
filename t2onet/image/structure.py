"""Checks of a file's size and structure, in linear time, before a decoder sees it."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from typing import Literal, NamedTuple

import PIL.Image

from ..errors import ImageError

# How large a photo may be, and how elaborate its file.
#
# The limit on pixels is Pillow's own, PIL.Image.MAX_IMAGE_PIXELS, doubled as Pillow does. The others are far
# above what photos have, and low enough that a small file within all of them is read in a second or two.

MIB = 2**20

MAX_SIDE = 1_000_000
"""Pixels: uncompressed rows are gathered piece by piece, and each piece copies what there is of the row."""
MAX_DIRECTORIES = 16
"""Directories of an EXIF block or TIFF file that pointers lead to; four are usual. Pages do not count."""
MAX_DIRECTORY_ENTRIES = 4096
"""Entries of one directory of an EXIF block or TIFF file."""
MAX_TAG_VALUES = 250_000
"""Numbers in one directory of a TIFF file: each becomes an object of its own."""
MAX_STRIPS = 100_000
"""Strips or tiles of a TIFF file: uncompressed ones are decoded one by one."""
MAX_PAGES = 10_000
"""Pages or frames that are counted; the first is read, the others are left out."""
MAX_SEGMENTS = 10_000
"""Segments of a JPEG file."""
MAX_JUNK_BYTES = MIB // 4
"""Bytes between the segments of a JPEG file, and fill bytes in a row before a marker."""
MAX_SCANS = 32
"""Scans of a progressive JPEG, each over all pixels; ten are usual."""
MAX_CHUNKS = 100_000
"""Chunks of a PNG file."""
MAX_PROFILES = 16
"""Colour profiles of a PNG file, which should have one: each is unpacked."""
MAX_COMMENT_BLOCKS = 4096
"""Blocks of comments before the first frame of a GIF."""
MAX_GIF_BLOCKS = 500_000
"""Blocks of a GIF, of up to 255 bytes, that are walked to count its frames."""
MAX_RUN_LENGTH_BYTES = 4 * MIB
"""Of a run-length encoded BMP, which is decoded run by run."""
MAX_XMP_BYTES = 4 * MIB
"""Of an XMP packet."""


class TooLargeError(ImageError):
    """A photo has more pixels than allowed; `size` is its width and height where its header states them."""

    def __init__(self, message: str, size: tuple[int, int] | None) -> None:
        super().__init__(message)
        self.size = size


def check_pixel_count(width: int, height: int, max_pixels: float | None = None) -> None:
    """Refuse what Pillow would refuse, for the readers that do not ask Pillow, and more than `max_pixels`."""
    if width * height > min(_pillow_limit(), math.inf if max_pixels is None else max_pixels):
        raise TooLargeError(f"{width} x {height} pixels", (width, height))


def format_allowed_megapixels() -> str:
    """The limit in words."""
    return format_megapixels(_pillow_limit())


def format_megapixels(pixels: float) -> str:
    """A number of pixels as people say it, rounded up: "179", "0.52"."""
    millions = pixels / 1e6
    return str(math.ceil(millions)) if millions >= 10 else f"{math.ceil(millions * 1000) / 1000:g}"


def _pillow_limit() -> float:
    limit = PIL.Image.MAX_IMAGE_PIXELS
    return math.inf if limit is None else 2 * limit


# How a file is built, checked in linear time before a decoder sees it.
#
# Decoders build an object for every segment, chunk, entry or strip, and copy values as often as entries name
# them, so a small file can ask for minutes and gigabytes. Nothing is decoded here and damage is not looked
# for:
# what exceeds `limits` is refused, and everything else is left to the decoder.

_RE_SAVE = "re-save it with another program"
_SEARCH_BYTES = 4 * MIB
"""Bytes searched at a time: `re` lets no other thread run meanwhile."""


def check_structure(data: bytes) -> None:
    """Refuse, with an ImageError, a file that would take far longer to read than a photo of its size."""
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data)
    elif data.startswith(b"\x89PNG"):
        _check_png(data)
    elif data.startswith((b"II", b"MM")):
        check_tiff_structure(data)
    elif data.startswith(b"GIF8"):
        count_gif_frames(data)
    elif data.startswith(b"BM"):
        _check_bmp(data)


# ---- JPEG

_JPEG_MARKER = re.compile(rb"\xff[^\0\x01\xd0-\xd7\xff]")
_JPEG_MARKERS_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}
_JPEG_END, _JPEG_SCAN, _JPEG_APP1 = 0xD9, 0xDA, 0xE1
_EXIF_PREFIX = b"Exif\0\0"


def _check_jpeg(data: bytes) -> None:
    """Walk from marker to marker until the picture ends; what comes behind it is not looked at."""
    exif: list[bytes] = []
    segments = scans = junk = 0
    at = 2
    while at < len(data):
        found = _find_next_marker(data, at)
        segments += 1
        # Between the data of a scan and the next marker lies no junk.
        junk += 0 if scans else found - at
        at = found + 2
        marker = data[found + 1] if at <= len(data) else _JPEG_END
        if marker == _JPEG_END:
            break
        if marker not in _JPEG_MARKERS_WITHOUT_LENGTH:
            length = int.from_bytes(data[at : at + 2], "big")
            if marker == _JPEG_APP1 and data.startswith(_EXIF_PREFIX, at + 2):
                exif.append(data[at + 8 : at + length])
            at += max(length, 2)
        scans += marker == _JPEG_SCAN
        if segments > MAX_SEGMENTS:
            raise ImageError(f"it has more than {MAX_SEGMENTS} JPEG segments; {_RE_SAVE}")
        if junk > MAX_JUNK_BYTES:
            raise ImageError(f"it has more than {MAX_JUNK_BYTES} bytes between its segments; {_RE_SAVE}")
        if scans > MAX_SCANS:
            raise ImageError(f"it is a progressive JPEG with more than {MAX_SCANS} scans; {_RE_SAVE}")
    if data.find(b"\xff" * MAX_JUNK_BYTES, 0, at) >= 0:
        raise ImageError(f"it has {MAX_JUNK_BYTES} fill bytes in a row; {_RE_SAVE}")
    # A block within one segment, of 64 KiB, is too small to matter.
    if len(exif) > 1:
        check_tiff_structure(b"".join(exif))


def _find_next_marker(data: bytes, start: int) -> int:
    """The position of the next marker, or where the data ends."""
    for begin in range(start, len(data), _SEARCH_BYTES):
        # One byte more: a marker has two.
        if found := _JPEG_MARKER.search(data, begin, begin + _SEARCH_BYTES + 1):
            return found.start()
    return len(data)


# ---- PNG


def _check_png(data: bytes) -> None:
    chunks = profiles = 0
    at = 8
    while at + 12 <= len(data):
        chunks += 1
        profiles += data[at + 4 : at + 8] == b"iCCP"
        if chunks > MAX_CHUNKS:
            raise ImageError(f"it has more than {MAX_CHUNKS} PNG chunks; {_RE_SAVE}")
        if profiles > MAX_PROFILES:
            raise ImageError(f"it has more than {MAX_PROFILES} colour profiles; {_RE_SAVE}")
        at += 12 + int.from_bytes(data[at : at + 4], "big")


# ---- TIFF

_TIFF_TYPE_SIZES = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 4,
    12: 8,
    13: 4,
    16: 8,
    17: 8,
    18: 8,
}
_TIFF_BYTE_TYPES = (1, 2, 6, 7)
"""Types whose values stay bytes."""
_POINTER_TAGS = (0x8769, 0x8825, 0xA005)
"""Tags that lead to the Exif, GPS and interoperability directories."""
_STRIP_TAGS = (273, 324)


class _TiffLayout(NamedTuple):
    """How the numbers of a TIFF or BigTIFF are written."""

    order: Literal["little", "big"]
    entries: struct.Struct
    """How many entries a directory has."""
    entry: struct.Struct
    offset: struct.Struct
    header: int
    """Where the position of the first directory is."""


def _read_tiff_layout(data: bytes) -> _TiffLayout | None:
    order: Literal["little", "big"] = "little" if data.startswith(b"II") else "big"
    sign = "<" if order == "little" else ">"
    version = int.from_bytes(data[2:4], order)
    if version == 42:
        return _TiffLayout(
            order, struct.Struct(f"{sign}H"), struct.Struct(f"{sign}HHL4s"), struct.Struct(f"{sign}L"), 4
        )
    if version == 43:
        return _TiffLayout(
            order, struct.Struct(f"{sign}Q"), struct.Struct(f"{sign}HHQ8s"), struct.Struct(f"{sign}Q"), 8
        )
    return None


def check_tiff_structure(data: bytes) -> None:
    """Refuse, with an ImageError, directories of a TIFF file or EXIF block that exceed the limits."""
    if (layout := _read_tiff_layout(data)) is None or len(data) < layout.header + layout.offset.size:
        return
    waiting = [layout.offset.unpack_from(data, layout.header)[0]]
    seen = set[int]()
    while waiting:
        if (start := waiting.pop()) in seen:
            continue
        # Directories may overlap, so the size of the file alone does not bound their entries.
        if len(seen) == MAX_DIRECTORIES:
            raise ImageError(f"it has more than {MAX_DIRECTORIES} TIFF or EXIF directories; {_RE_SAVE}")
        seen.add(start)
        waiting += _check_directory(data, start, layout) - seen


def _check_directory(data: bytes, start: int, layout: _TiffLayout) -> set[int]:
    """Check the directory at `start`; return the positions of the directories that its pointers lead to."""
    pointers = set[int]()
    copied = numbers = 0
    for tag, kind, count, value in _iterate_tiff_entries(data, start, layout):
        size = _TIFF_TYPE_SIZES.get(kind, 0) * count
        if size > len(value):
            # A value that ends outside is read as far as it goes.
            copied += min(size, max(len(data) - layout.offset.unpack(value)[0], 0))
        elif tag in _POINTER_TAGS and size:
            pointers.add(int.from_bytes(value[:size], layout.order))
        numbers += 0 if kind in _TIFF_BYTE_TYPES else min(count, len(data))
        if copied > len(data):
            raise ImageError(f"the values of its TIFF or EXIF entries overlap; {_RE_SAVE}")
        if numbers > MAX_TAG_VALUES:
            raise ImageError(f"its TIFF or EXIF entries hold more than {MAX_TAG_VALUES} numbers; {_RE_SAVE}")
        if tag in _STRIP_TAGS and count > MAX_STRIPS:
            raise ImageError(f"it is cut into more than {MAX_STRIPS} strips; {_RE_SAVE}")
    return pointers


def _iterate_tiff_entries(
    data: bytes, start: int, layout: _TiffLayout
) -> Iterator[tuple[int, int, int, bytes]]:
    """Tag, type, count and value (or its position) of each entry that lies inside."""
    at = start + layout.entries.size
    if at > len(data):
        return
    (count,) = layout.entries.unpack_from(data, start)
    if count > MAX_DIRECTORY_ENTRIES:
        raise ImageError(f"it has more than {MAX_DIRECTORY_ENTRIES} TIFF or EXIF entries; {_RE_SAVE}")
    end = min(at + count * layout.entry.size, len(data) - layout.entry.size + 1)
    for place in range(at, end, layout.entry.size):
        yield layout.entry.unpack_from(data, place)


# ---- GIF

_GIF_EXTENSION, _GIF_FRAME, _GIF_TRAILER = 0x21, 0x2C, 0x3B
_GIF_COMMENT = 0xFE


def count_gif_frames(data: bytes) -> int:
    """Frames of a GIF, as far as they can be counted within the limits."""
    frames = comments = 0
    for number, (kind, label) in enumerate(_iterate_gif_blocks(data)):
        frames += kind == _GIF_FRAME and label is None
        comments += label == _GIF_COMMENT and not frames
        if comments > MAX_COMMENT_BLOCKS:
            raise ImageError(f"it has more than {MAX_COMMENT_BLOCKS} blocks of comments; {_RE_SAVE}")
        if not frames and number >= MAX_GIF_BLOCKS:
            raise ImageError(f"it has no picture in its first {MAX_GIF_BLOCKS} blocks; {_RE_SAVE}")
        if frames > MAX_PAGES + 1 or number >= MAX_GIF_BLOCKS:
            break
    return frames


def _iterate_gif_blocks(data: bytes) -> Iterator[tuple[int, int | None]]:
    """The kind of every block, and again for each piece of its data, with the label an extension has."""
    at = 13 + _measure_gif_palette(data, 10)
    while at < len(data) and (kind := data[at]) != _GIF_TRAILER:
        yield kind, None
        if kind == _GIF_FRAME:
            at += 11 + _measure_gif_palette(data, at + 9)
        elif kind == _GIF_EXTENSION:
            at += 2
        else:
            at += 1
            continue
        label = data[at - 1] if at <= len(data) else 0
        while at < len(data) and data[at]:
            yield kind, label
            at += 1 + data[at]
        at += 1


def _measure_gif_palette(data: bytes, at: int) -> int:
    """Bytes of the palette that the flags at `at` announce."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


# ---- BMP


def _check_bmp(data: bytes) -> None:
    """Pillow decodes runs one by one; a BMP's compression is 1 or 2 where it has them."""
    compression = int.from_bytes(data[30:34], "little")
    if compression in (1, 2) and len(data) > MAX_RUN_LENGTH_BYTES:
        raise ImageError(
            f"it is a run-length encoded BMP of more than {MAX_RUN_LENGTH_BYTES} bytes; save it as PNG"
        )
