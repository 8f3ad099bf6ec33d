"""Effects that know where in the photo a pixel is: vignette and grain."""

from __future__ import annotations

import math

import numpy as np

from ..image.colour import luminance
from ..image.pixels import Array, array_namespace, per_pixel, to_array_like
from ._declarations import Frame, Operation
from ._parameters import Phrase, adverb, degree, percentage
from ._registry import register
from .light import bend_into_white

VIGNETTE_STOPS = 3.0
"""Stops by which the corners change at 100."""


def measure_squares(frame: Frame, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of rows and columns of a tile in the squared distance from the photo's centre; 1 in the corners.

    Equal distances are ellipses with the shape of the photo.
    """
    rows = (2 * (frame.top + np.arange(height)) + 1) / frame.height - 1
    columns = (2 * (frame.left + np.arange(width)) + 1) / frame.width - 1
    return rows**2 / 2, columns**2 / 2


def vignette(light: Array, parameters: Array, frame: Frame) -> Array:
    """Multiplies light by a power of two that grows with the distance from the centre."""
    xp = array_namespace(light)
    amount, midpoint, feather = (per_pixel(parameters[..., i] / 100.0) for i in range(3))
    rows, columns = measure_squares(frame, *light.shape[-2:])
    distance = to_array_like(np.sqrt(rows[:, None] + columns), light)
    begin, width = place_vignette(midpoint, feather)
    share = xp.clip((distance - begin) / width, 0.0, 1.0)
    gain = 2.0 ** (VIGNETTE_STOPS * amount * share * share * (3.0 - 2.0 * share))
    return bend_into_white(light * xp.clip(gain, None, 1.0), xp.clip(gain, 1.0, None))


def place_vignette(midpoint: Array, feather: Array) -> tuple[Array, Array]:
    """The distance at which a vignette begins and the width over which it grows, from shares of 1."""
    middle, width = 0.3 + 0.7 * midpoint, 0.04 + 1.32 * feather
    return middle - width / 2, width


register(
    Operation(
        name="vignette",
        group="effects",
        position=95,
        help="Darkens or lightens the corners, in linear light.",
        parameters=(
            percentage("amount", "below 0 darkens the corners, above 0 lightens them"),
            percentage("midpoint", "how far from the centre it is half as strong", low=0.0, default=50.0),
            percentage("feather", "how softly it begins", low=0.0, default=50.0),
        ),
        phrase=Phrase(
            more="corners {} lightened",
            less="corners {} darkened",
            amount=lambda amount: adverb(abs(amount), 20, 60),
        ),
        formula=vignette,
        space="linear",
        uses_position=True,
        canonical=lambda values: values if values[0] else (0.0, 50.0, 50.0),
    )
)


GRAIN_CELLS = 0.25e-3, 1.75e-3
"""Side of a cell of grain at size 0, and how much is added at 100, as shares of the short side."""
MIN_CELL = 1 / 8
"""Pixels: a finer lattice would average to nothing; it is replaced by this one, made as much fainter."""
GRAIN_DEVIATION = 0.08
"""Standard deviation of grain at 100 in midtones, where cells are larger than pixels."""
_UNIFORM_DEVIATION, _SPLINE_DEVIATION = 1 / math.sqrt(3), 11 / 20
"""Of the numbers on the lattice, and what is left of it between them."""
GRAIN_GAIN = GRAIN_DEVIATION / (_UNIFORM_DEVIATION * _SPLINE_DEVIATION)


LATTICE_FACTORS, LATTICE_SEED, LATTICE_MIXER, LATTICE_MASK = (
    (73856093, 19349663),
    0x2F0E1D3C,
    0x45D9F3B,
    0xFFFFFFFF,
)
"""Integers that scatter the bits of a place on the lattice."""


def draw_lattice(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(rows, columns): numbers from -1 to 1 that look random, the same for the same place always."""
    mixed = rows[:, None] * LATTICE_FACTORS[0] ^ columns * LATTICE_FACTORS[1] ^ LATTICE_SEED
    mixed &= LATTICE_MASK
    for _ in range(2):
        mixed = ((mixed ^ (mixed >> 16)) * LATTICE_MIXER) & LATTICE_MASK
    points: np.ndarray = (mixed ^ (mixed >> 16)) / 2.0**31 - 1.0
    return points


def weigh_lattice(cell: Array, first: int, count: int) -> tuple[np.ndarray, Array]:
    """The lattice's part in pixels `first` to `first + count` along an axis: where it begins, and weights.

    A pixel is the average, over its own width, of quadratic B-splines around the points of the lattice, so
    that a preview is the average of the export.
    """
    width = 1.0 / cell.item()
    left = np.arange(first, first + count)
    begin = np.floor(left * width - 0.5).astype(np.int64)
    taps = math.ceil(width) + 3
    points = begin[:, None] + np.arange(taps)
    edge = to_array_like(left[:, None], cell)
    points = to_array_like(points, cell)
    weights = _integrate_spline((edge + 1.0) / cell - points) - _integrate_spline(edge / cell - points)
    return begin, weights * cell


def _integrate_spline(x: Array) -> Array:
    """The integral of the quadratic B-spline from its begin to `x`."""
    xp = array_namespace(x)
    near = xp.clip(x, -0.5, 0.5)
    outside = 1.5 - xp.clip(abs(x), 0.5, 1.5)
    tail = (1.0 - outside**3) / 6.0
    return 0.5 + 0.75 * near - near**3 / 3.0 + xp.where(x < 0, -tail, tail)


def make_grain(cell: Array, frame: Frame, height: int, width: int) -> Array:
    """(height, width): noise of cells of `cell` pixels, seen through the pixels of a tile."""
    xp = array_namespace(cell)
    above, row_weights = weigh_lattice(cell, frame.top, height)
    left, column_weights = weigh_lattice(cell, frame.left, width)
    taps = row_weights.shape[-1]
    rows = np.arange(above[0], above[-1] + taps)
    columns = np.arange(left[0], left[-1] + taps)
    lattice = to_array_like(draw_lattice(rows, columns), cell)
    above, left = xp.asarray(above - above[0]), xp.asarray(left - left[0])
    bands = sum(row_weights[:, k, None] * lattice[above + k] for k in range(taps))
    return sum(column_weights[:, k] * bands[:, left + k] for k in range(taps))


def scale_grain(size: Array, short_side: int) -> tuple[Array, Array]:
    """Side of a cell in pixels, and how faint it is for being drawn larger than it is."""
    wanted = (GRAIN_CELLS[0] + GRAIN_CELLS[1] * size / 100.0) * short_side
    cell = array_namespace(size).clip(wanted, MIN_CELL, None)
    return cell, wanted / cell


def grain(image: Array, parameters: Array, frame: Frame) -> Array:
    """Adds the same noise to the three channels, most in midtones and none in black and white."""
    xp = array_namespace(image)
    if parameters.ndim > 1:  # each photo has its own lattice
        pairs = zip(image, parameters, strict=True)
        return xp.stack([grain(one, values, frame) for one, values in pairs])
    cell, faintness = scale_grain(parameters[1:2], frame.short_side)
    noise = make_grain(cell, frame, *image.shape[-2:])
    midtones = 1.0 - (2.0 * luminance(image) - 1.0) ** 4
    return image + (GRAIN_GAIN / 100.0) * parameters[0] * faintness * midtones * noise


register(
    Operation(
        name="grain",
        group="effects",
        position=96,
        help="Adds film grain, the same each time and at any resolution.",
        parameters=(
            percentage("amount", "how strong it is", low=0.0),
            percentage("size", "how coarse it is", low=0.0, default=25.0),
        ),
        phrase=Phrase(more="grain added", less="grain added", amount=lambda amount: degree(amount, 15, 50)),
        formula=grain,
        uses_position=True,
        canonical=lambda values: values if values[0] else (0.0, 25.0),
    )
)
