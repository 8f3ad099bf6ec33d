"""Contrast: a blend with the photo whose luminance went through half a cosine."""

from __future__ import annotations

import math

from ._arrays import Array, namespace, per_pixel
from ._declaration import Operation, Parameter, register

LUMINANCE = (0.27, 0.67, 0.06)
"""Weights of red, green and blue."""


def luminance(image: Array) -> Array:
    """(..., 3, H, W) -> (..., 1, H, W)."""
    red, green, blue = (image[..., c : c + 1, :, :] for c in range(3))
    return LUMINANCE[0] * red + LUMINANCE[1] * green + LUMINANCE[2] * blue


def contrast(image: Array, parameters: Array, scale: float) -> Array:
    """I' = (1 - p) I + p I * E/lum, E = (1 - cos(pi lum)) / 2.

    E/lum = sin(pi lum / 2)^2 / lum is written with sinc(x) = sin(pi x) / (pi x), which is smooth at black.
    """
    lum = luminance(image)
    ratio = (math.pi**2 / 4) * lum * namespace(image).sinc(lum / 2) ** 2
    return image * (1.0 + per_pixel(parameters[..., 0]) * (ratio - 1.0))


CONTRAST = register(
    Operation(
        name="contrast",
        help="Deepens darks and lifts lights, or the reverse: a blend with the cosine curve.",
        parameters=(
            Parameter(
                "p",
                -1.0,
                1.0,
                0.0,
                "share of the curve",
                "1 is the full curve, below 0 flattens",
                sampling=1.0,
            ),
        ),
        formula=contrast,
    )
)
