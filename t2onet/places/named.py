"""Named places: found on a small copy of the photo, their edges snapped to those of the photo.

`FINDERS` has a function for each name of `recipe.where.PLACES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import PlaceError, suggest
from ..image.colour import LUMINANCE_WEIGHTS
from ..inference import CHANNELS
from ..operations import Frame
from ..operations.detail import Box
from ..recipe.where import PLACES
from .network import find_all

PlaceFinder = Callable[[np.ndarray], np.ndarray]
"""A small picture (3, H, W) in sRGB from 0 to 1 -> a soft mask (h, w) from 0 to 1, of any size.

It raises PlaceError where the place is not in the picture.
"""
BACKGROUND = "background"
"""What is not the subject."""


def _find_channel(name: str, picture: np.ndarray) -> np.ndarray:
    found = find_all(picture)
    if not found.is_there(name):
        raise PlaceError(f"I see no {name} in this photo")
    return found.get_mask(name)


def _find_background(picture: np.ndarray) -> np.ndarray:
    return 1 - _find_channel("subject", picture)


FINDERS: dict[str, PlaceFinder] = {name: partial(_find_channel, name) for name in CHANNELS if name in PLACES}
"""How each named place is found."""
if BACKGROUND in PLACES:
    FINDERS[BACKGROUND] = _find_background

PICTURE_SIDE = 512
"""Long side of the small picture, in pixels."""
SNAP_WIDTH = 0.02
"""Standard deviation of the window in which a mask follows edges, as a share of the short side."""
SNAP_CONTRAST = 0.02
"""Contrasts far above it are edges that a mask follows."""
UNSURE = 0.08
"""Levels this near to zero count as zero, and this near to one as one: a faint veil would tint the photo."""


def find_place(name: str, picture: np.ndarray) -> np.ndarray:
    """The soft mask (h, w) of a named place in a small picture (3, H, W) in sRGB."""
    if name not in FINDERS:
        raise PlaceError(f"there is no place {name!r:.40} to find; {suggest(name, FINDERS)}")
    return np.clip(np.asarray(FINDERS[name](picture), np.float32), 0, 1)


def list_present(picture: np.ndarray) -> tuple[str, ...]:
    """The named places that are in a small picture (3, H, W) in sRGB."""
    return tuple(name for name in FINDERS if _is_present(name, picture))


def _is_present(name: str, picture: np.ndarray) -> bool:
    try:
        find_place(name, picture)
    except PlaceError:
        return False
    return True


@dataclass(frozen=True)
class SnappedMask:
    """A mask as a linear function of the photo's tones in each window (He et al. 2010, guided filter).

    It is fitted on the small picture and evaluated on tiles of the photo, whose edges it takes over.
    """

    slope: np.ndarray
    """(h, w), as `level`."""
    level: np.ndarray

    @classmethod
    def fit(cls, mask: np.ndarray, picture: np.ndarray) -> SnappedMask:
        """From a mask (h, w) of any size and a small picture (3, H, W)."""
        tones = measure_tones(picture).astype(np.float64)
        mask = interpolate(mask, Frame.around(tones), *tones.shape)
        smooth = Box.with_deviation(max(SNAP_WIDTH * min(tones.shape), 1.0)).smooth
        mean, level = smooth(tones), smooth(mask)
        variance = np.clip(smooth(tones * tones) - mean * mean, 0, None)
        slope = (smooth(tones * mask) - mean * level) / (variance + SNAP_CONTRAST**2)
        return cls(*(np.asarray(smooth(one), np.float32) for one in (slope, level - slope * mean)))

    def weigh(self, tile: np.ndarray, frame: Frame, *, compiled: bool = False) -> np.ndarray:
        """The mask (H, W) on a tile (3, H, W) of the photo."""
        if compiled:
            return self._weigh_compiled(tile, frame)
        slope, level = (interpolate(one, frame, *tile.shape[1:]) for one in (self.slope, self.level))
        levels = slope * measure_tones(tile) + level
        return np.asarray(np.clip((levels - UNSURE) / (1 - 2 * UNSURE), 0, 1))

    def _weigh_compiled(self, tile: np.ndarray, frame: Frame) -> np.ndarray:
        from ..kernels import weigh_tones

        height, width = tile.shape[1:]
        rows, down = _place_pixels(frame.top, height, len(self.slope) / frame.height, len(self.slope))
        small = self.slope.shape[1]
        (before, after), shares = _place_pixels(frame.left, width, small / frame.width, small)
        slopes, levels = (_blend_rows(one, rows, down) for one in (self.slope, self.level))
        weights = np.empty((height, width), np.float32)
        weigh_tones(tile, slopes, levels, before, after, shares, np.float32(UNSURE), weights)
        return weights


def measure_tones(picture: np.ndarray) -> np.ndarray:
    """(H, W): the displayed channels of a picture (3, H, W) as one grey."""
    return np.asarray(np.tensordot(np.array(LUMINANCE_WEIGHTS, picture.dtype), picture, 1))


def interpolate(small: np.ndarray, frame: Frame, height: int, width: int) -> np.ndarray:
    """A small array (h, w) that covers the photo, at the pixels of a tile, in straight lines between them."""
    rows, down = _place_pixels(frame.top, height, small.shape[0] / frame.height, small.shape[0])
    columns, across = _place_pixels(frame.left, width, small.shape[1] / frame.width, small.shape[1])
    lines = _blend_rows(small, rows, down)
    return np.asarray(lines[:, columns[0]] * (1 - across) + lines[:, columns[1]] * across)


def _blend_rows(small: np.ndarray, rows: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Lines between pairs of rows, by their shares towards the second."""
    return np.asarray(small[rows[0]] * (1 - down)[:, None] + small[rows[1]] * down[:, None])


def _place_pixels(first: int, count: int, scale: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """For each pixel the two entries (2, count) it lies between, and how far towards the second."""
    places = np.clip((first + np.arange(count) + 0.5) * scale - 0.5, 0, size - 1)
    before = np.floor(places).astype(np.int64)
    shares = (places - before).astype(np.float32)
    return np.stack([before, np.minimum(before + 1, size - 1)]), shares
