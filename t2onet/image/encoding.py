"""An image -> the bytes of a file in a given format, and what it could not keep, in words. No paths here."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import OutputError
from . import heic, png, tiff
from .arrays import is_gray
from .depth import as_depth, to_uint8, to_uint16
from .fitting import SEGMENT, fitting
from .formats import Format
from .model import Image, Origin

_JPEG_QUALITY, _QUALITY = 95, 90
_PHOTOSHOP = b"Photoshop 3.0\0"


def encode(image: Image, format: Format, quality: int | None) -> tuple[bytes, list[str]]:
    """The image in `format`, at `quality` (1..100), or as its source was compressed."""
    if max(image.height, image.width) > format.longest_side:
        raise OutputError(
            f"the photo is {image.width} x {image.height} pixels and {format.name} holds at most "
            f"{format.longest_side} a side; use .png or .tif"
        )
    notes: list[str] = []
    samples = _samples(image, format, notes)
    origin = fitting(image, format, samples, notes)
    return _ENCODERS[format.name](samples, origin, quality), notes


def _samples(image: Image, format: Format, notes: list[str]) -> NDArray[Any]:
    """What is written, (H, W) or (H, W, 2..4) at the depth of the format."""
    deep = format.deep and image.dtype != np.uint8
    if image.origin.bits > 8 and image.dtype != np.uint8 and not format.deep:
        notes.append(f"the colours were rounded to the 8 bits that are written in {format.name}")
    pixels, alpha = image.pixels, image.alpha
    if alpha is not None and not format.alpha:
        pixels, alpha = _on_white(pixels, alpha, notes, format), None
    quantize = to_uint16 if deep else to_uint8
    pixels = quantize(pixels)
    # Hardly a reader takes a 16-bit TIFF of gray and alpha.
    awkward = alpha is not None and deep and format.name == "TIFF"
    if image.origin.gray and not awkward and is_gray(pixels):
        pixels = pixels[..., 0]
    samples = pixels if alpha is None else np.dstack([pixels, quantize(alpha)])
    return np.ascontiguousarray(samples)


def _on_white(pixels: NDArray[Any], alpha: NDArray[Any], notes: list[str], format: Format) -> NDArray[Any]:
    opaque = 1.0 if alpha.dtype.kind == "f" else np.iinfo(alpha.dtype).max
    if bool(np.all(alpha >= opaque)):
        return pixels
    notes.append(f"the transparent parts were filled with white: {format.name} holds no transparency")
    cover = as_depth(alpha, np.float32)[..., None]
    return as_depth(as_depth(pixels, np.float32) * cover + (1 - cover), pixels.dtype)


def _jpeg(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    coding = origin.jpeg
    options: dict[str, Any] = {"subsampling": 0}
    if coding is not None:
        options = {"subsampling": coding.subsampling, "progressive": coding.progressive}
    if coding is not None and quality is None:
        options["qtables"] = [list(table) for table in coding.tables]
    else:
        options["quality"] = quality or _JPEG_QUALITY
    if origin.dpi:
        options["dpi"] = origin.dpi
    if origin.comment:
        options["comment"] = origin.comment
    if origin.exif:
        options["exif"] = b"Exif\0\0" + origin.exif
    options |= {"icc_profile": origin.icc, "xmp": origin.xmp, "extra": _extra(origin)}
    try:
        return _pillow(samples, "JPEG", **options)
    except OSError:
        # Pillow's buffer for a progressive file is too small for very noisy photos at the highest quality.
        return _pillow(samples, "JPEG", **options | {"progressive": False})


def _extra(origin: Origin) -> bytes:
    resources, room = origin.photoshop or b"", SEGMENT - len(_PHOTOSHOP)
    parts = [resources[start : start + room] for start in range(0, len(resources), room)]
    return b"".join(
        [_segment(0xED, _PHOTOSHOP + part) for part in parts]
        + [_segment(0xE1, segment) for segment in origin.segments]
    )


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def _png(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    bare = png.encode(samples) if samples.dtype == np.uint16 else _pillow(samples, "PNG")
    return png.with_metadata(bare, origin)


def _tiff(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    return tiff.encode(samples, origin)


def _webp(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    # `exact` keeps the colours under transparent pixels.
    if origin.lossless and quality is None:
        return _pillow(samples, "WEBP", lossless=True, exact=True, **_parts(origin))
    return _pillow(samples, "WEBP", quality=quality or _QUALITY, exact=True, **_parts(origin))


def _avif(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    chroma = {} if samples.ndim == 2 else {"subsampling": "4:4:4"}
    return _pillow(samples, "AVIF", quality=quality or _QUALITY, **chroma, **_parts(origin))


def _heic(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    picture = PIL.Image.fromarray(samples)
    if picture.mode == "LA":
        picture = picture.convert("RGBA")
    return heic.encode(picture, quality=quality or _QUALITY, **_parts(origin))


def _parts(origin: Origin) -> dict[str, bytes]:
    parts = {"exif": origin.exif, "icc_profile": origin.icc, "xmp": origin.xmp}
    return {name: value for name, value in parts.items() if value}


def _pillow(samples: NDArray[Any], name: str, **options: Any) -> bytes:
    output = io.BytesIO()
    PIL.Image.fromarray(samples).save(output, name, **options)
    return output.getvalue()


_ENCODERS: dict[str, Callable[[NDArray[Any], Origin, int | None], bytes]] = {
    "JPEG": _jpeg,
    "PNG": _png,
    "TIFF": _tiff,
    "WEBP": _webp,
    "AVIF": _avif,
    "HEIC": _heic,
}
