"""Brightness and saturation: V and S of HSV scaled by 1 + p and clipped to [0, 1].

With hue and saturation kept, scaling V scales the three channels alike; with hue and value kept, scaling S
scales each channel's distance from V. Written so, neither needs the hue, and black and grey pixels, where hue
and saturation are undefined, have finite gradients.
"""

from __future__ import annotations

from ._arrays import Array, namespace, per_pixel
from ._declaration import Operation, Parameter, register

_TINY = 1e-8
"""Stands in for a zero divisor: far below one 16-bit level, and its square's inverse is finite in float32."""


def _value(image: Array) -> Array:
    return namespace(image).amax(image, axis=-3, keepdims=True)


def _gain(p: Array, image: Array) -> Array:
    return namespace(image).clip(1.0 + per_pixel(p), 0.0, None)


def brighten(image: Array, parameters: Array, scale: float) -> Array:
    """I' = I * V'/V, V' = clip((1 + p) V): the gain 1 + p, or 1/V where that would exceed one."""
    xp = namespace(image)
    limit = 1.0 / xp.clip(_value(image), _TINY, None)
    return image * xp.minimum(_gain(parameters[..., 0], image), limit)


def saturate(image: Array, parameters: Array, scale: float) -> Array:
    """I' = V - (V - I) * S'/S, S' = clip((1 + p) S): the gain 1 + p, or 1/S where that would exceed one."""
    xp = namespace(image)
    value = _value(image)
    chroma = value - xp.amin(image, axis=-3, keepdims=True)
    limit = value / xp.clip(chroma, _TINY, None)
    return value - (value - image) * xp.minimum(_gain(parameters[..., 0], image), limit)


BRIGHTNESS = register(
    Operation(
        name="brightness",
        help="Lightens or darkens: the HSV value of every pixel times 1 + p.",
        parameters=(
            Parameter(
                "p",
                -1.0,
                2.0,
                0.0,
                "relative change",
                "0.2 makes it 20 % lighter, -1 black; what passes white is cut off",
                sampling=2.0,
            ),
        ),
        formula=brighten,
    )
)

SATURATION = register(
    Operation(
        name="saturation",
        help="Strengthens or fades colours: the HSV saturation of every pixel times 1 + p.",
        parameters=(
            Parameter(
                "p",
                -1.0,
                2.0,
                0.0,
                "relative change",
                "0.2 makes colours 20 % stronger, -1 leaves the grey of the brightest channel",
                sampling=0.5,
            ),
        ),
        formula=saturate,
    )
)
