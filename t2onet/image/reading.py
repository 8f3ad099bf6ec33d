"""Open photos: a path, an array or an image in, an Image out, or one clear ImageError."""

from __future__ import annotations

import difflib
import io
import os
import re
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageFile

from ..errors import ImageError
from . import codecs, colour, formats, metadata, tiff
from .files import UnreadableFileError, read_regular_file
from .formats import PILLOW_FORMATS, TooLargeError, format_allowed_megapixels, format_megapixels
from .photo import Image, Origin, image_from_array
from .pixels import split_alpha, turn_upright

_BAND_PIXELS = 256 * 1024
_COPY_AGAIN = "the file is damaged or was not fully copied; copy it again"

_warnings_lock = threading.Lock()


def open_image(
    source: str | os.PathLike[str] | np.ndarray[Any, Any] | Image, *, max_pixels: float | None = None
) -> Image:
    """Open a photo from a file or an array (H, W, 3 or 4); an image is returned as it is.

    A file of more than `max_pixels` raises a TooLargeError before it is decoded.
    """
    if isinstance(source, Image):
        return source
    if isinstance(source, np.ndarray):
        return image_from_array(source)
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(source), max_pixels)
    raise ImageError(
        f"{type(source).__name__!r} is not a photo; give a path or a NumPy array of shape (H, W, 3)."
    )


def _open_file(path: Path, max_pixels: float | None) -> Image:
    data = _read_bytes(path)
    image = _decode_file(path, data, max_pixels)
    if min(image.height, image.width) < 2:
        raise ImageError(
            f"{path} is {image.width} x {image.height} pixels: too small to be a photo; at least 2 x 2."
        )
    return replace(image, origin=replace(image.origin, path=path.absolute()))


def _read_bytes(path: Path) -> bytes:
    try:
        data = read_regular_file(path)
    except IsADirectoryError as error:
        raise ImageError(f"{path} is a folder; give a photo in it.") from error
    except UnreadableFileError as error:
        raise ImageError(f"{path} cannot be read: {error}; give a photo.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ImageError(f"{path} does not exist; {_suggest_path(path)}.") from error
    except PermissionError as error:
        raise ImageError(
            f"{path} cannot be read: you have no permission; change the file's permissions."
        ) from error
    except (OSError, ValueError, MemoryError) as error:
        raise ImageError(f"{str(path)!r} cannot be read: {error}; check the name and the disk.") from error
    if not data:
        raise ImageError(f"{path} is empty (0 bytes); copy it again.")
    return data


def _suggest_path(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.8)
    return f"perhaps {path.parent / near[0]} was meant" if near else "check the spelling"


def _decode_file(path: Path, data: bytes, max_pixels: float | None) -> Image:
    read = _choose_reader(path, data)
    try:
        return read(data, max_pixels)
    except (PIL.Image.DecompressionBombError, TooLargeError) as error:
        raise _too_large_error(path, data, error, max_pixels) from error
    except ImageError as error:
        raise ImageError(f"{path} cannot be read as a photo: {error}.") from error
    except ImportError as error:
        kind = "HEIC photo" if read is codecs.read_heic else "camera RAW file"
        raise ImageError(f"{path} is a {kind}, which needs an extra: pip install 't2onet[files]'.") from error
    except MemoryError as error:
        raise ImageError(f"{path} is too large for this machine's memory; use a smaller copy.") from error
    except PIL.UnidentifiedImageError as error:
        raise _not_a_photo_error(path, data) from error
    except Exception as error:  # decoders raise anything on bad bytes
        raise _damaged_error(path, error) from error


def _choose_reader(path: Path, data: bytes) -> Callable[[bytes, float | None], Image]:
    # Content decides, except for RAW: most RAW files are TIFF files whose first page is a thumbnail.
    if path.suffix.lower() in formats.RAW_SUFFIXES:
        return read_raw
    return codecs.read_heic if formats.is_heic(data) else read_with_pillow


def _too_large_error(path: Path, data: bytes, error: Exception, max_pixels: float | None) -> TooLargeError:
    size = error.size if isinstance(error, TooLargeError) else read_declared_size(data)
    # If the header does not say, Pillow's message holds the number of pixels.
    pixels = size[0] * size[1] if size else int(re.findall(r"\d+", str(error))[0])
    extent = (
        f"{size[0]} x {size[1]} pixels ({format_megapixels(pixels)} megapixels)"
        if size
        else f"{pixels} pixels"
    )
    if max_pixels is not None:
        return TooLargeError(
            f"{path} claims to be {extent}, more than the {format_megapixels(max_pixels)} megapixels allowed "
            "here; use a smaller copy.",
            size,
        )
    return TooLargeError(
        f"{path} claims to be {extent}, more than the {format_allowed_megapixels()} megapixels allowed; "
        f"if you trust the file, allow it with --max-megapixels {format_megapixels(pixels)}.",
        size,
    )


def _not_a_photo_error(path: Path, data: bytes) -> ImageError:
    if formats.has_known_signature(data):
        return ImageError(f"{path} cannot be read: {_COPY_AGAIN}, or save it in a more usual form.")
    return ImageError(
        f"{path} does not look like a photo in a format this can read ({formats.READABLE_NAMES}, "
        "and with an extra HEIC and camera RAW); check that it is the right file."
    )


def _damaged_error(path: Path, error: Exception) -> ImageError:
    early = any(
        word in str(error).lower() for word in ("truncated", "not enough", "too short", "unexpected end")
    )
    return ImageError(f"{path} {'ends early' if early else 'cannot be read'}: {_COPY_AGAIN}.")


def read_with_pillow(data: bytes, max_pixels: float | None = None) -> Image:
    """Decode the photo in `data`, upright, with its metadata; raises Pillow's own exceptions."""
    _silence_pillow()
    formats.check_structure(data)
    is_tiff = data[:4] in tiff.SIGNATURES
    exif = metadata.read_tiff_exif(data) if is_tiff else metadata.Exif()
    # Pillow would turn a TIFF by itself, at eight bits, unless it is marked as upright.
    source = metadata.reset_tiff_orientation(data) if exif.orientation != 1 else data
    file = _open_with_pillow(source)
    formats.check_pixel_count(*file.size, max_pixels)
    if max(file.size) > formats.MAX_SIDE:
        size = f"{file.width} x {file.height} pixels"
        raise ImageError(f"it is {size}, and a side has at most {formats.MAX_SIDE}; crop it")
    decoded = decode_pixels(file, source, _open_with_pillow)
    if not is_tiff:
        exif = metadata.read_exif(metadata.find_exif_block(file))
    xmp = metadata.read_xmp(file.info.get("xmp"))
    return Image(
        turn_upright(decoded.pixels, exif.orientation),
        None if decoded.alpha is None else turn_upright(decoded.alpha, exif.orientation),
        Origin(
            format="JPEG" if file.format == "MPO" else file.format,
            bits=8 * decoded.pixels.dtype.itemsize,
            gray=decoded.gray,
            exif=exif.block,
            icc=decoded.icc,
            xmp=xmp.packet,
            dpi=metadata.read_dpi(file),
            text=metadata.read_png_text(file),
            lossless=file.format == "WEBP" and metadata.is_lossless_webp(data),
            compressed=file.info.get("compression") != "raw",
            encoded=data,
            **_read_format_parts(file, source),
        ),
        (*decoded.notes, *exif.notes, *xmp.notes, *metadata.describe_file_losses(file, data)),
    )


def read_photo_size(path: Path) -> tuple[int, int] | None:
    """Width and height of a photo before its orientation, by its header; None if Pillow would not read it."""
    _silence_pillow()
    try:
        data = read_regular_file(path)
        formats.check_structure(data)
        return _open_with_pillow(data).size
    except Exception:  # plugins raise anything on bad bytes
        return None


def read_declared_size(data: bytes) -> tuple[int, int] | None:
    """Width and height from the header, without Pillow's limit on pixels; None if that fails.

    For files whose structure has been checked.
    """
    for name in PILLOW_FORMATS:
        factory, accept = PIL.Image.OPEN.get(name, (None, None))
        if factory is None or accept is None or accept(data[:16]) is not True:
            continue
        try:
            return factory(io.BytesIO(data), b"").size
        except Exception:  # plugins raise anything on bad bytes
            return None
    return None


def _open_with_pillow(data: bytes) -> ImageFile.ImageFile:
    file: Any = PIL.Image.open(io.BytesIO(data), formats=PILLOW_FORMATS)
    return file  # type: ignore[no-any-return]


def _read_format_parts(file: ImageFile.ImageFile, data: bytes) -> dict[str, Any]:
    if file.format == "TIFF":
        return {"photoshop": metadata.read_tiff_photoshop(data)}
    return metadata.read_jpeg_parts(file)


def _silence_pillow() -> None:
    """Ignore Pillow's warnings on odd metadata and large photos.

    `warnings.catch_warnings` is not thread-safe, so the filter is installed once and stays; it is installed
    again only if another filter was put before it.
    """
    with _warnings_lock:
        for category in (UserWarning, PIL.Image.DecompressionBombWarning):
            if not any(
                kind is category and action == "ignore" for action, _, kind, *_ in warnings.filters[:2]
            ):
                warnings.filterwarnings("ignore", category=category, module=r"PIL\.")


class DecodedPhoto(NamedTuple):
    """Pixels (H, W, 3), alpha (H, W), the profile that describes them, and notes on what was lost."""

    pixels: NDArray[Any]
    alpha: NDArray[Any] | None = None
    gray: bool = False
    icc: bytes | None = None
    notes: tuple[str, ...] = ()


def decode_pixels(
    file: ImageFile.ImageFile, data: bytes, open_file: Callable[[bytes], ImageFile.ImageFile]
) -> DecodedPhoto:
    """Decode the first picture of `file`, which `open_file` opened from `data`, at the depth it has."""
    icc = file.info.get("icc_profile") or None
    if codecs.has_separate_planes(file):
        return _decode_samples(codecs.decode_planes(data, open_file), None, icc)
    if not codecs.is_deep(file):
        pixels = codecs.decode_jpeg(file, len(data))
        if pixels is not None:
            return DecodedPhoto(pixels, icc=icc)
        file.load()
        return _decode_by_mode(file)
    try:
        samples = codecs.decode_sixteen_bit(file, lambda: open_file(data))
    except (KeyError, ValueError, TypeError):
        samples = None  # this Pillow does not know the raw mode, but reads eight bits
    if samples is not None:
        return _decode_samples(samples, file.info.get("transparency"), icc)
    decoded = _decode_by_mode(open_file(data))
    return decoded._replace(notes=(*decoded.notes, "the 16-bit photo was read at 8 bits: its kind is rare"))


def _decode_samples(samples: NDArray[Any], key: Any, icc: bytes | None) -> DecodedPhoto:
    """Split (H, W) or (H, W, 2..4) into colour and alpha; `key` is a PNG's transparent colour."""
    gray = samples.ndim == 2 or samples.shape[2] == 2
    if gray:
        flat = samples if samples.ndim == 2 else samples[..., 0]
        pixels = np.repeat(flat[..., None], 3, axis=2)
        alpha = None if samples.ndim == 2 else samples[..., 1]
    else:
        pixels, alpha = split_alpha(samples)
    if alpha is None and isinstance(key, int | tuple):
        opaque = np.any(pixels != np.array(key, pixels.dtype), axis=-1)
        alpha = opaque.astype(pixels.dtype) * np.iinfo(pixels.dtype).max
    return DecodedPhoto(np.ascontiguousarray(pixels), alpha, gray, icc)


def _decode_by_mode(picture: PIL.Image.Image) -> DecodedPhoto:
    icc = picture.info.get("icc_profile") or None
    mode = picture.mode
    if mode.startswith("I") or mode == "F":
        return _decode_wide_gray(picture, icc)
    if mode in ("CMYK", "LAB"):
        return _decode_cmyk_or_lab(picture, icc)
    if mode in ("1", "L", "LA", "La"):
        target = "LA" if mode in ("LA", "La") or picture.has_transparency_data else "L"
    else:
        target = "RGBA" if picture.has_transparency_data else "RGB"
    return _decode_samples(_copy_in_bands(picture if mode == target else picture.convert(target)), None, icc)


def _copy_in_bands(picture: PIL.Image.Image) -> NDArray[np.uint8]:
    """np.asarray of an 8-bit picture, in bands: at once, Pillow would copy it twice."""
    width, height = picture.size
    channels = len(picture.getbands())
    result = np.empty((height, width) if channels == 1 else (height, width, channels), np.uint8)
    rows = max(_BAND_PIXELS // width, 1)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        result[top:bottom] = np.asarray(picture.crop((0, top, width, bottom)))
    return result


def _decode_wide_gray(picture: PIL.Image.Image, icc: bytes | None) -> DecodedPhoto:
    numbers = np.asarray(picture)
    low, high = numbers.min(), numbers.max()
    if picture.mode == "F" and low >= 0 and high <= 1:
        return _decode_samples(numbers.astype(np.float32), None, icc)
    if picture.mode != "F" and low >= 0 and high <= 65535:
        return _decode_samples(_normalize_gray(picture, numbers), picture.info.get("transparency"), icc)
    raise ImageError(f"its gray values run from {low:g} to {high:g}, which is not the range of a photo")


def _normalize_gray(picture: PIL.Image.Image, numbers: NDArray[Any]) -> NDArray[np.uint16]:
    """Scale to black 0 and white 65535; a TIFF may have 12 bits, or white 0."""
    tags: dict[int, Any] = getattr(picture, "tag_v2", {})
    scale = numbers.astype(np.uint16)
    if tags.get(tiff.Tag.BITS_PER_SAMPLE) == (12,):
        scale = scale << np.uint16(4) | scale >> np.uint16(8)
    return 65535 - scale if tags.get(tiff.Tag.PHOTOMETRIC) == 0 else scale


def _decode_cmyk_or_lab(picture: PIL.Image.Image, icc: bytes | None) -> DecodedPhoto:
    lab = picture.mode == "LAB"
    profile = icc if colour.read_profile_space(icc) == "CMYK" and not lab else None
    rgb = colour.convert_picture_to_srgb(picture, profile) if lab or profile else None
    name = "CIELAB" if lab else "CMYK"
    how = "" if rgb else " without its profile, so the colours are approximate"
    rgb = rgb or picture.convert("RGB")
    return DecodedPhoto(np.asarray(rgb), notes=(f"the {name} photo was converted to sRGB{how}",))


def read_raw(data: bytes, max_pixels: float | None = None) -> Image:
    """Develop a camera RAW file to 16-bit sRGB with the camera's white balance. LibRaw turns it upright."""
    import rawpy

    with rawpy.imread(io.BytesIO(data)) as file:
        formats.check_pixel_count(file.sizes.width, file.sizes.height, max_pixels)
        pixels = file.postprocess(use_camera_wb=True, output_bps=16, output_color=rawpy.ColorSpace.sRGB)
    # A camera without colour filters has one channel.
    gray = pixels.ndim == 2 or pixels.shape[2] == 1
    if gray:
        pixels = np.repeat(np.atleast_3d(pixels), 3, axis=2)
    return Image(pixels, None, Origin(format="RAW", bits=16, gray=gray, exif=_read_raw_exif(data)))


def _read_raw_exif(data: bytes) -> bytes | None:
    # Without the maker note: its offsets point into the RAW file.
    try:
        return metadata.extract_exif_from_tiff(data, maker_note=False)
    except tiff.MalformedError:
        return None
