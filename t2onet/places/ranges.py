"""Tonal ranges and ranges of hue: how far the colour of each pixel belongs to one, from 0 to 1.

Neighbouring ranges overlap softly and add up to one, so that steps in both meet without a seam.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..image.colour import srgb_to_lab
from ..operations.colour import measure_hue
from ..operations.light import rise

TONES = {
    "blacks": (0.0, 20.0),
    "shadows": (0.0, 40.0),
    "midtones": (40.0, 70.0),
    "highlights": (70.0, 100.0),
    "whites": (85.0, 100.0),
}
"""Ranges of L*."""
TONE_SOFTNESS = 20.0
"""L* on either side of a border over which a range fades, less near black and white.

A stop more or less in one range must not make its tones lighter or darker than their neighbours'.
"""

HUES = {
    "reds": (345.0, 375.0),
    "oranges": (15.0, 45.0),
    "yellows": (45.0, 70.0),
    "greens": (70.0, 165.0),
    "aquas": (165.0, 195.0),
    "blues": (195.0, 255.0),
    "purples": (255.0, 290.0),
    "magentas": (290.0, 345.0),
    "skin": (5.0, 40.0),
}
"""Ranges of the hue of HSV, in degrees."""
HUE_SOFTNESS = 8.0
"""Degrees on either side of a border over which a range fades."""
MIN_CHROMA, CHROMA_SOFTNESS = 10.0, 5.0
"""Chroma from which on a pixel has a hue, and how softly."""
MAX_SKIN_CHROMA, MIN_SKIN_LIGHTNESS, SKIN_SOFTNESS = 45.0, 30.0, 10.0
"""Stronger and darker colours are not like skin."""


class TileColours:
    """Lightness, chroma and hue (H, W) of a tile (3, H, W) as displayed, measured on demand."""

    def __init__(self, tile: np.ndarray, *, compiled: bool = False) -> None:
        self.tile = tile
        self.compiled = compiled

    @cached_property
    def _lab(self) -> np.ndarray:
        if not self.compiled:
            return np.asarray(srgb_to_lab(self.tile))
        from ..kernels import measure_lab

        return measure_lab(self.tile)

    @property
    def lightness(self) -> np.ndarray:
        lightness: np.ndarray = self._lab[0]
        return lightness

    @cached_property
    def chroma(self) -> np.ndarray:
        chroma: np.ndarray = np.hypot(self._lab[1], self._lab[2])
        return chroma

    @cached_property
    def hue(self) -> np.ndarray:
        hue: np.ndarray = np.asarray(measure_hue(self.tile))[0]
        return hue


def weigh_range(name: str, colours: TileColours) -> np.ndarray:
    """(H, W) from 0 to 1: how far each pixel belongs to a tonal range or a range of hue."""
    return _weigh_tone(name, colours) if name in TONES else _weigh_hue(name, colours)


def _weigh_tone(name: str, colours: TileColours) -> np.ndarray:
    low, high = TONES[name]
    above = _pass_tone(colours.lightness, low) if low > 0 else np.float32(1)
    beyond = _pass_tone(colours.lightness, high) if high < 100 else np.float32(0)
    return np.asarray(above - beyond)


def _pass_tone(lightness: np.ndarray, border: float) -> np.ndarray:
    return _pass(lightness, border, min(TONE_SOFTNESS, border, 100 - border))


def _weigh_hue(name: str, colours: TileColours) -> np.ndarray:
    low, high = HUES[name]
    turned = (colours.hue - (low - HUE_SOFTNESS)) % 360.0
    inside = _pass(turned, HUE_SOFTNESS, HUE_SOFTNESS)
    inside = inside - _pass(turned, high - low + HUE_SOFTNESS, HUE_SOFTNESS)
    weight: np.ndarray = inside * _pass(colours.chroma, MIN_CHROMA, CHROMA_SOFTNESS)
    if name == "skin":
        weight = weight * (1 - _pass(colours.chroma, MAX_SKIN_CHROMA, SKIN_SOFTNESS))
        weight = weight * _pass(colours.lightness, MIN_SKIN_LIGHTNESS, SKIN_SOFTNESS)
    return weight


def _pass(values: np.ndarray, border: float, softness: float) -> np.ndarray:
    """0 well below a border, 1 well above it."""
    return np.asarray(rise(values, border - softness, border + softness))
