"""An expert's style at run time: the tones that similar photos were given, and a step towards them.

A graph predicts, for a thumbnail and the attributes a request asks for, the tones the expert would give it. A
curve for each channel then takes the picture a part of the way there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import operations
from ..operations.paper import CURVE_PIECES

TONE_LEVELS = 33
"""Quantiles of a channel, evenly spaced from its darkest to its lightest pixel."""
TONE_SHARE = 1.0
"""Share of the way to the predicted tones that a picture is taken."""
TINT_SHARE = 0.7
"""Share of the differences between channels that is taken over; they would tint what is grey."""
_REGULARIZATION = 0.02
"""Weight that pulls a curve to the interpolated one; each tone has weight 1."""


def measure_tones(picture: np.ndarray) -> np.ndarray:
    """(3, TONE_LEVELS): the quantiles of each channel of a picture (3, H, W), from dark to light."""
    tones: np.ndarray = np.quantile(picture.reshape(3, -1), np.linspace(0, 1, TONE_LEVELS), axis=1).T
    return tones


class OnnxStyle:
    """The graph `memory.onnx` of a network: predicts the tones that an expert would give a photo."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def tones(self, picture: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Predicted tones (3, TONE_LEVELS) in [0, 1] of a picture (3, side, side), never falling.

        `wanted` (6,) is how much more or less of each attribute was asked for.
        """
        inputs = {"image": picture[None].astype(np.float32), "wanted": wanted[None]}
        (tones,) = self._session.run(None, inputs)
        return np.asarray(np.maximum.accumulate(np.clip(tones[0], 0, 1), axis=-1))

    def parameters(self, before: np.ndarray, after: np.ndarray, wanted: np.ndarray) -> tuple[float, ...]:
        """Parameters of `color` that take `after` towards the tones predicted for `before`."""
        tones = measure_tones(after)
        change = self.tones(before, wanted) - tones
        lightness = change.mean(0)
        return fit_tone_curves(after, tones + lightness + TINT_SHARE * (change - lightness), TONE_SHARE)


def fit_tone_curves(picture: np.ndarray, target: np.ndarray, share: float) -> tuple[float, ...]:
    """Parameters of `color` that take a picture's tones a share of the way to `target` (3, TONE_LEVELS)."""
    curves = [
        _fit_curve(tones, (1 - share) * tones + share * wanted)
        for tones, wanted in zip(measure_tones(picture), target, strict=True)
    ]
    increments = [float(value) for curve in curves for value in np.diff(curve) * CURVE_PIECES]
    return operations.get_operation("color").clip(increments)


def _fit_curve(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(CURVE_PIECES + 1,) from 0 to 1, never falling: the piecewise linear curve from tones to others.

    A least-squares fit, pulled to the interpolated curve where there are few tones.
    """
    knots = np.arange(CURVE_PIECES + 1) / CURVE_PIECES
    interpolated = np.interp(knots, [0, *_separate_levels(before), 1], [0, *after, 1])
    basis = np.maximum(0, 1 - np.abs(before[:, None] - knots) * CURVE_PIECES)
    inner = slice(1, CURVE_PIECES)
    regularization = np.sqrt(_REGULARIZATION) * np.eye(CURVE_PIECES - 1)
    weights = np.concatenate([basis[:, inner], regularization])
    heights = np.concatenate([after - basis[:, -1], regularization @ interpolated[inner]])
    solution = np.linalg.lstsq(weights, heights, rcond=None)[0]
    return np.asarray(np.maximum.accumulate(np.clip([0, *solution, 1], 0, 1)))


def _separate_levels(levels: np.ndarray) -> np.ndarray:
    """Rising levels made distinct, as interpolation needs them."""
    return np.asarray(levels + np.arange(len(levels)) * 1e-7)
