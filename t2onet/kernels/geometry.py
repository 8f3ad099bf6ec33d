"""Kernels of geometry, by name: the same functions of photo, values and rows, compiled."""

from __future__ import annotations

import math

import numpy as np

from ..operations import GeometryFunction, ParameterValues, geometry
from .compiler import compile_kernel

_HALF, _ONE, _TWO, _THREE, _FOUR, _FIVE = (np.float32(value) for value in (0.5, 1, 2, 3, 4, 5))


@compile_kernel
def _interpolate(pixels, cos, sin, rows, first, highest, half, result):  # type: ignore[no-untyped-def]
    """Rows of a photo (H, W, C) that is turned, from row `first` of `rows`, into `result`."""
    height, width, channels = pixels.shape
    count, columns = result.shape[:2]
    weights = np.empty((2, 4), np.float32)
    at_row, at_column = np.empty(4, np.int64), np.empty(4, np.int64)
    low = np.float32(0)
    for row in range(count):
        y = first + row + 0.5 * (1 - rows)
        for column in range(columns):
            x = column + 0.5 * (1 - columns)
            across = cos * x + sin * y + 0.5 * (width - 1)
            down = cos * y - sin * x + 0.5 * (height - 1)
            left, top = math.floor(across), math.floor(down)
            for axis in range(2):
                t = np.float32(across - left) if axis == 0 else np.float32(down - top)
                weights[axis, 0] = ((_TWO - t) * t - _ONE) * t * _HALF
                weights[axis, 1] = ((_THREE * t - _FIVE) * t * t + _TWO) * _HALF
                weights[axis, 2] = ((_FOUR - _THREE * t) * t + _ONE) * t * _HALF
                weights[axis, 3] = (t - _ONE) * t * t * _HALF
            for k in range(4):
                at_row[k] = min(max(int(top) - 1 + k, 0), height - 1)
                at_column[k] = min(max(int(left) - 1 + k, 0), width - 1)
            for channel in range(channels):
                total = half
                for j in range(4):
                    line = low
                    for i in range(4):
                        line += weights[0, i] * np.float32(pixels[at_row[j], at_column[i], channel])
                    total += weights[1, j] * line
                result[row, column, channel] = min(max(total, low), highest)


def straighten(pixels: np.ndarray, values: ParameterValues, rows: slice) -> np.ndarray:
    """Rows of the photo turned clockwise; see `operations.geometry.straighten`."""
    if pixels.dtype == np.float16:  # which Numba does not know
        return geometry.straighten(pixels, values, rows)
    turn = geometry.make_turn(pixels, values)
    start, stop, _ = rows.indices(turn.size[0])
    result = np.empty((stop - start, turn.size[1], *pixels.shape[2:]), pixels.dtype)
    is_float = pixels.dtype.kind == "f"
    # An integer is truncated when it is stored, so half a level is added before.
    highest = np.float32(1 if is_float else np.iinfo(pixels.dtype).max)
    half = np.float32(0 if is_float else 0.5)
    _interpolate(pixels, turn.cos, turn.sin, turn.size[0], start, highest, half, result)
    return result


GEOMETRY_KERNELS: dict[str, GeometryFunction] = {"straighten": straighten}
