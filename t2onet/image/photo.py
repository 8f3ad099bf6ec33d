"""A photo in memory: pixels in its own RGB space, upright, and the metadata of its file.

Also what is derived from the pixels: smaller copies by area averaging, and the 8-bit sRGB view.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import DTypeLike, NDArray

from ..errors import ImageError
from .colour import convert_array_to_srgb, is_srgb, read_profile_space
from .pixels import check_array, find_padded, is_gray, split_alpha, to_depth, to_uint8

Pixels = NDArray[Any]

_BAND_PIXELS = 64 * 1024
_COARSE_FACTOR = 2
_MANY_ROWS = 8
"""Rows of a block of which half tell its mean as well."""
"""A photo is first averaged over whole pixels, which is fast, to at least this many times the final size."""


@dataclass(frozen=True)
class JpegCoding:
    """How a JPEG was compressed, so that the result can be compressed alike."""

    tables: tuple[tuple[int, ...], ...]
    subsampling: int
    progressive: bool


@dataclass(frozen=True)
class Origin:
    """The source of an image: its path, and everything in the file that is not pixels.

    `exif` is the bare TIFF structure, without an "Exif" prefix. `encoded` holds the source file's bytes
    as long as the pixels are unchanged. `bits` is the depth of the source.
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
    """A written file, and notes on what its format could not keep."""

    path: Path
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Image:
    """A photo: pixels (H, W, 3), uint8, uint16 or float in [0, 1]; alpha (H, W) of the same dtype, or None.

    The arrays are read-only, so that unchanged pixels are recognized by identity.
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
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        if copy is False and (self.alpha is not None or dtype != self.dtype):
            raise ValueError("An image with alpha or of another dtype cannot become an array without a copy.")
        array = self.pixels if self.alpha is None else np.dstack([self.pixels, self.alpha])
        return array.astype(dtype, copy=bool(copy))

    def __repr__(self) -> str:
        alpha = "" if self.alpha is None else ", alpha"
        source = self.origin.format or "array"
        return f"<Image {self.width} x {self.height}, {self.dtype}{alpha}, {source}>"

    def with_pixels(self, pixels: Pixels, alpha: Pixels | None = None) -> Image:
        """A copy with new pixels: (H, W, 3), or (H, W, 4) to replace alpha as well.

        The size may be another one; a photo with alpha then needs a new `alpha` (H, W), too.
        """
        if pixels is self.pixels and alpha is self.alpha:
            return self
        pixels, fourth = split_alpha(check_array(pixels))
        alpha = next((one for one in (fourth, alpha, self.alpha) if one is not None), None)
        if alpha is not None:
            if alpha.shape != pixels.shape[:2]:
                raise ImageError(
                    f"The new pixels are {_describe_size(pixels)} but the photo's alpha is "
                    f"{_describe_size(alpha)}; give pixels of the same size, or four channels."
                )
            alpha = to_depth(alpha, pixels.dtype)
        return replace(self, pixels=pixels, alpha=alpha, origin=replace(self.origin, encoded=None))

    def resize(self, short_side: int) -> Image:
        """A copy whose short side has `short_side` pixels, area-averaged; the image itself if not larger."""
        if short_side < 1:
            raise ImageError(f"A short side of {short_side} pixels is not possible; give at least 1.")
        short = min(self.height, self.width)
        if short <= short_side:
            return self
        size = _scale_side(self.width, short_side, short), _scale_side(self.height, short_side, short)
        return replace(
            self,
            pixels=resize_array(self.pixels, size),
            alpha=None if self.alpha is None else resize_array(self.alpha, size),
            origin=replace(self.origin, encoded=None),
        )

    def to_srgb(self) -> Image:
        """The photo at 8 bits in sRGB, for screens and networks.

        A damaged profile is ignored, with a note. The image itself if it is 8-bit sRGB already.
        """
        pixels, notes, profile = to_uint8(self.pixels), self.notes, self.origin.icc
        if profile is not None and not is_srgb(profile):
            # A gray profile no longer describes a photo that was tinted.
            tinted = read_profile_space(profile) == "GRAY" and not is_gray(pixels)
            converted = pixels if tinted else convert_array_to_srgb(pixels, profile)
            if converted is None:
                notes = (*notes, "the colour profile is damaged: the colours are shown as if they were sRGB")
            else:
                pixels = converted
        elif self.dtype == np.uint8:
            return self
        alpha = None if self.alpha is None else to_uint8(self.alpha)
        origin = replace(self.origin, icc=None, encoded=None, bits=8)
        return replace(self, pixels=pixels, alpha=alpha, origin=origin, notes=notes)

    def save(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, quality: int | None = None
    ) -> SavedFile:
        """Write the photo; the suffix decides the format. Only `overwrite` lets it replace a file."""
        from .writing import save_image

        return save_image(self, Path(path), overwrite=overwrite, quality=quality)


def image_from_array(array: Any) -> Image:
    """Wrap an array (H, W, 3 or 4) of uint8, uint16, or float in [0, 1]; it is not copied."""
    pixels, alpha = split_alpha(check_array(array))
    return Image(pixels, alpha, Origin(bits=8 * pixels.dtype.itemsize))


def resize_to_square(image: Image, side: int) -> NDArray[np.uint8]:
    """Resize to (side, side, 3) in 8-bit sRGB, ignoring the aspect ratio.

    Colours are converted between two averaging steps: converting every pixel of a large photo takes most of
    a second. Of large photos every second row is read.
    """
    across, down = (max(int(length / side / _COARSE_FACTOR), 1) for length in (image.width, image.height))
    step = 2 if down >= _MANY_ROWS else 1
    means = _average_blocks(to_uint8(image.pixels), across, down // step, step)
    coarse = PIL.Image.fromarray(replace(image, pixels=means, alpha=None).to_srgb().pixels)
    box = (0, 0, image.width / across, image.height // step / (down // step))
    return np.asarray(coarse.resize((side, side), PIL.Image.Resampling.BOX, box))


def _make_read_only(array: Pixels) -> Pixels:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _describe_size(array: Pixels) -> str:
    return f"{array.shape[1]} x {array.shape[0]} pixels"


def to_picture(samples: NDArray[Any]) -> PIL.Image.Image:
    """Samples as Pillow's picture: of mode RGBX in the same memory where that has four bytes a pixel."""
    padded = find_padded(samples)
    return PIL.Image.fromarray(np.ascontiguousarray(samples)) if padded is None else _view_as_picture(padded)


def _view_as_picture(padded: NDArray[np.uint8]) -> PIL.Image.Image:
    size = padded.shape[1], padded.shape[0]
    return PIL.Image.frombuffer("RGBX", size, padded, "raw", "RGBX", 0, 1)


def _average_blocks(pixels: NDArray[np.uint8], across: int, down: int, step: int) -> NDArray[np.uint8]:
    """Average blocks of `down` x `across` pixels, fewer at the edges; in bands, to save memory.

    Only every `step`-th row counts.
    """
    count, width = len(pixels) // step, pixels.shape[1]
    padded = find_padded(pixels)
    if padded is not None:
        # Rows side by side: Pillow averages the left ones.
        beside = padded[: count * step].reshape(count, step * width, 4)
        return np.asarray(_view_as_picture(beside).reduce((across, down), (0, 0, width, count)))[..., :3]
    rows, chosen = down * max(_BAND_PIXELS // (width * down), 1), pixels[: count * step : step]
    bands = (np.ascontiguousarray(chosen[top : top + rows]) for top in range(0, count, rows))
    return np.concatenate([PIL.Image.fromarray(band).reduce((across, down)) for band in bands])


def _scale_side(side: int, numerator: int, denominator: int) -> int:
    # Integers round half up exactly, floats would not.
    return (2 * side * numerator + denominator) // (2 * denominator)


def resize_array(
    array: NDArray[Any], size: tuple[int, int], *, reducing_gap: float | None = None
) -> NDArray[Any]:
    """Resize (H, W) or (H, W, 3) to a width and height by area averaging.

    With a gap, large 8-bit pictures are averaged over whole blocks first, to so many times the size or more:
    that is several times as fast, and hardly different.
    """
    if array.dtype == np.uint8:
        resized = np.asarray(_resize_with_box_filter(array, size, reducing_gap))
        return resized if resized.ndim == 2 else np.ascontiguousarray(resized[..., :3])
    if array.ndim == 3:
        return np.stack(
            [resize_array(array[..., channel], size) for channel in range(array.shape[2])], axis=-1
        )
    mean = np.asarray(_resize_with_box_filter(array.astype(np.float32), size))
    return np.floor(mean + 0.5).astype(array.dtype) if array.dtype == np.uint16 else mean.astype(array.dtype)


def _resize_with_box_filter(
    array: NDArray[Any], size: tuple[int, int], reducing_gap: float | None = None
) -> PIL.Image.Image:
    return to_picture(array).resize(size, PIL.Image.Resampling.BOX, reducing_gap=reducing_gap)
