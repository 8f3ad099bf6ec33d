"""Light as photographers adjust it: exposure, and the four tonal zones.

Exposure acts on each channel of the light. The zones act on luminance: a curve of the lightness L* (here from
0 to 1) moves it, and the colour of a pixel goes along.
"""

from __future__ import annotations

from collections.abc import Callable

from ..image.colour import lightness_to_luminance, luminance, luminance_to_lightness
from ..image.pixels import Array, array_namespace, per_pixel
from ._declarations import Attribute, Frame, Operation
from ._parameters import Parameter, Phrase, adverb, percentage
from ._registry import register

_TINY = 1e-6
"""Replaces a zero divisor: far below one 8-bit level of linear light."""
SHOULDER = 4.0
"""How late raised light bends into white, and how sharply."""
SPARED_WHITE = 0.65
"""How much of white a lowered exposure spares: 0 nothing, 1 all of it."""
MAX_COLOUR_GAIN = 4.0
"""The most that the colour of a pixel grows with its luminance; beyond it there is noise."""

MAX_DARKENING = 0.1
"""The most by which light is divided, less one, to keep the colour of what is too light to be displayed."""

ToneCurve = Callable[[Array, Array], Array]
"""(lightness in [0, 1], amount / 100) -> lightness, which need not be clamped."""


def bend_into_white(values: Array, gain: Array) -> Array:
    """Values in [0, 1] times a gain of 1 or more, bending so that 1 stays 1."""
    return values * limit_gain(values, gain)


def limit_gain(values: Array, gain: Array) -> Array:
    """The gain that is left of `gain`, 1 or more, for values in [0, 1]: all of it at 0, none at 1."""
    return gain / (1.0 + (gain**SHOULDER - 1.0) * values**SHOULDER) ** (1 / SHOULDER)


def exposure(light: Array, parameters: Array, frame: Frame) -> Array:
    """Light times 2^ev. Raised, highlights roll off into white; lowered, white is spared in part."""
    xp = array_namespace(light)
    gain = per_pixel(2.0 ** parameters[..., 0])
    low = xp.clip(gain, None, 1.0)
    lowered = light * low / (1.0 - (1.0 - low * low) * SPARED_WHITE * light * light) ** 0.5
    return bend_into_white(lowered, xp.clip(gain, 1.0, None))


_STOPS = {
    1 / 4: "a quarter stop",
    1 / 3: "a third of a stop",
    1 / 2: "half a stop",
    2 / 3: "two thirds of a stop",
    1.0: "a stop",
}


def _word_stops(ev: float) -> str:
    """ "half a stop", "1.5 stops"."""
    size = abs(ev)
    if size < 0.05:
        return "barely"
    named = (words for stops, words in _STOPS.items() if abs(size - stops) < 0.02)
    return next(named, f"{round(size, 1 if size > 1 else 2):g} stops")


register(
    Operation(
        name="exposure",
        group="light",
        position=12,
        attribute=Attribute.LIGHTNESS,
        help="Lightens or darkens as a camera's exposure does, in linear light.",
        parameters=(
            Parameter(
                "ev",
                -5.0,
                5.0,
                0.0,
                unit="EV",
                help="1 doubles the light, -1 halves it; highlights roll off",
            ),
        ),
        phrase=Phrase(more="brighter", less="darker", amount=_word_stops),
        formula=exposure,
        space="linear",
        per_channel=True,
    )
)


def change_luminance(light: Array, wanted: Array) -> Array:
    """The light (..., 3, H, W) with the luminance `wanted` (..., 1, H, W), its colour going along."""
    xp = array_namespace(light)
    grey = luminance(light)
    gain = xp.clip(wanted / xp.clip(grey, _TINY, None), None, MAX_COLOUR_GAIN)
    return fade_into_gamut(wanted + (light - grey) * gain)


def fade_into_gamut(light: Array) -> Array:
    """Colours that cannot be displayed, darkened a little and then faded to the most that can be.

    At the luminance of yellow, a level more or less would otherwise be half of its colour.
    """
    xp = array_namespace(light)
    excess = xp.clip(xp.amax(light, axis=-3, keepdims=True) - 1.0, 0.0, None)
    light = light * ((MAX_DARKENING + excess) / (MAX_DARKENING + excess + MAX_DARKENING * excess))
    grey = xp.clip(luminance(light), 0.0, 1.0)
    return grey + (light - grey) / xp.clip(measure_saturation(light, grey), 1.0, None)


def measure_saturation(light: Array, grey: Array) -> Array:
    """(..., 1, H, W): distance of each pixel from its grey, as a share of the most that can be displayed."""
    xp = array_namespace(light)
    away = light - grey
    room = xp.where(away > 0, 1.0 - grey, grey)
    return xp.amax(abs(away) / xp.clip(room, _TINY, None), axis=-3, keepdims=True)


def rise(values: Array, begin: float, full: float) -> Array:
    """A smooth ramp from 0 at `begin` to 1 at `full`."""
    share = array_namespace(values).clip((values - begin) / (full - begin), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _scale_luminance(tones: Array, stops: Array) -> Array:
    """Lightness after luminance times 2^stops; raised, it bends into white."""
    xp = array_namespace(tones)
    gain = 2.0**stops
    moved = bend_into_white(lightness_to_luminance(tones), xp.clip(gain, 1.0, None)) * xp.clip(
        gain, None, 1.0
    )
    return luminance_to_lightness(moved)


def curve_highlights(tones: Array, amount: Array) -> Array:
    """Up to 0.7 stops at L* 80, less at white, so that lowered highlights gain detail; none below L* 40."""
    stops = 0.7 * amount * rise(tones, 0.4, 0.8) * (1.0 - 0.6 * rise(tones, 0.8, 1.0))
    return _scale_luminance(tones, stops)


def curve_shadows(tones: Array, amount: Array) -> Array:
    """Up to 1.6 stops in black, nothing above L* 65."""
    return _scale_luminance(tones, 1.6 * amount * rise(tones, 0.65, 0.0))


def curve_whites(tones: Array, amount: Array) -> Array:
    """White moves by up to 15 L*, nothing below L* 50."""
    return tones + 0.15 * amount * rise(tones, 0.5, 1.0)


def curve_blacks(tones: Array, amount: Array) -> Array:
    """Black moves by up to 15 L*, nothing above L* 50."""
    return tones + 0.15 * amount * rise(tones, 0.5, 0.0)


def _declare_zone(name: str, position: int, curve: ToneCurve, about: str, tones: str) -> Operation:
    def formula(light: Array, parameters: Array, frame: Frame) -> Array:
        xp = array_namespace(light)
        lightness = luminance_to_lightness(luminance(light))
        moved = xp.clip(curve(lightness, per_pixel(parameters[..., 0] / 100.0)), 0.0, 1.0)
        return change_luminance(light, lightness_to_luminance(moved))

    return Operation(
        name=name,
        group="light",
        position=position,
        attribute=Attribute.LIGHTNESS,
        help=about,
        parameters=(percentage("amount", "above 0 lifts, below 0 lowers"),),
        phrase=Phrase(
            more=f"{tones} {{}} lifted",
            less=f"{tones} {{}} lowered",
            amount=lambda amount: adverb(abs(amount), 20, 60),
        ),
        formula=formula,
        space="linear",
    )


ZONES: dict[str, ToneCurve] = {
    "highlights": curve_highlights,
    "shadows": curve_shadows,
    "whites": curve_whites,
    "blacks": curve_blacks,
}
"""Curves of the tonal zones, by operation."""

register(
    _declare_zone(
        "highlights", 14, curve_highlights, "Lifts or recovers light tones; dark ones stay.", "highlights"
    )
)
register(
    _declare_zone("shadows", 15, curve_shadows, "Opens or deepens dark tones; light ones stay.", "shadows")
)
register(_declare_zone("whites", 16, curve_whites, "Moves the lightest tones; black stays.", "whites"))
register(_declare_zone("blacks", 17, curve_blacks, "Moves the darkest tones; white stays.", "blacks"))
