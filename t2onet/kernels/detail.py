"""Kernels of operations that read around a pixel or know its place: detail and effects.

Averages over windows are running sums in double precision, a row at a time, so that their cost does not grow
with the window. Threads are those of the caller.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..image.colour import LUMINANCE_WEIGHTS
from ..operations import Frame
from ..operations.detail import (
    CLARITY_LIMIT,
    CLARITY_TOLERANCE,
    CLARITY_WIDTH,
    COLOUR_TOLERANCE,
    COLOUR_WIDTH,
    DEHAZE_LOWERING,
    DEHAZE_STRENGTH,
    DEHAZE_TOLERANCE,
    DEHAZE_WIDTH,
    LEAST_VARIANCE,
    LUMINANCE_TOLERANCE,
    LUMINANCE_WIDTH,
    ROOT_OFFSET,
    VEIL,
    Blocks,
    Window,
    scale_clarity,
)
from ..operations.effects import (
    GRAIN_GAIN,
    LATTICE_FACTORS,
    LATTICE_MASK,
    LATTICE_MIXER,
    LATTICE_SEED,
    VIGNETTE_STOPS,
    measure_squares,
    place_vignette,
    scale_grain,
    weigh_lattice,
)
from ..operations.light import MAX_COLOUR_GAIN
from .compiler import compile_kernel
from .light import Kernel, TileFunction, fade_pixel

_ZERO, _ONE, _TWO = (np.float32(value) for value in (0, 1, 2))
_TINY, _MAX_GAIN = np.float32(1e-6), np.float32(MAX_COLOUR_GAIN)
_RED, _GREEN, _BLUE = (np.float32(weight) for weight in LUMINANCE_WEIGHTS)


@compile_kernel
def _average_blocks(plane, rows, columns, blocks):  # type: ignore[no-untyped-def]
    """Averages in blocks, which begin and end at `rows` and `columns`, and the squares of the averages."""
    sums = np.empty(plane.shape[1])
    for j in range(rows.size - 1):
        sums[:] = 0.0
        for y in range(rows[j], rows[j + 1]):
            for x in range(plane.shape[1]):
                sums[x] += plane[y, x]
        for i in range(columns.size - 1):
            total = 0.0
            for x in range(columns[i], columns[i + 1]):
                total += sums[x]
            average = total / ((rows[j + 1] - rows[j]) * (columns[i + 1] - columns[i]))
            blocks[0, j, i], blocks[1, j, i] = average, average * average


@compile_kernel
def average_row(planes, y, whole, fraction, sums, padded, averages):  # type: ignore[no-untyped-def]
    """The average of planes around each pixel of row y; the row before must have been averaged last."""
    count, height, width = planes.shape
    reach = whole + 1
    scale = 1.0 / (2 * whole + 1 + 2 * fraction) ** 2
    for c in range(count):
        plane, total, row = planes[c], sums[c], padded[c]
        if y == 0:
            total[:] = 0.0
            for k in range(-whole, whole + 1):
                total += plane[min(max(k, 0), height - 1)]
        else:
            new, old = plane[min(y + whole, height - 1)], plane[max(y - 1 - whole, 0)]
            for x in range(width):
                total[x] += np.float64(new[x]) - np.float64(old[x])
        above, below = plane[max(y - reach, 0)], plane[min(y + reach, height - 1)]
        for x in range(width):
            row[reach + x] = total[x] + fraction * (np.float64(above[x]) + np.float64(below[x]))
        row[:reach] = row[reach]
        row[reach + width :] = row[reach + width - 1]
        inside = 0.0
        for x in range(1, 2 * whole + 1):
            inside += row[x]
        for x in range(width):
            end = x + 2 * whole + 1
            inside += row[end]
            averages[c, x] = (inside + fraction * (row[x] + row[end + 1])) * scale
            inside -= row[x + 1]


@compile_kernel
def _fit_windows(blocks, whole, fraction, tolerance, lowering):  # type: ignore[no-untyped-def]
    """The slope and level of each block, smoothed, from the blocks and their squares."""
    height, width = blocks.shape[1:]
    fits, result = np.empty((2, height, width), np.float32), np.empty((2, height, width), np.float32)
    sums, averages = np.empty((2, width)), np.empty((2, width))
    padded = np.empty((2, width + 2 * (whole + 1)))
    least, root = tolerance * tolerance + LEAST_VARIANCE, math.sqrt(ROOT_OFFSET)
    for y in range(height):
        average_row(blocks, y, whole, fraction, sums, padded, averages)
        for x in range(width):
            mean = averages[0, x]
            variance = max(averages[1, x] - mean * mean, 0.0)
            rest = least / (variance + least)
            fits[0, y, x] = 1.0 - rest
            fits[1, y, x] = mean * rest - lowering * (math.sqrt(variance + ROOT_OFFSET) - root)
    for y in range(height):
        average_row(fits, y, whole, fraction, sums, padded, result[:, y])
    return result


@compile_kernel
def _spread_row(fits, y, before, after, share, row):  # type: ignore[no-untyped-def]
    """A row of blocks as a row of pixels."""
    for c in range(2):
        source = fits[c, y]
        for x in range(before.size):
            start = source[before[x]]
            row[c, x] = start + share[x] * (source[after[x]] - start)


@compile_kernel
def _apply_fits(plane, fits, rows, columns):  # type: ignore[no-untyped-def]
    """Each pixel times its slope plus its level; `rows` and `columns` are the places of pixels in blocks."""
    above, below, down = rows
    left, right, aside = columns
    width = plane.shape[1]
    upper, lower = np.empty((2, width), np.float32), np.empty((2, width), np.float32)
    ready = -1
    for y in range(plane.shape[0]):
        if above[y] != ready:
            ready = above[y]
            _spread_row(fits, above[y], left, right, aside, upper)
            _spread_row(fits, below[y], left, right, aside, lower)
        share = down[y]
        for x in range(width):
            slope = upper[0, x] + share * (lower[0, x] - upper[0, x])
            level = upper[1, x] + share * (lower[1, x] - upper[1, x])
            plane[y, x] = slope * plane[y, x] + level


def _smooth(plane: np.ndarray, frame: Frame, window: Window, tolerance: float, lowering: float = 0.0) -> None:
    """`operations.detail.smooth_between_edges`, in place."""
    rows, columns = window.split(frame, *plane.shape)
    blocks = np.empty((2, len(rows.edges) - 1, len(columns.edges) - 1))
    _average_blocks(plane, rows.edges, columns.edges, blocks)
    fits = _fit_windows(blocks, window.box.whole, window.box.fraction, float(tolerance), lowering)
    _apply_fits(plane, fits, _find_places(rows), _find_places(columns))


def _find_places(blocks: Blocks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    before, after, share = blocks.places()
    return before, after, share.astype(np.float32)


@compile_kernel
def _measure_tones(tile, tones):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        tones[i] = _RED * red[i] + _GREEN * green[i] + _BLUE * blue[i]


_SOFTNESS = np.float32(1 / CLARITY_LIMIT**2)


@compile_kernel
def _add_detail(tile, surroundings, gain):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, g, b, around = red[i], green[i], blue[i], surroundings[i]
        grey = _RED * r + _GREEN * g + _BLUE * b
        detail = grey - around
        bright = _TWO * around - _ONE
        change = gain * (_ONE - bright * bright) * detail / math.sqrt(_ONE + detail * detail * _SOFTNESS)
        wanted = min(max(grey + change, _ZERO), _ONE)
        k = min(wanted / max(grey, _TINY), _MAX_GAIN)
        fade_pixel(red, green, blue, i, (r - grey) * k, (g - grey) * k, (b - grey) * k, wanted)


def _prepare_clarity(values: np.ndarray) -> TileFunction:
    gain = np.float32(scale_clarity(values[:1])[0])

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        tones = np.empty_like(tile[0])
        _measure_tones(tile.reshape(3, -1), tones.reshape(-1))
        _smooth(tones, frame, Window.of_share(CLARITY_WIDTH, frame), CLARITY_TOLERANCE)
        _add_detail(tile.reshape(3, -1), tones.reshape(-1), gain)
        return tile

    return run


_VEIL, _VEIL_IN_HAZE = np.float32(VEIL[0]), np.float32(VEIL[1])


@compile_kernel
def _find_darkest(tile, darkest):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        darkest[i] = min(red[i], green[i], blue[i])


@compile_kernel
def _clear_haze(tile, haze, removed, added):  # type: ignore[no-untyped-def]
    for i in range(haze.size):
        amount = min(max(haze[i], _ZERO), _ONE)
        k = _ONE / (_ONE - removed * amount + added * (_VEIL + _VEIL_IN_HAZE * amount))
        for c in range(3):
            tile[c, i] = max(_ONE - (_ONE - tile[c, i]) * k, _ZERO)


def _prepare_dehaze(values: np.ndarray) -> TileFunction:
    amount = values[0] / 100
    removed, added = np.float32(DEHAZE_STRENGTH * max(amount, 0.0)), np.float32(max(-amount, 0.0))

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        haze = np.empty_like(tile[0])
        _find_darkest(tile.reshape(3, -1), haze.reshape(-1))
        window = Window.of_share(DEHAZE_WIDTH, frame)
        _smooth(haze, frame, window, DEHAZE_TOLERANCE, DEHAZE_LOWERING)
        _clear_haze(tile.reshape(3, -1), haze.reshape(-1), removed, added)
        return tile

    return run


_RED_IN_GREEN, _BLUE_IN_GREEN = (np.float32(LUMINANCE_WEIGHTS[i] / LUMINANCE_WEIGHTS[1]) for i in (0, 2))


@compile_kernel
def _split_tones(tile):  # type: ignore[no-untyped-def]
    """Red and blue become differences from the luminance, which replaces green."""
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        grey = _RED * red[i] + _GREEN * green[i] + _BLUE * blue[i]
        red[i], green[i], blue[i] = red[i] - grey, grey, blue[i] - grey


@compile_kernel
def _join_tones(tile):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, grey, b = red[i], green[i], blue[i]
        red[i] = min(max(grey + r, _ZERO), _ONE)
        green[i] = min(max(grey - _RED_IN_GREEN * r - _BLUE_IN_GREEN * b, _ZERO), _ONE)
        blue[i] = min(max(grey + b, _ZERO), _ONE)


def _prepare_denoise(values: np.ndarray) -> TileFunction:
    luminance, colour = values[0] / 100 * LUMINANCE_TOLERANCE, values[1] / 100 * COLOUR_TOLERANCE

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        _split_tones(tile.reshape(3, -1))
        if luminance:
            _smooth(tile[1], frame, Window.of_share(LUMINANCE_WIDTH, frame), luminance)
        if colour:
            _smooth(tile[0], frame, Window.of_share(COLOUR_WIDTH, frame), colour)
            _smooth(tile[2], frame, Window.of_share(COLOUR_WIDTH, frame), colour)
        _join_tones(tile.reshape(3, -1))
        return tile

    return run


@compile_kernel
def _look_up_gains(row, columns, begin, width, table, gains):  # type: ignore[no-untyped-def]
    last = np.float32(table.size - 2)
    for x in range(gains.size):
        distance = math.sqrt(row + columns[x])
        place = min(max((distance - begin) / width, _ZERO), _ONE) * last
        at = int(place)
        gains[x] = table[at] + (place - np.float32(at)) * (table[at + 1] - table[at])


@compile_kernel
def _scale_light(tile, rows, columns, begin, width, table):  # type: ignore[no-untyped-def]
    """Light times the gain of its distance from the centre; gains above one bend into white."""
    gains = np.empty(tile.shape[2], np.float32)
    for y in range(tile.shape[1]):
        _look_up_gains(rows[y], columns, begin, width, table, gains)
        for c in range(3):
            row = tile[c, y]
            for x in range(gains.size):
                value, gain = row[x], gains[x]
                square = value * value
                bend = max(gain * gain * gain * gain - _ONE, _ZERO)
                value = gain * value / math.sqrt(math.sqrt(_ONE + bend * square * square))
                row[x] = min(value, _ONE)


_GAINS = 4096
"""Pieces of the table of a vignette's gains."""


def _prepare_vignette(values: np.ndarray) -> TileFunction:
    amount, midpoint, feather = values / 100
    begin, width = (np.float32(number) for number in place_vignette(midpoint, feather))
    share = np.append(np.linspace(0, 1, _GAINS + 1), 1.0)
    table = (2.0 ** (VIGNETTE_STOPS * amount * share * share * (3 - 2 * share))).astype(np.float32)

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        rows, columns = (square.astype(np.float32) for square in measure_squares(frame, *tile.shape[1:]))
        _scale_light(tile, rows, columns, begin, width, table)
        return tile

    return run


_ROW_FACTOR, _COLUMN_FACTOR = LATTICE_FACTORS


@compile_kernel
def _draw_lattice_row(row, first, points):  # type: ignore[no-untyped-def]
    """`operations.effects.draw_lattice` for one row, from column `first` on."""
    for x in range(points.size):
        mixed = (row * _ROW_FACTOR ^ (first + x) * _COLUMN_FACTOR ^ LATTICE_SEED) & LATTICE_MASK
        mixed = ((mixed ^ (mixed >> 16)) * LATTICE_MIXER) & LATTICE_MASK
        mixed = ((mixed ^ (mixed >> 16)) * LATTICE_MIXER) & LATTICE_MASK
        points[x] = (mixed ^ (mixed >> 16)) / 2.0**31 - 1.0


@compile_kernel
def _blend_columns(points, left, weights, row):  # type: ignore[no-untyped-def]
    for x in range(row.size):
        total = _ZERO
        for k in range(weights.shape[1]):
            total += weights[x, k] * points[left[x] - left[0] + k]
        row[x] = total


@compile_kernel
def _add_grain(tile, above, row_weights, left, column_weights, gain):  # type: ignore[no-untyped-def]
    """Rows of the lattice are drawn and blended as they are needed, the last ones kept."""
    height, width = tile.shape[1:]
    taps = row_weights.shape[1]
    points = np.empty(left[-1] - left[0] + taps, np.float32)
    blended, row = np.empty((taps, width), np.float32), np.empty(width, np.float32)
    ready = above[0]
    for y in range(height):
        while ready < above[y] + taps:
            _draw_lattice_row(ready, left[0], points)
            _blend_columns(points, left, column_weights, blended[ready % taps])
            ready += 1
        row[:] = _ZERO
        for k in range(taps):
            source, weight = blended[(above[y] + k) % taps], row_weights[y, k]
            for x in range(width):
                row[x] += weight * source[x]
        for x in range(width):
            r, g, b = tile[0, y, x], tile[1, y, x], tile[2, y, x]
            bright = _TWO * (_RED * r + _GREEN * g + _BLUE * b) - _ONE
            square = bright * bright
            noise = gain * row[x] * (_ONE - square * square)
            tile[0, y, x] = min(max(r + noise, _ZERO), _ONE)
            tile[1, y, x] = min(max(g + noise, _ZERO), _ONE)
            tile[2, y, x] = min(max(b + noise, _ZERO), _ONE)


def _prepare_grain(values: np.ndarray) -> TileFunction:
    @lru_cache(maxsize=16)
    def weigh(short_side: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Bands of a photo share their columns."""
        begin, weights = weigh_lattice(scale_grain(values[1:], short_side)[0], first, count)
        return begin, weights.astype(np.float32)

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        faintness = scale_grain(values[1:], frame.short_side)[1].item()
        above, row_weights = weigh(frame.short_side, frame.top, tile.shape[1])
        left, column_weights = weigh(frame.short_side, frame.left, tile.shape[2])
        gain = np.float32(GRAIN_GAIN / 100 * values[0] * faintness)
        _add_grain(tile, above, row_weights, left, column_weights, gain)
        return tile

    return run


DETAIL_KERNELS: dict[str, Kernel] = {
    "clarity": _prepare_clarity,
    "dehaze": _prepare_dehaze,
    "denoise": _prepare_denoise,
    "vignette": _prepare_vignette,
    "grain": _prepare_grain,
}
"""Operation name -> function of its parameters that gives a function of (tile, frame)."""
