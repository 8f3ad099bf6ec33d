"""Save photos: an image and a path in, a complete file out, with notes on what the format could not keep."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import OutputError
from . import codecs, colour, metadata, tiff
from .files import write_atomically
from .formats import FileFormat, get_output_format
from .metadata import DAMAGED_EXIF_NOTE, PHOTOSHOP_PREFIX
from .photo import Image, Origin, SavedFile, to_picture
from .pixels import flatten_on_white, is_gray, to_uint8, to_uint16

MAX_SEGMENT_BYTES = 65533
"""The most bytes that a JPEG segment holds."""
_DEFAULT_JPEG_QUALITY, _DEFAULT_QUALITY = 95, 90


def save_image(image: Image, path: Path, *, overwrite: bool, quality: int | None) -> SavedFile:
    """Write `image` to `path` in the format of its suffix; an unchanged photo is copied byte for byte."""
    get_output_format(path)
    if quality is not None and not 1 <= quality <= 100:
        raise OutputError(f"A quality of {quality} is out of range; give 1 to 100.")
    if not overwrite and _is_source(image, path):
        raise OutputError(
            f"{path} is the photo itself; give another name, or ask to overwrite it (overwrite=True)."
        )
    data, notes = encode_for_path(image, path, quality)
    write_atomically(path, data, overwrite=overwrite)
    return SavedFile(path, notes)


def encode_for_path(image: Image, path: Path, quality: int | None = None) -> tuple[bytes, tuple[str, ...]]:
    """The bytes that `save_image` writes to `path`, and notes on what they could not keep."""
    format = get_output_format(path)
    source = image.origin.encoded
    unchanged = source is not None and image.origin.format == format.name
    if unchanged and source is not None and (quality is None or not format.lossy):
        return source, ()
    data, notes = _encode_or_refuse(image, path, format, quality)
    return data, (*image.notes, *notes)


def _is_source(image: Image, path: Path) -> bool:
    source = image.origin.path
    if source is None:
        return False
    try:
        return source.samefile(path)
    except (OSError, ValueError):
        return False


def _encode_or_refuse(
    image: Image, path: Path, format: FileFormat, quality: int | None
) -> tuple[bytes, list[str]]:
    try:
        return encode_image(image, format, quality)
    except OutputError as error:
        raise OutputError(f"{path} cannot be written: {error}.") from error
    except ImportError as error:
        raise OutputError(f"{path} is HEIC, which needs an extra: pip install 't2onet[files]'.") from error
    except MemoryError as error:
        raise OutputError(
            f"{path} cannot be written: there is not enough memory for a photo this large."
        ) from error
    except Exception as error:  # encoders raise anything
        raise OutputError(f"{path} cannot be written as {format.name}; use .png or .tif instead.") from error


def encode_image(image: Image, format: FileFormat, quality: int | None) -> tuple[bytes, list[str]]:
    """Encode in `format` at `quality` (1..100), by default as the source was; returns notes as well."""
    if max(image.height, image.width) > format.longest_side:
        raise OutputError(
            f"the photo is {image.width} x {image.height} pixels and {format.name} holds at most "
            f"{format.longest_side} a side; use .png or .tif"
        )
    notes: list[str] = []
    samples = _prepare_samples(image, format, notes)
    origin = fit_metadata(image, format, samples, notes)
    return _ENCODERS[format.name](samples, origin, quality), notes


def _prepare_samples(image: Image, format: FileFormat, notes: list[str]) -> NDArray[Any]:
    """The samples to write, (H, W) or (H, W, 2..4), at the depth of the format."""
    deep = format.deep and image.dtype != np.uint8
    if image.origin.bits > 8 and image.dtype != np.uint8 and not format.deep:
        notes.append(f"the colours were rounded to the 8 bits that are written in {format.name}")
    pixels, alpha = image.pixels, image.alpha
    if alpha is not None and not format.alpha:
        pixels, alpha = _fill_transparent_parts(pixels, alpha, notes, format), None
    quantize = to_uint16 if deep else to_uint8
    pixels = quantize(pixels)
    # Hardly any program reads a 16-bit TIFF of gray and alpha.
    awkward = alpha is not None and deep and format.name == "TIFF"
    if image.origin.gray and not awkward and is_gray(pixels):
        pixels = pixels[..., 0]
    samples = pixels if alpha is None else np.dstack([pixels, quantize(alpha)])
    return samples if format.name == "JPEG" else np.ascontiguousarray(samples)


def _fill_transparent_parts(
    pixels: NDArray[Any], alpha: NDArray[Any], notes: list[str], format: FileFormat
) -> NDArray[Any]:
    opaque = 1.0 if alpha.dtype.kind == "f" else np.iinfo(alpha.dtype).max
    if bool(np.all(alpha >= opaque)):
        return pixels
    notes.append(f"the transparent parts were filled with white: {format.name} holds no transparency")
    return flatten_on_white(pixels, alpha)


def fit_metadata(image: Image, format: FileFormat, samples: NDArray[Any], notes: list[str]) -> Origin:
    """The metadata of the image that this format can hold."""
    origin = image.origin
    if colour.read_profile_space(origin.icc) == "GRAY" and samples.ndim == 3 and samples.shape[2] > 2:
        notes.append("the gray profile was left out: the photo is written in colour")
        origin = replace(origin, icc=None)
    if origin.exif:
        origin = replace(origin, exif=_update_exif_size(origin.exif, image, notes))
    if origin.xmp:
        origin = replace(origin, xmp=metadata.update_xmp_size(origin.xmp, image.width, image.height))
    if origin.exif and format.name == "AVIF":
        origin = replace(origin, exif=_drop_unparsable_exif(origin.exif, notes))
    if format.name == "JPEG":
        return _drop_oversized(origin, notes)
    return _drop_unsupported(origin, format, notes)


def _update_exif_size(block: bytes, image: Image, notes: list[str]) -> bytes | None:
    try:
        return metadata.update_exif_size(block, image.width, image.height)
    except tiff.MalformedError:
        notes.append(DAMAGED_EXIF_NOTE)
        return None


def _drop_unparsable_exif(block: bytes, notes: list[str]) -> bytes | None:
    """The block if Pillow can read it: for AVIF, Pillow rewrites it."""
    try:
        parsed = PIL.Image.Exif()
        parsed.load(block)
        if parsed.get(tiff.Tag.ORIENTATION, 1) == 1 and parsed.tobytes():
            return block
    except Exception:  # Pillow raises anything on bad bytes
        pass
    notes.append(DAMAGED_EXIF_NOTE)
    return None


def _drop_oversized(origin: Origin, notes: list[str]) -> Origin:
    """Drop metadata of more than 64 KB, which a JPEG cannot hold."""
    return replace(
        origin,
        exif=_drop_if_too_long(origin.exif, "EXIF data", 6, notes),
        xmp=_drop_if_too_long(origin.xmp, "XMP data", 29, notes),
        comment=_drop_if_too_long(origin.comment, "comment", 0, notes),
        text=_drop_with_note(origin.text, "text entries", "JPEG", notes, ()),
    )


def _drop_if_too_long(part: bytes | None, name: str, overhead: int, notes: list[str]) -> bytes | None:
    if part is None or len(part) + overhead <= MAX_SEGMENT_BYTES:
        return part
    notes.append(f"the {name} was left out: it is larger than the 64 KB a JPEG holds")
    return None


def _drop_unsupported(origin: Origin, format: FileFormat, notes: list[str]) -> Origin:
    if format.name != "TIFF":
        origin = replace(
            origin,
            photoshop=_drop_with_note(
                origin.photoshop, "IPTC and Photoshop records", format.name, notes, None
            ),
        )
    if format.name != "PNG":
        origin = replace(origin, text=_drop_with_note(origin.text, "text entries", format.name, notes, ()))
    return replace(origin, comment=_drop_with_note(origin.comment, "comment", format.name, notes, None))


def _drop_with_note(value: Any, name: str, format: str, notes: list[str], empty: Any) -> Any:
    if value:
        notes.append(f"the {name} cannot be kept in {format}")
    return empty


def _encode_jpeg(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    coding = origin.jpeg
    options: dict[str, Any] = {"subsampling": 0}
    if coding is not None:
        options = {"subsampling": coding.subsampling, "progressive": coding.progressive}
    if coding is not None and quality is None:
        options["qtables"] = [list(table) for table in coding.tables]
    else:
        options["quality"] = quality or _DEFAULT_JPEG_QUALITY
    if origin.dpi:
        options["dpi"] = origin.dpi
    if origin.comment:
        options["comment"] = origin.comment
    if origin.exif:
        options["exif"] = tiff.EXIF_PREFIX + origin.exif
    options |= {"icc_profile": origin.icc, "xmp": origin.xmp, "extra": _make_extra_segments(origin)}
    try:
        return _encode_with_pillow(samples, "JPEG", **options)
    except OSError:
        # Pillow's buffer for a progressive file is too small for very noisy photos at the highest quality.
        return _encode_with_pillow(samples, "JPEG", **options | {"progressive": False})


def _make_extra_segments(origin: Origin) -> bytes:
    resources, size = origin.photoshop or b"", MAX_SEGMENT_BYTES - len(PHOTOSHOP_PREFIX)
    parts = [resources[start : start + size] for start in range(0, len(resources), size)]
    return b"".join(
        [_make_jpeg_segment(0xED, PHOTOSHOP_PREFIX + part) for part in parts]
        + [_make_jpeg_segment(0xE1, segment) for segment in origin.segments]
    )


def _make_jpeg_segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def _encode_png(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    bare = codecs.encode_png(samples) if samples.dtype == np.uint16 else _encode_with_pillow(samples, "PNG")
    return codecs.insert_png_metadata(bare, origin)


def _encode_tiff(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    return codecs.encode_tiff(samples, origin)


def _encode_webp(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    # `exact` keeps the colours under transparent pixels.
    if origin.lossless and quality is None:
        return _encode_with_pillow(
            samples, "WEBP", lossless=True, exact=True, **_list_metadata_options(origin)
        )
    return _encode_with_pillow(
        samples, "WEBP", quality=quality or _DEFAULT_QUALITY, exact=True, **_list_metadata_options(origin)
    )


def _encode_avif(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    chroma = {} if samples.ndim == 2 else {"subsampling": "4:4:4"}
    return _encode_with_pillow(
        samples, "AVIF", quality=quality or _DEFAULT_QUALITY, **chroma, **_list_metadata_options(origin)
    )


def _encode_heic(samples: NDArray[Any], origin: Origin, quality: int | None) -> bytes:
    picture = PIL.Image.fromarray(samples)
    if picture.mode == "LA":
        picture = picture.convert("RGBA")
    return codecs.encode_heic(picture, quality=quality or _DEFAULT_QUALITY, **_list_metadata_options(origin))


def _list_metadata_options(origin: Origin) -> dict[str, bytes]:
    parts = {"exif": origin.exif, "icc_profile": origin.icc, "xmp": origin.xmp}
    return {name: value for name, value in parts.items() if value}


def _encode_with_pillow(samples: NDArray[Any], name: str, **options: Any) -> bytes:
    """The bytes of a file, by way of one in memory where the system has those and allows them.

    Pillow's encoders hold the interpreter while they write to an object, and let other threads run while they
    write to a file.
    """
    picture = to_picture(samples)
    with suppress(AttributeError, OSError), os.fdopen(os.memfd_create("t2o"), "w+b") as file:
        picture.save(file, name, **options)
        file.seek(0)
        return file.read()
    output = io.BytesIO()
    picture.save(output, name, **options)
    return output.getvalue()


_ENCODERS: dict[str, Callable[[NDArray[Any], Origin, int | None], bytes]] = {
    "JPEG": _encode_jpeg,
    "PNG": _encode_png,
    "TIFF": _encode_tiff,
    "WEBP": _encode_webp,
    "AVIF": _encode_avif,
    "HEIC": _encode_heic,
}
