"""Kernels of operations, by operation name; an operation without one runs by its formula.

A kernel takes parameters and gives a function of a tile (3, H, W), float32 in [0, 1] and C-contiguous, in the
space of its operation. The function changes the tile in place or returns a new one. Compiled without
reordering, it gives a pixel the same value in any tile. A kernel of geometry is the same function of photo,
parameters and rows as its formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..operations import GeometryFunction, ParameterValues, geometry, get_operation
from ..operations.paper import CURVE_PIECES, PAPER_LUMINANCE_WEIGHTS
from .colour import COLOUR_KERNELS
from .compiler import compile_kernel
from .detail import DETAIL_KERNELS
from .light import CHUNK, LIGHT_KERNELS, Kernel, TileFunction, run_on_pixels
from .sharpness import prepare_sharpness

_ONE = np.float32(1)
_ZERO = np.float32(0)
_TWO = np.float32(2)
_TINY = np.float32(1e-8)
_DEGREE = 16
"""Of the polynomials that bent contrast curves are close to."""


@compile_kernel
def _brighten(tile, p):  # type: ignore[no-untyped-def]
    gain = max(_ONE + p, _ZERO)
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        top = r if r > g else g
        top = top if top > b else b
        top = top if top > _TINY else _TINY
        limit = _ONE / top
        k = gain if gain < limit else limit
        red[i], green[i], blue[i] = min(r * k, _ONE), min(g * k, _ONE), min(b * k, _ONE)


@compile_kernel
def _saturate(tile, p):  # type: ignore[no-untyped-def]
    gain = max(_ONE + p, _ZERO)
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        top = r if r > g else g
        top = top if top > b else b
        low = r if r < g else g
        low = low if low < b else b
        chroma = top - low
        limit = top / (chroma if chroma > _TINY else _TINY)
        k = gain if gain < limit else limit
        r, g, b = top - (top - r) * k, top - (top - g) * k, top - (top - b) * k
        red[i] = r if r > _ZERO else _ZERO
        green[i] = g if g > _ZERO else _ZERO
        blue[i] = b if b > _ZERO else _ZERO


# sin(y) for y in [0, pi/2] by odd Taylor terms to y^11: error below 6e-8, and unlike a call it vectorises.
_S3, _S5, _S7, _S9, _S11 = (
    np.float32(s / math.factorial(n)) for n, s in ((3, -1), (5, 1), (7, -1), (9, 1), (11, -1))
)
_HALF_PI = np.float32(math.pi / 2)
_RED, _GREEN, _BLUE = (np.float32(weight) for weight in PAPER_LUMINANCE_WEIGHTS)


@compile_kernel
def _adjust_contrast(tile, p):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        lum = _RED * r + _GREEN * g + _BLUE * b
        y = _HALF_PI * lum
        y2 = y * y
        rest = _ONE + y2 * (_S3 + y2 * (_S5 + y2 * (_S7 + y2 * (_S9 + y2 * _S11))))
        ratio = _HALF_PI * y * rest * rest  # sin(y)^2 / lum
        k = _ONE + p * (ratio - _ONE)
        k = k if k > _ZERO else _ZERO
        r, g, b = r * k, g * k, b * k
        red[i] = r if r < _ONE else _ONE
        green[i] = g if g < _ONE else _ONE
        blue[i] = b if b < _ONE else _ONE


@compile_kernel
def _scale_by_table(tile, p, ratios):  # type: ignore[no-untyped-def]
    """Scale pixels by a table of their luminance, read in a loop of its own so that the others vectorise."""
    last = np.float32(ratios.size - 2)
    gains = np.empty(CHUNK, np.float32)
    for start in range(0, tile.shape[1], CHUNK):
        stop = start + CHUNK
        red, green, blue = tile[0][start:stop], tile[1][start:stop], tile[2][start:stop]
        for i in range(red.size):
            lum = _RED * red[i] + _GREEN * green[i] + _BLUE * blue[i]
            gains[i] = math.sqrt(lum if lum < _ONE else _ONE) * last
        for i in range(red.size):
            place = gains[i]
            at = int(place)
            gains[i] = ratios[at] + (place - np.float32(at)) * (ratios[at + 1] - ratios[at])
        for i in range(red.size):
            k = max(_ONE + p * (gains[i] - _ONE), _ZERO)
            red[i], green[i], blue[i] = min(red[i] * k, _ONE), min(green[i] * k, _ONE), min(blue[i] * k, _ONE)


@compile_kernel
def _scale_by_polynomial(tile, p, c):  # type: ignore[no-untyped-def]
    """Scale pixels by a polynomial of their luminance, highest power first."""
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        lum = _RED * red[i] + _GREEN * green[i] + _BLUE * blue[i]
        t = _TWO * (lum if lum < _ONE else _ONE) - _ONE
        ratio = c[0]
        for k in range(1, _DEGREE + 1):
            ratio = ratio * t + c[k]
        gain = max(_ONE + p * (ratio - _ONE), _ZERO)
        red[i], green[i], blue[i] = (
            min(red[i] * gain, _ONE),
            min(green[i] * gain, _ONE),
            min(blue[i] * gain, _ONE),
        )


@compile_kernel
def _map_curves(tile, bends):  # type: ignore[no-untyped-def]
    """A line for each curve, which bends at the end of each piece but the last."""
    pieces = np.float32(CURVE_PIECES)
    for c in range(3):
        channel, bend = tile[c], bends[c]
        for i in range(channel.size):
            x = channel[i] * pieces
            y = x * bend[0]
            for k in range(1, CURVE_PIECES):
                part = x - np.float32(k)
                y += (part if part > _ZERO else _ZERO) * bend[k]
            channel[i] = y if y < _ONE else _ONE


@compile_kernel
def load_levels(pixels, table, tile):  # type: ignore[no-untyped-def]
    """8-bit pixels (H, W, 3) into a tile, mapped by the table (3, 256) of each channel."""
    for y in range(pixels.shape[0]):
        for x in range(pixels.shape[1]):
            for c in range(3):
                tile[c, y, x] = table[c, pixels[y, x, c]]


@compile_kernel
def load_words(words, table, tile):  # type: ignore[no-untyped-def]
    """Like `load_levels`, for 8-bit pixels (H, W) as words with red in the lowest byte."""
    low = np.uint32(255)
    for y in range(words.shape[0]):
        source, red, green, blue = words[y], tile[0, y], tile[1, y], tile[2, y]
        for x in range(words.shape[1]):
            word = source[x]
            red[x] = table[0, word & low]
            green[x] = table[1, word >> np.uint32(8) & low]
            blue[x] = table[2, word >> np.uint32(16) & low]


@compile_kernel
def split_words(words, tile):  # type: ignore[no-untyped-def]
    """Like `load_words` with the levels as they are, in half the time: without a table it vectorises."""
    low, full = np.int32(255), np.float32(255)
    for y in range(words.shape[0]):
        source, red, green, blue = words[y], tile[0, y], tile[1, y], tile[2, y]
        for x in range(words.shape[1]):
            word = np.int32(source[x])
            red[x] = np.float32(word & low) / full
            green[x] = np.float32(word >> np.int32(8) & low) / full
            blue[x] = np.float32(word >> np.int32(16) & low) / full


@compile_kernel
def map_words(words, table, result):  # type: ignore[no-untyped-def]
    """Pixels (H, W) as words, mapped by the 8-bit table (3, 256) of each channel."""
    low = np.uint32(255)
    for y in range(words.shape[0]):
        source, row = words[y], result[y]
        for x in range(words.shape[1]):
            word = source[x]
            red = np.uint32(table[0, word & low])
            green = np.uint32(table[1, word >> np.uint32(8) & low])
            blue = np.uint32(table[2, word >> np.uint32(16) & low])
            row[x] = red | green << np.uint32(8) | blue << np.uint32(16)


@compile_kernel
def load_integers(pixels, full, tile):  # type: ignore[no-untyped-def]
    """Integer pixels (H, W, 3) into a tile, divided by the full-scale value."""
    for y in range(pixels.shape[0]):
        for x in range(pixels.shape[1]):
            for c in range(3):
                tile[c, y, x] = np.float32(pixels[y, x, c]) / full


@compile_kernel
def store_integers(tile, offset, full, pixels):  # type: ignore[no-untyped-def]
    """The rows of a tile from `offset` on into integer pixels (H, W, 3), rounded half up."""
    half = np.float32(0.5)
    for y in range(pixels.shape[0]):
        for x in range(pixels.shape[1]):
            for c in range(3):
                pixels[y, x, c] = int(tile[c, offset + y, x] * full + half)


@compile_kernel
def store_words(tile, offset, words):  # type: ignore[no-untyped-def]
    """Like `store_integers`, into 8-bit pixels (H, W) as words with red in the lowest byte."""
    full, half = np.float32(255), np.float32(0.5)
    for y in range(words.shape[0]):
        red, green, blue = tile[0, offset + y], tile[1, offset + y], tile[2, offset + y]
        row = words[y]
        for x in range(words.shape[1]):
            r = np.int32(red[x] * full + half)
            g = np.int32(green[x] * full + half)
            b = np.int32(blue[x] * full + half)
            row[x] = r | g << np.int32(8) | b << np.int32(16)


def _prepare_scalar(kernel: Callable[..., Any]) -> Kernel:
    def prepare(values: np.ndarray) -> TileFunction:
        return run_on_pixels(kernel, np.float32(values[0]))

    return prepare


_RATIOS = 4096
"""Pieces of the table of a bent contrast curve."""
_MAX_POLYNOMIAL_ERROR = 2e-6


def _bend_contrast(lum: np.ndarray, pivot: float) -> np.ndarray:
    """Ratios of the full contrast curve, bent to a pivot, to luminance."""
    power = math.log(0.5) / math.log(pivot)
    ratios: np.ndarray = ((math.pi**2 / 4) * lum**power * np.sinc(lum**power / 2) ** 2) ** (1 / power)
    return ratios


@lru_cache(maxsize=16)  # a fit moves the amount of a contrast more often than its pivot
def _tabulate_contrast(pivot: float) -> np.ndarray:
    """The ratios at evenly spaced roots of luminance."""
    table = _bend_contrast(np.linspace(0, 1, _RATIOS + 1) ** 2, pivot)
    return np.append(table, table[-1]).astype(np.float32)  # white is the start of a piece, too


@lru_cache(maxsize=16)
def _approximate_contrast(pivot: float) -> np.ndarray | None:
    """The ratios as a polynomial of 2 lum - 1, highest power first; None where no polynomial is close."""
    fit = np.polynomial.Chebyshev.interpolate(lambda t: _bend_contrast((t + 1) / 2, pivot), _DEGREE)
    lum = np.linspace(0, 1, _RATIOS + 1)
    error = np.abs(lum * (fit(2 * lum - 1) - _bend_contrast(lum, pivot))).max()
    coefficients = fit.convert(kind=np.polynomial.Polynomial).coef[::-1]
    return coefficients.astype(np.float32) if error < _MAX_POLYNOMIAL_ERROR else None


def _prepare_contrast(values: np.ndarray) -> TileFunction:
    if len(values) == 1 or values[1] == get_operation("contrast").defaults[1]:
        return _prepare_scalar(_adjust_contrast)(values)
    p, pivot = np.float32(values[0]), float(values[1])
    if (coefficients := _approximate_contrast(pivot)) is not None:
        return run_on_pixels(_scale_by_polynomial, p, coefficients)
    return run_on_pixels(_scale_by_table, p, _tabulate_contrast(pivot))


def _prepare_curves(values: np.ndarray) -> TileFunction:
    rises = values.reshape(-1, CURVE_PIECES)
    slopes = rises / rises.sum(axis=1, keepdims=True)
    bends = np.diff(slopes, axis=1, prepend=0).astype(np.float32)
    bends = bends if len(bends) == 3 else bends[[0, 0, 0]]
    return run_on_pixels(_map_curves, bends)


KERNELS: dict[str, Kernel] = {
    "brightness": _prepare_scalar(_brighten),
    "saturation": _prepare_scalar(_saturate),
    "contrast": _prepare_contrast,
    "tone": _prepare_curves,
    "color": _prepare_curves,
    "sharpness": prepare_sharpness,
    **LIGHT_KERNELS,
    **COLOUR_KERNELS,
    **DETAIL_KERNELS,
}
"""Operation name -> kernel."""


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
