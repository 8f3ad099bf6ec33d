"""TIFF files of 8 and 16 bits: deflated strips with horizontal differences, and the photo's metadata.

The EXIF block is itself a TIFF structure, so the file begins with it, byte for byte: every offset in it, also
those inside a maker note, stays true. A new first directory behind the pixels takes over its entries.
"""

from __future__ import annotations

import os
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OutputError
from . import exif, ifd
from .model import Origin

_STRIP = 1 << 19
_LEVEL = 6
_DEFLATE, _NONE = 8, 1


def encode(samples: NDArray[Any], origin: Origin) -> bytes:
    """(H, W) or (H, W, 2..4), uint8 or uint16 -> a TIFF file."""
    base = origin.exif or b"II*\0\0\0\0\0"
    order = ifd.byte_order(base)
    rows_each = max(1, _STRIP // samples[0].nbytes)
    strips = _strips(samples, rows_each, order, origin.compressed)
    ends = np.cumsum([len(base), *map(len, strips)]).tolist()
    if ends[-1] > 2**32 - 2**20:
        raise OutputError("a TIFF file holds at most 4 GB; use .png")
    start = ends[-1] + ends[-1] % 2
    entries = {entry.tag: entry for entry in _described(base, origin, order)}
    entries |= {entry.tag: entry for entry in _stored(samples, rows_each, ends, order, origin.compressed)}
    padding = b"\0" * (start - ends[-1])
    head = base[:2] + struct.pack(order + "HL", 42, start) + base[8:]
    return b"".join([head, *strips, padding, ifd.pack(entries.values(), start, order)])


def _strips(samples: NDArray[Any], rows_each: int, order: str, compressed: bool) -> list[bytes]:
    def strip(start: int) -> bytes:
        rows = samples[start : start + rows_each]
        stored = rows.dtype.newbyteorder(order)  # type: ignore[arg-type]
        if not compressed:
            return rows.astype(stored).tobytes()
        return zlib.compress(_differences(rows).astype(stored).tobytes(), _LEVEL)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(strip, range(0, len(samples), rows_each)))


def _differences(rows: NDArray[Any]) -> NDArray[Any]:
    """Each pixel less its left neighbour, modulo the depth."""
    differences = rows.copy()
    differences[:, 1:] -= rows[:, :-1]
    return differences


def _described(base: bytes, origin: Origin, order: str) -> list[ifd.Entry]:
    entries = exif.describing(base) if origin.exif else []
    parts = (
        (700, ifd.BYTE, origin.xmp),
        (34675, ifd.UNDEFINED, origin.icc),
        (34377, ifd.BYTE, origin.photoshop),
    )
    entries += [ifd.Entry(tag, kind, len(value), value) for tag, kind, value in parts if value]
    if origin.dpi:
        for tag, value in zip((282, 283), origin.dpi, strict=True):
            entries.append(ifd.integers(tag, ifd.RATIONAL, [round(value * 10000), 10000], order))
        entries.append(ifd.integers(296, ifd.SHORT, [2], order))
    return entries


def _stored(
    samples: NDArray[Any], rows_each: int, ends: list[int], order: str, compressed: bool
) -> list[ifd.Entry]:
    height, width = samples.shape[:2]
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    colours = 3 if channels > 2 else 1
    shorts = {
        258: [8 * samples.dtype.itemsize] * channels,
        259: [_DEFLATE if compressed else _NONE],
        262: [2 if colours == 3 else 1],
        exif.ORIENTATION: [1],
        277: [channels],
        284: [1],
        **({317: [2]} if compressed else {}),
        **({338: [2]} if channels > colours else {}),
    }
    longs = {
        256: [width],
        257: [height],
        273: ends[:-1],
        278: [rows_each],
        279: np.diff(ends).tolist(),
    }
    entries = [ifd.integers(tag, ifd.SHORT, values, order) for tag, values in shorts.items()]
    return entries + [ifd.integers(tag, ifd.LONG, values, order) for tag, values in longs.items()]
