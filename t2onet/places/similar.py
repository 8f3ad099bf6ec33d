"""What is like a point of a photo: the region around it whose colours are near, for a click in the page.

A pixel belongs to the region if a path leads to it on which no colour is far from that of the point. The
region is grown on a small copy of the photo, and its edges are snapped to those of the photo.
"""

from __future__ import annotations

import numpy as np

from ..image.colour import srgb_to_lab
from ..image.pixels import to_depth, to_uint8
from ..operations import Frame
from ..operations.detail import Box
from ..operations.light import rise
from ..recipe.where import Point
from .named import SnappedMask
from .resolve import OpenedPhoto

DEFAULT_TOLERANCE = 14.0
TOLERANCE_RANGE = (1.0, 60.0)
"""Distances in CIELAB that still belong to a region; lightness counts half, as light falls unevenly."""
_LIGHTNESS_WEIGHT = 0.5
_FADE = 1.5
"""A region fades out up to this many times the tolerance."""
_SMOOTHING = 1.2
"""Standard deviation in pixels of the small picture by which noise is averaged."""
_POINT_REACH = 2
"""Pixels of the small picture around the point whose mean colour is taken."""
_MAX_SWEEPS = 64


def select_similar(photo: OpenedPhoto, point: Point, tolerance: float = DEFAULT_TOLERANCE) -> np.ndarray:
    """The mask (H, W) uint8 of what is like a point (shares of width and height) of a photo."""
    region = SnappedMask.fit(grow_region(photo.small_picture, point, tolerance), photo.small_picture)
    tile = np.ascontiguousarray(to_depth(photo.pixels, np.float32).transpose(2, 0, 1))
    return to_uint8(region.weigh(tile, Frame.around(tile)))


def grow_region(picture: np.ndarray, point: Point, tolerance: float) -> np.ndarray:
    """The soft mask (H, W) of the region around a point of a small picture (3, H, W) in sRGB."""
    height, width = picture.shape[1:]
    x, y = (min(int(share * side), side - 1) for share, side in zip(point, (width, height), strict=True))
    smooth = Box.with_deviation(_SMOOTHING).smooth
    lab = np.stack([smooth(one) for one in np.asarray(srgb_to_lab(picture))])
    near = (slice(max(one - _POINT_REACH, 0), one + _POINT_REACH + 1) for one in (y, x))
    colour = np.median(lab[:, *near].reshape(3, -1), axis=1)
    away = lab - colour[:, None, None]
    away[0] *= _LIGHTNESS_WEIGHT
    farthest = _find_farthest(np.sqrt((away * away).sum(axis=0)), y, x)
    return np.asarray(1 - rise(farthest, tolerance, _FADE * tolerance), np.float32)


def _find_farthest(distance: np.ndarray, y: int, x: int) -> np.ndarray:
    """For each pixel the greatest distance on the path from (y, x) on which that is least."""
    farthest = np.full(distance.shape, np.inf, distance.dtype)
    farthest[y, x] = 0
    for _ in range(_MAX_SWEEPS):
        before = farthest.copy()
        for distances, found in ((distance, farthest), (distance.T, farthest.T)):
            _sweep(distances, found)
            _sweep(distances[::-1], found[::-1])
        if np.array_equal(before, farthest):
            break
    return farthest


def _sweep(distances: np.ndarray, found: np.ndarray) -> None:
    """Go on from each row to the next, in place."""
    for row in range(1, len(found)):
        np.minimum(found[row], np.maximum(found[row - 1], distances[row]), out=found[row])
