"""EXIF blocks and the TIFF directories they consist of; patched in place, so that maker notes survive."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from . import structure

# Directories of TIFF entries, as raw bytes: what EXIF blocks and TIFF files are made of.
#
# Knows tags, types and offsets; not what a tag means, and nothing of pixels. Everything that is malformed
# raises `MalformedError`; single entries that are damaged are left out. What is read of a directory is
# bounded:
# its entries by `limits`, and the bytes of their values by the size of the block.

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 1, 2, 3, 4, 5, 7
_TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}


class MalformedError(ValueError):
    """The bytes are not a TIFF structure."""


class TiffEntry(NamedTuple):
    """One tag: how many values, their bytes as stored, and where in the block they (or their offset) are."""

    tag: int
    type: int
    length: int
    value: bytes
    position: int = 0


class TiffDirectory(NamedTuple):
    """The entries of a directory by tag, and the position of its link to the next one."""

    entries: dict[int, TiffEntry]
    link: int


def read_byte_order(block: bytes) -> str:
    """The order of the block's numbers, as `struct` writes it: "<" or ">"."""
    order = {b"II": "<", b"MM": ">"}.get(bytes(block[:2]))
    # 43 marks BigTIFF, whose directories are laid out differently.
    if order is None or len(block) < 8 or 43 in block[2:4]:
        raise MalformedError("no TIFF header")
    return order


def read_number(block: bytes, position: int, order: str, kind: str = "L") -> int:
    """The unsigned number of `struct` kind "H" or "L" at `position`."""
    try:
        return int(struct.unpack_from(order + kind, block, position)[0])
    except struct.error as error:
        raise MalformedError("it ends early") from error


def read_directory(block: bytes, offset: int, order: str) -> TiffDirectory:
    """The directory at `offset`."""
    link = find_link_position(block, offset, order)
    if link > offset + 2 + 12 * structure.MAX_DIRECTORY_ENTRIES:
        raise MalformedError("a directory has too many entries")
    entries: dict[int, TiffEntry] = {}
    copied = 0
    for at in range(offset + 2, link, 12):
        tag, kind, count = struct.unpack_from(order + "HHL", block, at)
        size = _TYPE_SIZES.get(kind, 0) * count
        start = at + 8 if size <= 4 else read_number(block, at + 8, order)
        if size == 0 or start + size > len(block):
            continue
        copied += size
        if copied > len(block):
            raise MalformedError("the values of its entries overlap")
        entries[tag] = TiffEntry(tag, kind, count, bytes(block[start : start + size]), at + 8)
    return TiffDirectory(entries, link)


def find_link_position(block: bytes, offset: int, order: str) -> int:
    """Where the directory at `offset` holds the position of the next one."""
    link = offset + 2 + 12 * read_number(block, offset, order, "H")
    if offset < 8 or link > len(block):
        raise MalformedError("a directory lies outside")
    return link


def read_first_directory(block: bytes) -> TiffDirectory:
    """The directory that the block's header points to."""
    order = read_byte_order(block)
    return read_directory(block, read_number(block, 4, order), order)


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
    """A directory that will lie at position `start`, its longer values right behind it, with no next one."""
    ordered = sorted(entries, key=lambda entry: entry.tag)
    table = bytearray(struct.pack(order + "H", len(ordered)))
    values = bytearray()
    behind = start + 2 + 12 * len(ordered) + 4
    for entry in ordered:
        inline = entry.value.ljust(4, b"\0")
        if len(entry.value) > 4:
            inline = struct.pack(order + "L", behind + len(values))
            values += entry.value + b"\0" * (len(entry.value) % 2)
        table += struct.pack(order + "HHL", entry.tag, entry.type, entry.length) + inline
    return bytes(table + b"\0\0\0\0" + values)


# The EXIF block of a photo: kept byte for byte, and patched in place where the picture changed.
#
# A block is a bare TIFF structure. Maker notes hold offsets that nobody but their maker understands, so
# nothing
# in a block is ever moved; only a TIFF file's scattered metadata is gathered into a new block. Pixels are not
# known here.

ORIENTATION_TAG = 0x0112
_EXIF_TAG, _GPS_TAG, _INTEROP_TAG, _MAKER_NOTE_TAG = 0x8769, 0x8825, 0xA005, 0x927C
_WIDTH_TAG, _HEIGHT_TAG, _PIXEL_WIDTH_TAG, _PIXEL_HEIGHT_TAG = 0x0100, 0x0101, 0xA002, 0xA003
_EXIF_PREFIX = b"Exif\0\0"

# Baseline tags that describe the photo; all others below 32768 describe how its pixels are stored.
_DESCRIPTIVE_TAGS = {269, 270, 271, 272, 285, 305, 306, 315, 316, 18246, 18249}
# Private tags that describe storage: CFA patterns, Photoshop's layers, and those that travel on their own.
_STORAGE_TAGS = {33421, 33422, 37724, 34377, 34675, _EXIF_TAG, _GPS_TAG, _INTEROP_TAG}
_DNG_TAGS = range(50706, 52600)


def strip_exif_prefix(block: bytes) -> bytes:
    """The block without the prefix that some formats put before it, and some programs once more."""
    return block.removeprefix(_EXIF_PREFIX).removeprefix(_EXIF_PREFIX)


def read_orientation(block: bytes) -> int:
    """How the pixels are stored, 1..8; 1 is upright."""
    entry = read_first_directory(block).entries.get(ORIENTATION_TAG)
    value = read_integer(entry, read_byte_order(block))
    return value if value is not None and 1 <= value <= 8 else 1


def reset_exif_orientation(block: bytes) -> bytes:
    """The block of the same photo once it stands upright, without the thumbnail of the old picture."""
    patched = bytearray(block)
    order = read_byte_order(block)
    if read_number(block, 2, order, "H") != 42:
        raise MalformedError("no TIFF header")
    directory = read_first_directory(block)
    _overwrite_integer(patched, directory.entries.get(ORIENTATION_TAG), 1, order)
    if directory.link + 4 <= len(patched):
        struct.pack_into(order + "L", patched, directory.link, 0)
    return bytes(patched)


def reset_tiff_orientation(block: bytes) -> bytes:
    """A whole TIFF file that says it is upright, its other pages untouched."""
    patched = bytearray(block)
    _overwrite_integer(
        patched, read_first_directory(block).entries.get(ORIENTATION_TAG), 1, read_byte_order(block)
    )
    return bytes(patched)


def update_exif_size(block: bytes, width: int, height: int) -> bytes:
    """The block with the pixel sizes it states, if any, set to those of the picture."""
    patched = bytearray(block)
    order = read_byte_order(block)
    root = read_first_directory(block).entries
    details = _read_linked_directory(block, root.get(_EXIF_TAG), order)
    for entries, across, down in (
        (root, _WIDTH_TAG, _HEIGHT_TAG),
        (details, _PIXEL_WIDTH_TAG, _PIXEL_HEIGHT_TAG),
    ):
        _overwrite_integer(patched, entries.get(across), width, order)
        _overwrite_integer(patched, entries.get(down), height, order)
    return bytes(patched)


def extract_exif_from_tiff(data: bytes, *, maker_note: bool = True) -> bytes | None:
    """The descriptive tags of a TIFF file, or of a RAW file built like one, as a block of their own."""
    order = read_byte_order(data)
    root = read_first_directory(data).entries
    block = bytearray(data[:2] + struct.pack(order + "HL", 42, 0))
    kept = [entry for entry in root.values() if _is_descriptive(entry.tag)]
    details = _read_linked_directory(data, root.get(_EXIF_TAG), order)
    interop = _read_linked_directory(data, details.pop(_INTEROP_TAG, None), order)
    if not maker_note:
        details.pop(_MAKER_NOTE_TAG, None)
    kept += _append_linked_directory(
        block, _GPS_TAG, list(_read_linked_directory(data, root.get(_GPS_TAG), order).values()), order
    )
    inner = _append_linked_directory(block, _INTEROP_TAG, list(interop.values()), order)
    kept += _append_linked_directory(block, _EXIF_TAG, [*details.values(), *inner], order)
    if not kept:
        return None
    struct.pack_into(order + "L", block, 4, _append_directory(block, kept, order))
    return bytes(block)


def list_descriptive_entries(block: bytes) -> list[TiffEntry]:
    """The entries of the block that a TIFF file may take over, if the block lies at its start."""
    entries = read_first_directory(block).entries.values()
    return [entry for entry in entries if _is_descriptive(entry.tag) or entry.tag in (_EXIF_TAG, _GPS_TAG)]


def _is_descriptive(tag: int) -> bool:
    return tag in _DESCRIPTIVE_TAGS or (tag >= 32768 and tag not in _STORAGE_TAGS and tag not in _DNG_TAGS)


def _read_linked_directory(block: bytes, pointer: TiffEntry | None, order: str) -> dict[int, TiffEntry]:
    offset = read_integer(pointer, order)
    if offset is None:
        return {}
    try:
        return dict(read_directory(block, offset, order).entries)
    except MalformedError:
        return {}


def _append_linked_directory(
    block: bytearray, tag: int, entries: list[TiffEntry], order: str
) -> list[TiffEntry]:
    return (
        [make_integer_entry(tag, LONG, [_append_directory(block, entries, order)], order)] if entries else []
    )


def _append_directory(block: bytearray, entries: list[TiffEntry], order: str) -> int:
    block += b"\0" * (len(block) % 2)
    start = len(block)
    block += pack_directory(entries, start, order)
    return start


def _overwrite_integer(block: bytearray, entry: TiffEntry | None, value: int, order: str) -> None:
    if entry is None or entry.length != 1 or entry.type not in (SHORT, LONG):
        return
    if entry.type == LONG:
        struct.pack_into(order + "L", block, entry.position, value)
    elif value < 65536:
        struct.pack_into(order + "H", block, entry.position, value)
