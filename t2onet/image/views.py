"""Views of a photo: its colours in sRGB (through its ICC profile), and smaller copies by area averaging."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageCms

from ..errors import ImageError
from .photo import Image
from .pixels import is_gray, to_uint8

# Colour profiles: which space a photo is in, and its view in sRGB. The photo itself is never converted here.
#
# A profile is the bytes of an ICC file. Without one, RGB is taken as sRGB.

_TRANSFORM_FLAGS = ImageCms.Flags.BLACKPOINTCOMPENSATION
_RENDERING_INTENT = ImageCms.Intent.RELATIVE_COLORIMETRIC
# LittleCMS and its wrapper answer damaged profiles with any of these.
_PROFILE_ERRORS = (ImageCms.PyCMSError, OSError, ValueError, TypeError)


def read_profile_space(profile: bytes | None) -> str | None:
    """The space a profile describes, in its own words: "RGB", "GRAY", "CMYK", "Lab"; None without one."""
    return None if profile is None else profile[16:20].decode("ascii", "replace").strip()


def convert_picture_to_srgb(picture: PIL.Image.Image, profile: bytes | None) -> PIL.Image.Image | None:
    """`picture` in sRGB, read through `profile`, without one as CIELAB; None if the profile is broken."""
    try:
        source = _open_profile(profile) if profile is not None else ImageCms.createProfile("LAB")
        transform = ImageCms.buildTransform(
            source, ImageCms.createProfile("sRGB"), picture.mode, "RGB", _RENDERING_INTENT, _TRANSFORM_FLAGS
        )
        return ImageCms.applyTransform(picture, transform)
    except _PROFILE_ERRORS:
        return None


def to_srgb(image: Image) -> Image:
    """The 8-bit sRGB view of a photo; where its profile is damaged, its numbers as they are, and a note."""
    pixels, notes = to_uint8(image.pixels), image.notes
    if image.origin.icc is not None and not is_srgb(image.origin.icc):
        # A gray photo that was tinted has left its gray profile behind.
        tinted = read_profile_space(image.origin.icc) == "GRAY" and not is_gray(pixels)
        seen = pixels if tinted else _view_in_srgb(pixels, image.origin.icc)
        if seen is None:
            notes = (*notes, "the colour profile is damaged: the colours are shown as if they were sRGB")
        pixels = pixels if seen is None else seen
    elif image.dtype == np.uint8:
        return image
    alpha = None if image.alpha is None else to_uint8(image.alpha)
    origin = replace(image.origin, icc=None, encoded=None, bits=8)
    return replace(image, pixels=pixels, alpha=alpha, origin=origin, notes=notes)


def is_srgb(profile: bytes) -> bool:
    """Whether a profile is sRGB in effect: it moves no colour of a coarse grid by more than one level."""
    if read_profile_space(profile) != "RGB":
        return False
    levels = np.linspace(0, 255, 9).round().astype(np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(9, 81, 3)
    seen = _view_in_srgb(grid, profile)
    return seen is not None and int(np.abs(seen.astype(int) - grid).max()) <= 1


def _view_in_srgb(pixels: NDArray[np.uint8], profile: bytes) -> NDArray[Any] | None:
    shown = pixels[..., 0] if read_profile_space(profile) == "GRAY" else pixels
    seen = convert_picture_to_srgb(PIL.Image.fromarray(np.ascontiguousarray(shown)), profile)
    return None if seen is None else np.asarray(seen)


def _open_profile(profile: bytes) -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(io.BytesIO(profile))


# Smaller copies of a photo: every new pixel is the mean of the area it covers.

_BAND_PIXELS = 64 * 1024
_COARSE_FACTOR = 2
"""A photo is first averaged over whole pixels to this many times the wanted size at least, which is fast."""


def resize(image: Image, short_side: int) -> Image:
    """The photo with a short side of `short_side` pixels, or itself where it is not larger than that.

    Depth and RGB space stay.
    """
    if short_side < 1:
        raise ImageError(f"A short side of {short_side} pixels is no size; give at least 1.")
    short = min(image.height, image.width)
    if short <= short_side:
        return image
    size = _scale_side(image.width, short_side, short), _scale_side(image.height, short_side, short)
    return replace(
        image,
        pixels=_resize_array(image.pixels, size),
        alpha=None if image.alpha is None else _resize_array(image.alpha, size),
        origin=replace(image.origin, encoded=None),
    )


def resize_to_square(image: Image, side: int) -> NDArray[np.uint8]:
    """(side, side, 3): the photo in sRGB at 8 bits, whatever its proportions.

    It is converted between two steps of averaging: every pixel of a large photo would take most of a second.
    """
    across, down = (max(int(length / side / _COARSE_FACTOR), 1) for length in (image.width, image.height))
    means = _average_blocks(to_uint8(image.pixels), across, down)
    coarse = PIL.Image.fromarray(to_srgb(replace(image, pixels=means, alpha=None)).pixels)
    whole = (0, 0, image.width / across, image.height / down)
    return np.asarray(coarse.resize((side, side), PIL.Image.Resampling.BOX, whole))


def _average_blocks(pixels: NDArray[np.uint8], across: int, down: int) -> NDArray[np.uint8]:
    """Means of `down` x `across` pixels, of fewer at the edges; in bands, so that no photo is copied."""
    height, width = pixels.shape[:2]
    rows = down * max(_BAND_PIXELS // (width * down), 1)
    bands = (np.ascontiguousarray(pixels[top : top + rows]) for top in range(0, height, rows))
    return np.concatenate([PIL.Image.fromarray(band).reduce((across, down)) for band in bands])


def _scale_side(side: int, numerator: int, denominator: int) -> int:
    # Integers round half up exactly where floats would be a hair off.
    return (2 * side * numerator + denominator) // (2 * denominator)


def _resize_array(array: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    if array.dtype == np.uint8:
        return np.asarray(_resize_with_box_filter(array, size))
    if array.ndim == 3:
        return np.stack(
            [_resize_array(array[..., channel], size) for channel in range(array.shape[2])], axis=-1
        )
    mean = np.asarray(_resize_with_box_filter(array.astype(np.float32), size))
    return np.floor(mean + 0.5).astype(array.dtype) if array.dtype == np.uint16 else mean.astype(array.dtype)


def _resize_with_box_filter(array: NDArray[Any], size: tuple[int, int]) -> PIL.Image.Image:
    return PIL.Image.fromarray(np.ascontiguousarray(array)).resize(size, PIL.Image.Resampling.BOX)
