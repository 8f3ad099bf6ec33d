"""Files that Pillow reads -> images. Takes bytes, knows no paths.

Failures leave as Pillow's own exceptions; `opening` puts them into words.
"""

from __future__ import annotations

import io
import threading
import warnings
from typing import Any

import PIL.Image
from PIL import ImageFile

from ..errors import ImageError
from . import exif, limits, losses, metadata, structure
from .arrays import upright
from .decoding import decode
from .model import Image, Origin

NAMES = "JPEG, PNG, TIFF, WebP, AVIF, GIF, BMP"
_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "AVIF", "GIF", "BMP")
_TIFF_HEADS = (b"II*\0", b"MM\0*")

_quiet = threading.Lock()


def read(data: bytes, max_pixels: float | None = None) -> Image:
    """The photo in `data`, upright, with everything that travels along; of more than `max_pixels`, none."""
    _silence_pillow()
    structure.check(data)
    tiff = data[:4] in _TIFF_HEADS
    found = metadata.read_tiff_exif(data) if tiff else metadata.Exif()
    # Pillow turns a TIFF by itself, at eight bits; told that it is upright, it leaves that to us.
    source = exif.turned(data) if found.orientation != 1 else data
    file = _opened(source)
    limits.check_size(*file.size, max_pixels)
    if max(file.size) > limits.LONGEST_SIDE:
        size = f"{file.width} x {file.height} pixels"
        raise ImageError(f"it is {size}, and a side has at most {limits.LONGEST_SIDE}; crop it")
    decoded = decode(file, source, _opened)
    if not tiff:
        found = metadata.read_exif(metadata.exif_of(file))
    packet = metadata.read_xmp(file.info.get("xmp"))
    return Image(
        upright(decoded.pixels, found.orientation),
        None if decoded.alpha is None else upright(decoded.alpha, found.orientation),
        Origin(
            format="JPEG" if file.format == "MPO" else file.format,
            bits=8 * decoded.pixels.dtype.itemsize,
            gray=decoded.gray,
            exif=found.block,
            icc=decoded.icc,
            xmp=packet.packet,
            dpi=metadata.read_dpi(file),
            text=metadata.read_text(file),
            lossless=file.format == "WEBP" and metadata.webp_is_lossless(data),
            compressed=file.info.get("compression") != "raw",
            encoded=data,
            **_parts(file, source),
        ),
        (*decoded.notes, *found.notes, *packet.notes, *losses.of_file(file, data)),
    )


def declared_size(data: bytes) -> tuple[int, int] | None:
    """Width and height as the header states them, without Pillow's check; None where that fails.

    For files whose structure has been checked.
    """
    for name in _FORMATS:
        factory, accept = PIL.Image.OPEN.get(name, (None, None))
        if factory is None or accept is None or accept(data[:16]) is not True:
            continue
        try:
            return factory(io.BytesIO(data), b"").size
        except Exception:  # plugins raise anything on bad bytes
            return None
    return None


def _opened(data: bytes) -> ImageFile.ImageFile:
    file: Any = PIL.Image.open(io.BytesIO(data), formats=_FORMATS)
    return file  # type: ignore[no-any-return]


def _parts(file: ImageFile.ImageFile, data: bytes) -> dict[str, Any]:
    if file.format == "TIFF":
        return {"photoshop": metadata.photoshop_of_tiff(data)}
    return metadata.jpeg_parts(file)


def _silence_pillow() -> None:
    """Keep Pillow's remarks on odd metadata and large photos off the user's screen.

    `warnings.catch_warnings` is not thread-safe, so the filter is put in place once and stays; it is put back
    only where someone else's filter came before it.
    """
    with _quiet:
        for category in (UserWarning, PIL.Image.DecompressionBombWarning):
            if not any(
                kind is category and action == "ignore" for action, _, kind, *_ in warnings.filters[:2]
            ):
                warnings.filterwarnings("ignore", category=category, module=r"PIL\.")


def looks_known(data: bytes) -> bool:
    """Whether the bytes begin like one of the formats, whatever comes after."""
    heads = (b"\xff\xd8\xff", b"\x89PNG\r\n", *_TIFF_HEADS, b"GIF8", b"BM")
    return data.startswith(heads) or data[8:12] == b"WEBP" or data[4:8] == b"ftyp"
