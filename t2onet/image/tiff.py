"""TIFF directories, which TIFF files and EXIF blocks consist of: tags, types, reading, checking, packing.

Raw bytes only; nothing here knows about pixels. A malformed structure raises `MalformedError`, single damaged
entries are skipped. What is read of a directory is bounded: its entries by MAX_DIRECTORY_ENTRIES, the bytes
of its values by the size of the block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Literal, NamedTuple

from ..errors import ImageError

SIGNATURES = (b"II*\0", b"MM\0*")
EXIF_PREFIX = b"Exif\0\0"
"""Precedes the TIFF structure of an EXIF block in JPEG, and in other formats if their writer was careless."""

# Limits, far above what photos have. Decoders build an object for every entry and copy a value as often as
# entries refer to it, so without limits a small file can take minutes and gigabytes.
MAX_DIRECTORIES = 16
"""Directories reached through pointers; four are usual. Pages do not count."""
MAX_DIRECTORY_ENTRIES = 4096
"""Entries of one directory."""
MAX_TAG_VALUES = 250_000
"""Numbers in one directory: each becomes a Python object."""
MAX_STRIPS = 100_000
"""Strips or tiles: uncompressed ones are decoded one by one."""
_RE_SAVE = "re-save it with another program"

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 1, 2, 3, 4, 5, 7
_BYTE_TYPES = (BYTE, ASCII, 6, UNDEFINED)
"""Types whose values stay bytes."""
_TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_BIG_TIFF_TYPE_SIZES = {**_TYPE_SIZES, 16: 8, 17: 8, 18: 8}


class Tag(IntEnum):
    """Tags that are read or written by number."""

    SUBFILE_TYPE = 254
    WIDTH = 256
    HEIGHT = 257
    BITS_PER_SAMPLE = 258
    COMPRESSION = 259
    PHOTOMETRIC = 262
    FILL_ORDER = 266
    DOCUMENT_NAME = 269
    DESCRIPTION = 270
    MAKE = 271
    MODEL = 272
    STRIP_OFFSETS = 273
    ORIENTATION = 274
    SAMPLES_PER_PIXEL = 277
    ROWS_PER_STRIP = 278
    STRIP_BYTE_COUNTS = 279
    X_RESOLUTION = 282
    Y_RESOLUTION = 283
    PLANAR_CONFIGURATION = 284
    PAGE_NAME = 285
    RESOLUTION_UNIT = 296
    SOFTWARE = 305
    DATE_TIME = 306
    ARTIST = 315
    HOST_COMPUTER = 316
    PREDICTOR = 317
    TILE_WIDTH = 322
    TILE_HEIGHT = 323
    TILE_OFFSETS = 324
    TILE_BYTE_COUNTS = 325
    EXTRA_SAMPLES = 338
    XMP = 700
    RATING = 18246
    RATING_PERCENT = 18249
    CFA_REPEAT = 33421
    CFA_PATTERN = 33422
    PHOTOSHOP = 34377
    EXIF = 34665
    ICC_PROFILE = 34675
    GPS = 34853
    DATE_TIME_ORIGINAL = 36867
    MAKER_NOTE = 37500
    IMAGE_SOURCE_DATA = 37724
    """Photoshop's layers."""
    PIXEL_WIDTH = 40962
    PIXEL_HEIGHT = 40963
    INTEROPERABILITY = 40965


_POINTER_TAGS = (Tag.EXIF, Tag.GPS, Tag.INTEROPERABILITY)


class MalformedError(ValueError):
    """The bytes are not a TIFF structure."""


class TiffEntry(NamedTuple):
    """One tag: type, number of values, their bytes, and the position of the value (or its offset) field."""

    tag: int
    type: int
    length: int
    value: bytes
    position: int = 0


class TiffDirectory(NamedTuple):
    """The entries of a directory by tag, and the position of its link to the next one."""

    entries: dict[int, TiffEntry]
    link: int


class _TiffLayout(NamedTuple):
    """How TIFF or BigTIFF writes the entry count of a directory, an entry, and an offset."""

    entry_count: struct.Struct
    entry: struct.Struct
    """Tag, type, number of values, and the bytes of the value or of its offset."""
    offset: struct.Struct
    header: int
    """Position of the first directory's offset."""


def _make_layout(order: str, count: str, number: str, header: int) -> _TiffLayout:
    offset = struct.Struct(order + number)
    entry = struct.Struct(f"{order}HH{number}{offset.size}s")
    return _TiffLayout(struct.Struct(order + count), entry, offset, header)


_ORDERS = {b"II": "<", b"MM": ">"}
_TIFF_LAYOUTS = {order: _make_layout(order, "H", "L", 4) for order in "<>"}
_BIG_TIFF_LAYOUTS = {order: _make_layout(order, "Q", "Q", 8) for order in "<>"}


def is_big_tiff(data: bytes) -> bool:
    """Whether a TIFF file has the version 43, in either byte order."""
    return 43 in data[2:4]


def read_byte_order(block: bytes) -> str:
    """The byte order of the block, as `struct` writes it: "<" or ">". BigTIFF is refused."""
    order = _ORDERS.get(bytes(block[:2]))
    if order is None or len(block) < 8 or is_big_tiff(block):
        raise MalformedError("no TIFF header")
    return order


def read_number(block: bytes, position: int, order: str, kind: str = "L") -> int:
    """The unsigned number of `struct` kind "H" or "L" at `position`."""
    try:
        return int(struct.unpack_from(order + kind, block, position)[0])
    except struct.error as error:
        raise MalformedError("it ends early") from error


def read_first_directory(block: bytes) -> TiffDirectory:
    """The directory that the block's header points to."""
    order = read_byte_order(block)
    return read_directory(block, read_number(block, 4, order), order)


def read_directory(block: bytes, offset: int, order: str) -> TiffDirectory:
    """The directory at `offset`."""
    link = find_link_position(block, offset, order)
    if link > offset + 2 + 12 * MAX_DIRECTORY_ENTRIES:
        raise MalformedError("a directory has too many entries")
    entries: dict[int, TiffEntry] = {}
    copied = 0
    for raw in _iterate_entries(block, offset, _TIFF_LAYOUTS[order]):
        size = _TYPE_SIZES.get(raw.type, 0) * raw.length
        start = raw.position if size <= 4 else read_number(raw.value, 0, order)
        if size == 0 or start + size > len(block):
            continue
        copied += size
        if copied > len(block):
            raise MalformedError("the values of its entries overlap")
        entries[raw.tag] = raw._replace(value=bytes(block[start : start + size]))
    return TiffDirectory(entries, link)


def find_link_position(block: bytes, offset: int, order: str) -> int:
    """Where the directory at `offset` holds the position of the next one."""
    link = offset + 2 + 12 * read_number(block, offset, order, "H")
    if offset < 8 or link > len(block):
        raise MalformedError("a directory lies outside")
    return link


def _iterate_entries(data: bytes, start: int, layout: _TiffLayout) -> Iterator[TiffEntry]:
    """The entries of a directory that lie inside the data; `value` is the bare value field."""
    (count,) = layout.entry_count.unpack_from(data, start)
    first, size = start + layout.entry_count.size, layout.entry.size
    for position in range(first, min(first + count * size, len(data) - size + 1), size):
        tag, kind, length, value = layout.entry.unpack_from(data, position)
        yield TiffEntry(tag, kind, length, value, position + size - layout.offset.size)


def read_integer(entry: TiffEntry | None, order: str) -> int | None:
    """The entry's first value where it is a SHORT or a LONG."""
    if entry is None or entry.type not in (SHORT, LONG):
        return None
    return read_number(entry.value, 0, order, "H" if entry.type == SHORT else "L")


def make_integer_entry(tag: int, kind: int, values: Iterable[int], order: str) -> TiffEntry:
    """An entry of SHORTs, LONGs or RATIONALs (numerator, denominator, ...)."""
    values = list(values)
    packed = struct.pack(f"{order}{len(values)}{'H' if kind == SHORT else 'L'}", *values)
    return TiffEntry(tag, kind, len(packed) // _TYPE_SIZES[kind], packed)


def pack_directory(entries: Iterable[TiffEntry], start: int, order: str) -> bytes:
    """A directory for position `start`, followed by its longer values, with no next directory."""
    ordered = sorted(entries, key=lambda entry: entry.tag)
    table = bytearray(struct.pack(order + "H", len(ordered)))
    values = bytearray()
    values_start = start + 2 + 12 * len(ordered) + 4
    for entry in ordered:
        field = entry.value.ljust(4, b"\0")
        if len(entry.value) > 4:
            field = struct.pack(order + "L", values_start + len(values))
            values += entry.value + b"\0" * (len(entry.value) % 2)
        table += struct.pack(order + "HHL", entry.tag, entry.type, entry.length) + field
    return bytes(table + b"\0\0\0\0" + values)


def check_tiff_structure(data: bytes) -> None:
    """Raise an ImageError if the directories of a TIFF or BigTIFF file or EXIF block exceed the limits."""
    order = _ORDERS.get(data[:2], ">")
    version = int.from_bytes(data[2:4], _byte_order_name(order))
    layout = {42: _TIFF_LAYOUTS[order], 43: _BIG_TIFF_LAYOUTS[order]}.get(version)
    if layout is None or len(data) < layout.header + layout.offset.size:
        return
    pending = [layout.offset.unpack_from(data, layout.header)[0]]
    seen = set[int]()
    while pending:
        if (start := pending.pop()) in seen:
            continue
        # Directories may overlap, so the size of the file alone does not bound their entries.
        if len(seen) == MAX_DIRECTORIES:
            raise ImageError(f"it has more than {MAX_DIRECTORIES} TIFF or EXIF directories; {_RE_SAVE}")
        seen.add(start)
        if start + layout.entry_count.size <= len(data):
            pending += _check_directory(data, start, layout, order) - seen


def _check_directory(data: bytes, start: int, layout: _TiffLayout, order: str) -> set[int]:
    """Check the directory at `start`; return the positions of the directories that it points to."""
    if layout.entry_count.unpack_from(data, start)[0] > MAX_DIRECTORY_ENTRIES:
        raise ImageError(f"it has more than {MAX_DIRECTORY_ENTRIES} TIFF or EXIF entries; {_RE_SAVE}")
    pointers = set[int]()
    copied = numbers = 0
    for tag, kind, count, value, _ in _iterate_entries(data, start, layout):
        size = _BIG_TIFF_TYPE_SIZES.get(kind, 0) * count
        if size > len(value):
            # A value that ends outside is read as far as it goes.
            copied += min(size, max(len(data) - layout.offset.unpack(value)[0], 0))
        elif tag in _POINTER_TAGS and size:
            pointers.add(int.from_bytes(value[:size], _byte_order_name(order)))
        numbers += 0 if kind in _BYTE_TYPES else min(count, len(data))
        if copied > len(data):
            raise ImageError(f"the values of its TIFF or EXIF entries overlap; {_RE_SAVE}")
        if numbers > MAX_TAG_VALUES:
            raise ImageError(f"its TIFF or EXIF entries hold more than {MAX_TAG_VALUES} numbers; {_RE_SAVE}")
        if tag in (Tag.STRIP_OFFSETS, Tag.TILE_OFFSETS) and count > MAX_STRIPS:
            raise ImageError(f"it is cut into more than {MAX_STRIPS} strips; {_RE_SAVE}")
    return pointers


def _byte_order_name(order: str) -> Literal["little", "big"]:
    return "little" if order == "<" else "big"
