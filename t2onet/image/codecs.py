"""Codecs beyond Pillow's: 16-bit PNG, TIFF with planes or 16 bits, HEIC."""

from __future__ import annotations

import io
import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageFile

from ..errors import ImageError, OutputError
from . import exif, metadata
from .photo import Image, Origin
from .pixels import split_alpha
from .structure import check_pixel_count

# Sixteen bits out of Pillow, which decodes deep RGB to eight.
#
# Its raw modes "...;16B" and "...;16L" each keep one byte of every sample. Decoding twice, once with the byte
# order the file has and once with the opposite, gives the high and the low bytes. Knows nothing of metadata.

_DEEP_RAW_MODES = {"RGB;16", "RGBA;16", "RGBa;16", "RGBX;16"}
_OPPOSITE_ORDER = {"B": "L", "L": "B", "N": "B" if sys.byteorder == "little" else "L"}


def is_deep(file: ImageFile.ImageFile) -> bool:
    """Whether the file has more than eight bits a colour sample, which Pillow would cut off."""
    return any(";16" in _get_raw_mode(tile) for tile in file.tile) and not file.mode.startswith("I")


def decode_sixteen_bit(
    file: ImageFile.ImageFile, open_again: Callable[[], ImageFile.ImageFile]
) -> NDArray[np.uint16] | None:
    """The file's samples, (H, W, 2, 3 or 4) uint16 with alpha last; None where the trick does not apply."""
    modes = {_get_raw_mode(tile) for tile in file.tile}
    if modes == {"LA;16B"}:
        # Two big-endian samples are four bytes, just what Pillow calls RGBA.
        return _load_by_raw_mode(file, lambda _: "RGBA").view(">u2").astype(np.uint16)
    if not all(mode[:-1] in _DEEP_RAW_MODES for mode in modes):
        return None
    high = _load_by_raw_mode(file, _to_straight_alpha_mode)
    low = _load_by_raw_mode(
        open_again(), lambda mode: _to_straight_alpha_mode(mode[:-1] + _OPPOSITE_ORDER[mode[-1]])
    )
    deep = high.astype(np.uint16) << np.uint16(8) | low
    return unpremultiply(deep) if modes.pop().startswith("RGBa") else deep


def _load_by_raw_mode(file: ImageFile.ImageFile, rename: Callable[[str], str]) -> NDArray[np.uint8]:
    file.tile = [_replace_raw_mode(tile, rename(_get_raw_mode(tile))) for tile in file.tile]
    return np.ascontiguousarray(np.asarray(file))


def _get_raw_mode(tile: Any) -> str:
    args = tile.args[0] if isinstance(tile.args, tuple) and tile.args else tile.args
    return args if isinstance(args, str) else ""


def _replace_raw_mode(tile: Any, mode: str) -> Any:
    return tile._replace(args=(mode, *tile.args[1:]) if isinstance(tile.args, tuple) else mode)


def _to_straight_alpha_mode(mode: str) -> str:
    return mode.replace("RGBa", "RGBA")


def unpremultiply(deep: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """(H, W, 4) whose colours were multiplied by alpha -> the colours themselves, and alpha."""
    alpha = np.maximum(deep[..., 3:].astype(np.uint32), 1)
    colour = np.minimum((deep[..., :3].astype(np.uint64) * 65535 + alpha // 2) // alpha, 65535)
    return np.concatenate([colour.astype(np.uint16), deep[..., 3:]], axis=-1)


# Deep TIFF files whose channels lie one after the other, which Pillow mixes up.
#
# Every plane is opened as a gray file of its own: the same bytes behind a new directory.

_BITS, _PHOTOMETRIC, _CHANNELS, _PLANAR, _EXTRA_SAMPLES = 258, 262, 277, 284, 338
# Size, compression, bit order, rows of a strip, predictor and size of a tile are those of every plane.
_SHARED_TAGS = (256, 257, 259, 266, 278, 317, 322, 323)
_PER_PLANE_TAGS = (273, 279, 324, 325)
_PHOTOMETRIC_RGB, _EXTRA_UNUSED, _EXTRA_PREMULTIPLIED = 2, 0, 1
_MAX_CHANNELS = 6
"""As many as Pillow reads."""


def has_separate_planes(file: ImageFile.ImageFile) -> bool:
    """Whether the file is a TIFF of several deep channels, one after the other."""
    tags: dict[int, Any] = getattr(file, "tag_v2", {})
    return tags.get(_PLANAR) == 2 and tags.get(_CHANNELS, 1) > 1 and max(tags.get(_BITS, (8,))) > 8


def decode_planes(data: bytes, open_file: Callable[[bytes], ImageFile.ImageFile]) -> NDArray[np.uint16]:
    """The samples of such a file, (H, W, 3 or 4) uint16 with alpha last."""
    order = exif.read_byte_order(data)
    entries = exif.read_first_directory(data).entries
    if exif.read_integer(entries.get(_PHOTOMETRIC), order) != _PHOTOMETRIC_RGB:
        raise ImageError("its deep channels lie one after the other and are not RGB; save it as RGB")
    samples = np.dstack([np.asarray(open_file(plane)) for plane in _split_planes(data, entries, order)])
    extra = exif.read_integer(entries.get(_EXTRA_SAMPLES), order)
    samples = samples[..., : 3 if extra == _EXTRA_UNUSED else 4].astype(np.uint16)
    return unpremultiply(samples) if extra == _EXTRA_PREMULTIPLIED else samples


def _split_planes(data: bytes, entries: dict[int, exif.TiffEntry], order: str) -> Iterator[bytes]:
    """A gray TIFF file for every plane."""
    count = min(exif.read_integer(entries.get(_CHANNELS), order) or 1, _MAX_CHANNELS)
    start = len(data) + len(data) % 2
    head = (
        data[:4]
        + exif.make_integer_entry(0, exif.LONG, [start], order).value
        + data[8:].ljust(start - 8, b"\0")
    )
    gray = {_BITS: 16, _PHOTOMETRIC: 1, _CHANNELS: 1, _PLANAR: 1}
    for index in range(count):
        own = [entries[tag] for tag in _SHARED_TAGS if tag in entries]
        own += [_select_plane(entries[tag], index, count) for tag in _PER_PLANE_TAGS if tag in entries]
        own += [exif.make_integer_entry(tag, exif.SHORT, [value], order) for tag, value in gray.items()]
        yield head + exif.pack_directory(own, start, order)


def _select_plane(entry: exif.TiffEntry, index: int, count: int) -> exif.TiffEntry:
    size = len(entry.value) // count
    value = entry.value[index * size : (index + 1) * size]
    return entry._replace(length=entry.length // count, value=value)


# PNG files: their metadata chunks, and an encoder for 16 bits, which Pillow does not write in colour.
#
# Rows are compressed in blocks on several threads; the blocks make one ordinary zlib stream.

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER_END = len(_PNG_SIGNATURE) + 25
_PNG_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_PNG_BLOCK_BYTES = 1 << 20
_PNG_COMPRESSION_LEVEL = 6
_PNG_SUB_FILTER = 1


def insert_png_metadata(png: bytes, origin: Origin) -> bytes:
    """The PNG file with what travels along, right behind its header."""
    return png[:_PNG_HEADER_END] + b"".join(_make_metadata_chunks(origin)) + png[_PNG_HEADER_END:]


def encode_png(samples: NDArray[np.uint16]) -> bytes:
    """(H, W) or (H, W, 2..4) uint16 -> a PNG file without metadata."""
    height, width = samples.shape[:2]
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    header = struct.pack(">LLBBBBB", width, height, 16, _PNG_COLOUR_TYPES[channels], 0, 0, 0)
    data = b"".join(
        _make_png_chunk(b"IDAT", part) for part in _compress_rows(samples.reshape(height, -1), 2 * channels)
    )
    return _PNG_SIGNATURE + _make_png_chunk(b"IHDR", header) + data + _make_png_chunk(b"IEND", b"")


def _make_png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(data, zlib.crc32(name)))


def _make_metadata_chunks(origin: Origin) -> Iterator[bytes]:
    if origin.icc:
        yield _make_png_chunk(b"iCCP", b"ICC Profile\0\0" + zlib.compress(origin.icc))
    if origin.dpi:
        across, down = (round(value / 0.0254) for value in origin.dpi)
        yield _make_png_chunk(b"pHYs", struct.pack(">LLB", across, down, 1))
    if origin.exif:
        yield _make_png_chunk(b"eXIf", origin.exif)
    if origin.xmp:
        yield _make_png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + origin.xmp)
    for key, value in origin.text:
        yield _make_text_chunk(key.encode("latin-1"), value)


def _make_text_chunk(key: bytes, value: str) -> bytes:
    try:
        return _make_png_chunk(b"tEXt", key + b"\0" + value.encode("latin-1"))
    except UnicodeEncodeError:
        return _make_png_chunk(b"iTXt", key + b"\0\0\0\0\0" + value.encode())


def _compress_rows(rows: NDArray[Any], stride: int) -> Iterator[bytes]:
    """The zlib stream of the filtered rows, in parts."""
    step = max(1, _PNG_BLOCK_BYTES // (2 * rows.shape[1]))
    starts = range(0, len(rows), step)
    checksum = 1
    yield b"\x78\x9c"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        work = pool.map(
            lambda start: _compress_block(rows[start : start + step], stride, start + step >= len(rows)),
            starts,
        )
        for filtered, packed in work:
            checksum = zlib.adler32(filtered, checksum)
            yield packed
    yield struct.pack(">L", checksum)


def _compress_block(rows: NDArray[Any], stride: int, last: bool) -> tuple[bytes, bytes]:
    """Some rows, filtered and deflated so that the next block's stream may follow."""
    samples = np.ascontiguousarray(rows, dtype=">u2").view(np.uint8)
    filtered = np.empty((len(rows), 1 + samples.shape[1]), np.uint8)
    filtered[:, 0] = _PNG_SUB_FILTER
    filtered[:, 1 : 1 + stride] = samples[:, :stride]
    np.subtract(samples[:, stride:], samples[:, :-stride], out=filtered[:, 1 + stride :])
    deflate = zlib.compressobj(_PNG_COMPRESSION_LEVEL, wbits=-15)
    plain = filtered.tobytes()
    return plain, deflate.compress(plain) + deflate.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)


# TIFF files of 8 and 16 bits: deflated strips with horizontal differences, and the photo's metadata.
#
# The EXIF block is itself a TIFF structure, so the file begins with it, byte for byte: every offset in it,
# also
# those inside a maker note, stays true. A new first directory behind the pixels takes over its entries.

_TIFF_STRIP_BYTES = 1 << 19
_TIFF_COMPRESSION_LEVEL = 6
_TIFF_DEFLATE, _TIFF_UNCOMPRESSED = 8, 1


def encode_tiff(samples: NDArray[Any], origin: Origin) -> bytes:
    """(H, W) or (H, W, 2..4), uint8 or uint16 -> a TIFF file."""
    base = origin.exif or b"II*\0\0\0\0\0"
    order = exif.read_byte_order(base)
    rows_each = max(1, _TIFF_STRIP_BYTES // samples[0].nbytes)
    strips = _make_strips(samples, rows_each, order, origin.compressed)
    ends = np.cumsum([len(base), *map(len, strips)]).tolist()
    if ends[-1] > 2**32 - 2**20:
        raise OutputError("a TIFF file holds at most 4 GB; use .png")
    start = ends[-1] + ends[-1] % 2
    entries = {entry.tag: entry for entry in _make_description_entries(base, origin, order)}
    entries |= {
        entry.tag: entry
        for entry in _make_storage_entries(samples, rows_each, ends, order, origin.compressed)
    }
    padding = b"\0" * (start - ends[-1])
    head = base[:2] + struct.pack(order + "HL", 42, start) + base[8:]
    return b"".join([head, *strips, padding, exif.pack_directory(entries.values(), start, order)])


def _make_strips(samples: NDArray[Any], rows_each: int, order: str, compressed: bool) -> list[bytes]:
    def strip(start: int) -> bytes:
        rows = samples[start : start + rows_each]
        stored = rows.dtype.newbyteorder(order)  # type: ignore[arg-type]
        if not compressed:
            return rows.astype(stored).tobytes()
        return zlib.compress(
            _subtract_left_neighbours(rows).astype(stored).tobytes(), _TIFF_COMPRESSION_LEVEL
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(strip, range(0, len(samples), rows_each)))


def _subtract_left_neighbours(rows: NDArray[Any]) -> NDArray[Any]:
    """Each pixel less its left neighbour, modulo the depth."""
    differences = rows.copy()
    differences[:, 1:] -= rows[:, :-1]
    return differences


def _make_description_entries(base: bytes, origin: Origin, order: str) -> list[exif.TiffEntry]:
    entries = exif.list_descriptive_entries(base) if origin.exif else []
    parts = (
        (700, exif.BYTE, origin.xmp),
        (34675, exif.UNDEFINED, origin.icc),
        (34377, exif.BYTE, origin.photoshop),
    )
    entries += [exif.TiffEntry(tag, kind, len(value), value) for tag, kind, value in parts if value]
    if origin.dpi:
        for tag, value in zip((282, 283), origin.dpi, strict=True):
            entries.append(exif.make_integer_entry(tag, exif.RATIONAL, [round(value * 10000), 10000], order))
        entries.append(exif.make_integer_entry(296, exif.SHORT, [2], order))
    return entries


def _make_storage_entries(
    samples: NDArray[Any], rows_each: int, ends: list[int], order: str, compressed: bool
) -> list[exif.TiffEntry]:
    height, width = samples.shape[:2]
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    colours = 3 if channels > 2 else 1
    shorts = {
        258: [8 * samples.dtype.itemsize] * channels,
        259: [_TIFF_DEFLATE if compressed else _TIFF_UNCOMPRESSED],
        262: [2 if colours == 3 else 1],
        exif.ORIENTATION_TAG: [1],
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
    entries = [exif.make_integer_entry(tag, exif.SHORT, values, order) for tag, values in shorts.items()]
    return entries + [exif.make_integer_entry(tag, exif.LONG, values, order) for tag, values in longs.items()]


# HEIC photos through pillow-heif, an extra. Takes and gives bytes, knows no paths.

_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs")
_CONTAINER_BRANDS = (b"mif1", b"msf1")


def is_heic(data: bytes) -> bool:
    """Whether the bytes begin as a HEIC file does."""
    if data[4:8] != b"ftyp":
        return False
    brands = data[8 : max(12, int.from_bytes(data[:4], "big"))]
    return data[8:12] in _HEIC_BRANDS or (data[8:12] in _CONTAINER_BRANDS and b"avif" not in brands[:256])


def read_heic(data: bytes, max_pixels: float | None = None) -> Image:
    """The primary photo. libheif has turned it already, so its EXIF orientation is not applied again."""
    heif: Any = _import_pillow_heif().open_heif(io.BytesIO(data), convert_hdr_to_8bit=False)
    width, height = heif.size
    check_pixel_count(width, height, max_pixels)
    # A copy: some versions of pillow-heif free the pixels with the file.
    samples = _expand_to_full_range(np.array(heif, copy=True), int(heif.info.get("bit_depth", 8)))
    gray = samples.ndim == 2 or samples.shape[2] < 3
    if gray:
        samples = np.atleast_3d(samples)
        samples = np.concatenate([samples[..., :1]] * 3 + [samples[..., 1:2]], axis=-1)
    pixels, alpha = split_alpha(np.ascontiguousarray(samples))
    found = metadata.read_exif(heif.info.get("exif"))
    packet = metadata.read_xmp(heif.info.get("xmp"))
    origin = Origin(
        format="HEIC",
        bits=8 * pixels.dtype.itemsize,
        gray=gray,
        exif=found.block,
        icc=heif.info.get("icc_profile"),
        xmp=packet.packet,
        encoded=data,
    )
    return Image(pixels, alpha, origin, (*found.notes, *packet.notes, *_describe_heic_losses(heif, data)))


def encode_heic(picture: PIL.Image.Image, *, quality: int, **parts: Any) -> bytes:
    """The picture as HEIC, 8 bit; `parts` are exif, xmp and icc_profile."""
    library = _import_pillow_heif()
    picture.info = {}
    file = library.from_pillow(picture)
    if parts.get("icc_profile"):
        file[0].info.update(icc_profile=parts.pop("icc_profile"), icc_profile_type="prof")
    output = io.BytesIO()
    file.save(output, quality=quality, chroma=444, **{key: value for key, value in parts.items() if value})
    return output.getvalue()


def _import_pillow_heif() -> Any:
    import pillow_heif

    return pillow_heif


def _expand_to_full_range(samples: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    # Deep samples come shifted up; repeating their leading bits below makes white 65535.
    return samples | samples >> bits if samples.dtype == np.uint16 and bits < 16 else samples


def _describe_heic_losses(heif: Any, data: bytes) -> list[str]:
    kinds = [str(kind) for kind in heif.info.get("aux", {})]
    gain_map = metadata.declares_gain_map(data) or any("hdrgainmap" in kind for kind in kinds)
    notes = [metadata.GAIN_MAP_NOTE] if gain_map else []
    if not heif.info.get("icc_profile"):
        notes.extend(metadata.describe_colour_space_loss(data))
    if heif.info.get("depth_images"):
        notes.append("the depth map cannot be kept")
    extra = len(heif) - 1
    if extra:
        notes.append(metadata.describe_left_out_pictures(extra, "frame"))
    return notes
