"""Kernels in linear light: the conversions, exposure, tonal zones, white balance and vibrance.

Powers are polynomials of square roots, which vectorise; calls of the C library and tables do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..image.colour import (
    LUMINANCE_WEIGHTS,
    lightness_to_luminance,
    luminance_to_lightness,
)
from ..operations import Frame
from ..operations.colour import SKIN, SKIN_PROTECTION, VIBRANCE, white_balance_gains
from ..operations.light import MAX_COLOUR_GAIN, MAX_DARKENING, SPARED_WHITE, ZONES
from .compiler import compile_inlined, compile_kernel

TileFunction = Callable[[np.ndarray, Frame], np.ndarray]
Kernel = Callable[[np.ndarray], TileFunction]
"""Parameters -> a function of a tile (3, H, W) in linear light and its frame."""

_ZERO, _HALF, _ONE, _TWO = (np.float32(value) for value in (0, 0.5, 1, 2))
_QUARTER, _FIVE_QUARTERS = np.float32(0.25), np.float32(1.25)
_ROOT_BITS = np.uint32(0x4F586000)
_TINY = np.float32(1e-6)
_RED, _GREEN, _BLUE = (np.float32(weight) for weight in LUMINANCE_WEIGHTS)


def _fit_power(
    power: float, low: float, degree: int
) -> tuple[np.float32, np.float32, tuple[np.float32, ...]]:
    """x^power on [low, 1] as a polynomial of t = (x - middle) * scale: middle, scale, highest power first."""
    middle, scale = (1 + low) / 2, 2 / (1 - low)
    fit = np.polynomial.Chebyshev.interpolate(lambda t: (middle + t / scale) ** power, degree)
    coefficients = fit.convert(kind=np.polynomial.Polynomial).coef
    return np.float32(middle), np.float32(scale), tuple(np.float32(c) for c in coefficients[::-1])


_DECODE_MIDDLE, _DECODE_SCALE, _D = _fit_power(0.8, 0.3, 7)
_ENCODE_MIDDLE, _ENCODE_SCALE, _E = _fit_power(5 / 3, 0.2365, 9)
_D0, _D1, _D2, _D3, _D4, _D5, _D6, _D7 = _D
_E0, _E1, _E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9 = _E
_DECODE_EDGE, _ENCODE_EDGE = np.float32(0.04045), np.float32(0.04045 / 12.92)
_SLOPE, _INVERSE_SLOPE = np.float32(12.92), np.float32(1 / 12.92)
_OFFSET, _GAIN, _INVERSE_GAIN = np.float32(0.055), np.float32(1.055), np.float32(1 / 1.055)


@compile_kernel
def _decode(values):  # type: ignore[no-untyped-def]
    for i in range(values.size):
        x = values[i]
        root = math.sqrt((x + _OFFSET) * _INVERSE_GAIN)
        t = (root - _DECODE_MIDDLE) * _DECODE_SCALE
        power = ((((((_D0 * t + _D1) * t + _D2) * t + _D3) * t + _D4) * t + _D5) * t + _D6) * t + _D7
        square = root * root
        values[i] = square * square * power if x > _DECODE_EDGE else x * _INVERSE_SLOPE


@compile_inlined
def encode_value(x):  # type: ignore[no-untyped-def]
    """Linear light to the display, for one channel of one pixel."""
    t = (math.sqrt(math.sqrt(x)) - _ENCODE_MIDDLE) * _ENCODE_SCALE
    high = ((((_E0 * t + _E1) * t + _E2) * t + _E3) * t + _E4) * t + _E5
    power = (((high * t + _E6) * t + _E7) * t + _E8) * t + _E9
    y = _GAIN * power - _OFFSET if x > _ENCODE_EDGE else x * _SLOPE
    return y if y < _ONE else _ONE


@compile_kernel
def _encode(values):  # type: ignore[no-untyped-def]
    for i in range(values.size):
        values[i] = encode_value(values[i])


def decode_tile(tile: np.ndarray) -> np.ndarray:
    """A tile as displayed to linear light, in place."""
    _decode(tile.reshape(-1))
    return tile


def encode_tile(tile: np.ndarray) -> np.ndarray:
    """A tile in linear light to the display, in place."""
    _encode(tile.reshape(-1))
    return tile


_SPARED = np.float32(SPARED_WHITE)


@compile_kernel
def _lower_exposure(values, gain):  # type: ignore[no-untyped-def]
    spared = (_ONE - gain * gain) * _SPARED
    for i in range(values.size):
        x = values[i]
        values[i] = x * gain / math.sqrt(_ONE - spared * x * x)


@compile_kernel
def _raise_exposure(values, gain):  # type: ignore[no-untyped-def]
    for i in range(values.size):
        x = values[i]
        x = x * limit_gain_of(x, gain)
        values[i] = x if x < _ONE else _ONE


@compile_inlined
def limit_gain_of(x, gain):  # type: ignore[no-untyped-def]
    """`operations.light.limit_gain` of one value."""
    fourth, square = gain * gain * gain * gain, x * x
    return gain * _invert_fourth_root(_ONE + (fourth - _ONE) * square * square)


@compile_inlined
def _invert_fourth_root(x):  # type: ignore[no-untyped-def]
    """x^(-1/4) within 2e-7 of itself: a quarter of the exponent, then three of Newton's steps.

    Two roots and a division take half as long again.
    """
    y = np.uint32(_ROOT_BITS - (np.float32(x).view(np.uint32) >> np.uint32(2))).view(np.float32)
    quarter = _QUARTER * x
    square = y * y
    y = y * (_FIVE_QUARTERS - quarter * square * square)
    square = y * y
    y = y * (_FIVE_QUARTERS - quarter * square * square)
    square = y * y
    return y * (_FIVE_QUARTERS - quarter * square * square)


_TABLE_SIZE = 4096
"""Pieces of a table of luminance, evenly spaced in its square root."""
_TABLE_TONES = luminance_to_lightness(np.linspace(0, 1, _TABLE_SIZE + 1) ** 2)
CHUNK = 2048
"""Pixels of a chunk, for kernels in several passes: few enough to stay in the nearest cache."""
_MAX_GAIN, _DARKENING = np.float32(MAX_COLOUR_GAIN), np.float32(MAX_DARKENING)


@compile_inlined
def fade_pixel(red, green, blue, i, r, g, b, grey):  # type: ignore[no-untyped-def]
    """Store the differences r, g, b from `grey` as `operations.light.fade_into_gamut` shows them."""
    excess = max(grey + max(r, g, b) - _ONE, _ZERO)
    m = (_DARKENING + excess) / (_DARKENING + excess + _DARKENING * excess)
    r, g, b, grey = r * m, g * m, b * m, min(grey * m, _ONE)
    top = max(_ONE - grey, _TINY)
    bottom = max(grey, _TINY)
    k = min(top / max(top, r, g, b), bottom / max(bottom, -min(r, g, b)))
    red[i] = min(max(grey + r * k, _ZERO), _ONE)
    green[i] = min(max(grey + g * k, _ZERO), _ONE)
    blue[i] = min(max(grey + b * k, _ZERO), _ONE)


@compile_kernel
def _move_luminance(tile, table):  # type: ignore[no-untyped-def]
    """Luminance mapped by a table; reading it in a loop of its own lets the other two vectorise."""
    last = np.float32(table.size - 2)
    places = np.empty(CHUNK, np.float32)
    for start in range(0, tile.shape[1], CHUNK):
        stop = start + CHUNK
        red, green, blue = tile[0][start:stop], tile[1][start:stop], tile[2][start:stop]
        for i in range(red.size):
            grey = _RED * red[i] + _GREEN * green[i] + _BLUE * blue[i]
            places[i] = math.sqrt(grey if grey < _ONE else _ONE) * last
        for i in range(red.size):
            place = places[i]
            at = int(place)
            moved = table[at] + (place - np.float32(at)) * (table[at + 1] - table[at])
            places[i] = min(max(moved, _ZERO), _ONE)
        for i in range(red.size):
            r, g, b, wanted = red[i], green[i], blue[i], places[i]
            grey = _RED * r + _GREEN * g + _BLUE * b
            gain = min(wanted / max(grey, _TINY), _MAX_GAIN)
            fade_pixel(red, green, blue, i, (r - grey) * gain, (g - grey) * gain, (b - grey) * gain, wanted)


@compile_kernel
def _balance(tile, red_gain, green_gain, blue_gain):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        grey = _RED * r + _GREEN * g + _BLUE * b
        r, g, b = red_gain * r, green_gain * g, blue_gain * b
        k = grey / max(_RED * r + _GREEN * g + _BLUE * b, _TINY)
        fade_pixel(red, green, blue, i, r * k - grey, g * k - grey, b * k - grey, grey)


_SKIN_MIDDLE, _SKIN_SCALE = np.float32(SKIN[0]), np.float32(1 / SKIN[1])
_PROTECTION, _VIBRANCE = np.float32(SKIN_PROTECTION), np.float32(VIBRANCE)


@compile_kernel
def _change_vibrance(tile, amount):  # type: ignore[no-untyped-def]
    red, green, blue = tile[0], tile[1], tile[2]
    up = _VIBRANCE * (amount if amount > _ZERO else _ZERO)
    down = amount if amount < _ZERO else _ZERO
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        grey = _RED * r + _GREEN * g + _BLUE * b
        top, bottom = max(_ONE - grey, _TINY), max(grey, _TINY)
        rich = min(max((max(r, g, b) - grey) / top, (grey - min(r, g, b)) / bottom), _ONE)
        away = ((g - b) / max(r - b, _TINY) - _SKIN_MIDDLE) * _SKIN_SCALE
        near = max(_ONE - away * away, _ZERO)
        near = near * near if r >= g >= b else _ZERO
        muted = _ONE - rich
        k = _ONE + (up * muted * muted + down * (_ONE - _HALF * rich)) * (_ONE - _PROTECTION * near)
        red[i] = min(max(grey + (r - grey) * k, _ZERO), _ONE)
        green[i] = min(max(grey + (g - grey) * k, _ZERO), _ONE)
        blue[i] = min(max(grey + (b - grey) * k, _ZERO), _ONE)


def run_on_pixels(kernel: Callable[..., Any], *values: object) -> TileFunction:
    """A function that runs a compiled kernel of (pixels, *values) in place on pixels (3, H W) of a tile."""

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        kernel(tile.reshape(3, -1), *values)
        return tile

    return run


def _prepare_exposure(values: np.ndarray) -> TileFunction:
    gain = np.float32(2.0 ** values[0])
    change = _raise_exposure if gain > 1 else _lower_exposure

    def run(tile: np.ndarray, frame: Frame) -> np.ndarray:
        change(tile.reshape(-1), gain)
        return tile

    return run


def _prepare_zone(name: str) -> Kernel:
    def prepare(values: np.ndarray) -> TileFunction:
        moved = lightness_to_luminance(
            ZONES[name](_TABLE_TONES, values[0] / 100)
        )  # clamped once interpolated
        table = moved.astype(np.float32)
        table = np.append(table, table[-1])  # white is the end of a piece and the start of this one
        return run_on_pixels(_move_luminance, table)

    return prepare


def _prepare_white_balance(values: np.ndarray) -> TileFunction:
    red, green, blue = (np.float32(gain) for gain in white_balance_gains(values))
    return run_on_pixels(_balance, red, green, blue)


def _prepare_vibrance(values: np.ndarray) -> TileFunction:
    return run_on_pixels(_change_vibrance, np.float32(values[0] / 100))


LIGHT_KERNELS: dict[str, Kernel] = {
    "exposure": _prepare_exposure,
    "white_balance": _prepare_white_balance,
    "vibrance": _prepare_vibrance,
    **{name: _prepare_zone(name) for name in ZONES},
}
"""Operation name -> function of its parameters that gives a function of (tile, frame)."""
