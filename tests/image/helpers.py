"""Files, EXIF blocks and colour profiles made by hand, for the tests of images."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

MAKER_NOTE = b"MAKER\0\x01\x02\x03 with offsets inside \xff\xfe"


def photo(height: int = 24, width: int = 36, *, channels: int = 3, dtype: Any = np.uint8) -> NDArray[Any]:
    """A smooth picture with no symmetry, so that turning and mirroring it shows; low bytes vary as well."""
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = [
        rows / height,
        columns / width,
        (rows + 2 * columns) / (height + 2 * width),
        1 - rows / height / 2,
    ]
    stack = np.stack(planes[:channels], axis=-1)
    white = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1
    return (stack * white).astype(dtype)


def pillow(path: Path, array: NDArray[Any], **options: Any) -> Path:
    """The array written by Pillow."""
    PIL.Image.fromarray(array).save(path, **options)
    return path


ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def png_file(samples: NDArray[np.uint16], *, filter_type: int = 0, interlaced: bool = False) -> bytes:
    """A 16-bit PNG, (H, W) or (H, W, 2..4), written without our encoder."""
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">LLBBBBB", samples.shape[1], samples.shape[0], 16, colour, 0, 0, interlaced)
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    raw = b"".join(
        _png_rows(samples[top::down, left::right], filter_type) for top, left, down, right in passes
    )
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(raw)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(name, data) for name, data in parts)


def _png_rows(samples: NDArray[np.uint16], filter_type: int) -> bytes:
    rows = np.ascontiguousarray(samples, ">u2").reshape(len(samples), -1).view(np.uint8)
    if filter_type == 2:
        rows = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))
    return np.insert(rows, 0, filter_type, axis=1).tobytes()


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))


def tiff_file(
    samples: NDArray[Any],
    *,
    order: str = "<",
    compression: int = 1,
    alpha: bool = True,
    tags: list[tuple[int, int, bytes]] | None = None,
) -> bytes:
    """A TIFF of one strip, written without our encoder; `tags` are (tag, type, value bytes)."""
    data = samples.astype(samples.dtype.newbyteorder(order)).tobytes()
    data = zlib.compress(data) if compression == 8 else data
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    depth = 8 * samples.dtype.itemsize
    stored = [
        (256, 4, [samples.shape[1]]),
        (257, 4, [samples.shape[0]]),
        (258, 3, [depth] * channels),
        (259, 3, [compression]),
        (262, 3, [1 if channels == 1 else 2]),
        (273, 4, [8]),
        (277, 3, [channels]),
        (278, 4, [samples.shape[0]]),
        (279, 4, [len(data)]),
        *([(338, 3, [2])] if channels == 4 and alpha else []),
    ]
    changed = {tag for tag, _, _ in tags or []}
    packed = [(tag, kind, numbers(kind, values, order)) for tag, kind, values in stored if tag not in changed]
    start = 8 + len(data)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HL", 42, start)
    return head + data + directory(packed + (tags or []), start, order)


def numbers(kind: int, values: list[int], order: str) -> bytes:
    return struct.pack(f"{order}{len(values)}{'H' if kind == 3 else 'L'}", *values)


def directory(entries: list[tuple[int, int, bytes]], start: int, order: str, link: int = 0) -> bytes:
    """A TIFF directory for position `start`, its longer values behind it."""
    sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8}
    entries = sorted(entries)
    table, values = struct.pack(order + "H", len(entries)), b""
    behind = start + 6 + 12 * len(entries)
    for tag, kind, value in entries:
        count = len(value) // sizes[kind]
        inline = value.ljust(4, b"\0") if len(value) <= 4 else numbers(4, [behind + len(values)], order)
        values += b"" if len(value) <= 4 else value
        table += struct.pack(order + "HHL", tag, kind, count) + inline
    return table + numbers(4, [link], order) + values


def exif_block(orientation: int = 1, *, order: str = "<", size: tuple[int, int] = (36, 24)) -> bytes:
    """An EXIF block: Make, orientation, Exif with pixel sizes and a maker note, GPS, and a thumbnail."""
    head = (b"II" if order == "<" else b"MM") + numbers(3, [42], order)
    details = directory(
        [
            (0x9003, 2, b"2024:05:01 10:20:30\0"),
            (0x927C, 7, MAKER_NOTE),
            (0xA002, 4, numbers(4, [size[0]], order)),
            (0xA003, 4, numbers(4, [size[1]], order)),
        ],
        8,
        order,
    )
    gps_at = 8 + len(details)
    gps = directory([(1, 2, b"N\0")], gps_at, order)
    root_at = gps_at + len(gps)
    root = [
        (0x010F, 2, b"Camera Maker\0"),
        (0x0112, 3, numbers(3, [orientation], order)),
        (0x8769, 4, numbers(4, [8], order)),
        (0x8825, 4, numbers(4, [gps_at], order)),
    ]
    thumbnail_at = root_at + len(directory(root, root_at, order))
    body = directory(root, root_at, order, link=thumbnail_at)
    thumbnail = directory([(0x0103, 3, numbers(3, [6], order))], thumbnail_at, order)
    return head + numbers(4, [root_at], order) + details + gps + body + thumbnail


def profile(space: str = "RGB", *, primaries: str = "p3", gamma: float = 2.2) -> bytes:
    """A minimal ICC profile of version 2: a matrix and a gamma for "RGB", a gamma for "GRAY"."""
    colorants = {
        "p3": [(0.5151, 0.2412, -0.0011), (0.2920, 0.6922, 0.0419), (0.1571, 0.0666, 0.7841)],
        "srgb": [(0.4361, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971), (0.1431, 0.0606, 0.7141)],
    }[primaries]
    curve = b"curv\0\0\0\0" + struct.pack(">LH", 1, round(gamma * 256))
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">L", 5) + b"made\0" + b"\0" * 78,
        b"cprt": b"text\0\0\0\0none\0",
        b"wtpt": xyz(0.9642, 1, 0.8249),
    }
    if space == "RGB":
        names = (b"rXYZ", b"gXYZ", b"bXYZ")
        tags |= {name: xyz(*value) for name, value in zip(names, colorants, strict=True)}
        tags |= dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve)
    else:
        tags[b"kTRC"] = curve
    return _assemble_profile(space.ljust(4).encode(), tags)


def xyz(*values: float) -> bytes:
    return b"XYZ \0\0\0\0" + struct.pack(">3l", *(round(value * 65536) for value in values))


def _assemble_profile(space: bytes, tags: dict[bytes, bytes]) -> bytes:
    start = 128 + 4 + 12 * len(tags)
    table, data = struct.pack(">L", len(tags)), b""
    for name, value in tags.items():
        table += name + struct.pack(">LL", start + len(data), len(value))
        data += value + b"\0" * (-len(value) % 4)
    header = struct.pack(">L4sL4s4s4s", start + len(data), b"\0" * 4, 0x02400000, b"mntr", space, b"XYZ ")
    header += struct.pack(">6H4s4sLL4sQL", 2024, 1, 1, 0, 0, 0, b"acsp", b"\0" * 4, 0, 0, b"\0" * 4, 0, 0)
    header += struct.pack(">3l", *(round(value * 65536) for value in (0.9642, 1, 0.8249)))
    return header.ljust(128, b"\0") + table + data


def encode(array: NDArray[Any], name: str, **options: Any) -> bytes:
    """The array in memory, written by Pillow."""
    output = io.BytesIO()
    PIL.Image.fromarray(array).save(output, name, **options)
    return output.getvalue()
