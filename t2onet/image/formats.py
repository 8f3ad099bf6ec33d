"""File formats: suffixes, signatures, limits, and checks of a file's structure before it is decoded.

Decoders build an object for every segment, chunk or block, so a small file can ask for minutes and gigabytes.
The checks take linear time, decode nothing and do not look for damage: they refuse what exceeds the limits
and leave the rest to the decoder. The limits are far above what photos have, and low enough that a small file
within all of them is read in a second or two.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import PIL.Image

from ..errors import ImageError, OutputError
from . import tiff


@dataclass(frozen=True)
class FileFormat:
    """A file format under Pillow's name for it, with its suffixes and what it can hold.

    Files with one of `read_only_suffixes` are read but not written. `longest_side` is in pixels.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    read_only_suffixes: tuple[str, ...] = ()
    alpha: bool = True
    deep: bool = False
    lossy: bool = True
    longest_side: int = 2**31 - 1

    @property
    def label(self) -> str:
        """The name as people write it."""
        return "WebP" if self.name == "WEBP" else self.name


_HEIC = FileFormat("HEIC", (".heic", ".heif", ".hif"))
"""Not Pillow's own: pillow-heif reads and writes it."""
FORMATS = (
    FileFormat("JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), (".mpo",), alpha=False, longest_side=65500),
    FileFormat("PNG", (".png",), (".apng",), deep=True, lossy=False),
    FileFormat("TIFF", (".tif", ".tiff"), deep=True, lossy=False),
    FileFormat("WEBP", (".webp",), longest_side=16383),
    FileFormat("AVIF", (".avif",), longest_side=65536),
    _HEIC,
    FileFormat("GIF", (), (".gif",)),
    FileFormat("BMP", (), (".bmp",)),
)
PILLOW_FORMATS = tuple(format.name for format in FORMATS if format is not _HEIC)
READABLE_NAMES = ", ".join(format.label for format in FORMATS if format is not _HEIC)
"""The formats that are read without an extra, for messages."""

_FORMAT_BY_SUFFIX = {suffix: format for format in FORMATS for suffix in format.suffixes}
_READ_ONLY_SUFFIXES = {suffix: format for format in FORMATS for suffix in format.read_only_suffixes}
WRITABLE_FORMATS = tuple(format for format in FORMATS if format.suffixes)
WRITABLE_SUFFIXES: tuple[str, ...] = tuple(_FORMAT_BY_SUFFIX)
# fmt: off
RAW_SUFFIXES: tuple[str, ...] = (
    ".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dcr", ".dng", ".erf", ".fff", ".iiq", ".kdc", ".mef",
    ".mos", ".mrw", ".nef", ".nrw", ".orf", ".pef", ".raf", ".raw", ".rw2", ".rwl", ".sr2", ".srf",
    ".srw", ".x3f",
)
# fmt: on
READABLE_SUFFIXES: tuple[str, ...] = (*WRITABLE_SUFFIXES, *_READ_ONLY_SUFFIXES, *RAW_SUFFIXES)

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_START = PNG_SIGNATURE[:4]
"""Enough to tell a PNG; whether the rest is intact is the decoder's business."""
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs")
_CONTAINER_BRANDS = (b"mif1", b"msf1")

MIB = 2**20
MAX_SIDE = 1_000_000
"""Pixels: uncompressed rows are gathered piece by piece, and each piece copies the row so far."""
MAX_PAGES = 10_000
"""Pages or frames that are counted; the first is read, the others are left out."""
MAX_SEGMENTS = 10_000
"""Segments of a JPEG file."""
MAX_JUNK_BYTES = MIB // 4
"""Bytes between the segments of a JPEG file, and fill bytes in a row before a marker."""
MAX_SCANS = 32
"""Scans of a progressive JPEG, each over all pixels; ten are usual."""
MAX_CHUNKS = 100_000
"""Chunks of a PNG file."""
MAX_PROFILES = 16
"""Colour profiles of a PNG file, which should have one: each is unpacked."""
MAX_COMMENT_BLOCKS = 4096
"""Comment blocks before the first frame of a GIF."""
MAX_GIF_BLOCKS = 500_000
"""Blocks of a GIF, of up to 255 bytes, that are walked to count its frames."""
MAX_RUN_LENGTH_BYTES = 4 * MIB
"""Size of a run-length encoded BMP, which is decoded run by run."""
MAX_XMP_BYTES = 4 * MIB
"""Size of an XMP packet."""

_RE_SAVE = "re-save it with another program"
_SEARCH_BYTES = 4 * MIB
"""Bytes searched at a time: `re` does not release the interpreter lock."""


class TooLargeError(ImageError):
    """A photo has more pixels than allowed; `size` is its width and height if its header states them."""

    def __init__(self, message: str, size: tuple[int, int] | None) -> None:
        super().__init__(message)
        self.size = size


def has_readable_suffix(name: str | Path) -> bool:
    """Whether a file name ends like a photo that can be read."""
    return Path(name).suffix.lower() in READABLE_SUFFIXES


def choose_output_suffix(source_suffix: str) -> str:
    """The suffix for a result: the source's own if writable, ".tif" for RAW (16 bits), else its format's."""
    suffix = source_suffix.lower()
    if suffix in WRITABLE_SUFFIXES:
        return source_suffix
    if suffix in RAW_SUFFIXES:
        return ".tif"
    format = _READ_ONLY_SUFFIXES.get(suffix)
    return format.suffixes[0] if format and format.suffixes else ".png"


def get_suffixes(name: str | None) -> tuple[str, ...]:
    """The suffixes to write a format of that name under, the usual one first; none if it is not written."""
    return next((format.suffixes for format in FORMATS if format.name == name), ())


def get_output_format(path: Path) -> FileFormat:
    """The format that the path's suffix asks for."""
    suffix = path.suffix.lower()
    if suffix in _FORMAT_BY_SUFFIX:
        return _FORMAT_BY_SUFFIX[suffix]
    near = difflib.get_close_matches(suffix, WRITABLE_SUFFIXES, n=1)
    hint = f"did you mean {path.stem}{near[0]}? Otherwise " if near else ""
    given = f"has the suffix {path.suffix}" if suffix else "has no suffix"
    raise OutputError(
        f"{path} {given}, so the format to write is not known; "
        f"{hint}use one of {', '.join(WRITABLE_SUFFIXES)}."
    )


def is_png(data: bytes) -> bool:
    """Whether the bytes begin like a PNG file, whatever follows."""
    return data.startswith(_PNG_START)


def is_iso_media(data: bytes) -> bool:
    """Whether the bytes begin like an ISO base media file, as HEIC and AVIF do."""
    return data[4:8] == b"ftyp"


def is_heic(data: bytes) -> bool:
    """Whether the bytes begin like a HEIC file."""
    if not is_iso_media(data):
        return False
    brands = data[8 : max(12, int.from_bytes(data[:4], "big"))]
    return data[8:12] in _HEIC_BRANDS or (data[8:12] in _CONTAINER_BRANDS and b"avif" not in brands[:256])


def has_known_signature(data: bytes) -> bool:
    """Whether the bytes begin like one of the formats, whatever follows."""
    starts = (b"\xff\xd8\xff", _PNG_START, *tiff.SIGNATURES, b"GIF8", b"BM")
    return data.startswith(starts) or data[8:12] == b"WEBP" or is_iso_media(data)


def check_pixel_count(width: int, height: int, max_pixels: float | None = None) -> None:
    """Raise a TooLargeError beyond Pillow's limit or `max_pixels`; some readers do not ask Pillow."""
    if width * height > min(_get_pixel_limit(), math.inf if max_pixels is None else max_pixels):
        raise TooLargeError(f"{width} x {height} pixels", (width, height))


def format_allowed_megapixels() -> str:
    """The limit on pixels, in megapixels."""
    return format_megapixels(_get_pixel_limit())


def format_megapixels(pixels: float) -> str:
    """A number of pixels in megapixels, rounded up: "179", "0.52"."""
    millions = pixels / 1e6
    return str(math.ceil(millions)) if millions >= 10 else f"{math.ceil(millions * 1000) / 1000:g}"


def _get_pixel_limit() -> float:
    """PIL.Image.MAX_IMAGE_PIXELS, doubled as Pillow does before it refuses."""
    limit = PIL.Image.MAX_IMAGE_PIXELS
    return math.inf if limit is None else 2 * limit


def check_structure(data: bytes) -> None:
    """Raise an ImageError for a file that would take far longer to read than a photo of its size."""
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data)
    elif is_png(data):
        _check_png(data)
    elif data.startswith((b"II", b"MM")):
        tiff.check_tiff_structure(data)
    elif data.startswith(b"GIF8"):
        count_gif_frames(data)
    elif data.startswith(b"BM"):
        _check_bmp(data)


_JPEG_MARKER = re.compile(rb"\xff[^\0\x01\xd0-\xd7\xff]")
_JPEG_MARKERS_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}
_JPEG_END, _JPEG_SCAN, _JPEG_APP1 = 0xD9, 0xDA, 0xE1


def _check_jpeg(data: bytes) -> None:
    """Walk from marker to marker until the picture ends; what follows it is ignored."""
    exif: list[bytes] = []
    segments = scans = junk = 0
    at = 2
    while at < len(data):
        found = _find_next_marker(data, at)
        segments += 1
        # After a scan, what precedes the next marker is the scan's data.
        junk += 0 if scans else found - at
        at = found + 2
        marker = data[found + 1] if at <= len(data) else _JPEG_END
        if marker == _JPEG_END:
            break
        if marker not in _JPEG_MARKERS_WITHOUT_LENGTH:
            length = int.from_bytes(data[at : at + 2], "big")
            if marker == _JPEG_APP1 and data.startswith(tiff.EXIF_PREFIX, at + 2):
                exif.append(data[at + 8 : at + length])
            at += max(length, 2)
        scans += marker == _JPEG_SCAN
        if segments > MAX_SEGMENTS:
            raise ImageError(f"it has more than {MAX_SEGMENTS} JPEG segments; {_RE_SAVE}")
        if junk > MAX_JUNK_BYTES:
            raise ImageError(f"it has more than {MAX_JUNK_BYTES} bytes between its segments; {_RE_SAVE}")
        if scans > MAX_SCANS:
            raise ImageError(f"it is a progressive JPEG with more than {MAX_SCANS} scans; {_RE_SAVE}")
    if data.find(b"\xff" * MAX_JUNK_BYTES, 0, at) >= 0:
        raise ImageError(f"it has {MAX_JUNK_BYTES} fill bytes in a row; {_RE_SAVE}")
    # A block within one segment, of 64 KiB, is too small to matter.
    if len(exif) > 1:
        tiff.check_tiff_structure(b"".join(exif))


def _find_next_marker(data: bytes, start: int) -> int:
    """The position of the next marker, or the end of the data."""
    for begin in range(start, len(data), _SEARCH_BYTES):
        # One byte more, as a marker has two.
        if found := _JPEG_MARKER.search(data, begin, begin + _SEARCH_BYTES + 1):
            return found.start()
    return len(data)


def _check_png(data: bytes) -> None:
    chunks = profiles = 0
    at = 8
    while at + 12 <= len(data):
        chunks += 1
        profiles += data[at + 4 : at + 8] == b"iCCP"
        if chunks > MAX_CHUNKS:
            raise ImageError(f"it has more than {MAX_CHUNKS} PNG chunks; {_RE_SAVE}")
        if profiles > MAX_PROFILES:
            raise ImageError(f"it has more than {MAX_PROFILES} colour profiles; {_RE_SAVE}")
        at += 12 + int.from_bytes(data[at : at + 4], "big")


_GIF_EXTENSION, _GIF_FRAME, _GIF_TRAILER = 0x21, 0x2C, 0x3B
_GIF_COMMENT = 0xFE


def count_gif_frames(data: bytes) -> int:
    """The number of frames of a GIF, counted up to the limits."""
    frames = comments = 0
    for number, (kind, label) in enumerate(_iterate_gif_blocks(data)):
        frames += kind == _GIF_FRAME and label is None
        comments += label == _GIF_COMMENT and not frames
        if comments > MAX_COMMENT_BLOCKS:
            raise ImageError(f"it has more than {MAX_COMMENT_BLOCKS} blocks of comments; {_RE_SAVE}")
        if not frames and number >= MAX_GIF_BLOCKS:
            raise ImageError(f"it has no picture in its first {MAX_GIF_BLOCKS} blocks; {_RE_SAVE}")
        if frames > MAX_PAGES + 1 or number >= MAX_GIF_BLOCKS:
            break
    return frames


def _iterate_gif_blocks(data: bytes) -> Iterator[tuple[int, int | None]]:
    """Each block's kind with None; then, for each part of its data, the kind and its extension's label."""
    at = 13 + _measure_gif_palette(data, 10)
    while at < len(data) and (kind := data[at]) != _GIF_TRAILER:
        yield kind, None
        if kind == _GIF_FRAME:
            at += 11 + _measure_gif_palette(data, at + 9)
        elif kind == _GIF_EXTENSION:
            at += 2
        else:
            at += 1
            continue
        label = data[at - 1] if at <= len(data) else 0
        while at < len(data) and data[at]:
            yield kind, label
            at += 1 + data[at]
        at += 1


def _measure_gif_palette(data: bytes, at: int) -> int:
    """Bytes of the palette that the flags at `at` declare."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _check_bmp(data: bytes) -> None:
    """Refuse large run-length encoded files (compression 1 or 2): Pillow decodes runs one by one."""
    compression = int.from_bytes(data[30:34], "little")
    if compression in (1, 2) and len(data) > MAX_RUN_LENGTH_BYTES:
        raise ImageError(
            f"it is a run-length encoded BMP of more than {MAX_RUN_LENGTH_BYTES} bytes; save it as PNG"
        )
