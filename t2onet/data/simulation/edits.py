"""Photographic changes in physical units, on batches of images, for NumPy arrays and torch tensors alike.

Images are (N, 3, H, W), displayed sRGB in [0, 1]; a strength is (N,), one for each image, and 0 changes
nothing. Each change touches what its name says and leaves the rest as alone as light allows. This module
knows neither requests nor what a person calls a lot.
"""

from __future__ import annotations

import math

from ...image.colour import (
    decode_srgb,
    encode_srgb,
    lab_to_srgb,
    lightness_to_luminance,
    linear_to_xyz,
    luminance,
    luminance_to_lightness,
    srgb_to_lab,
    xyz_to_linear,
)
from ...image.pixels import Array, array_namespace, make_shifter, per_pixel

_TINY = 1e-6
"""Stands in for a zero divisor: far below one 8-bit level of linear light."""
_KNEE = 2.0
"""How sharply raised light bends into white; higher is later and harder."""
_SPARED = 0.7
"""How far a lowered exposure spares white: 0 not at all, 1 wholly."""
_LIFTED_COLOUR = 4.0
"""The most that colour in the deepest shadows is raised along with its light; beyond lies noise."""
_PIVOTS = (0.02, 0.98)
"""Lightness, out of 1, that contrast may turn around: away from the ends, where a curve has no room."""
_SHADOWS, _HIGHLIGHTS = (0.65, 0.0), (0.3, 1.0)
"""Lightness, out of 1, where shadows and highlights begin, and where they are full."""
_RADIUS = 1 / 300
"""Width of the blur of sharpening and softening, out of the short side, and at least the pixels below."""
_LEAST_RADIUS = 0.8
_WIDER, _WIDER_SHARE = 2.5, 0.4
"""How much wider the second blur is, and the share of what it takes away in the mask."""
_HALO = 0.08
"""The most, in lightness out of 1, that sharpening adds to a pixel."""


def exposure(image: Array, stops: Array) -> Array:
    """Linear light times 2**stops. Raised, highlights roll off to white; lowered, white is spared in part."""
    xp = array_namespace(image)
    light, gain = decode_srgb(image), per_pixel(2.0**stops)
    low = xp.clip(gain, None, 1.0)
    lowered = light * low / (1.0 - (1.0 - low) * _SPARED * light)
    return _shown(_raised(lowered, xp.clip(gain, 1.0, None)))


def shadows(image: Array, stops: Array) -> Array:
    """Exposure of the dark parts alone, fading out towards the light ones."""
    return _masked_exposure(image, stops, *_SHADOWS)


def highlights(image: Array, stops: Array) -> Array:
    """Exposure of the light parts alone, fading out towards the dark ones."""
    return _masked_exposure(image, stops, *_HIGHLIGHTS)


def contrast(image: Array, steepness: Array) -> Array:
    """A curve of slope 2**steepness through the photo's mean lightness, which stays.

    Steeper, black and white hold and tones gather there as on film; flatter, all tones move to the mean.
    """
    xp = array_namespace(image)
    light = decode_srgb(image)
    tones = luminance_to_lightness(luminance(light))
    slope = per_pixel(2.0**steepness)
    mean = _mean(tones)
    pivot = xp.clip(mean, *_PIVOTS)
    step = xp.where(abs(slope - 1.0) > _TINY, slope - 1.0, 1.0)
    for _ in range(4):  # the pivot that keeps the mean, by Newton's method
        pivot = xp.clip(pivot + (_mean(_curved(tones, pivot, slope)) - mean) / step, *_PIVOTS)
    return _shown(_relit(light, lightness_to_luminance(_curved(tones, pivot, slope))))


def cast(image: Array, red: Array, yellow: Array) -> Array:
    """Coloured light: a white pixel's a* and b* become `red` and `yellow`, all luminance is kept.

    Gains of X and Z, so that a* and b* move one without the other and black stays black.
    """
    xp = array_namespace(image)
    values = linear_to_xyz(decode_srgb(image))
    x = values[..., 0:1, :, :] * per_pixel(1.0 + red / 500.0) ** 3
    z = values[..., 2:3, :, :] * per_pixel(1.0 - yellow / 200.0) ** 3
    return _shown(_in_gamut(xyz_to_linear(xp.concat([x, values[..., 1:2, :, :], z], axis=-3))))


def temperature(image: Array, mired: Array) -> Array:
    """Light as of a warmer source: `mired`, millions over kelvin, above the 154 of daylight.

    The a* and b* of white along the daylight and black-body curves, fitted from 2,900 kelvin to the bluest.
    """
    return cast(image, mired * (0.0295 + 0.000493 * mired), mired * (0.4058 - 0.000456 * abs(mired)))


def chroma(image: Array, doublings: Array) -> Array:
    """Colours times 2**doublings at kept luminance.

    Lowered, along their hue in CIELAB; raised, in linear light, bending towards the most that can be
    displayed, so that rich colours keep their texture.
    """
    xp = array_namespace(image)
    values = srgb_to_lab(image)
    faded = values[..., 1:, :, :] * per_pixel(2.0 ** xp.clip(doublings, None, 0.0))
    light = decode_srgb(xp.clip(lab_to_srgb(xp.concat([values[..., :1, :, :], faded], axis=-3)), 0.0, 1.0))
    grey = luminance(light)
    reach = xp.clip(_saturation(light, grey), _TINY, 1.0)
    gain = per_pixel(2.0 ** xp.clip(doublings, 0.0, None))
    return _shown(grey + (light - grey) * _raised(reach, gain) / reach)


def monochrome(image: Array, share: Array) -> Array:
    """A share, 0 to 1, of the way to grey of the same luminance."""
    light = decode_srgb(image)
    return _shown(light + (luminance(light) - light) * per_pixel(share))


def sharpness(image: Array, strength: Array) -> Array:
    """Above 0, an unsharp mask of that strength on lightness; below, that many blurs, between 0 and 2.

    The mask has a fine part and a wider one, which is what a soft photo shows. The second blur is the wider.
    """
    xp = array_namespace(image)
    light = decode_srgb(image)
    tones = luminance_to_lightness(luminance(light))
    fine = _blurred(tones, 1.0)
    detail = tones - fine + _WIDER_SHARE * (fine - _blurred(fine, _WIDER))
    added = per_pixel(xp.clip(strength, 0.0, None)) * detail
    added = added / (1.0 + (added / _HALO) ** 2) ** 0.5
    sharp = encode_srgb(_relit(light, lightness_to_luminance(xp.clip(tones + added, 0.0, 1.0))))
    once = _blurred(sharp, 1.0)
    soft = sharp + per_pixel(xp.clip(-strength, 0.0, 1.0)) * (once - sharp)
    soft = soft + per_pixel(xp.clip(-strength - 1.0, 0.0, 1.0)) * (_blurred(once, _WIDER) - soft)
    return xp.clip(soft, 0.0, 1.0)


def _raised(values: Array, gain: Array) -> Array:
    """Values in [0, 1] times a gain of 1 or more, bending so that 1 stays 1."""
    return gain * values / (1.0 + (gain**_KNEE - 1.0) * values**_KNEE) ** (1 / _KNEE)


def _masked_exposure(image: Array, stops: Array, begin: float, full: float) -> Array:
    xp = array_namespace(image)
    light = decode_srgb(image)
    grey = luminance(light)
    ramp = xp.clip((luminance_to_lightness(grey) - begin) / (full - begin), 0.0, 1.0)
    gain = 2.0 ** (per_pixel(stops) * ramp * ramp * (3.0 - 2.0 * ramp))
    moved = _raised(xp.clip(grey, 0.0, 1.0), xp.clip(gain, 1.0, None)) * xp.clip(gain, None, 1.0)
    return _shown(_relit(light, moved))


def _curved(tones: Array, pivot: Array, slope: Array) -> Array:
    """Lightness around a pivot: a hyperbola on either side where steeper, a straight line where flatter."""
    xp = array_namespace(tones)
    away = tones - pivot
    room = xp.where(away > 0, 1.0 - pivot, pivot)
    steep = xp.clip(slope, 1.0, None)
    bent = steep * away / (1.0 + (steep - 1.0) * abs(away) / room)
    return pivot + bent * xp.clip(slope, None, 1.0)


def _relit(light: Array, wanted: Array) -> Array:
    """The light with another luminance (N, 1, H, W), its colours going along."""
    xp = array_namespace(light)
    grey = luminance(light)
    ratio = xp.clip(wanted / xp.clip(grey, _TINY, None), None, _LIFTED_COLOUR)
    return _in_gamut(wanted + (light - grey) * ratio)


def _in_gamut(light: Array) -> Array:
    """Colours that cannot be displayed, faded to those that can at the same luminance."""
    xp = array_namespace(light)
    grey = xp.clip(luminance(light), 0.0, 1.0)
    return grey + (light - grey) / xp.clip(_saturation(light, grey), 1.0, None)


def _saturation(light: Array, grey: Array) -> Array:
    """How far each pixel lies from its grey, out of the most that can be displayed."""
    xp = array_namespace(light)
    away = light - grey
    room = xp.where(away > 0, 1.0 - grey, grey)
    return xp.amax(abs(away) / xp.clip(room, _TINY, None), axis=-3, keepdims=True)


def _shown(light: Array) -> Array:
    return encode_srgb(array_namespace(light).clip(light, 0.0, 1.0))


def _mean(planes: Array) -> Array:
    """Over the pixels of each image: (N, 1, H, W) -> (N, 1, 1, 1)."""
    return planes.mean(axis=(-2, -1))[..., None, None]


def _blurred(planes: Array, times: float) -> Array:
    """By a bell curve, that many times as wide as the radius."""
    width = times * max(_RADIUS * min(planes.shape[-2:]), _LEAST_RADIUS)
    half = math.ceil(2.5 * width)
    weights = [math.exp(-0.5 * (i / width) ** 2) for i in range(-half, half + 1)]
    for axis in (-2, -1):
        moved = make_shifter(planes, half, axis)
        planes = sum(w / sum(weights) * moved(i - half) for i, w in enumerate(weights))
    return planes
