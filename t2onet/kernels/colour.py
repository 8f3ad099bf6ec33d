"""Kernels of the mixer, grading and black and white, in linear light, and the conversion to CIELAB.

They work in several passes over a chunk of pixels, each a loop that vectorises.
"""

from __future__ import annotations

import math

import numpy as np

from ..image.colour import LINEAR_TO_XYZ, LUMINANCE_WEIGHTS
from ..operations.colour import (
    GRADING_BLACK,
    GRADING_HIGHLIGHTS,
    GRADING_SHADOWS,
    HUES,
    LIGHT_TO_LMS,
    LMS_TO_LIGHT,
    LMS_TO_OKLAB,
    MIX_BLACK,
    MIX_STOPS,
    MIXER_DROP,
    MIXER_LIFT,
    OKLAB_TO_LMS,
    RICH_CHROMA,
    grading_bias,
    grading_colour,
    scale_turns,
)
from .compiler import compile_inlined, compile_kernel
from .light import (
    CHUNK,
    Kernel,
    TileFunction,
    decode_tile,
    encode_value,
    fade_pixel,
    limit_gain_of,
    run_on_pixels,
)

_ZERO, _ONE, _TWO, _THREE = (np.float32(value) for value in (0, 1, 2, 3))
_TINY, _DARKEST = np.float32(1e-6), np.float32(1e-9)
_RED, _GREEN, _BLUE = (np.float32(weight) for weight in LUMINANCE_WEIGHTS)
_SIXTY, _TURN = np.float32(60), np.float32(360)


def _to_float32(rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[np.float32, ...], ...]:
    return tuple(tuple(np.float32(value) for value in row) for row in rows)


_TO_LMS, _FROM_LMS = _to_float32(LIGHT_TO_LMS), _to_float32(LMS_TO_LIGHT)
_TO_LAB, _FROM_LAB = _to_float32(LMS_TO_OKLAB), _to_float32(OKLAB_TO_LMS)


@compile_inlined
def _mix_row(row, x, y, z):  # type: ignore[no-untyped-def]
    return row[0] * x + row[1] * y + row[2] * z


@compile_inlined
def _cube_root(x):  # type: ignore[no-untyped-def]
    """Within 1e-7 of it: a third of the exponent, then two of Halley's steps."""
    x = x if x > _DARKEST else _DARKEST
    bits = np.float32(x).view(np.uint32) // np.uint32(3) + np.uint32(709921077)
    y = np.uint32(bits).view(np.float32)
    cube = y * y * y
    y = y + y * (x - cube) / (cube + cube + x)
    cube = y * y * y
    return y + y * (x - cube) / (cube + cube + x)


@compile_inlined
def _to_roots(r, g, b):  # type: ignore[no-untyped-def]
    """Light to the cube roots of LMS."""
    x, y, z = _mix_row(_TO_LMS[0], r, g, b), _mix_row(_TO_LMS[1], r, g, b), _mix_row(_TO_LMS[2], r, g, b)
    return _cube_root(x), _cube_root(y), _cube_root(z)


@compile_inlined
def _to_oklab(x, y, z):  # type: ignore[no-untyped-def]
    """Cube roots of LMS to L, a, b; the rows of a and b sum to zero, and differences keep greys grey."""
    red, blue = x - y, z - y
    a, b = _TO_LAB[1][0] * red + _TO_LAB[1][2] * blue, _TO_LAB[2][0] * red + _TO_LAB[2][2] * blue
    return _mix_row(_TO_LAB[0], x, y, z), a, b


@compile_inlined
def _add_to_cube(root, more):  # type: ignore[no-untyped-def]
    """(root + more)^3 - root^3, exact for the smallest changes: fading near white multiplies errors."""
    return more * (_THREE * root * (root + more) + more * more)


@compile_inlined
def _add_in_oklab(x, y, z, lightness, a, b):  # type: ignore[no-untyped-def]
    """What the light of a pixel with the cube roots x, y, z gains if L, a, b are added."""
    x = _add_to_cube(x, _mix_row(_FROM_LAB[0], lightness, a, b))
    y = _add_to_cube(y, _mix_row(_FROM_LAB[1], lightness, a, b))
    z = _add_to_cube(z, _mix_row(_FROM_LAB[2], lightness, a, b))
    return _mix_row(_FROM_LMS[0], x, y, z), _mix_row(_FROM_LMS[1], x, y, z), _mix_row(_FROM_LMS[2], x, y, z)


_XYZ = _to_float32(LINEAR_TO_XYZ)
_CUBE_EDGE, _CUBE_SLOPE = np.float32((6 / 29) ** 3), np.float32((29 / 6) ** 2 / 3)
_CUBE_OFFSET, _SIXTEEN = np.float32(4 / 29), np.float32(16)
_L_UNIT, _A_UNIT, _B_UNIT = (np.float32(unit) for unit in (116, 500, 200))


@compile_inlined
def _cie_root(x):  # type: ignore[no-untyped-def]
    """CIE's cube root, linear near black."""
    return _cube_root(x) if x > _CUBE_EDGE else _CUBE_SLOPE * x + _CUBE_OFFSET


@compile_kernel
def _to_lab(red, green, blue):  # type: ignore[no-untyped-def]
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        x = _cie_root(_mix_row(_XYZ[0], r, g, b))
        y = _cie_root(_mix_row(_XYZ[1], r, g, b))
        z = _cie_root(_mix_row(_XYZ[2], r, g, b))
        red[i], green[i], blue[i] = _L_UNIT * y - _SIXTEEN, _A_UNIT * (x - y), _B_UNIT * (y - z)


def measure_lab(tile: np.ndarray) -> np.ndarray:
    """L*, a*, b* (3, H, W) of a tile as displayed, which stays as it is."""
    lab = decode_tile(tile.copy())
    _to_lab(*lab.reshape(3, -1))
    return lab


_CENTRES = np.array([*HUES.values(), 360.0], np.float32)
_MIX_BLACK = np.float32(MIX_BLACK)


@compile_kernel
def _measure_hues(red, green, blue, hues, pure):  # type: ignore[no-untyped-def]
    """Hues of HSV in degrees, and how pure the colours are as far as the black-and-white mix counts it."""
    for i in range(red.size):
        r, g, b = encode_value(red[i]), encode_value(green[i]), encode_value(blue[i])
        high = max(r, g, b)
        chroma = high - min(r, g, b)
        pure[i] = (_ONE + _MIX_BLACK) * chroma / (high + _MIX_BLACK)
        unit = _SIXTY / max(chroma, _TINY)
        after_green = (b - r) * unit + _TWO * _SIXTY
        after_blue = (r - g) * unit + _TWO * _TWO * _SIXTY
        hue = (g - b) * unit if high == r else (after_green if high == g else after_blue)
        hues[i] = hue + _TURN if hue < _ZERO else hue


@compile_inlined
def _rise(x, begin, unit):  # type: ignore[no-untyped-def]
    """A smooth ramp from 0 at `begin` to 1 at `begin` + 1 / `unit`."""
    share = min(max((x - begin) * unit, _ZERO), _ONE)
    return share * share * (_THREE - _TWO * share)


@compile_kernel
def _blend_by_hue(hues, values, blended):  # type: ignore[no-untyped-def]
    """The value of each hue out of nine, the last of which is the first again."""
    for i in range(hues.size):
        blended[i] = values[0]
    for k in range(values.size - 1):
        step = values[k + 1] - values[k]
        if step == _ZERO:
            continue
        begin, unit = _CENTRES[k], _ONE / (_CENTRES[k + 1] - _CENTRES[k])
        for i in range(hues.size):
            blended[i] += step * _rise(hues[i], begin, unit)


_LIFT, _DROP, _RICH = np.float32(MIXER_LIFT), np.float32(MIXER_DROP), np.float32(1 / RICH_CHROMA)
_S3, _S5, _S7, _S9 = (np.float32(s / math.factorial(n)) for n, s in ((3, -1), (5, 1), (7, -1), (9, 1)))
_C2, _C4, _C6, _C8 = (np.float32(s / math.factorial(n)) for n, s in ((2, -1), (4, 1), (6, -1), (8, 1)))


@compile_inlined
def _turn_and_lift(r, g, b, angle, lift):  # type: ignore[no-untyped-def]
    """What a pixel gains by turning its hue up to 50 degrees and moving its lightness."""
    x, y, z = _to_roots(r, g, b)
    lightness, a, b = _to_oklab(x, y, z)
    square = angle * angle
    sine = angle * (_ONE + square * (_S3 + square * (_S5 + square * (_S7 + square * _S9))))
    cosine = square * (_C2 + square * (_C4 + square * (_C6 + square * _C8)))  # less one
    rich = min(math.sqrt(a * a + b * b) * _RICH, _ONE)
    room = _LIFT * (_ONE - lightness) if lift > _ZERO else _DROP
    lifted = min(lightness * lift * room * rich * (_TWO - rich), _ONE - lightness)
    return _add_in_oklab(x, y, z, lifted, a * cosine - b * sine, a * sine + b * cosine)


@compile_inlined
def _scale_pixel(red, green, blue, i, r, g, b, gain):  # type: ignore[no-untyped-def]
    """Store r, g, b with the distance from grey times a gain, faded to what can be displayed."""
    grey = _RED * r + _GREEN * g + _BLUE * b
    pure = min(max(_ONE - min(r, g, b) / max(grey, _TINY), _ZERO), _ONE)
    k = min(gain, _ONE) * limit_gain_of(pure, max(gain, _ONE))
    fade_pixel(red, green, blue, i, (r - grey) * k, (g - grey) * k, (b - grey) * k, grey)


@compile_kernel
def _mix_hues(tile, values, moves):  # type: ignore[no-untyped-def]
    """`values` (3, 9) are turns in radians, saturation and lightness; `moves` if not only saturation."""
    hues, rows = np.empty(CHUNK, np.float32), np.empty((3, CHUNK), np.float32)
    angles, gains, lifts = rows[0], rows[1], rows[2]
    for start in range(0, tile.shape[1], CHUNK):
        stop = start + CHUNK
        red, green, blue = tile[0][start:stop], tile[1][start:stop], tile[2][start:stop]
        _measure_hues(red, green, blue, hues[: red.size], gains)
        for row in range(3):
            _blend_by_hue(hues[: red.size], values[row], rows[row])
        if moves:
            for i in range(red.size):
                r, g, b = _turn_and_lift(red[i], green[i], blue[i], angles[i], lifts[i])
                r, g, b = red[i] + r, green[i] + g, blue[i] + b
                _scale_pixel(red, green, blue, i, r, g, b, _ONE + gains[i])
        else:
            for i in range(red.size):
                _scale_pixel(red, green, blue, i, red[i], green[i], blue[i], _ONE + gains[i])


_VISIBLE_UNIT = np.float32(1 / GRADING_BLACK)
(_SHADOWS_BEGIN, _SHADOWS_UNIT), (_HIGHLIGHTS_BEGIN, _HIGHLIGHTS_UNIT) = (
    (np.float32(begin), np.float32(1 / (full - begin)))
    for begin, full in (GRADING_SHADOWS, GRADING_HIGHLIGHTS)
)


@compile_kernel
def _grade(tile, bias, low, middle, high):  # type: ignore[no-untyped-def]
    """`low`, `middle` and `high` are what shadows, midtones and highlights add to a and b."""
    red, green, blue = tile[0], tile[1], tile[2]
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        grey = min(_RED * r + _GREEN * g + _BLUE * b, _ONE)
        x, y, z = _to_roots(r, g, b)
        lightness = _mix_row(_TO_LAB[0], x, y, z)
        place = lightness / (_ONE + bias * (_ONE - lightness))
        shadows = _rise(place, _SHADOWS_BEGIN, _SHADOWS_UNIT)
        highlights = _rise(place, _HIGHLIGHTS_BEGIN, _HIGHLIGHTS_UNIT)
        midtones = _ONE - shadows - highlights
        share = _rise(lightness, _ZERO, _VISIBLE_UNIT)
        added_a = share * (shadows * low[0] + midtones * middle[0] + highlights * high[0])
        added_b = share * (shadows * low[1] + midtones * middle[1] + highlights * high[1])
        x, y, z = _add_in_oklab(x, y, z, _ZERO, added_a, added_b)
        surplus = grey + _RED * x + _GREEN * y + _BLUE * z
        fade_pixel(red, green, blue, i, r + x - surplus, g + y - surplus, b + z - surplus, grey)


_STOPS = np.float32(MIX_STOPS / 2)
_P1, _P2, _P3, _P4, _P5, _P6, _P7, _P8 = (
    np.float32(math.log(2) ** n / math.factorial(n)) for n in range(1, 9)
)


@compile_inlined
def _power_of_two(half):  # type: ignore[no-untyped-def]
    """4^half for halves from -1 to 1, within 3e-7."""
    high = _P5 + half * (_P6 + half * (_P7 + half * _P8))
    root = _ONE + half * (_P1 + half * (_P2 + half * (_P3 + half * (_P4 + half * high))))
    return root * root


@compile_kernel
def _turn_grey(tile, share, values, mixes):  # type: ignore[no-untyped-def]
    """`values` (9) is the mix of the hues; `mixes` if any of it is not zero."""
    rows = np.zeros((3, CHUNK), np.float32)
    hues, pure, mix = rows[0], rows[1], rows[2]
    for start in range(0, tile.shape[1], CHUNK):
        stop = start + CHUNK
        red, green, blue = tile[0][start:stop], tile[1][start:stop], tile[2][start:stop]
        if mixes:
            _measure_hues(red, green, blue, hues, pure)
            _blend_by_hue(hues[: red.size], values, mix)
        for i in range(red.size):
            r, g, b = red[i], green[i], blue[i]
            grey = min(_RED * r + _GREEN * g + _BLUE * b, _ONE)
            gain = _power_of_two(_STOPS * pure[i] * (_TWO - pure[i]) * mix[i])
            grey = grey * limit_gain_of(grey, max(gain, _ONE)) * min(gain, _ONE)
            red[i] = min(r + share * (grey - r), _ONE)
            green[i] = min(g + share * (grey - g), _ONE)
            blue[i] = min(b + share * (grey - b), _ONE)


def _close_circle(values: np.ndarray) -> np.ndarray:
    """Values of the hues (..., 8), and the first again, as float32."""
    return np.concatenate([values, values[..., :1]], axis=-1).astype(np.float32)


def _prepare_mixer(values: np.ndarray) -> TileFunction:
    shares = values.reshape(3, len(HUES)) / 100
    moves = bool(shares[::2].any())
    shares[0] = scale_turns(shares[0])
    return run_on_pixels(_mix_hues, _close_circle(shares), moves)


def _prepare_grading(values: np.ndarray) -> TileFunction:
    bias = np.float32(grading_bias(values[6]))
    zones = np.stack(grading_colour(values[:3], values[3:6]), axis=-1).astype(np.float32)
    low, middle, high = ((x, y) for x, y in zones)
    return run_on_pixels(_grade, bias, low, middle, high)


def _prepare_black_and_white(values: np.ndarray) -> TileFunction:
    share, mix = np.float32(values[0] / 100), _close_circle(values[1:] / 100)
    return run_on_pixels(_turn_grey, share, mix, bool(mix.any()))


COLOUR_KERNELS: dict[str, Kernel] = {
    "mixer": _prepare_mixer,
    "grading": _prepare_grading,
    "black_and_white": _prepare_black_and_white,
}
"""Operation name -> function of its parameters that gives a function of (tile, frame)."""
