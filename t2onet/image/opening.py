"""The door for photos: a path, an array or an image in, an Image out, or one clear ImageError.

Knows paths and words; what is inside a file is the business of `reading`, `heic` and `raw`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from ..errors import ImageError
from . import heic, raw, reading
from .formats import RAW_SUFFIXES
from .limits import TooLargeError, allowed_megapixels, in_megapixels
from .model import Image, from_array
from .regular import UnreadableFileError, read_regular

_COPY_AGAIN = "the file is damaged or was not fully copied; copy it again"


def open_image(
    source: str | os.PathLike[str] | np.ndarray[Any, Any] | Image, *, max_pixels: float | None = None
) -> Image:
    """The photo in a file, or of an array (H, W, 3) or (H, W, 4); an image is given back as it is.

    A file of more than `max_pixels` is refused by its header, with a TooLargeError.
    """
    if isinstance(source, Image):
        return source
    if isinstance(source, np.ndarray):
        return from_array(source)
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(source), max_pixels)
    raise ImageError(
        f"{type(source).__name__!r} is no kind of photo; give a path or a NumPy array of shape (H, W, 3)."
    )


def _open_file(path: Path, max_pixels: float | None) -> Image:
    data = _bytes(path)
    image = _decoded(path, data, max_pixels)
    if min(image.height, image.width) < 2:
        raise ImageError(
            f"{path} is {image.width} x {image.height} pixels: too small to be a photo; at least 2 x 2."
        )
    return replace(image, origin=replace(image.origin, path=path.absolute()))


def _bytes(path: Path) -> bytes:
    try:
        data = read_regular(path)
    except IsADirectoryError as error:
        raise ImageError(f"{path} is a folder; give a photo in it.") from error
    except UnreadableFileError as error:
        raise ImageError(f"{path} cannot be read: {error}; give a photo.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ImageError(f"{path} does not exist; {_near(path)}.") from error
    except PermissionError as error:
        raise ImageError(
            f"{path} cannot be read: you have no permission; change the file's permissions."
        ) from error
    except (OSError, ValueError, MemoryError) as error:
        raise ImageError(f"{str(path)!r} cannot be read: {error}; check the name and the disk.") from error
    if not data:
        raise ImageError(f"{path} is empty (0 bytes); copy it again.")
    return data


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.8)
    return f"perhaps {path.parent / near[0]} was meant" if near else "check the spelling"


def _decoded(path: Path, data: bytes, max_pixels: float | None) -> Image:
    read = _reader(path, data)
    try:
        return read(data, max_pixels)
    except (PIL.Image.DecompressionBombError, TooLargeError) as error:
        raise _too_large(path, data, error, max_pixels) from error
    except ImageError as error:
        raise ImageError(f"{path} cannot be read as a photo: {error}.") from error
    except ImportError as error:
        kind = "HEIC photo" if read is heic.read else "camera RAW file"
        raise ImageError(f"{path} is a {kind}, which needs an extra: pip install 't2onet[files]'.") from error
    except MemoryError as error:
        raise ImageError(f"{path} is too large for this machine's memory; use a smaller copy.") from error
    except PIL.UnidentifiedImageError as error:
        raise _not_a_photo(path, data) from error
    except Exception as error:  # decoders raise anything on bad bytes
        raise _damaged(path, error) from error


def _reader(path: Path, data: bytes) -> Callable[[bytes, float | None], Image]:
    # Content decides, but for RAW: most of those are TIFF files whose first page is a thumbnail.
    if path.suffix.lower() in RAW_SUFFIXES:
        return raw.read
    return heic.read if heic.looks_like(data) else reading.read


def _too_large(path: Path, data: bytes, error: Exception, max_pixels: float | None) -> TooLargeError:
    size = error.size if isinstance(error, TooLargeError) else reading.declared_size(data)
    # Where the header does not tell, Pillow's own message holds the number of pixels.
    pixels = size[0] * size[1] if size else int(re.findall(r"\d+", str(error))[0])
    extent = (
        f"{size[0]} x {size[1]} pixels ({in_megapixels(pixels)} megapixels)" if size else f"{pixels} pixels"
    )
    if max_pixels is not None:
        return TooLargeError(
            f"{path} claims to be {extent}, more than the {in_megapixels(max_pixels)} megapixels allowed "
            "here; use a smaller copy.",
            size,
        )
    return TooLargeError(
        f"{path} claims to be {extent}, more than the {allowed_megapixels()} megapixels allowed; "
        f"if you trust the file, allow it with --max-megapixels {in_megapixels(pixels)}.",
        size,
    )


def _not_a_photo(path: Path, data: bytes) -> ImageError:
    if reading.looks_known(data):
        return ImageError(f"{path} cannot be read: {_COPY_AGAIN}, or save it in a more usual form.")
    return ImageError(
        f"{path} does not look like a photo in a format this can read ({reading.NAMES}, "
        "and with an extra HEIC and camera RAW); check that it is the right file."
    )


def _damaged(path: Path, error: Exception) -> ImageError:
    early = any(
        word in str(error).lower() for word in ("truncated", "not enough", "too short", "unexpected end")
    )
    return ImageError(f"{path} {'ends early' if early else 'cannot be read'}: {_COPY_AGAIN}.")
