"""Tonal zones and hues of a picture, and what is measured on their pixels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..image.colour import decode_srgb, srgb_to_lab
from ..operations.colour import measure_hue
from ..places.ranges import HUES, MAX_SKIN_CHROMA, MIN_CHROMA, MIN_SKIN_LIGHTNESS, TONES
from .attributes import measure_lab_attributes

ATTRIBUTES = "LCSWAX"
MAX_ZONE_LIGHTNESS = 98.0
"""What is nearly white already cannot become lighter, and is left out of the zones."""
_HALVES = {"darks": (0.0, 50.0), "lights": (50.0, 100.0)}
ZONES = {name: (low, min(high, MAX_ZONE_LIGHTNESS)) for name, (low, high) in (TONES | _HALVES).items()}
"""Ranges of L*."""


class View:
    """A picture (3, H, W) in sRGB from 0 to 1, and what is measured on it."""

    def __init__(self, picture: np.ndarray) -> None:
        self.picture = picture

    @cached_property
    def lab(self) -> np.ndarray:
        return np.asarray(srgb_to_lab(self.picture.astype(np.float64)))

    @cached_property
    def attributes(self) -> dict[str, float]:
        values = measure_lab_attributes(self.lab)
        return {name: float(value) for name, value in zip(ATTRIBUTES, values, strict=True)}

    @cached_property
    def chroma(self) -> np.ndarray:
        chroma: np.ndarray = np.hypot(self.lab[1], self.lab[2])
        return chroma

    @cached_property
    def hue(self) -> np.ndarray:
        hue: np.ndarray = np.asarray(measure_hue(self.picture))[0]
        return hue

    @cached_property
    def light(self) -> np.ndarray:
        return np.asarray(decode_srgb(self.picture.astype(np.float64)))

    def select(self, part: str, margin: float = 0.0) -> np.ndarray:
        """(H, W): the pixels of a zone or hue, or at most `margin` beyond it."""
        if part in ZONES:
            low, high = ZONES[part]
            zone: np.ndarray = (self.lab[0] >= low - margin) & (self.lab[0] < high + margin)
            return zone
        low, high = HUES[part]
        turned = (self.hue - low + margin) % 360.0
        chosen: np.ndarray = (turned < high - low + 2 * margin) & (self.chroma >= MIN_CHROMA)
        if part == "skin":
            chosen &= (self.chroma <= MAX_SKIN_CHROMA) & (self.lab[0] >= MIN_SKIN_LIGHTNESS)
        return chosen

    def average(self, chosen: np.ndarray) -> np.ndarray:
        """(3,): mean L*, a*, b* of the chosen pixels."""
        return np.asarray(self.lab[:, chosen].mean(axis=-1))
