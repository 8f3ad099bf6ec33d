"""A before/after pair of photos, made comparable: the same pixels of the same scene at the same size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import PIL.Image

from ..errors import PlanError
from ..executor import PhotoLike
from ..image import Image, open_image
from ..image.pixels import to_depth
from .pictures import Picture

_ASPECT_TOLERANCE = 0.02
"""Aspect ratios may differ by this share: a crop of a few pixels."""
_MIN_CORRELATION = 0.15
"""Correlation of fine structure below which two photos do not show the same scene."""
_STRUCTURE_SIDE = 64
"""Pixels a side at which structure is compared, coarse enough for small shifts."""


@dataclass(frozen=True)
class PhotoPair:
    """Two photos of the same scene."""

    before: Image
    after: Image

    def at(self, short_side: int) -> tuple[Picture, Picture]:
        """Both as pictures (3, H, W) of one size, area-averaged, with at most that short side."""
        height, width = self._size(short_side)
        return to_working_picture(self.before, height, width), to_working_picture(self.after, height, width)

    @property
    def short_side(self) -> int:
        """Of the smaller photo."""
        return min(self.before.height, self.before.width, self.after.height, self.after.width)

    def _size(self, short_side: int) -> tuple[int, int]:
        smaller = min(self.before, self.after, key=lambda image: image.height * image.width)
        scale = min(1.0, short_side / min(smaller.height, smaller.width))
        return max(1, round(smaller.height * scale)), max(1, round(smaller.width * scale))


def open_photo_pair(before: PhotoLike, after: PhotoLike, *, alike: bool = True) -> PhotoPair:
    """The pair, or why these two are none; `alike` asks for the same structure throughout."""
    first, second = open_image(before), open_image(after)
    if first.origin.icc != second.origin.icc:
        first, second = first.to_srgb(), second.to_srgb()
    pair = PhotoPair(first, second)
    _check_aspect(pair)
    pair = _align_pair(pair)
    if alike:
        check_same_scene(pair)
    return pair


def _check_aspect(pair: PhotoPair) -> None:
    first, second = (image.width / image.height for image in (pair.before, pair.after))
    if abs(first / second - 1) > _ASPECT_TOLERANCE:
        raise PlanError(
            f"the photos are {_format_size(pair.before)} and {_format_size(pair.after)}: one is cropped or "
            "turned; give both with the same framing"
        )


def _align_pair(pair: PhotoPair) -> PhotoPair:
    """Where the sizes differ by a few pixels, one is a crop: the other is cut to match it."""
    heights, widths = (pair.before.height, pair.after.height), (pair.before.width, pair.after.width)
    height, width = min(heights), min(widths)
    same = heights[0] == heights[1] and widths[0] == widths[1]
    if (
        same
        or height < (1 - _ASPECT_TOLERANCE) * max(heights)
        or width < (1 - _ASPECT_TOLERANCE) * max(widths)
    ):
        return pair
    down, right = _estimate_shift(pair)
    first = _crop(pair.before, max(0, down), max(0, right), height, width)
    return PhotoPair(first, _crop(pair.after, max(0, -down), max(0, -right), height, width))


def _estimate_shift(pair: PhotoPair) -> tuple[int, int]:
    """How many pixels down and right `after` begins in `before`: the peak of their phase correlation."""
    rows, columns = (max(sides) for sides in zip(_sides(pair.before), _sides(pair.after), strict=True))
    spectra = []
    for image in (pair.before, pair.after):
        frame = np.zeros((rows, columns), np.float32)
        frame[: image.height, : image.width] = _high_pass(
            to_working_picture(image, image.height, image.width)
        )
        spectra.append(np.fft.rfft2(frame))
    cross = spectra[0] * np.conj(spectra[1])
    likeness = np.fft.irfft2(cross / np.maximum(np.abs(cross), 1e-12), s=(rows, columns))
    down, right = divmod(int(np.argmax(likeness)), columns)
    down, right = down - rows * (down > rows // 2), right - columns * (right > columns // 2)
    spare = abs(pair.before.height - pair.after.height), abs(pair.before.width - pair.after.width)
    return (down, right) if abs(down) <= spare[0] and abs(right) <= spare[1] else (0, 0)


def _sides(image: Image) -> tuple[int, int]:
    return image.height, image.width


def _crop(image: Image, top: int, left: int, height: int, width: int) -> Image:
    top, left = min(top, image.height - height), min(left, image.width - width)
    return Image(image.pixels[top : top + height, left : left + width], origin=image.origin)


def _format_size(image: Image) -> str:
    return f"{image.width} x {image.height}"


def check_same_scene(pair: PhotoPair) -> None:
    """Refuses photos of different scenes."""
    if min(pair.before.height, pair.before.width, pair.short_side) < 8:
        return  # too few pixels to tell
    details = [_high_pass(picture) for picture in pair.at(_STRUCTURE_SIDE)]
    spread = [float(np.sqrt((detail**2).mean())) for detail in details]
    if min(spread) < 1e-3:
        return  # a picture without structure, such as black, can come from any other
    alike = float((details[0] * details[1]).mean()) / (spread[0] * spread[1])
    if alike < _MIN_CORRELATION:
        raise PlanError(
            "the two photos do not show the same scene, so no edit leads from one to the other; "
            "give a photo and an edit of that photo"
        )


def _high_pass(picture: Picture) -> np.ndarray:
    """Grey minus its surroundings."""
    grey = picture.mean(axis=0)
    padded = np.pad(grey, 1, mode="edge")
    around = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / 4
    detail: np.ndarray = grey - around
    return detail


def to_working_picture(image: Image, height: int, width: int) -> Picture:
    """A photo at a working size, area-averaged."""
    pixels = image.pixels
    if pixels.dtype == np.uint8:  # several times faster, and half a level is nothing to a plan
        pixels = _resize_by_area(pixels, height, width)
    channels = to_depth(pixels, np.float32).transpose(2, 0, 1)
    if channels.shape[1:] != (height, width):
        channels = np.stack([_resize_by_area(channel, height, width) for channel in channels])
    return np.ascontiguousarray(np.clip(channels, 0, 1))


def _resize_by_area(array: np.ndarray, height: int, width: int) -> np.ndarray:
    if array.shape[:2] == (height, width):
        return array
    picture = PIL.Image.fromarray(np.ascontiguousarray(array))
    return np.asarray(picture.resize((width, height), PIL.Image.Resampling.BOX))
