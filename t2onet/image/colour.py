"""Colour profiles: which space a photo is in, and its view in sRGB. The photo itself is never converted here.

A profile is the bytes of an ICC file. Without one, RGB is taken as sRGB.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageCms

from .arrays import is_gray
from .depth import to_uint8
from .model import Image

_FLAGS = ImageCms.Flags.BLACKPOINTCOMPENSATION
_INTENT = ImageCms.Intent.RELATIVE_COLORIMETRIC
# LittleCMS and its wrapper answer damaged profiles with any of these.
_BROKEN = (ImageCms.PyCMSError, OSError, ValueError, TypeError)


def space(profile: bytes | None) -> str | None:
    """The space a profile describes, in its own words: "RGB", "GRAY", "CMYK", "Lab"; None without one."""
    return None if profile is None else profile[16:20].decode("ascii", "replace").strip()


def converted(picture: PIL.Image.Image, profile: bytes | None) -> PIL.Image.Image | None:
    """`picture` in sRGB, read through `profile`, without one as CIELAB; None if the profile is broken."""
    try:
        source = _opened(profile) if profile is not None else ImageCms.createProfile("LAB")
        transform = ImageCms.buildTransform(
            source, ImageCms.createProfile("sRGB"), picture.mode, "RGB", _INTENT, _FLAGS
        )
        return ImageCms.applyTransform(picture, transform)
    except _BROKEN:
        return None


def to_srgb(image: Image) -> Image:
    """The 8-bit sRGB view of a photo; where its profile is damaged, its numbers as they are, and a note."""
    pixels, notes = to_uint8(image.pixels), image.notes
    if image.origin.icc is not None and not is_srgb(image.origin.icc):
        # A gray photo that was tinted has left its gray profile behind.
        tinted = space(image.origin.icc) == "GRAY" and not is_gray(pixels)
        seen = pixels if tinted else _seen(pixels, image.origin.icc)
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
    if space(profile) != "RGB":
        return False
    levels = np.linspace(0, 255, 9).round().astype(np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(9, 81, 3)
    seen = _seen(grid, profile)
    return seen is not None and int(np.abs(seen.astype(int) - grid).max()) <= 1


def _seen(pixels: NDArray[np.uint8], profile: bytes) -> NDArray[Any] | None:
    shown = pixels[..., 0] if space(profile) == "GRAY" else pixels
    seen = converted(PIL.Image.fromarray(np.ascontiguousarray(shown)), profile)
    return None if seen is None else np.asarray(seen)


def _opened(profile: bytes) -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(io.BytesIO(profile))
