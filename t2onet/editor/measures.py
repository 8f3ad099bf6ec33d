"""What wishes are about, measured on a small picture: attributes, tonal zones, ranges of hue, casts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..image.colour import srgb_to_lab
from ..language.wishes import HUES, RANGES, WHOLE
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_lab_attributes
from ..operations import Attribute

_ATTRIBUTES = {
    "lightness": Attribute.LIGHTNESS,
    "contrast": Attribute.CONTRAST,
    "colour": Attribute.COLOURFULNESS,
    "warmth": Attribute.WARMTH,
    "tint": Attribute.REDNESS,
    "sharpness": Attribute.SHARPNESS,
}
_ZONE_SHARES = {
    "blacks": (0.0, 0.1),
    "shadows": (0.0, 0.35),
    "midtones": (0.3, 0.7),
    "highlights": (0.65, 1.0),
    "whites": (0.9, 1.0),
}
"""The pixels of a zone, by rank of their lightness."""
HUE_ANGLES = dict(zip(HUES, (35.0, 65.0, 95.0, 140.0, 200.0, 275.0, 310.0, 350.0), strict=True))
"""Hue angles in the plane of CIELAB a* (0 degrees) and b* (90 degrees)."""
_RANGE_WIDTH = 28.0
_MIN_CHROMA = 6.0
MIN_RANGE_SHARE = 0.004
"""Share of the pixels from which on a hue is in a photo."""


@dataclass(frozen=True)
class Measure:
    """Something that should rise (sign 1) or fall (-1): a change, in a part of the photo, towards a hue."""

    what: str
    sign: int = 1
    where: str = WHOLE
    hue: str = ""


class SmallPicture:
    """A picture (3, H, W) in CIELAB, against which others of the same size are measured."""

    def __init__(self, picture: np.ndarray) -> None:
        self.lab = np.asarray(srgb_to_lab(picture))

    @cached_property
    def attributes(self) -> np.ndarray:
        return np.asarray(measure_lab_attributes(self.lab))

    def select(self, where: str) -> np.ndarray | slice:
        """Numbers of the pixels in a zone or range, or all of them."""
        if where == WHOLE:
            return slice(None)
        if where in _ZONE_SHARES:
            low, high = _ZONE_SHARES[where]
            order = np.argsort(self.lab[0], axis=None, kind="stable")
            return order[int(low * order.size) : max(int(high * order.size), 1)]
        angle = HUE_ANGLES[HUES[RANGES.index(where)]]
        _, red, warm = self.lab.reshape(3, -1)
        off = (np.degrees(np.arctan2(warm, red)) - angle + 180) % 360 - 180
        return np.flatnonzero((np.abs(off) < _RANGE_WIDTH) & (np.hypot(red, warm) > _MIN_CHROMA))

    def count_share(self, where: str) -> float:
        """Share of the pixels that are in a zone or range."""
        pixels = self.select(where)
        return 1.0 if isinstance(pixels, slice) else len(pixels) / self.lab[0].size

    def measure_change(self, after: SmallPicture, measure: Measure) -> float:
        """By how many just-noticeable differences `after` is further in the direction of a measure."""
        if measure.what in _ATTRIBUTES and measure.where == WHOLE:
            index = ATTRIBUTE_INDEX[_ATTRIBUTES[measure.what]]
            change = after.attributes[index] - self.attributes[index]
            return float(measure.sign * change / JUST_NOTICEABLE[index])
        pixels = self.select(measure.where)
        before, now = self.lab.reshape(3, -1)[:, pixels], after.lab.reshape(3, -1)[:, pixels]
        if before.shape[1] == 0:
            return 0.0
        if measure.what == "cast":
            angle = math.radians(HUE_ANGLES[measure.hue])
            shift = (now - before).mean(1)
            return float(measure.sign * (shift[1] * math.cos(angle) + shift[2] * math.sin(angle)) / 0.5)
        if measure.what == "colour":
            return float(measure.sign * (np.hypot(*now[1:]) - np.hypot(*before[1:])).mean() / 0.5)
        if measure.what == "contrast":
            return float(measure.sign * (now[0].std() - before[0].std()) / 0.3)
        channel = {"warmth": 2, "tint": 1}.get(measure.what, 0)
        return float(measure.sign * (now - before)[channel].mean() / 0.5)
