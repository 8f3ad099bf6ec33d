"""A photo in memory: its pixels, and the metadata that travels with them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import ImageError
from .pixels import check_array, split_alpha, to_depth

# A photo in memory: its pixels, and what travels along with them.
#
# Pixels are (H, W, 3) in the photo's own RGB space, upright. This module knows neither files nor formats:
# reading, writing, scaling and colour conversion live beside it and are reached through the methods below.

Pixels = NDArray[Any]


@dataclass(frozen=True)
class JpegCoding:
    """How a JPEG was compressed, so that its successor can be compressed alike."""

    tables: tuple[tuple[int, ...], ...]
    subsampling: int
    progressive: bool


@dataclass(frozen=True)
class Origin:
    """Where an image came from, and everything of the file that is not pixels.

    `exif` is the bare TIFF structure, without an "Exif" prefix. `encoded` holds the source file's bytes for
    as long as the pixels are those of the file. `bits` is the depth of the source.
    """

    path: Path | None = None
    format: str | None = None
    bits: int = 8
    gray: bool = False
    exif: bytes | None = field(default=None, repr=False)
    icc: bytes | None = field(default=None, repr=False)
    xmp: bytes | None = field(default=None, repr=False)
    photoshop: bytes | None = field(default=None, repr=False)
    segments: tuple[bytes, ...] = field(default=(), repr=False)
    comment: bytes | None = field(default=None, repr=False)
    text: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    dpi: tuple[float, float] | None = None
    jpeg: JpegCoding | None = field(default=None, repr=False)
    lossless: bool = False
    compressed: bool = True
    encoded: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class SavedFile:
    """A file that was written, and what it could not keep, in words."""

    path: Path
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Image:
    """A photo: pixels (H, W, 3), uint8, uint16 or float in [0, 1]; alpha (H, W) of the same dtype, or None.

    The arrays are read-only: an image that was not replaced is known to be the one that was opened.
    """

    pixels: Pixels
    alpha: Pixels | None = None
    origin: Origin = Origin()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "pixels", _make_read_only(self.pixels))
        if self.alpha is not None:
            object.__setattr__(self, "alpha", _make_read_only(self.alpha))

    @property
    def height(self) -> int:
        """Rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Columns."""
        return int(self.pixels.shape[1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of np.asarray(self): (H, W, 3), or (H, W, 4) where there is alpha."""
        return self.height, self.width, 3 if self.alpha is None else 4

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of np.asarray(self)."""
        return self.pixels.dtype

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Pixels:
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        if copy is False and (self.alpha is not None or wanted != self.dtype):
            raise ValueError("This image cannot be given as such an array without a copy.")
        whole = self.pixels if self.alpha is None else np.dstack([self.pixels, self.alpha])
        return whole.astype(wanted, copy=bool(copy))

    def __repr__(self) -> str:
        kind = self.origin.format or "array"
        alpha = "" if self.alpha is None else ", alpha"
        return f"<Image {self.width} x {self.height}, {self.dtype}{alpha}, {kind}>"

    def with_pixels(self, pixels: Pixels) -> Image:
        """The same photo with new pixels, (H, W, 3), or (H, W, 4) to replace alpha as well."""
        if pixels is self.pixels:
            return self
        pixels, alpha = split_alpha(check_array(pixels))
        if alpha is None and self.alpha is not None:
            if self.alpha.shape != pixels.shape[:2]:
                raise ImageError(
                    f"The new pixels are {_describe_size(pixels)} but the photo's alpha is "
                    f"{_describe_size(self.alpha)}; give pixels of the same size, or four channels."
                )
            alpha = to_depth(self.alpha, pixels.dtype)
        return replace(self, pixels=pixels, alpha=alpha, origin=replace(self.origin, encoded=None))

    def resized(self, short_side: int) -> Image:
        """A copy with a short side of `short_side` pixels, area-averaged; never an enlargement."""
        from .views import resize

        return resize(self, short_side)

    def to_srgb(self) -> Image:
        """An 8-bit view in sRGB, for screens and networks; converted only where a profile asks for it."""
        from .views import to_srgb

        return to_srgb(self)

    def save(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, quality: int | None = None
    ) -> SavedFile:
        """Write the photo; the suffix decides the format. Only `overwrite` lets it replace a file."""
        from .writing import save_image

        return save_image(self, Path(path), overwrite=overwrite, quality=quality)


def image_from_array(array: Any) -> Image:
    """An image of an array (H, W, 3 or 4): uint8, uint16, or float in [0, 1]. The array is not copied."""
    pixels, alpha = split_alpha(check_array(array))
    return Image(pixels, alpha, Origin(bits=8 * pixels.dtype.itemsize))


def _make_read_only(array: Pixels) -> Pixels:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _describe_size(array: Pixels) -> str:
    return f"{array.shape[1]} x {array.shape[0]} pixels"
