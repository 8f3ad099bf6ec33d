"""How a file is built, checked in linear time before a decoder sees it.

Decoders build an object for every segment, chunk, entry or strip, and copy values as often as entries name
them, so a small file can ask for minutes and gigabytes. Nothing is decoded here and damage is not looked for:
what exceeds `limits` is refused, and everything else is left to the decoder.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ..errors import ImageError
from . import limits

_RE_SAVE = "re-save it with another program"
_SEARCH_BYTES = 4 * limits.MIB
"""Bytes searched at a time: `re` lets no other thread run meanwhile."""


def check(data: bytes) -> None:
    """Refuse, with an ImageError, a file that would take far longer to read than a photo of its size."""
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data)
    elif data.startswith(b"\x89PNG"):
        _check_png(data)
    elif data.startswith((b"II", b"MM")):
        check_tiff(data)
    elif data.startswith(b"GIF8"):
        count_gif_frames(data)
    elif data.startswith(b"BM"):
        _check_bmp(data)


# ---- JPEG

_MARKER = re.compile(rb"\xff[^\0\x01\xd0-\xd7\xff]")
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}
_END, _SCAN, _APP1 = 0xD9, 0xDA, 0xE1
_EXIF = b"Exif\0\0"


def _check_jpeg(data: bytes) -> None:
    """Walk from marker to marker until the picture ends; what comes behind it is not looked at."""
    exif: list[bytes] = []
    segments = scans = junk = 0
    at = 2
    while at < len(data):
        found = _next_marker(data, at)
        segments += 1
        # Between the data of a scan and the next marker lies no junk.
        junk += 0 if scans else found - at
        at = found + 2
        marker = data[found + 1] if at <= len(data) else _END
        if marker == _END:
            break
        if marker not in _WITHOUT_LENGTH:
            length = int.from_bytes(data[at : at + 2], "big")
            if marker == _APP1 and data.startswith(_EXIF, at + 2):
                exif.append(data[at + 8 : at + length])
            at += max(length, 2)
        scans += marker == _SCAN
        if segments > limits.SEGMENTS:
            raise ImageError(f"it has more than {limits.SEGMENTS} JPEG segments; {_RE_SAVE}")
        if junk > limits.JUNK:
            raise ImageError(f"it has more than {limits.JUNK} bytes between its segments; {_RE_SAVE}")
        if scans > limits.SCANS:
            raise ImageError(f"it is a progressive JPEG with more than {limits.SCANS} scans; {_RE_SAVE}")
    if data.find(b"\xff" * limits.JUNK, 0, at) >= 0:
        raise ImageError(f"it has {limits.JUNK} fill bytes in a row; {_RE_SAVE}")
    # A block within one segment, of 64 KiB, is too small to matter.
    if len(exif) > 1:
        check_tiff(b"".join(exif))


def _next_marker(data: bytes, start: int) -> int:
    """The position of the next marker, or where the data ends."""
    for begin in range(start, len(data), _SEARCH_BYTES):
        # One byte more: a marker has two.
        if found := _MARKER.search(data, begin, begin + _SEARCH_BYTES + 1):
            return found.start()
    return len(data)


# ---- PNG


def _check_png(data: bytes) -> None:
    chunks = profiles = 0
    at = 8
    while at + 12 <= len(data):
        chunks += 1
        profiles += data[at + 4 : at + 8] == b"iCCP"
        if chunks > limits.CHUNKS:
            raise ImageError(f"it has more than {limits.CHUNKS} PNG chunks; {_RE_SAVE}")
        if profiles > limits.PROFILES:
            raise ImageError(f"it has more than {limits.PROFILES} colour profiles; {_RE_SAVE}")
        at += 12 + int.from_bytes(data[at : at + 4], "big")


# ---- TIFF

_SIZES = {
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
_BYTE_TYPES = (1, 2, 6, 7)
"""Types whose values stay bytes."""
_POINTERS = (0x8769, 0x8825, 0xA005)
"""Tags that lead to the Exif, GPS and interoperability directories."""
_STRIPS = (273, 324)


class _Layout(NamedTuple):
    """How the numbers of a TIFF or BigTIFF are written."""

    order: Literal["little", "big"]
    entries: struct.Struct
    """How many entries a directory has."""
    entry: struct.Struct
    offset: struct.Struct
    header: int
    """Where the position of the first directory is."""


def _layout(data: bytes) -> _Layout | None:
    order: Literal["little", "big"] = "little" if data.startswith(b"II") else "big"
    sign = "<" if order == "little" else ">"
    version = int.from_bytes(data[2:4], order)
    if version == 42:
        return _Layout(
            order, struct.Struct(f"{sign}H"), struct.Struct(f"{sign}HHL4s"), struct.Struct(f"{sign}L"), 4
        )
    if version == 43:
        return _Layout(
            order, struct.Struct(f"{sign}Q"), struct.Struct(f"{sign}HHQ8s"), struct.Struct(f"{sign}Q"), 8
        )
    return None


def check_tiff(data: bytes) -> None:
    """Refuse, with an ImageError, directories of a TIFF file or EXIF block that exceed the limits."""
    if (layout := _layout(data)) is None or len(data) < layout.header + layout.offset.size:
        return
    waiting = [layout.offset.unpack_from(data, layout.header)[0]]
    seen = set[int]()
    while waiting:
        if (start := waiting.pop()) in seen:
            continue
        # Directories may overlap, so the size of the file alone does not bound their entries.
        if len(seen) == limits.DIRECTORIES:
            raise ImageError(f"it has more than {limits.DIRECTORIES} TIFF or EXIF directories; {_RE_SAVE}")
        seen.add(start)
        waiting += _check_directory(data, start, layout) - seen


def _check_directory(data: bytes, start: int, layout: _Layout) -> set[int]:
    """Check the directory at `start`; return the positions of the directories that its pointers lead to."""
    pointers = set[int]()
    copied = numbers = 0
    for tag, kind, count, value in _entries(data, start, layout):
        size = _SIZES.get(kind, 0) * count
        if size > len(value):
            # A value that ends outside is read as far as it goes.
            copied += min(size, max(len(data) - layout.offset.unpack(value)[0], 0))
        elif tag in _POINTERS and size:
            pointers.add(int.from_bytes(value[:size], layout.order))
        numbers += 0 if kind in _BYTE_TYPES else min(count, len(data))
        if copied > len(data):
            raise ImageError(f"the values of its TIFF or EXIF entries overlap; {_RE_SAVE}")
        if numbers > limits.TAG_VALUES:
            raise ImageError(
                f"its TIFF or EXIF entries hold more than {limits.TAG_VALUES} numbers; {_RE_SAVE}"
            )
        if tag in _STRIPS and count > limits.STRIPS:
            raise ImageError(f"it is cut into more than {limits.STRIPS} strips; {_RE_SAVE}")
    return pointers


def _entries(data: bytes, start: int, layout: _Layout) -> Iterator[tuple[int, int, int, bytes]]:
    """Tag, type, count and value (or its position) of each entry that lies inside."""
    at = start + layout.entries.size
    if at > len(data):
        return
    (count,) = layout.entries.unpack_from(data, start)
    if count > limits.DIRECTORY_ENTRIES:
        raise ImageError(f"it has more than {limits.DIRECTORY_ENTRIES} TIFF or EXIF entries; {_RE_SAVE}")
    end = min(at + count * layout.entry.size, len(data) - layout.entry.size + 1)
    for place in range(at, end, layout.entry.size):
        yield layout.entry.unpack_from(data, place)


# ---- GIF

_EXTENSION, _FRAME, _TRAILER = 0x21, 0x2C, 0x3B
_COMMENT = 0xFE


def count_gif_frames(data: bytes) -> int:
    """Frames of a GIF, as far as they can be counted within the limits."""
    frames = comments = 0
    for number, (kind, label) in enumerate(_gif_blocks(data)):
        frames += kind == _FRAME and label is None
        comments += label == _COMMENT and not frames
        if comments > limits.COMMENT_BLOCKS:
            raise ImageError(f"it has more than {limits.COMMENT_BLOCKS} blocks of comments; {_RE_SAVE}")
        if not frames and number >= limits.GIF_BLOCKS:
            raise ImageError(f"it has no picture in its first {limits.GIF_BLOCKS} blocks; {_RE_SAVE}")
        if frames > limits.PAGES + 1 or number >= limits.GIF_BLOCKS:
            break
    return frames


def _gif_blocks(data: bytes) -> Iterator[tuple[int, int | None]]:
    """The kind of every block, and again for each piece of its data, with the label an extension has."""
    at = 13 + _palette(data, 10)
    while at < len(data) and (kind := data[at]) != _TRAILER:
        yield kind, None
        if kind == _FRAME:
            at += 11 + _palette(data, at + 9)
        elif kind == _EXTENSION:
            at += 2
        else:
            at += 1
            continue
        label = data[at - 1] if at <= len(data) else 0
        while at < len(data) and data[at]:
            yield kind, label
            at += 1 + data[at]
        at += 1


def _palette(data: bytes, at: int) -> int:
    """Bytes of the palette that the flags at `at` announce."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


# ---- BMP


def _check_bmp(data: bytes) -> None:
    """Pillow decodes runs one by one; a BMP's compression is 1 or 2 where it has them."""
    compression = int.from_bytes(data[30:34], "little")
    if compression in (1, 2) and len(data) > limits.RUN_LENGTH_BYTES:
        raise ImageError(
            f"it is a run-length encoded BMP of more than {limits.RUN_LENGTH_BYTES} bytes; save it as PNG"
        )
