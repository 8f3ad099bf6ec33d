"""What wishes are about, measured on a small picture: attributes, tonal zones, ranges of hue, casts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..image import image_from_array
from ..image.colour import srgb_to_lab
from ..language.wishes import HUES, RANGES, WHOLE, ZONES
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, MIN_DETAIL, measure_lab_attributes
from ..metrics.regions import View
from ..operations import Attribute
from ..operations.paper import laplacian
from ..places import OpenedPhoto, resolve_where
from ..recipe import Recipe
from ..recipe.where import parse_where
from .policy import apply_to_thumbnail

MEASURED_ATTRIBUTES = {
    "lightness": Attribute.LIGHTNESS,
    "contrast": Attribute.CONTRAST,
    "colour": Attribute.COLOURFULNESS,
    "warmth": Attribute.WARMTH,
    "tint": Attribute.REDNESS,
    "sharpness": Attribute.SHARPNESS,
}
"""What wishes call the attributes of a photo."""
HUE_ANGLES = dict(zip(HUES, (35.0, 65.0, 95.0, 140.0, 200.0, 275.0, 310.0, 350.0), strict=True))
"""Hue angles in the plane of CIELAB a* (0 degrees) and b* (90 degrees)."""
MIN_PART_SHARE = 0.004
"""Share of the pixels from which on a zone or a hue is in a photo."""
BY_COLOUR = (*ZONES, *RANGES, "skin")
"""Parts of a photo that are known by their colours."""
_INSIDE, _MOSTLY_INSIDE = 230, 128
"""The level of a mask from which on a pixel is inside, and where that leaves too few."""
_GREY_SHARE = 0.4
"""Share of the pixels, those of the least colour, that should be grey."""
_SUBSTITUTES = {
    "blacks": (0.0, 0.1),
    "shadows": (0.0, 0.3),
    "midtones": (0.3, 0.7),
    "highlights": (0.7, 1.0),
    "whites": (0.9, 1.0),
}
"""The pixels that stand for a zone that a photo has not, by rank of their lightness."""


@dataclass(frozen=True)
class Measure:
    """Something that should rise (sign 1) or fall (-1): a change, in a part of the photo, towards a hue."""

    what: str
    sign: int = 1
    where: str = WHOLE
    hue: str = ""


class SmallPicture:
    """A picture (3, H, W) in CIELAB, against which others of the same size are measured.

    Places are those of the photo as it was `opened`, before the `geometry` that led to the picture.
    """

    def __init__(
        self, picture: np.ndarray, opened: np.ndarray | None = None, geometry: Recipe | None = None
    ) -> None:
        self.view = View(picture)
        self._opened = picture if opened is None else opened
        self._geometry = geometry or Recipe()
        self._parts: dict[str, np.ndarray] = {}
        self.lab = np.asarray(srgb_to_lab(picture))

    @cached_property
    def attributes(self) -> np.ndarray:
        return np.asarray(measure_lab_attributes(self.lab))

    def select(self, where: str) -> np.ndarray | slice:
        """Numbers of the pixels in a zone or range or at a place, or all of them."""
        if where == WHOLE:
            return slice(None)
        if where not in self._parts and where not in BY_COLOUR:
            self._parts[where] = self._select_place(where)
        if where not in self._parts:
            chosen = np.flatnonzero(self.view.select(where))
            if where in _SUBSTITUTES and len(chosen) < MIN_PART_SHARE * self.lab[0].size:
                low, high = _SUBSTITUTES[where]
                order = np.argsort(self.lab[0], axis=None, kind="stable")
                chosen = order[int(low * order.size) : max(int(high * order.size), 1)]
            self._parts[where] = chosen
        return self._parts[where]

    def _select_place(self, where: str) -> np.ndarray:
        """Numbers of the pixels that are mostly inside a place."""
        photo = image_from_array(np.ascontiguousarray(self._opened.transpose(1, 2, 0)))
        mask = resolve_where(parse_where(where), OpenedPhoto(photo))
        if self._geometry.steps:
            mask = 255 * apply_to_thumbnail(self._geometry, np.stack([mask] * 3).astype(np.float32) / 255)[0]
        chosen = np.flatnonzero(mask >= _INSIDE)
        return chosen if len(chosen) >= MIN_PART_SHARE * mask.size else np.flatnonzero(mask >= _MOSTLY_INSIDE)

    def measure_detail(self, pixels: np.ndarray | slice) -> float:
        """Sharpness of some pixels, as `metrics.attributes` measures that of all."""
        light = self.lab[0].astype(np.float64)
        detail = np.abs(np.asarray(laplacian(light, 1.0))).reshape(-1)[pixels].mean()
        return math.log(max(float(detail), MIN_DETAIL) / max(float(light.reshape(-1)[pixels].std()), 1.0))

    def find_cast(self) -> tuple[float, float]:
        """Mean a* and b* of the pixels of little colour, which should be grey; of all where there are few."""
        _, red, warm = self.lab.reshape(3, -1)
        chroma = np.hypot(red, warm)
        near = chroma <= np.quantile(chroma, _GREY_SHARE)
        return float(red[near].mean()), float(warm[near].mean())

    def measure_lightness(self, where: str) -> float | None:
        """Mean L* of a part; None where no pixel is in it."""
        pixels = self.lab[0].reshape(-1)[self.select(where)]
        return float(pixels.mean()) if pixels.size else None

    def measure_chroma(self, where: str) -> float:
        """Mean chroma of a part in just-noticeable differences; 0 where no pixel is in it."""
        colours = self.lab.reshape(3, -1)[1:, self.select(where)]
        return float(np.hypot(*colours).mean() / 0.5) if colours.size else 0.0

    def count_share(self, where: str) -> float:
        """Share of the pixels that are in a zone or range."""
        pixels = self.select(where)
        return 1.0 if isinstance(pixels, slice) else len(pixels) / self.lab[0].size

    def measure_change(self, after: SmallPicture, measure: Measure) -> float:
        """By how many just-noticeable differences `after` is further in the direction of a measure."""
        if measure.what in MEASURED_ATTRIBUTES and measure.where == WHOLE:
            index = ATTRIBUTE_INDEX[MEASURED_ATTRIBUTES[measure.what]]
            change = after.attributes[index] - self.attributes[index]
            return float(measure.sign * change / JUST_NOTICEABLE[index])
        pixels = self.select(measure.where)
        if not isinstance(pixels, slice) and not len(pixels):
            return 0.0
        if measure.what == "sharpness":
            change = after.measure_detail(pixels) - self.measure_detail(pixels)
            return measure.sign * change / JUST_NOTICEABLE[ATTRIBUTE_INDEX[Attribute.SHARPNESS]]
        before, now = self.lab.reshape(3, -1)[:, pixels], after.lab.reshape(3, -1)[:, pixels]
        return measure.sign * _measure_colours(before, now, measure)


def _measure_colours(before: np.ndarray, now: np.ndarray, measure: Measure) -> float:
    """Just-noticeable differences between L*, a*, b* (3, pixels) in what a measure is about."""
    if measure.what == "cast":
        angle = math.radians(HUE_ANGLES[measure.hue])
        shift = (now - before).mean(1)
        return float((shift[1] * math.cos(angle) + shift[2] * math.sin(angle)) / 0.5)
    if measure.what == "colour":
        return float((np.hypot(*now[1:]) - np.hypot(*before[1:])).mean() / 0.5)
    if measure.what == "contrast":
        return float((now[0].std() - before[0].std()) / 0.3)
    channel = {"warmth": 2, "tint": 1}.get(measure.what, 0)
    return float((now - before)[channel].mean() / 0.5)
