"""Masks of places: fitted to the tones of a small picture, computed on tiles, and blended into them."""

from __future__ import annotations

import math

import numpy as np

from ..image.colour import LUMINANCE_WEIGHTS
from .compiler import compile_kernel
from .detail import average_row

_RED, _GREEN, _BLUE = (np.float32(weight) for weight in LUMINANCE_WEIGHTS)
_ZERO, _ONE, _TWO = (np.float32(value) for value in (0, 1, 2))


@compile_kernel
def fit_tones(planes, whole, fraction, tolerance):  # type: ignore[no-untyped-def]
    """Slopes and levels (2, H, W) of a mask as a linear function of tones, smoothed.

    `planes` (4, H, W) are the tones, the mask, the squares of the tones and the products of both.
    """
    height, width = planes.shape[1:]
    fits, result = np.empty((2, height, width)), np.empty((2, height, width), np.float32)
    sums, averages = np.empty((4, width)), np.empty((4, width))
    padded = np.empty((4, width + 2 * (whole + 1)))
    for y in range(height):
        average_row(planes, y, whole, fraction, sums, padded, averages)
        for x in range(width):
            mean, level = averages[0, x], averages[1, x]
            variance = max(averages[2, x] - mean * mean, 0.0)
            slope = (averages[3, x] - mean * level) / (variance + tolerance * tolerance)
            fits[0, y, x], fits[1, y, x] = slope, level - slope * mean
    for y in range(height):
        average_row(fits, y, whole, fraction, sums, padded, result[:, y])
    return result


@compile_kernel
def _place(pixel, scale, size):  # type: ignore[no-untyped-def]
    """The two of `size` entries that a pixel lies between, and how far towards the second."""
    place = min(max((pixel + 0.5) * scale - 0.5, 0.0), size - 1.0)
    before = math.floor(place)
    return before, min(before + 1, size - 1), np.float32(place - before)


@compile_kernel
def _stretch(line, before, after, shares, row):  # type: ignore[no-untyped-def]
    for x in range(row.size):
        row[x] = line[before[x]] + shares[x] * (line[after[x]] - line[before[x]])


@compile_kernel
def weigh_tones(tile, fits, top, height, unsure, weights):  # type: ignore[no-untyped-def]
    """Fill `weights` (H, W) from a tile (3, H, W) of whole rows, and the small fits of a mask.

    The tile begins at row `top` of a photo of this height, over which the fits are stretched. They are
    stretched along rows only where the tile passes from one small row to the next.
    """
    small_height, small_width = fits.shape[1:]
    width = weights.shape[1]
    before, after, shares = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.float32)
    for x in range(width):
        before[x], after[x], shares[x] = _place(x, small_width / width, small_width)
    lines = np.empty((4, width), np.float32)
    slope, level, next_slope, next_level = lines[0], lines[1], lines[2], lines[3]
    gain, ready = _ONE / (_ONE - _TWO * unsure), -1
    for y in range(weights.shape[0]):
        upper, lower, share = _place(top + y, small_height / height, small_height)
        if upper != ready:
            ready = upper
            for c in range(2):
                _stretch(fits[c, upper], before, after, shares, lines[c])
                _stretch(fits[c, lower], before, after, shares, lines[c + 2])
        red, green, blue, row = tile[0, y], tile[1, y], tile[2, y], weights[y]
        for x in range(width):
            grey = _RED * red[x] + _GREEN * green[x] + _BLUE * blue[x]
            a = slope[x] + share * (next_slope[x] - slope[x])
            b = level[x] + share * (next_level[x] - level[x])
            row[x] = min(max((a * grey + b - unsure) * gain, _ZERO), _ONE)


@compile_kernel
def blend_part(tile, corner, weights, changed, offset):  # type: ignore[no-untyped-def]
    """Blend `changed`, from its row and column `offset` on, into the part of a tile at `corner`."""
    height, width = weights.shape
    for c in range(3):
        for y in range(height):
            row = tile[c, corner[0] + y][corner[1] : corner[1] + width]
            other, share = changed[c, offset[0] + y][offset[1] :], weights[y]
            for x in range(width):
                row[x] += share[x] * (other[x] - row[x])
