"""Colour as photographers adjust it: white balance, vibrance, eight hues, grading and black and white.

Hues are those of HSV, in degrees: red is 0, green 120, blue 240. They decide which colours an operation
touches; the changes themselves are made in linear light or in OKLab (Ottosson 2020), which keep luminance or
lightness.
"""

from __future__ import annotations

import colorsys
import math

import numpy as np

from ..image.colour import (
    decode_srgb,
    encode_srgb,
    luminance,
    xyz_to_linear,
)
from ..image.pixels import Array, array_namespace, per_pixel, to_array_like
from ._declarations import Attribute, Frame, Operation
from ._parameters import Parameter, ParameterValues, Phrase, degree, percent, percentage
from ._registry import register
from .light import bend_into_white, fade_into_gamut, limit_gain, measure_saturation, rise

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
_MIXER_REACH = 0.45
"""How far 100 of the mixer turns a hue towards the next; much further, hues would change places."""
MIXER_LIFT, MIXER_DROP = 0.8, 0.35
"""What 100 and -100 of the mixer do to the lightness of the richest colours."""
RICH_CHROMA = 0.1
"""Chroma in OKLab from which a colour counts as rich."""
_GRADING_CHROMA = 0.1
"""Chroma in OKLab that a strength of 100 adds."""
GRADING_BLACK = 0.4
"""Lightness in OKLab below which grading fades out."""
GRADING_SHADOWS, GRADING_HIGHLIGHTS = (0.7, 0.1), (0.5, 1.0)
"""Lightness in OKLab where a zone begins and where it is whole; midtones are the rest."""
MIX_STOPS = 2.0
"""Stops that 100 of the black-and-white mix gives the purest colours."""
MIX_BLACK = 0.05


def white_balance(light: Array, parameters: Array, frame: Frame) -> Array:
    """The light of a warmer or cooler, greener or more magenta source, at the same luminance.

    Gains of the three channels, as in a camera, so that neither greys nor pure colours turn to another hue.
    """
    xp = array_namespace(light)
    moved = light * xp.concat([per_pixel(gain) for gain in white_balance_gains(parameters)], axis=-3)
    return fade_into_gamut(moved * (luminance(light) / xp.clip(luminance(moved), _TINY, None)))


def white_balance_gains(parameters: Array) -> list[Array]:
    """Gains of red, green and blue from temperature and tint (..., 2); the luminance of grey stays.

    White's a* and b* along the daylight and black-body curves, fitted from 2,900 kelvin to the bluest.
    """
    mired, tint = parameters[..., 0], parameters[..., 1]
    red = mired * (0.0295 + 0.000493 * mired) + _TINT_UNIT * tint
    yellow = mired * (0.4058 - 0.000456 * abs(mired))
    root_x, root_z = 1.0 + red / 500.0, 1.0 - yellow / 200.0
    added = array_namespace(parameters).stack(
        [root_x * root_x * root_x - 1.0, 0.0 * red, root_z * root_z * root_z - 1.0], axis=-1
    )
    gains = xyz_to_linear(added[..., None, None])[..., 0, 0]
    return [1.0 + gains[..., channel] for channel in range(3)]


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
            percentage("tint", "above 0 is more magenta, below 0 greener"),
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
        parameters=(percentage("amount", "above 0 is more colourful"),),
        phrase=Phrase(
            more="more vibrant", less="more muted", amount=lambda amount: degree(abs(amount), 15, 50)
        ),
        formula=vibrance,
        space="linear",
    )
)


def measure_hue(image: Array) -> Array:
    """(..., 1, H, W): the hue of HSV in degrees, 0 for greys."""
    xp = array_namespace(image)
    red, green, blue = (image[..., c : c + 1, :, :] for c in range(3))
    high = xp.amax(image, axis=-3, keepdims=True)
    chroma = xp.clip(high - xp.amin(image, axis=-3, keepdims=True), _TINY, None)
    turns = xp.where(
        high == red,
        (green - blue) / chroma,
        xp.where(high == green, (blue - red) / chroma + 2.0, (red - green) / chroma + 4.0),
    )
    return 60.0 * xp.where(turns < 0, turns + 6.0, turns)


def blend_by_hue(hue: Array, values: Array) -> Array:
    """For each pixel, the value of its hue out of (..., 8), one for each of `HUES`, with soft borders."""
    centres = [*HUES.values(), 360.0]
    blended = per_pixel(values[..., 0])
    for number in range(len(HUES)):
        step = values[..., (number + 1) % len(HUES)] - values[..., number]
        blended = blended + per_pixel(step) * rise(hue, centres[number], centres[number + 1])
    return blended


def to_oklab(light: Array) -> tuple[Array, Array, Array]:
    """Linear light to L, a, b of OKLab, each (..., 1, H, W)."""
    roots = [_root(row) for row in _mix(LIGHT_TO_LMS, light)]
    lab = [sum(w * root for w, root in zip(row, roots, strict=True)) for row in LMS_TO_OKLAB]
    return lab[0], lab[1], lab[2]


def from_oklab(lightness: Array, a: Array, b: Array) -> Array:
    """L, a, b of OKLab to linear light, which may be out of gamut."""
    xp = array_namespace(lightness)
    cubes = [(x * lightness + y * a + z * b) ** 3 for x, y, z in OKLAB_TO_LMS]
    return xp.concat([x * cubes[0] + y * cubes[1] + z * cubes[2] for x, y, z in LMS_TO_LIGHT], axis=-3)


def _mix(matrix: tuple[tuple[float, float, float], ...], light: Array) -> list[Array]:
    channels = [light[..., c : c + 1, :, :] for c in range(3)]
    return [sum(w * channel for w, channel in zip(row, channels, strict=True)) for row in matrix]


def _root(values: Array) -> Array:
    return array_namespace(values).clip(values, 1e-9, None) ** (1.0 / 3.0)


LIGHT_TO_LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
LMS_TO_OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
OKLAB_TO_LMS = (
    (1.0, 0.3963377774, 0.2158037573),
    (1.0, -0.1055613458, -0.0638541728),
    (1.0, -0.0894841775, -1.2914855480),
)
LMS_TO_LIGHT = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


_PURE_HUES = 24


def _measure_pure_colour(hue: float) -> tuple[float, float]:
    """The direction in OKLab (cosine, sine) of the pure colour of a hue in degrees of HSV."""
    pure = np.array(colorsys.hsv_to_rgb(hue / 360.0, 1.0, 1.0)).reshape(3, 1, 1)
    _, a, b = (float(part.squeeze()) for part in to_oklab(decode_srgb(pure)))
    return a / math.hypot(a, b), b / math.hypot(a, b)


_PURE_DIRECTIONS = np.array(
    [_measure_pure_colour(number % _PURE_HUES * 360.0 / _PURE_HUES) for number in range(_PURE_HUES + 1)]
)
_PURE_NUMBERS = np.arange(_PURE_HUES + 1.0)


def _measure_turns() -> list[tuple[float, float]]:
    """How far 100 and -100 turn each of `HUES`, in radians of OKLab."""
    angles = [math.atan2(sine, cosine) for cosine, sine in map(_measure_pure_colour, HUES.values())]
    gaps = [(b - a) % math.tau for a, b in zip(angles, (*angles[1:], angles[0]), strict=True)]
    return [(_MIXER_REACH * gaps[at], _MIXER_REACH * gaps[at - 1]) for at in range(len(gaps))]


MIXER_TURNS = np.array(_measure_turns())


def mixer(light: Array, parameters: Array, frame: Frame) -> Array:
    """Turns, strengthens and lightens the colours around each of eight hues; greys stay."""
    xp = array_namespace(light)
    rows = parameters.reshape((*parameters.shape[:-1], 3, len(HUES))) / 100.0
    hue = measure_hue(encode_srgb(light))
    angle = blend_by_hue(hue, scale_turns(rows[..., 0, :]))
    gain, lift = (blend_by_hue(hue, rows[..., row, :]) for row in (1, 2))
    before = lightness, a, b = to_oklab(light)
    rich = xp.clip((a * a + b * b + 1e-14) ** 0.5 / RICH_CHROMA, 0.0, 1.0)
    # In proportion to lightness below and to what is missing to white above: noise in black stays dark.
    room = xp.where(lift > 0, MIXER_LIFT * (1.0 - lightness), MIXER_DROP + 0.0 * lightness)
    moved = (
        xp.clip(lightness * (1.0 + lift * room * rich * (2.0 - rich)), 0.0, 1.0),
        a * xp.cos(angle) - b * xp.sin(angle),
        a * xp.sin(angle) + b * xp.cos(angle),
    )
    return fade_into_gamut(scale_colour(_move_in_oklab(light, before, moved), 1.0 + gain))


def scale_turns(hues: Array) -> Array:
    """Turns in radians from the hues of the mixer (..., 8), from -1 to 1."""
    xp = array_namespace(hues)
    up, down = (to_array_like(turns, hues) for turns in MIXER_TURNS.T)
    return xp.clip(hues, 0.0, None) * up + xp.clip(hues, None, 0.0) * down


def scale_colour(light: Array, gain: Array) -> Array:
    """Distance from grey times a gain, less for what is nearly pure; may be too light to be displayed."""
    xp = array_namespace(light)
    grey = luminance(light)
    pure = xp.clip(1.0 - xp.amin(light, axis=-3, keepdims=True) / xp.clip(grey, _TINY, None), 0.0, 1.0)
    return grey + (light - grey) * xp.clip(gain, None, 1.0) * limit_gain(pure, xp.clip(gain, 1.0, None))


def _move_in_oklab(light: Array, before: tuple[Array, ...], after: tuple[Array, ...]) -> Array:
    """Light whose OKLab values were moved; exactly the same where they were not."""
    return light + (from_oklab(*after) - from_oklab(*before))


def _declare_hues(name: str, help: str) -> Parameter:
    return percentage(name, help, count=len(HUES), names=tuple(HUES))


def _describe_mixer(values: ParameterValues) -> str:
    words = (("{}s towards {}", "{}s towards {}"), ("richer {}s", "paler {}s"), ("lighter {}s", "darker {}s"))
    names, parts = list(HUES), []
    for number, value in enumerate(values):
        row, at = divmod(number, len(HUES))
        if value:
            neighbour = names[(at + (1 if value > 0 else -1)) % len(names)]
            parts.append(words[row][value < 0].format(names[at], neighbour))
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
        space="linear",
    )
)


def _hue_direction(hue: Array) -> tuple[Array, Array]:
    """Direction in OKLab of a hue in degrees of HSV, interpolated between pure colours."""
    xp = array_namespace(hue)
    directions, numbers = to_array_like(_PURE_DIRECTIONS, hue), to_array_like(_PURE_NUMBERS, hue)
    weights = xp.clip(1.0 - abs((hue / (360.0 / _PURE_HUES))[..., None] - numbers), 0.0, None)
    cosine, sine = ((weights * directions[:, axis]).sum(-1) for axis in range(2))
    length = (cosine * cosine + sine * sine) ** 0.5
    return cosine / length, sine / length


def grading(light: Array, parameters: Array, frame: Frame) -> Array:
    """Adds a colour to shadows, midtones and highlights at kept luminance."""
    before = lightness, a, b = to_oklab(light)
    bias = per_pixel(grading_bias(parameters[..., 6]))
    place = lightness / (1.0 + bias * (1.0 - lightness))
    # The zones add up to one, but fade in black, where a little colour is already all that can be displayed.
    shadows, highlights = rise(place, *GRADING_SHADOWS), rise(place, *GRADING_HIGHLIGHTS)
    visible = rise(lightness, 0.0, GRADING_BLACK)
    for zone, weight in enumerate((shadows, 1.0 - shadows - highlights, highlights)):
        x, y = grading_colour(parameters[..., zone], parameters[..., 3 + zone])
        a, b = a + weight * visible * per_pixel(x), b + weight * visible * per_pixel(y)
    moved = _move_in_oklab(light, before, (lightness, a, b))
    return fade_into_gamut(moved + (luminance(light) - luminance(moved)))


def grading_bias(balance: Array) -> Array:
    """Bends lightness so that the middle of the zones is at 0.5, or lower where highlights are favoured."""
    middle = 0.5 - 0.3 * balance / 100.0
    return 1.0 / (1.0 - middle) - 2.0


def grading_colour(hue: Array, strength: Array) -> tuple[Array, Array]:
    """What a zone adds to a and b of OKLab."""
    cosine, sine = _hue_direction(hue)
    added = _GRADING_CHROMA * strength / 100.0
    return added * cosine, added * sine


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
    hues = {zone: name_hue(hue) for zone, hue, strength in zones if strength}
    by_hue = {hue: [zone for zone in hues if hues[zone] == hue] for hue in hues.values()}
    if len(hues) == len(ZONE_NAMES) and len(by_hue) == 1:
        return f"toned {next(iter(by_hue))}"
    return ", ".join(f"{hue} {' and '.join(named)}" for hue, named in by_hue.items())


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
                is_kind=True,
                step=1.0,
                count=3,
                names=ZONE_NAMES,
            ),
            percentage("strength", "how much of its colour a zone gets", low=0.0, count=3, names=ZONE_NAMES),
            percentage("balance", "above 0, highlights reach further down; below 0, shadows further up"),
        ),
        phrase=_describe_grading,
        brief="colours graded",
        formula=grading,
        space="linear",
        canonical=_drop_unused_hues,
    )
)


def black_and_white(light: Array, parameters: Array, frame: Frame) -> Array:
    """Grey of the same luminance; the mix lightens or darkens what was of a hue, as a filter does."""
    xp = array_namespace(light)
    shown = encode_srgb(light)
    high = xp.amax(shown, axis=-3, keepdims=True)
    # The offset spares black, where a single level is a pure colour.
    pure = (1.0 + MIX_BLACK) * (high - xp.amin(shown, axis=-3, keepdims=True)) / (high + MIX_BLACK)
    gain = 2.0 ** (
        MIX_STOPS * pure * (2.0 - pure) * blend_by_hue(measure_hue(shown), parameters[..., 1:] / 100.0)
    )
    grey = bend_into_white(luminance(light), xp.clip(gain, 1.0, None)) * xp.clip(gain, None, 1.0)
    return light + per_pixel(parameters[..., 0] / 100.0) * (grey - light)


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
        space="linear",
        canonical=_drop_unused_mix,
    )
)
