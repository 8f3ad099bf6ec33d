"""Codecs beyond Pillow's: 16-bit RGB, TIFF with separate planes, 16-bit PNG and TIFF files, HEIC.

Written by hand because Pillow reads RGB at 8 bits only and writes no 16-bit RGB. Bytes in and out, no paths.
"""

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
from . import metadata, tiff
from .formats import PNG_SIGNATURE, check_pixel_count
from .photo import Image, Origin, to_picture
from .pixels import allocate_padded, split_alpha
from .tiff import Tag

_DEEP_RAW_MODES = {"RGB;16", "RGBA;16", "RGBa;16", "RGBX;16"}
_OPPOSITE_ORDER = {"B": "L", "L": "B", "N": "B" if sys.byteorder == "little" else "L"}

_SHARED_TAGS = (
    *(Tag.WIDTH, Tag.HEIGHT, Tag.COMPRESSION, Tag.FILL_ORDER, Tag.ROWS_PER_STRIP),
    *(Tag.PREDICTOR, Tag.TILE_WIDTH, Tag.TILE_HEIGHT),
)
_PER_PLANE_TAGS = (Tag.STRIP_OFFSETS, Tag.STRIP_BYTE_COUNTS, Tag.TILE_OFFSETS, Tag.TILE_BYTE_COUNTS)
_PHOTOMETRIC_RGB, _EXTRA_UNUSED, _EXTRA_PREMULTIPLIED = 2, 0, 1
_MAX_CHANNELS = 6
"""The most channels that Pillow reads."""

_PNG_HEADER_END = len(PNG_SIGNATURE) + 25
_PNG_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_PNG_BLOCK_BYTES = 1 << 20
_PNG_COMPRESSION_LEVEL = 6
_PNG_SUB_FILTER = 1

_TIFF_STRIP_BYTES = 1 << 19
_TIFF_COMPRESSION_LEVEL = 6
_TIFF_DEFLATE, _TIFF_UNCOMPRESSED = 8, 1


def count_cores() -> int:
    """The number of CPU cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def decode_jpeg(file: ImageFile.ImageFile, size: int) -> NDArray[np.uint8] | None:
    """The pixels of an RGB JPEG of `size` bytes; None for other files, which may have been loaded.

    Pillow decodes into the array's memory, which saves a copy. It takes all bytes at once: for every block it
    reads, it would wait for the interpreter lock.
    """
    if file.mode != "RGB" or [tile[0] for tile in file.tile] != ["jpeg"]:
        return None
    pixels = allocate_padded(file.height, file.width)
    memory = to_picture(pixels).im
    file.im = memory
    file.decodermaxblock = max(file.decodermaxblock, size)
    file.load()
    return pixels if file.im is memory else None


def is_deep(file: ImageFile.ImageFile) -> bool:
    """Whether the file has more than eight bits per colour sample, which Pillow would cut off."""
    return any(";16" in _get_raw_mode(tile) for tile in file.tile) and not file.mode.startswith("I")


def decode_sixteen_bit(
    file: ImageFile.ImageFile, open_again: Callable[[], ImageFile.ImageFile]
) -> NDArray[np.uint16] | None:
    """The file's samples, (H, W, 2..4) uint16 with alpha last; None if this does not apply.

    Pillow decodes deep RGB to eight bits: its raw modes "...;16B" and "...;16L" each keep one byte of every
    sample. Decoding with the file's byte order, then with the opposite, gives the high and the low bytes.
    """
    modes = {_get_raw_mode(tile) for tile in file.tile}
    if modes == {"LA;16B"}:
        # Two big-endian samples are four bytes, which Pillow reads as RGBA.
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
    """Divide the colours of (H, W, 4) by alpha."""
    alpha = np.maximum(deep[..., 3:].astype(np.uint32), 1)
    colour = np.minimum((deep[..., :3].astype(np.uint64) * 65535 + alpha // 2) // alpha, 65535)
    return np.concatenate([colour.astype(np.uint16), deep[..., 3:]], axis=-1)


def has_separate_planes(file: ImageFile.ImageFile) -> bool:
    """Whether the file is a TIFF that stores several deep channels one after the other."""
    tags: dict[int, Any] = getattr(file, "tag_v2", {})
    return (
        tags.get(Tag.PLANAR_CONFIGURATION) == 2
        and tags.get(Tag.SAMPLES_PER_PIXEL, 1) > 1
        and max(tags.get(Tag.BITS_PER_SAMPLE, (8,))) > 8
    )


def decode_planes(data: bytes, open_file: Callable[[bytes], ImageFile.ImageFile]) -> NDArray[np.uint16]:
    """The samples of such a file, (H, W, 3 or 4) uint16 with alpha last; Pillow would mix up the planes."""
    order = tiff.read_byte_order(data)
    entries = tiff.read_first_directory(data).entries
    if tiff.read_integer(entries.get(Tag.PHOTOMETRIC), order) != _PHOTOMETRIC_RGB:
        raise ImageError("it stores 16-bit channels separately and they are not RGB; save it as RGB")
    samples = np.dstack([np.asarray(open_file(plane)) for plane in _split_planes(data, entries, order)])
    extra = tiff.read_integer(entries.get(Tag.EXTRA_SAMPLES), order)
    samples = samples[..., : 3 if extra == _EXTRA_UNUSED else 4].astype(np.uint16)
    return unpremultiply(samples) if extra == _EXTRA_PREMULTIPLIED else samples


def _split_planes(data: bytes, entries: dict[int, tiff.TiffEntry], order: str) -> Iterator[bytes]:
    """A gray TIFF file for each plane: the same bytes, followed by a new directory."""
    count = min(tiff.read_integer(entries.get(Tag.SAMPLES_PER_PIXEL), order) or 1, _MAX_CHANNELS)
    start = len(data) + len(data) % 2
    head = (
        data[:4]
        + tiff.make_integer_entry(0, tiff.LONG, [start], order).value
        + data[8:].ljust(start - 8, b"\0")
    )
    gray = {
        Tag.BITS_PER_SAMPLE: 16,
        Tag.PHOTOMETRIC: 1,
        Tag.SAMPLES_PER_PIXEL: 1,
        Tag.PLANAR_CONFIGURATION: 1,
    }
    for index in range(count):
        own = [entries[tag] for tag in _SHARED_TAGS if tag in entries]
        own += [_select_plane(entries[tag], index, count) for tag in _PER_PLANE_TAGS if tag in entries]
        own += [tiff.make_integer_entry(tag, tiff.SHORT, [value], order) for tag, value in gray.items()]
        yield head + tiff.pack_directory(own, start, order)


def _select_plane(entry: tiff.TiffEntry, index: int, count: int) -> tiff.TiffEntry:
    size = len(entry.value) // count
    value = entry.value[index * size : (index + 1) * size]
    return entry._replace(length=entry.length // count, value=value)


def insert_png_metadata(png: bytes, origin: Origin) -> bytes:
    """Insert the metadata of `origin` after the header of a PNG file."""
    return png[:_PNG_HEADER_END] + b"".join(_make_metadata_chunks(origin)) + png[_PNG_HEADER_END:]


def encode_png(samples: NDArray[np.uint16]) -> bytes:
    """Encode (H, W) or (H, W, 2..4) uint16 as a PNG file without metadata."""
    height, width = samples.shape[:2]
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    header = struct.pack(">LLBBBBB", width, height, 16, _PNG_COLOUR_TYPES[channels], 0, 0, 0)
    data = b"".join(
        _make_png_chunk(b"IDAT", part) for part in _compress_rows(samples.reshape(height, -1), 2 * channels)
    )
    return PNG_SIGNATURE + _make_png_chunk(b"IHDR", header) + data + _make_png_chunk(b"IEND", b"")


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
    """Filter and compress rows, in blocks on several threads that together form one zlib stream."""
    step = max(1, _PNG_BLOCK_BYTES // (2 * rows.shape[1]))
    starts = range(0, len(rows), step)
    checksum = 1
    yield b"\x78\x9c"
    with ThreadPoolExecutor(count_cores()) as pool:
        work = pool.map(
            lambda start: _compress_block(rows[start : start + step], stride, start + step >= len(rows)),
            starts,
        )
        for filtered, packed in work:
            checksum = zlib.adler32(filtered, checksum)
            yield packed
    yield struct.pack(">L", checksum)


def _compress_block(rows: NDArray[Any], stride: int, last: bool) -> tuple[bytes, bytes]:
    """The filtered rows, and their deflated bytes, which the next block's can follow."""
    samples = np.ascontiguousarray(rows, dtype=">u2").view(np.uint8)
    filtered = np.empty((len(rows), 1 + samples.shape[1]), np.uint8)
    filtered[:, 0] = _PNG_SUB_FILTER
    filtered[:, 1 : 1 + stride] = samples[:, :stride]
    np.subtract(samples[:, stride:], samples[:, :-stride], out=filtered[:, 1 + stride :])
    deflate = zlib.compressobj(_PNG_COMPRESSION_LEVEL, wbits=-15)
    plain = filtered.tobytes()
    return plain, deflate.compress(plain) + deflate.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)


def encode_tiff(samples: NDArray[Any], origin: Origin) -> bytes:
    """Encode (H, W) or (H, W, 2..4), uint8 or uint16, as a TIFF file with the metadata of `origin`.

    An EXIF block is a TIFF structure, so the file begins with it, byte for byte: every offset in it, also in
    a maker note, stays valid. A new first directory, after the pixels, takes over its entries.
    """
    base = origin.exif or b"II*\0\0\0\0\0"
    order = tiff.read_byte_order(base)
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
    return b"".join([head, *strips, padding, tiff.pack_directory(entries.values(), start, order)])


def _make_strips(samples: NDArray[Any], rows_each: int, order: str, compressed: bool) -> list[bytes]:
    def strip(start: int) -> bytes:
        rows = samples[start : start + rows_each]
        stored = rows.dtype.newbyteorder(order)  # type: ignore[arg-type]
        if not compressed:
            return rows.astype(stored).tobytes()
        return zlib.compress(
            _subtract_left_neighbours(rows).astype(stored).tobytes(), _TIFF_COMPRESSION_LEVEL
        )

    with ThreadPoolExecutor(count_cores()) as pool:
        return list(pool.map(strip, range(0, len(samples), rows_each)))


def _subtract_left_neighbours(rows: NDArray[Any]) -> NDArray[Any]:
    """The horizontal predictor: each pixel minus its left neighbour, modulo the depth."""
    differences = rows.copy()
    differences[:, 1:] -= rows[:, :-1]
    return differences


def _make_description_entries(base: bytes, origin: Origin, order: str) -> list[tiff.TiffEntry]:
    entries = metadata.list_descriptive_entries(base) if origin.exif else []
    parts = (
        (Tag.XMP, tiff.BYTE, origin.xmp),
        (Tag.ICC_PROFILE, tiff.UNDEFINED, origin.icc),
        (Tag.PHOTOSHOP, tiff.BYTE, origin.photoshop),
    )
    entries += [tiff.TiffEntry(tag, kind, len(value), value) for tag, kind, value in parts if value]
    if origin.dpi:
        for tag, value in zip((Tag.X_RESOLUTION, Tag.Y_RESOLUTION), origin.dpi, strict=True):
            entries.append(tiff.make_integer_entry(tag, tiff.RATIONAL, [round(value * 10000), 10000], order))
        entries.append(tiff.make_integer_entry(Tag.RESOLUTION_UNIT, tiff.SHORT, [2], order))
    return entries


def _make_storage_entries(
    samples: NDArray[Any], rows_each: int, ends: list[int], order: str, compressed: bool
) -> list[tiff.TiffEntry]:
    height, width = samples.shape[:2]
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    colours = 3 if channels > 2 else 1
    shorts = {
        Tag.BITS_PER_SAMPLE: [8 * samples.dtype.itemsize] * channels,
        Tag.COMPRESSION: [_TIFF_DEFLATE if compressed else _TIFF_UNCOMPRESSED],
        Tag.PHOTOMETRIC: [2 if colours == 3 else 1],
        Tag.ORIENTATION: [1],
        Tag.SAMPLES_PER_PIXEL: [channels],
        Tag.PLANAR_CONFIGURATION: [1],
        **({Tag.PREDICTOR: [2]} if compressed else {}),
        **({Tag.EXTRA_SAMPLES: [2]} if channels > colours else {}),
    }
    longs = {
        Tag.WIDTH: [width],
        Tag.HEIGHT: [height],
        Tag.STRIP_OFFSETS: ends[:-1],
        Tag.ROWS_PER_STRIP: [rows_each],
        Tag.STRIP_BYTE_COUNTS: np.diff(ends).tolist(),
    }
    entries = [tiff.make_integer_entry(tag, tiff.SHORT, values, order) for tag, values in shorts.items()]
    return entries + [tiff.make_integer_entry(tag, tiff.LONG, values, order) for tag, values in longs.items()]


def read_heic(data: bytes, max_pixels: float | None = None) -> Image:
    """Decode the primary photo. libheif has applied the EXIF orientation already."""
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
    exif = metadata.read_exif(heif.info.get("exif"))
    xmp = metadata.read_xmp(heif.info.get("xmp"))
    origin = Origin(
        format="HEIC",
        bits=8 * pixels.dtype.itemsize,
        gray=gray,
        exif=exif.block,
        icc=heif.info.get("icc_profile"),
        xmp=xmp.packet,
        encoded=data,
    )
    return Image(pixels, alpha, origin, (*exif.notes, *xmp.notes, *_describe_heic_losses(heif, data)))


def encode_heic(picture: PIL.Image.Image, *, quality: int, **metadata_parts: Any) -> bytes:
    """Encode a picture as 8-bit HEIC; `metadata_parts` are exif, xmp and icc_profile."""
    library = _import_pillow_heif()
    picture.info = {}
    file = library.from_pillow(picture)
    if profile := metadata_parts.pop("icc_profile", None):
        file[0].info.update(icc_profile=profile, icc_profile_type="prof")
    output = io.BytesIO()
    given = {name: value for name, value in metadata_parts.items() if value}
    file.save(output, quality=quality, chroma=444, **given)
    return output.getvalue()


def _import_pillow_heif() -> Any:
    import pillow_heif

    return pillow_heif


def _expand_to_full_range(samples: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    # Deep samples are shifted up; repeating their leading bits below makes white 65535.
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
