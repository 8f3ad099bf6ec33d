"""The kernel of sharpness: the Laplacian of a tile, in strips of columns that stay in the cache.

A strip is smoothed along its rows, then down its columns, then each pixel is compared with its neighbours.
The scratch arrays of a strip are flat, with a constant number of values from row to row: only then are loops
over many rows vectorised. Their rows and columns beyond the tile repeat its border.
"""

from __future__ import annotations

import numpy as np

from ..operations import Frame
from ..operations.paper import SHARPNESS, LaplacianNeighbourhood, laplacian_neighbourhood
from .compiler import compile_kernel
from .light import TileFunction

_ZERO, _ONE = np.float32(0), np.float32(1)
_STRIP = 512
"""Columns of a strip, with the neighbours at its sides."""
_STRIDE = _STRIP + 16
"""Values from row to row of a strip; rows a power of two apart would compete for the same cache lines."""
_PAIRS = 5
"""Pairs of equal weights that one pass over a row applies."""


@compile_kernel
def _smooth_along(line, weights, pad, row):  # type: ignore[no-untyped-def]
    """`row` becomes a line, which has `pad` values more on each side, weighted along itself."""
    centre = line[pad:]
    for k in range(1, weights.size, _PAIRS):
        before, after = line[pad - k - _PAIRS + 1 :], line[pad + k :]
        a, b, c, d, e = weights[k], weights[k + 1], weights[k + 2], weights[k + 3], weights[k + 4]
        if k == 1:
            middle = weights[0]
            for x in range(row.size):
                total = middle * centre[x] + a * (before[x + 4] + after[x])
                total = total + b * (before[x + 3] + after[x + 1]) + c * (before[x + 2] + after[x + 2])
                row[x] = total + d * (before[x + 1] + after[x + 3]) + e * (before[x] + after[x + 4])
        else:
            for x in range(row.size):
                total = row[x] + a * (before[x + 4] + after[x])
                total = total + b * (before[x + 3] + after[x + 1]) + c * (before[x + 2] + after[x + 2])
                row[x] = total + d * (before[x + 1] + after[x + 3]) + e * (before[x] + after[x + 4])


_R1, _R2, _R3, _R4, _R5, _R6, _R7, _R8, _R9, _R10, _R11 = (count * _STRIDE for count in range(1, 12))
"""So many rows of a strip."""


@compile_kernel
def _smooth_down(strip, y, weights, upper, lower):  # type: ignore[no-untyped-def]
    """Rows y and y + 1 of a strip, weighted with those above and below: two at a time read half as much."""
    m, a, b, c, d, e = weights[0], weights[1], weights[2], weights[3], weights[4], weights[5]
    rows = strip[(y - _PAIRS) * _STRIDE :]
    for x in range(upper.size):
        r1, r2, r3, r4, r5 = rows[x + _R1], rows[x + _R2], rows[x + _R3], rows[x + _R4], rows[x + _R5]
        r6, r7, r8, r9, r10 = rows[x + _R6], rows[x + _R7], rows[x + _R8], rows[x + _R9], rows[x + _R10]
        near = m * r5 + a * (r4 + r6) + b * (r3 + r7)
        upper[x] = near + c * (r2 + r8) + d * (r1 + r9) + e * (rows[x] + r10)
        near = m * r6 + a * (r5 + r7) + b * (r4 + r8)
        lower[x] = near + c * (r3 + r9) + d * (r2 + r10) + e * (r1 + rows[x + _R11])
    for k in range(1 + _PAIRS, weights.size, _PAIRS):
        _add_pairs(strip[(y - k - _PAIRS + 1) * _STRIDE :], strip[(y + k) * _STRIDE :], weights[k:], upper)
        _add_pairs(
            strip[(y - k - _PAIRS + 2) * _STRIDE :], strip[(y + k + 1) * _STRIDE :], weights[k:], lower
        )


@compile_kernel
def _add_pairs(above, below, weights, row):  # type: ignore[no-untyped-def]
    """Add five pairs of rows, from `above` and `below` on, to a row; the nearest has the first weight."""
    a, b, c, d, e = weights[0], weights[1], weights[2], weights[3], weights[4]
    for x in range(row.size):
        total = row[x] + a * (above[x + _R4] + below[x]) + b * (above[x + _R3] + below[x + _R1])
        total = total + c * (above[x + _R2] + below[x + _R2]) + d * (above[x + _R1] + below[x + _R3])
        row[x] = total + e * (above[x] + below[x + _R4])


@compile_kernel
def _sharpen_row(row, higher, below, before, right, own, close, distant):  # type: ignore[no-untyped-def]
    """Each value times `own`, less its neighbours times `close`, less those one further times `distant`."""
    for x in range(row.size):
        near = higher[x + _STRIDE] + below[x] + before[x + 1] + right[x]
        far = higher[x] + below[x + _STRIDE] + before[x] + right[x + 1]
        value = own * row[x] - close * near - distant * far
        value = value if value > _ZERO else _ZERO
        row[x] = value if value < _ONE else _ONE


@compile_kernel
def _fill_line(line, row, kept, start, end, pad):  # type: ignore[no-untyped-def]
    """Columns up to `end` of a row; `kept` are the old values of those before `start`, already sharpened.

    Columns beyond the row repeat its ends; `pad` is the number of those on the left.
    """
    offset, inside = kept.size if start else pad, min(end, row.size)
    for x in range(offset):
        line[x] = kept[x] if start else row[0]
    source, target = row[start:inside], line[offset:]
    for x in range(source.size):
        target[x] = source[x]
    for x in range(source.size, end - start):
        target[x] = row[row.size - 1]


@compile_kernel
def _repeat_row(strip, y, step, count):  # type: ignore[no-untyped-def]
    """`count` rows of a strip, each `step` after the one before, repeat row y."""
    source = strip[y * _STRIDE : (y + 1) * _STRIDE]
    for k in range(1, count + 1):
        target = strip[(y + k * step) * _STRIDE :]
        for x in range(source.size):
            target[x] = source[x]


@compile_kernel
def _repeat_border(strip, rows, height, pad):  # type: ignore[no-untyped-def]
    """`pad` rows beyond the first and the last of a photo repeat them, if `rows` reach there."""
    if rows[0] == 0:
        _repeat_row(strip, pad, -1, pad)
    if rows[1] == height:
        _repeat_row(strip, pad + height - 1, 1, pad)


@compile_kernel
def _smooth_strip(channel, weights, far, start, stop, rows, along, smooth, line, kept):  # type: ignore[no-untyped-def]
    """Fill `smooth` for columns `start` to `stop` of the given rows and `far` more on each side."""
    height, width = channel.shape
    half, pad = rows[2], weights.size - 1
    left, right = max(start - far, 0), min(stop + far, width)
    begin, count = left - start + far, right - left
    first, end = max(rows[0] - far, 0), min(rows[1] + far, height)
    for y in range(max(first - half, 0), min(end + half, height)):
        _fill_line(line, channel[y], kept[y], start, right + pad, pad)
        _smooth_along(line, weights, pad, along[(y + pad) * _STRIDE + begin :][:count])
        if stop < width:
            for x in range(kept.shape[1]):
                kept[y, x] = channel[y, stop - kept.shape[1] + x]
    _repeat_border(along, rows, height, pad)
    for y in range(first, end, 2):
        upper, lower = smooth[(y + far) * _STRIDE :][:_STRIDE], smooth[(y + far + 1) * _STRIDE :][:_STRIDE]
        _smooth_down(
            along[begin:], y + pad, weights, upper[begin : begin + count], lower[begin : begin + count]
        )
        for row in (upper, lower):
            for x in range(begin):
                row[x] = row[begin]
            for x in range(begin + count, stop - start + 2 * far):
                row[x] = row[begin + count - 1]
    _repeat_border(smooth, rows, height, far)


@compile_kernel
def _sharpen_channel(channel, weights, near, factors, rows, along, smooth, line, kept):  # type: ignore[no-untyped-def]
    """Sharpen rows of a channel in place; `rows` are the first, the end, and the reach of the weights."""
    width, far = channel.shape[1], near + 1
    for start in range(0, width, _STRIP - 2 * far):
        stop = min(start + _STRIP - 2 * far, width)
        _smooth_strip(channel, weights, far, start, stop, rows, along, smooth, line, kept)
        for y in range(rows[0], rows[1]):
            own_row = smooth[(y + far) * _STRIDE :]
            _sharpen_row(
                channel[y, start:stop],
                smooth[y * _STRIDE + far :],
                smooth[(y + far + near) * _STRIDE + far :],
                own_row,
                own_row[far + near :],
                factors[0],
                factors[1],
                factors[2],
            )


@compile_kernel
def _sharpen_closely(channel, own, close, above, line):  # type: ignore[no-untyped-def]
    """Sharpen a channel in place by the four pixels that touch each, without smoothing."""
    height, width = channel.shape
    for x in range(width):
        above[x] = channel[0, x]
    for y in range(height):
        row, below = channel[y], channel[min(y + 1, height - 1)]
        line[0], line[width + 1] = row[0], row[width - 1]
        for x in range(width):
            line[x + 1] = row[x]
        for x in range(width):
            value = own * line[x + 1] - close * (above[x] + below[x] + line[x] + line[x + 2])
            value = value if value > _ZERO else _ZERO
            row[x] = value if value < _ONE else _ONE
        for x in range(width):
            above[x] = line[x + 1]


def prepare_sharpness(values: np.ndarray) -> TileFunction:
    """The kernel of sharpness; rows that lack neighbours, where a tile was cut, are not sharpened."""
    p = np.float32(values[0])

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        neighbourhood = laplacian_neighbourhood(frame.scale)
        if neighbourhood == laplacian_neighbourhood(1.0):
            above, line = np.empty(tile.shape[2], np.float32), np.empty(tile.shape[2] + 2, np.float32)
            for channel in tile:
                _sharpen_closely(channel, 1 + 4 * p, p, above, line)
            return tile
        if 3 * (neighbourhood.near + 1) + neighbourhood.reach + _PAIRS > _STRIP:
            # Too wide for strips, as where the short side has a hundred thousand pixels.
            result: np.ndarray = np.clip(SHARPNESS.formula(tile, values.astype(np.float32), frame), 0, 1)
            return result
        return _sharpen_smoothly(tile, frame, neighbourhood, p)

    return run


def _sharpen_smoothly(
    tile: np.ndarray, frame: Frame, neighbourhood: LaplacianNeighbourhood, p: np.float32
) -> np.ndarray:
    """Sharpen the rows of a tile that have all their neighbours in it, in place."""
    height, far, half = tile.shape[1], neighbourhood.near + 1, len(neighbourhood.weights) // 2
    weights = np.zeros(1 + -(-half // _PAIRS) * _PAIRS, np.float32)
    weights[: half + 1] = neighbourhood.weights[half:]
    pad, fraction = weights.size - 1, np.float32(neighbourhood.fraction)
    factors = (1 + 4 * p, p * (1 - fraction), p * fraction)
    first = neighbourhood.reach if frame.top else 0
    end = height - (neighbourhood.reach if frame.top + height < frame.height else 0)
    # Weights of zero also take finite values. Rows are smoothed in pairs, the last perhaps with one more.
    along = np.zeros((height + 2 * pad + 1) * _STRIDE, np.float32)
    smooth = np.empty((height + 2 * far) * _STRIDE, np.float32)
    line, kept = np.empty(_STRIDE + 2 * pad, np.float32), np.empty((height, far + pad), np.float32)
    for channel in tile:
        _sharpen_channel(
            channel, weights, neighbourhood.near, factors, (first, end, half), along, smooth, line, kept
        )
    return tile
