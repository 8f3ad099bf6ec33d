"""Masks of places on a tile: a linear function of its tones, whose factors are stretched over the photo."""

from __future__ import annotations

import numpy as np

from ..image.colour import LUMINANCE_WEIGHTS
from .compiler import compile_kernel

_RED, _GREEN, _BLUE = (np.float32(weight) for weight in LUMINANCE_WEIGHTS)
_ZERO, _ONE, _TWO = (np.float32(value) for value in (0, 1, 2))


@compile_kernel
def weigh_tones(tile, slopes, levels, before, after, shares, unsure, weights):  # type: ignore[no-untyped-def]
    """Fill `weights` (H, W) from a tile (3, H, W) and small lines (H, w) of slopes and levels.

    Each column lies between the entries `before` and `after` of a line, by its share towards the second.
    """
    gain = _ONE / (_ONE - _TWO * unsure)
    for row in range(weights.shape[0]):
        for column in range(weights.shape[1]):
            first, second, share = before[column], after[column], shares[column]
            slope = slopes[row, first] + share * (slopes[row, second] - slopes[row, first])
            level = levels[row, first] + share * (levels[row, second] - levels[row, first])
            grey = _RED * tile[0, row, column] + _GREEN * tile[1, row, column] + _BLUE * tile[2, row, column]
            weights[row, column] = min(max((slope * grey + level - unsure) * gain, _ZERO), _ONE)
