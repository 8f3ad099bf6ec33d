"""Directories of TIFF entries, as raw bytes: what EXIF blocks and TIFF files are made of.

Knows tags, types and offsets; not what a tag means, and nothing of pixels. Everything that is malformed
raises `MalformedError`; single entries that are damaged are left out. What is read of a directory is bounded:
its entries by `limits`, and the bytes of their values by the size of the block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from . import limits

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 1, 2, 3, 4, 5, 7
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}


class MalformedError(ValueError):
    """The bytes are not a TIFF structure."""


class Entry(NamedTuple):
    """One tag: how many values, their bytes as stored, and where in the block they (or their offset) are."""

    tag: int
    type: int
    length: int
    value: bytes
    position: int = 0


class Directory(NamedTuple):
    """The entries of a directory by tag, and the position of its link to the next one."""

    entries: dict[int, Entry]
    link: int


def byte_order(block: bytes) -> str:
    """The order of the block's numbers, as `struct` writes it: "<" or ">"."""
    order = {b"II": "<", b"MM": ">"}.get(bytes(block[:2]))
    # 43 marks BigTIFF, whose directories are laid out differently.
    if order is None or len(block) < 8 or 43 in block[2:4]:
        raise MalformedError("no TIFF header")
    return order


def number(block: bytes, position: int, order: str, kind: str = "L") -> int:
    """The unsigned number of `struct` kind "H" or "L" at `position`."""
    try:
        return int(struct.unpack_from(order + kind, block, position)[0])
    except struct.error as error:
        raise MalformedError("it ends early") from error


def read(block: bytes, offset: int, order: str) -> Directory:
    """The directory at `offset`."""
    link = link_position(block, offset, order)
    if link > offset + 2 + 12 * limits.DIRECTORY_ENTRIES:
        raise MalformedError("a directory has too many entries")
    entries: dict[int, Entry] = {}
    copied = 0
    for at in range(offset + 2, link, 12):
        tag, kind, count = struct.unpack_from(order + "HHL", block, at)
        size = _SIZES.get(kind, 0) * count
        start = at + 8 if size <= 4 else number(block, at + 8, order)
        if size == 0 or start + size > len(block):
            continue
        copied += size
        if copied > len(block):
            raise MalformedError("the values of its entries overlap")
        entries[tag] = Entry(tag, kind, count, bytes(block[start : start + size]), at + 8)
    return Directory(entries, link)


def link_position(block: bytes, offset: int, order: str) -> int:
    """Where the directory at `offset` holds the position of the next one."""
    link = offset + 2 + 12 * number(block, offset, order, "H")
    if offset < 8 or link > len(block):
        raise MalformedError("a directory lies outside")
    return link


def read_first(block: bytes) -> Directory:
    """The directory that the block's header points to."""
    order = byte_order(block)
    return read(block, number(block, 4, order), order)


def integer(entry: Entry | None, order: str) -> int | None:
    """The entry's first value where it is a SHORT or a LONG."""
    if entry is None or entry.type not in (SHORT, LONG):
        return None
    return number(entry.value, 0, order, "H" if entry.type == SHORT else "L")


def integers(tag: int, kind: int, values: Iterable[int], order: str) -> Entry:
    """An entry of SHORTs, LONGs or RATIONALs (numerator, denominator, ...)."""
    values = list(values)
    packed = struct.pack(f"{order}{len(values)}{'H' if kind == SHORT else 'L'}", *values)
    return Entry(tag, kind, len(packed) // _SIZES[kind], packed)


def pack(entries: Iterable[Entry], start: int, order: str) -> bytes:
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
