"""The EXIF block of a photo: kept byte for byte, and patched in place where the picture changed.

A block is a bare TIFF structure. Maker notes hold offsets that nobody but their maker understands, so nothing
in a block is ever moved; only a TIFF file's scattered metadata is gathered into a new block. Pixels are not
known here.
"""

from __future__ import annotations

import struct

from . import ifd

ORIENTATION = 0x0112
_EXIF, _GPS, _INTEROP, _MAKER_NOTE = 0x8769, 0x8825, 0xA005, 0x927C
_WIDTH, _HEIGHT, _PIXEL_WIDTH, _PIXEL_HEIGHT = 0x0100, 0x0101, 0xA002, 0xA003
_PREFIX = b"Exif\0\0"

# Baseline tags that describe the photo; all others below 32768 describe how its pixels are stored.
_DESCRIPTIVE = {269, 270, 271, 272, 285, 305, 306, 315, 316, 18246, 18249}
# Private tags that describe storage: CFA patterns, Photoshop's layers, and those that travel on their own.
_STORAGE = {33421, 33422, 37724, 34377, 34675, _EXIF, _GPS, _INTEROP}
_DNG = range(50706, 52600)


def bare(block: bytes) -> bytes:
    """The block without the prefix that some formats put before it, and some programs once more."""
    return block.removeprefix(_PREFIX).removeprefix(_PREFIX)


def orientation(block: bytes) -> int:
    """How the pixels are stored, 1..8; 1 is upright."""
    entry = ifd.read_first(block).entries.get(ORIENTATION)
    value = ifd.integer(entry, ifd.byte_order(block))
    return value if value is not None and 1 <= value <= 8 else 1


def upright(block: bytes) -> bytes:
    """The block of the same photo once it stands upright, without the thumbnail of the old picture."""
    patched = bytearray(block)
    order = ifd.byte_order(block)
    if ifd.number(block, 2, order, "H") != 42:
        raise ifd.MalformedError("no TIFF header")
    directory = ifd.read_first(block)
    _overwrite(patched, directory.entries.get(ORIENTATION), 1, order)
    if directory.link + 4 <= len(patched):
        struct.pack_into(order + "L", patched, directory.link, 0)
    return bytes(patched)


def turned(block: bytes) -> bytes:
    """A whole TIFF file that says it is upright, its other pages untouched."""
    patched = bytearray(block)
    _overwrite(patched, ifd.read_first(block).entries.get(ORIENTATION), 1, ifd.byte_order(block))
    return bytes(patched)


def sized(block: bytes, width: int, height: int) -> bytes:
    """The block with the pixel sizes it states, if any, set to those of the picture."""
    patched = bytearray(block)
    order = ifd.byte_order(block)
    root = ifd.read_first(block).entries
    details = _linked(block, root.get(_EXIF), order)
    for entries, across, down in ((root, _WIDTH, _HEIGHT), (details, _PIXEL_WIDTH, _PIXEL_HEIGHT)):
        _overwrite(patched, entries.get(across), width, order)
        _overwrite(patched, entries.get(down), height, order)
    return bytes(patched)


def from_tiff(data: bytes, *, maker_note: bool = True) -> bytes | None:
    """The descriptive tags of a TIFF file, or of a RAW file built like one, as a block of their own."""
    order = ifd.byte_order(data)
    root = ifd.read_first(data).entries
    block = bytearray(data[:2] + struct.pack(order + "HL", 42, 0))
    kept = [entry for entry in root.values() if _describes(entry.tag)]
    details = _linked(data, root.get(_EXIF), order)
    interop = _linked(data, details.pop(_INTEROP, None), order)
    if not maker_note:
        details.pop(_MAKER_NOTE, None)
    kept += _attached(block, _GPS, list(_linked(data, root.get(_GPS), order).values()), order)
    inner = _attached(block, _INTEROP, list(interop.values()), order)
    kept += _attached(block, _EXIF, [*details.values(), *inner], order)
    if not kept:
        return None
    struct.pack_into(order + "L", block, 4, _append(block, kept, order))
    return bytes(block)


def describing(block: bytes) -> list[ifd.Entry]:
    """The entries of the block that a TIFF file may take over, if the block lies at its start."""
    entries = ifd.read_first(block).entries.values()
    return [entry for entry in entries if _describes(entry.tag) or entry.tag in (_EXIF, _GPS)]


def _describes(tag: int) -> bool:
    return tag in _DESCRIPTIVE or (tag >= 32768 and tag not in _STORAGE and tag not in _DNG)


def _linked(block: bytes, pointer: ifd.Entry | None, order: str) -> dict[int, ifd.Entry]:
    offset = ifd.integer(pointer, order)
    if offset is None:
        return {}
    try:
        return dict(ifd.read(block, offset, order).entries)
    except ifd.MalformedError:
        return {}


def _attached(block: bytearray, tag: int, entries: list[ifd.Entry], order: str) -> list[ifd.Entry]:
    return [ifd.integers(tag, ifd.LONG, [_append(block, entries, order)], order)] if entries else []


def _append(block: bytearray, entries: list[ifd.Entry], order: str) -> int:
    block += b"\0" * (len(block) % 2)
    start = len(block)
    block += ifd.pack(entries, start, order)
    return start


def _overwrite(block: bytearray, entry: ifd.Entry | None, value: int, order: str) -> None:
    if entry is None or entry.length != 1 or entry.type not in (ifd.SHORT, ifd.LONG):
        return
    if entry.type == ifd.LONG:
        struct.pack_into(order + "L", block, entry.position, value)
    elif value < 65536:
        struct.pack_into(order + "H", block, entry.position, value)
