"""Sharpness: the photo plus p times its centre-positive Laplacian.

The Laplacian is four times the difference between a pixel and the mean of its four neighbours. Above the
reference size the neighbours move out in proportion and are taken from a slightly smoothed copy: shifts by
one preview pixel commute with averaging down to the preview, and the smoothing (with the distance shortened
so that the spread stays the same) keeps fine lines from echoing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._arrays import Array, per_pixel, shifts
from ._declaration import Operation, Parameter, register


@dataclass(frozen=True)
class Neighbourhood:
    """Where the four neighbours are taken from at one pixel scale."""

    near: int
    """Whole pixels out; the neighbours lie between `near` and `near + 1`."""
    fraction: float
    """How far towards `near + 1`."""
    weights: tuple[float, ...]
    """Smoothing along each axis, odd in number, summing to one."""

    @property
    def reach(self) -> int:
        return self.near + (self.fraction > 0) + len(self.weights) // 2


def neighbourhood(scale: float) -> Neighbourhood:
    """One pixel out and no smoothing at scale one, widening in proportion above."""
    variance = (scale**2 - 1) / 6
    distance = math.sqrt(scale**2 - 2 * variance)
    return Neighbourhood(int(distance), distance - int(distance), _gaussian(variance))


def _gaussian(variance: float) -> tuple[float, ...]:
    if variance == 0:
        return (1.0,)
    half = math.ceil(3 * math.sqrt(variance))
    raw = [math.exp(-(x * x) / (2 * variance)) for x in range(-half, half + 1)]
    return tuple(weight / sum(raw) for weight in raw)


def _smoothed(image: Array, weights: tuple[float, ...]) -> Array:
    half = len(weights) // 2
    for axis in (-2, -1) if half else ():
        moved = shifts(image, half, axis)
        image = sum(weight * moved(i - half) for i, weight in enumerate(weights))
    return image


def laplacian(image: Array, scale: float) -> Array:
    """Centre-positive: 4 I minus the four neighbours."""
    where = neighbourhood(scale)
    smooth = _smoothed(image, where.weights)
    down, right = shifts(smooth, where.near + 1, -2), shifts(smooth, where.near + 1, -1)

    def four(distance: int) -> Array:
        return down(-distance) + down(distance) + right(-distance) + right(distance)

    around = four(where.near)
    if where.fraction:
        around = around + where.fraction * (four(where.near + 1) - around)
    return 4.0 * image - around


def sharpen(image: Array, parameters: Array, scale: float) -> Array:
    """I' = I + p * Laplacian(I)."""
    return image + per_pixel(parameters[..., 0]) * laplacian(image, scale)


SHARPNESS = register(
    Operation(
        name="sharpness",
        help="Sharpens or softens: p times the Laplacian is added.",
        parameters=(
            Parameter(
                "p",
                -0.25,
                1.5,
                0.0,
                "weight of the Laplacian",
                "0.3 is clearly sharper, below 0 softens, -0.25 is the mean of the neighbours",
                sampling=0.75,
            ),
        ),
        formula=sharpen,
        reach=lambda scale: neighbourhood(scale).reach,
    )
)
