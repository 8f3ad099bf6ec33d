"""Colour as photographers adjust it: white balance, vibrance, eight hues, grading and black and white.

Hues are those of HSV, in degrees: red is 0, green 120, blue 240. They decide which colours an operation
touches; the changes themselves are made in linear light or in OKLab (Ottosson 2020), which keep luminance or
lightness.
"""

from __future__ import annotations

import math

from ..image.colour import (
    decode_srgb,
    encode_srgb,
    lightness_to_luminance,
    linear_to_xyz,
    luminance,
    luminance_to_lightness,
    xyz_to_linear,
)
from ..image.pixels import Array, array_namespace, per_pixel
from ._registry import (
    Attribute,
    Frame,
    Operation,
    Parameter,
    ParameterValues,
    Phrase,
    degree,
    percent,
    register,
)
from .light import fade_into_gamut, measure_saturation

HUES = {
    "red": 0.0,
    "orange": 30.0,
    "yellow": 60.0,
    "green": 120.0,
    "aqua": 180.0,
    "blue": 240.0,
    "purple": 275.0,
    "magenta": 310.0,
}
"""The hues of the mixer, in degrees of HSV."""
ZONE_NAMES = ("shadows", "midtones", "highlights")
_TINY = 1e-6

SKIN = (0.3, 0.3)
"""Middle and half width of skin between red (0) and yellow (1), in linear light."""
SKIN_PROTECTION = 0.6
"""The share of vibrance that skin is spared."""
VIBRANCE = 1.5
"""Gain of the most muted colours at 100."""
_TINT_UNIT = 0.2
"""a* of white for each unit of tint."""
_MIXER_HUE = math.radians(30.0)
_MIXER_LIGHTNESS = 0.25
"""What 100 of the mixer is: a turn of the hue, and lightness out of 1 for the richest colours."""
_RICH_CHROMA = 0.15
"""Chroma in OKLab from which a colour counts as rich."""
_GRADING_CHROMA = 0.12
"""Chroma in OKLab that a strength of 100 adds."""
_MIX_LIGHTNESS = 0.3
"""Lightness out of 1 that 100 of the black-and-white mix gives the purest colours."""


def white_balance(light: Array, parameters: Array, frame: Frame) -> Array:
    """The light of a warmer or cooler, greener or more magenta source, at the same luminance.

    White's a* and b* along the daylight and black-body curves, fitted from 2,900 kelvin to the bluest, as
    gains of X and Z, so that black stays black.
    """
    xp = array_namespace(light)
    gain_x, gain_z = white_balance_gains(parameters)
    values = linear_to_xyz(light)
    x = values[..., 0:1, :, :] * per_pixel(gain_x - 1.0)
    z = values[..., 2:3, :, :] * per_pixel(gain_z - 1.0)
    return fade_into_gamut(light + xyz_to_linear(xp.concat([x, 0.0 * x, z], axis=-3)))


def white_balance_gains(parameters: Array) -> tuple[Array, Array]:
    """Gains of X and Z from temperature and tint (..., 2)."""
    mired, tint = parameters[..., 0], parameters[..., 1]
    red = mired * (0.0295 + 0.000493 * mired) + _TINT_UNIT * tint
    yellow = mired * (0.4058 - 0.000456 * abs(mired))
    root_x, root_z = 1.0 + red / 500.0, 1.0 - yellow / 200.0
    return root_x * root_x * root_x, root_z * root_z * root_z


def _describe_white_balance(values: ParameterValues) -> str:
    parts = []
    for value, more, less in zip(values, ("warmer", "more magenta"), ("cooler", "greener"), strict=True):
        if value:
            parts.append(f"{degree(abs(value), 15, 40)} {more if value > 0 else less}".strip())
    return ", ".join(parts)


register(
    Operation(
        name="white_balance",
        group="colour",
        position=5,
        attribute=Attribute.WARMTH,
        help="Makes the light warmer or cooler, and greener or more magenta; luminance stays.",
        parameters=(
            Parameter("temperature", -100.0, 100.0, 0.0, unit="mired", help="above 0 is warmer", step=1.0),
            Parameter(
                "tint",
                -100.0,
                100.0,
                0.0,
                unit="percent",
                help="above 0 is more magenta, below 0 greener",
                step=1.0,
            ),
        ),
        phrase=_describe_white_balance,
        formula=white_balance,
        space="linear",
    )
)


def vibrance(light: Array, parameters: Array, frame: Frame) -> Array:
    """Muted colours change most, rich ones and skin least; luminance stays."""
    xp = array_namespace(light)
    grey = luminance(light)
    rich = xp.clip(measure_saturation(light, grey), 0.0, 1.0)
    amount = per_pixel(parameters[..., 0] / 100.0) * (1.0 - SKIN_PROTECTION * _weigh_skin(light))
    raised = VIBRANCE * xp.clip(amount, 0.0, None) * (1.0 - rich) ** 2
    lowered = xp.clip(amount, None, 0.0) * (1.0 - 0.5 * rich)
    return grey + (light - grey) * (1.0 + raised + lowered)


def _weigh_skin(light: Array) -> Array:
    """1 for the hue of skin, 0 far from it."""
    xp = array_namespace(light)
    red, green, blue = (light[..., c : c + 1, :, :] for c in range(3))
    middle, width = SKIN
    place = (green - blue) / xp.clip(red - blue, _TINY, None)
    near = xp.clip(1.0 - ((place - middle) / width) ** 2, 0.0, 1.0)
    return xp.where((red >= green) & (green >= blue), near * near, 0.0 * near)


register(
    Operation(
        name="vibrance",
        group="colour",
        position=32,
        attribute=Attribute.COLOURFULNESS,
        help="Strengthens or mutes colours, the muted ones most; spares rich colours and skin.",
        parameters=(
            Parameter(
                "amount", -100.0, 100.0, 0.0, unit="percent", help="above 0 is more colourful", step=1.0
            ),
        ),
        phrase=Phrase(
            more="more vibrant", less="more muted", amount=lambda amount: degree(abs(amount), 15, 50)
        ),
        formula=vibrance,
        space="linear",
    )
)


def hue_weights(image: Array) -> list[Array]:
    """(..., 1, H, W) for each of `HUES`: weights in [0, 1] that add up to one, with soft borders."""
    xp = array_namespace(image)
    red, green, blue = (image[..., c : c + 1, :, :] for c in range(3))
    high = xp.amax(image, axis=-3, keepdims=True)
    chroma = xp.clip(high - xp.amin(image, axis=-3, keepdims=True), _TINY, None)
    turns = xp.where(
        high == red,
        (green - blue) / chroma,
        xp.where(high == green, (blue - red) / chroma + 2.0, (red - green) / chroma + 4.0),
    )
    hue = 60.0 * xp.where(turns < 0, turns + 6.0, turns)
    centres = [*HUES.values(), 360.0]
    weights: list[Array] = []
    for number, centre in enumerate(centres):
        weight = 0.0 * hue
        if number:
            weight = weight + _fade(hue, centre, centres[number - 1])
        if number + 1 < len(centres):
            weight = weight + _fade(hue, centre, centres[number + 1])
        weights.append(weight)
    weights[0] = weights[0] + weights.pop()
    return weights


def _fade(hue: Array, centre: float, other: float) -> Array:
    """From 1 at `centre` smoothly to 0 at `other`; 0 on the other side of the centre."""
    xp = array_namespace(hue)
    share = (hue - centre) / (other - centre)
    inside = (share >= 0.0) & (share < 1.0) if other > centre else (share > 0.0) & (share < 1.0)
    smooth = 1.0 - share * share * (3.0 - 2.0 * share)
    return xp.where(inside, smooth, 0.0 * share)


def _sum_weighted(weights: list[Array], values: Array) -> Array:
    """The weighted sum of one value for each hue, given as (..., 8)."""
    return sum(weight * per_pixel(values[..., at]) for at, weight in enumerate(weights))


def to_oklab(light: Array) -> tuple[Array, Array, Array]:
    """Linear light to L, a, b of OKLab, each (..., 1, H, W)."""
    roots = [_root(row) for row in _mix(_LIGHT_TO_LMS, light)]
    lab = [sum(w * root for w, root in zip(row, roots, strict=True)) for row in _LMS_TO_OKLAB]
    return lab[0], lab[1], lab[2]


def from_oklab(lightness: Array, a: Array, b: Array) -> Array:
    """L, a, b of OKLab to linear light, which may be out of gamut."""
    xp = array_namespace(lightness)
    cubes = [(x * lightness + y * a + z * b) ** 3 for x, y, z in _OKLAB_TO_LMS]
    return xp.concat([x * cubes[0] + y * cubes[1] + z * cubes[2] for x, y, z in _LMS_TO_LIGHT], axis=-3)


def _mix(matrix: tuple[tuple[float, float, float], ...], light: Array) -> list[Array]:
    channels = [light[..., c : c + 1, :, :] for c in range(3)]
    return [sum(w * channel for w, channel in zip(row, channels, strict=True)) for row in matrix]


def _root(values: Array) -> Array:
    return array_namespace(values).clip(values, 1e-9, None) ** (1.0 / 3.0)


_LIGHT_TO_LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_LMS_TO_OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
_OKLAB_TO_LMS = (
    (1.0, 0.3963377774, 0.2158037573),
    (1.0, -0.1055613458, -0.0638541728),
    (1.0, -0.0894841775, -1.2914855480),
)
_LMS_TO_LIGHT = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def mixer(image: Array, parameters: Array, frame: Frame) -> Array:
    """Turns, strengthens and lightens the colours around each of eight hues; greys stay."""
    xp = array_namespace(image)
    weights = hue_weights(image)
    rows = parameters.reshape((*parameters.shape[:-1], 3, len(HUES))) / 100.0
    turn, gain, lift = (_sum_weighted(weights, rows[..., row, :]) for row in range(3))
    light = decode_srgb(image)
    lightness, a, b = to_oklab(light)
    angle = _MIXER_HUE * turn
    factor = xp.clip(1.0 + gain, 0.0, None)
    rich = xp.clip((a * a + b * b + 1e-12) ** 0.5 / _RICH_CHROMA, 0.0, 1.0)
    moved = (
        xp.clip(lightness + _MIXER_LIGHTNESS * lift * rich, 0.0, 1.0),
        factor * (a * xp.cos(angle) - b * xp.sin(angle)),
        factor * (a * xp.sin(angle) + b * xp.cos(angle)),
    )
    return _show_moved(light, (lightness, a, b), moved)


def _show_moved(light: Array, before: tuple[Array, ...], after: tuple[Array, ...]) -> Array:
    """Light whose OKLab values were moved, as displayed; exactly the same where they were not."""
    moved = light + (from_oklab(*after) - from_oklab(*before))
    return encode_srgb(array_namespace(light).clip(fade_into_gamut(moved), 0.0, 1.0))


def _declare_hues(name: str, help: str) -> Parameter:
    return Parameter(
        name, -100.0, 100.0, 0.0, unit="percent", help=help, step=1.0, count=len(HUES), names=tuple(HUES)
    )


def _describe_mixer(values: ParameterValues) -> str:
    words = (("{}s shifted", "{}s shifted"), ("more {}", "less {}"), ("lighter {}s", "darker {}s"))
    parts = []
    for number, value in enumerate(values):
        row, hue = divmod(number, len(HUES))
        if value:
            parts.append(words[row][value < 0].format(list(HUES)[hue]))
    return ", ".join(parts) if len(parts) <= 3 else _SEVERAL_COLOURS


_SEVERAL_COLOURS = "several colours adjusted"


register(
    Operation(
        name="mixer",
        group="colour",
        position=34,
        attribute=Attribute.COLOURFULNESS,
        help="Adjusts eight hues one by one: the hue itself, its saturation and its lightness.",
        parameters=(
            _declare_hues("hue", "turns a hue towards the next (above 0) or the one before"),
            _declare_hues("saturation", "strengthens or fades the colours of a hue"),
            _declare_hues("lightness", "lightens or darkens the colours of a hue"),
        ),
        phrase=_describe_mixer,
        brief=_SEVERAL_COLOURS,
        formula=mixer,
    )
)


_PURE_HUES = 24


def _measure_pure_hues() -> list[tuple[float, float]]:
    """The direction in OKLab (cosine, sine) of pure colours, every 15 degrees of HSV."""
    import colorsys

    import numpy as np

    directions = []
    for number in range(_PURE_HUES):
        pure = np.array(colorsys.hsv_to_rgb(number / _PURE_HUES, 1.0, 1.0)).reshape(3, 1, 1)
        _, a, b = (float(part.squeeze()) for part in to_oklab(decode_srgb(pure)))
        directions.append((a / math.hypot(a, b), b / math.hypot(a, b)))
    return directions


_PURE_DIRECTIONS = _measure_pure_hues()


def _hue_direction(hue: Array) -> tuple[Array, Array]:
    """Direction in OKLab of a hue in degrees of HSV, interpolated between pure colours."""
    xp = array_namespace(hue)
    place = hue / (360.0 / _PURE_HUES)
    cosine, sine = 0.0 * hue, 0.0 * hue
    for number, (x, y) in enumerate((*_PURE_DIRECTIONS, _PURE_DIRECTIONS[0])):
        weight = xp.clip(1.0 - abs(place - number), 0.0, None)
        cosine, sine = cosine + weight * x, sine + weight * y
    length = (cosine * cosine + sine * sine) ** 0.5
    return cosine / length, sine / length


def grading(image: Array, parameters: Array, frame: Frame) -> Array:
    """Adds a colour to shadows, midtones and highlights at kept lightness."""
    xp = array_namespace(image)
    light = decode_srgb(image)
    before = lightness, a, b = to_oklab(light)
    middle = per_pixel(0.5 - 0.3 * parameters[..., 6] / 100.0)
    # The zones add up to one; a balance above 0 moves their border down, which favours the highlights.
    place = xp.where(
        lightness < middle, 0.5 * lightness / middle, 1.0 - 0.5 * (1.0 - lightness) / (1.0 - middle)
    )
    shadows, highlights = (1.0 - place) ** 2, place**2
    weights = (shadows, 1.0 - shadows - highlights, highlights)
    for zone, weight in enumerate(weights):
        cosine, sine = _hue_direction(parameters[..., zone])
        added = weight * per_pixel(_GRADING_CHROMA * parameters[..., 3 + zone] / 100.0)
        a, b = a + added * per_pixel(cosine), b + added * per_pixel(sine)
    return _show_moved(light, before, (lightness, a, b))


def _drop_unused_hues(values: ParameterValues) -> ParameterValues:
    """A hue without strength is nothing, and so is the balance of nothing."""
    hues, strengths = values[:3], values[3:6]
    kept = tuple(hue if strength else 0.0 for hue, strength in zip(hues, strengths, strict=True))
    return (*kept, *strengths, values[6] if any(strengths) else 0.0)


_HUE_WORDS = (
    (15, "red"),
    (45, "orange"),
    (75, "yellow"),
    (165, "green"),
    (205, "teal"),
    (255, "blue"),
    (290, "purple"),
    (345, "magenta"),
    (361, "red"),
)


def name_hue(degrees: float) -> str:
    """The word for a hue in degrees of HSV."""
    return next(word for end, word in _HUE_WORDS if degrees < end)


def _describe_grading(values: ParameterValues) -> str:
    zones = zip(ZONE_NAMES, values[:3], values[3:6], strict=True)
    return ", ".join(f"{name_hue(hue)} {zone}" for zone, hue, strength in zones if strength)


register(
    Operation(
        name="grading",
        group="colour",
        position=52,
        help="Adds a colour to the shadows, the midtones and the highlights.",
        parameters=(
            Parameter(
                "hue",
                0.0,
                360.0,
                0.0,
                unit="degrees",
                help="the colour of a zone: 0 red, 120 green, 240 blue",
                step=1.0,
                count=3,
                names=ZONE_NAMES,
            ),
            Parameter(
                "strength",
                0.0,
                100.0,
                0.0,
                unit="percent",
                help="how much of its colour a zone gets",
                step=1.0,
                count=3,
                names=ZONE_NAMES,
            ),
            Parameter(
                "balance",
                -100.0,
                100.0,
                0.0,
                unit="percent",
                help="above 0, highlights reach further down; below 0, shadows further up",
                step=1.0,
            ),
        ),
        phrase=_describe_grading,
        brief="colours graded",
        formula=grading,
        canonical=_drop_unused_hues,
    )
)


def black_and_white(image: Array, parameters: Array, frame: Frame) -> Array:
    """Grey of the same lightness; the mix lightens or darkens what was of a hue."""
    xp = array_namespace(image)
    light = decode_srgb(image)
    high = xp.amax(image, axis=-3, keepdims=True)
    pure = (high - xp.amin(image, axis=-3, keepdims=True)) / xp.clip(high, _TINY, None)
    mix = _sum_weighted(hue_weights(image), parameters[..., 1:] / 100.0)
    tones = luminance_to_lightness(luminance(light)) + _MIX_LIGHTNESS * mix * pure
    grey = lightness_to_luminance(xp.clip(tones, 0.0, 1.0))
    share = per_pixel(parameters[..., 0] / 100.0)
    return encode_srgb(xp.clip(light + share * (grey - light), 0.0, 1.0))


def _describe_black_and_white(values: ParameterValues) -> str:
    amount = "" if values[0] == 100 else f"{percent(values[0] / 100)} "
    return f"{amount}black and white{', mixed by hue' if any(values[1:]) else ''}"


def _drop_unused_mix(values: ParameterValues) -> ParameterValues:
    return values if values[0] else (0.0,) * len(values)


register(
    Operation(
        name="black_and_white",
        group="colour",
        position=36,
        attribute=Attribute.COLOURFULNESS,
        help="Turns colours into greys of the same lightness; a mix lightens or darkens single hues.",
        parameters=(
            Parameter(
                "amount",
                0.0,
                100.0,
                0.0,
                unit="%",
                help="100 is black and white, 0 leaves all colours",
                step=1.0,
            ),
            _declare_hues("mix", "lightens or darkens the greys of a hue"),
        ),
        phrase=_describe_black_and_white,
        formula=black_and_white,
        canonical=_drop_unused_mix,
    )
)
