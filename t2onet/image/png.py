"""PNG files: their metadata chunks, and an encoder for 16 bits, which Pillow does not write in colour.

Rows are compressed in blocks on several threads; the blocks make one ordinary zlib stream.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Origin

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_AFTER_HEADER = len(_SIGNATURE) + 25
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_BLOCK = 1 << 20
_LEVEL = 6
_SUB = 1


def with_metadata(png: bytes, origin: Origin) -> bytes:
    """The PNG file with what travels along, right behind its header."""
    return png[:_AFTER_HEADER] + b"".join(_metadata(origin)) + png[_AFTER_HEADER:]


def encode(samples: NDArray[np.uint16]) -> bytes:
    """(H, W) or (H, W, 2..4) uint16 -> a PNG file without metadata."""
    height, width = samples.shape[:2]
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    header = struct.pack(">LLBBBBB", width, height, 16, _COLOUR_TYPES[channels], 0, 0, 0)
    data = b"".join(_chunk(b"IDAT", part) for part in _compressed(samples.reshape(height, -1), 2 * channels))
    return _SIGNATURE + _chunk(b"IHDR", header) + data + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(data, zlib.crc32(name)))


def _metadata(origin: Origin) -> Iterator[bytes]:
    if origin.icc:
        yield _chunk(b"iCCP", b"ICC Profile\0\0" + zlib.compress(origin.icc))
    if origin.dpi:
        across, down = (round(value / 0.0254) for value in origin.dpi)
        yield _chunk(b"pHYs", struct.pack(">LLB", across, down, 1))
    if origin.exif:
        yield _chunk(b"eXIf", origin.exif)
    if origin.xmp:
        yield _chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + origin.xmp)
    for key, value in origin.text:
        yield _text(key.encode("latin-1"), value)


def _text(key: bytes, value: str) -> bytes:
    try:
        return _chunk(b"tEXt", key + b"\0" + value.encode("latin-1"))
    except UnicodeEncodeError:
        return _chunk(b"iTXt", key + b"\0\0\0\0\0" + value.encode())


def _compressed(rows: NDArray[Any], stride: int) -> Iterator[bytes]:
    """The zlib stream of the filtered rows, in parts."""
    step = max(1, _BLOCK // (2 * rows.shape[1]))
    starts = range(0, len(rows), step)
    checksum = 1
    yield b"\x78\x9c"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        work = pool.map(
            lambda start: _block(rows[start : start + step], stride, start + step >= len(rows)), starts
        )
        for filtered, packed in work:
            checksum = zlib.adler32(filtered, checksum)
            yield packed
    yield struct.pack(">L", checksum)


def _block(rows: NDArray[Any], stride: int, last: bool) -> tuple[bytes, bytes]:
    """Some rows, filtered and deflated so that the next block's stream may follow."""
    samples = np.ascontiguousarray(rows, dtype=">u2").view(np.uint8)
    filtered = np.empty((len(rows), 1 + samples.shape[1]), np.uint8)
    filtered[:, 0] = _SUB
    filtered[:, 1 : 1 + stride] = samples[:, :stride]
    np.subtract(samples[:, stride:], samples[:, :-stride], out=filtered[:, 1 + stride :])
    deflate = zlib.compressobj(_LEVEL, wbits=-15)
    plain = filtered.tobytes()
    return plain, deflate.compress(plain) + deflate.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)
