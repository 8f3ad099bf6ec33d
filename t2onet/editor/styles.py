"""An expert's style at run time: the tones that similar photos were given, and a step towards them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import operations
from ..language.keywords import keywords
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..operations.paper import CURVE_PIECES

# An expert's memory at run time: the tones that photos like this one were given, and a step towards them.
#
# A graph in the package knows, for a small picture and what is wanted of it, which tones the expert whose
# edits
# it remembers would give it. A curve for each channel takes a picture a part of the way there.

TONE_LEVELS = 33
"""Tones of a channel: its darkest, its lightest and those between, each as many pixels apart."""
TONE_SHARE = 0.7
"""How much of the way to remembered tones a picture is taken."""
TINT_SHARE = 0.7
"""How much of that in which the channels differ, which would tint what is grey, is taken along."""
_MIN_AMOUNT, _MAX_AMOUNT = 0.1, 2.0
_REGULARIZATION = 0.02
"""How much a curve is held to the plain one through its tones, beside each tone's own weight of 1."""


def to_attribute_vector(request: str) -> np.ndarray:
    """(6,) float32, in the order of the attributes: how much more or less of each, as rules read it."""
    found = np.zeros(len(ATTRIBUTE_INDEX), np.float32)
    for intent in keywords(request).intents:
        found[ATTRIBUTE_INDEX[intent.attribute]] += intent.sign * max(intent.amount, _MIN_AMOUNT) ** 0.5
    return np.clip(found, -_MAX_AMOUNT, _MAX_AMOUNT)


def measure_tones(picture: np.ndarray) -> np.ndarray:
    """(3, LEVELS) of a picture (3, H, W), each channel from dark to light."""
    found: np.ndarray = np.quantile(picture.reshape(3, -1), np.linspace(0, 1, TONE_LEVELS), axis=1).T
    return found


class OnnxStyle:
    """What a graph `memory.onnx` remembers."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def tones(self, picture: np.ndarray, request: str) -> np.ndarray:
        """(3, LEVELS) in [0, 1] that a picture (3, side, side) would be given, never falling."""
        asked = {"image": picture[None].astype(np.float32), "wanted": to_attribute_vector(request)[None]}
        (found,) = self._session.run(None, asked)
        return np.asarray(np.maximum.accumulate(np.clip(found[0], 0, 1), axis=-1))

    def parameters(self, before: np.ndarray, after: np.ndarray, request: str) -> tuple[float, ...]:
        """Of the operation `color`, which takes `after` on towards what is remembered of `before`."""
        now = measure_tones(after)
        change = self.tones(before, request) - now
        light = change.mean(0)
        return fit_tone_curves(after, now + light + TINT_SHARE * (change - light), TONE_SHARE)


def fit_tone_curves(picture: np.ndarray, aim: np.ndarray, share: float) -> tuple[float, ...]:
    """Parameters of `color`, whose curves take a picture's tones a share of the way to others (3, LEVELS)."""
    curves = [
        _fit_curve(now, (1 - share) * now + share * then)
        for now, then in zip(measure_tones(picture), aim, strict=True)
    ]
    rises = [float(rise) for curve in curves for rise in np.diff(curve) * CURVE_PIECES]
    return operations.get_operation("color").clip(rises)


def _fit_curve(now: np.ndarray, then: np.ndarray) -> np.ndarray:
    """(PIECES + 1,) from 0 to 1, never falling: the heights that take tones nearest to others."""
    knots = np.arange(CURVE_PIECES + 1) / CURVE_PIECES
    plain = np.interp(knots, [0, *_separate_levels(now), 1], [0, *then, 1])
    reach = np.maximum(0, 1 - np.abs(now[:, None] - knots) * CURVE_PIECES)
    inner = slice(1, CURVE_PIECES)
    steady = np.sqrt(_REGULARIZATION) * np.eye(CURVE_PIECES - 1)
    weights = np.concatenate([reach[:, inner], steady])
    heights = np.concatenate([then - reach[:, -1], steady @ plain[inner]])
    found = np.linalg.lstsq(weights, heights, rcond=None)[0]
    return np.asarray(np.maximum.accumulate(np.clip([0, *found, 1], 0, 1)))


def _separate_levels(levels: np.ndarray) -> np.ndarray:
    """Rising levels without two alike, so that they can be looked up."""
    return np.asarray(levels + np.arange(len(levels)) * 1e-7)
