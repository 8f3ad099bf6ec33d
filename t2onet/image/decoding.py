"""From what Pillow decoded to the pixels of a photo: RGB at the file's depth, alpha, and whether it was gray.

Every mode Pillow knows ends here. Orientation and metadata are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageFile

from ..errors import ImageError
from . import colour, planes, sixteen
from .arrays import split_alpha

_BAND_PIXELS = 256 * 1024


class Decoded(NamedTuple):
    """Pixels (H, W, 3), alpha (H, W), the profile that still describes them, and what was lost, in words."""

    pixels: NDArray[Any]
    alpha: NDArray[Any] | None = None
    gray: bool = False
    icc: bytes | None = None
    notes: tuple[str, ...] = ()


def decode(
    file: ImageFile.ImageFile, data: bytes, open_file: Callable[[bytes], ImageFile.ImageFile]
) -> Decoded:
    """The first picture of `file`, which `open_file` opened from `data`; it is loaded on the way."""
    icc = file.info.get("icc_profile") or None
    if planes.are_separate(file):
        return _from_samples(planes.decode(data, open_file), None, icc)
    if not sixteen.is_deep(file):
        file.load()
        return _from_mode(file)
    try:
        samples = sixteen.decode(file, lambda: open_file(data))
    except (KeyError, ValueError, TypeError):
        samples = None  # a raw mode this Pillow does not know; it still reads eight bits
    if samples is not None:
        return _from_samples(samples, file.info.get("transparency"), icc)
    decoded = _from_mode(open_file(data))
    return decoded._replace(notes=(*decoded.notes, "the 16-bit photo was read at 8 bits: its kind is rare"))


def _from_samples(samples: NDArray[Any], key: Any, icc: bytes | None) -> Decoded:
    """From (H, W), (H, W, 2), (H, W, 3) or (H, W, 4); `key` is the colour that a PNG declares transparent."""
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
    return Decoded(np.ascontiguousarray(pixels), alpha, gray, icc)


def _from_mode(picture: PIL.Image.Image) -> Decoded:
    icc = picture.info.get("icc_profile") or None
    mode = picture.mode
    if mode.startswith("I") or mode == "F":
        return _from_numbers(picture, icc)
    if mode in ("CMYK", "LAB"):
        return _from_other_space(picture, icc)
    if mode in ("1", "L", "LA", "La"):
        wanted = "LA" if mode in ("LA", "La") or picture.has_transparency_data else "L"
    else:
        wanted = "RGBA" if picture.has_transparency_data else "RGB"
    return _from_samples(_eight_bits(picture if mode == wanted else picture.convert(wanted)), None, icc)


def _eight_bits(picture: PIL.Image.Image) -> NDArray[np.uint8]:
    """np.asarray of an 8-bit picture, band by band: in one piece Pillow would copy it twice."""
    width, height = picture.size
    channels = len(picture.getbands())
    result = np.empty((height, width) if channels == 1 else (height, width, channels), np.uint8)
    rows = max(_BAND_PIXELS // width, 1)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        result[top:bottom] = np.asarray(picture.crop((0, top, width, bottom)))
    return result


def _from_numbers(picture: PIL.Image.Image, icc: bytes | None) -> Decoded:
    numbers = np.asarray(picture)
    low, high = numbers.min(), numbers.max()
    if picture.mode == "F" and low >= 0 and high <= 1:
        return _from_samples(numbers.astype(np.float32), None, icc)
    if picture.mode != "F" and low >= 0 and high <= 65535:
        return _from_samples(_gray_scale(picture, numbers), picture.info.get("transparency"), icc)
    raise ImageError(f"its gray values run from {low:g} to {high:g}, which is no scale of a photo")


def _gray_scale(picture: PIL.Image.Image, numbers: NDArray[Any]) -> NDArray[np.uint16]:
    """Black 0 and white 65535, also where a TIFF counts down or up to 4095."""
    tags: dict[int, Any] = getattr(picture, "tag_v2", {})
    scale = numbers.astype(np.uint16)
    if tags.get(258) == (12,):
        scale = scale << np.uint16(4) | scale >> np.uint16(8)
    return 65535 - scale if tags.get(262) == 0 else scale


def _from_other_space(picture: PIL.Image.Image, icc: bytes | None) -> Decoded:
    lab = picture.mode == "LAB"
    profile = icc if colour.space(icc) == "CMYK" and not lab else None
    rgb = colour.converted(picture, profile) if lab or profile else None
    name = "CIELAB" if lab else "CMYK"
    how = "" if rgb else " without its profile, so the colours are approximate"
    rgb = rgb or picture.convert("RGB")
    return Decoded(np.asarray(rgb), notes=(f"the {name} photo was converted to sRGB{how}",))
