"""Geometry: crop, straighten, rotate, flip. These change the frame of a photo, not its colours.

Crop, rotate and flip only move pixels, so they are exact for every sample type.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..errors import RecipeError
from ._declarations import Geometry
from ._parameters import Parameter, ParameterValues
from ._registry import register_geometry

_CHUNK_PIXELS = 64 * 1024
"""Pixels that are interpolated at a time."""


class CropBox(NamedTuple):
    """Rows `top` up to `bottom` and columns `left` up to `right` of a photo."""

    top: int
    bottom: int
    left: int
    right: int


def find_crop_box(height: int, width: int, values: ParameterValues) -> CropBox:
    """The pixels of a crop: edges are rounded, and at least one pixel is left."""
    left, top, right, bottom = values
    return CropBox(*_round_interval(top, bottom, height), *_round_interval(left, right, width))


def _round_interval(first: float, last: float, side: int) -> tuple[int, int]:
    start = min(math.floor(first * side + 0.5), side - 1)
    return start, max(math.floor(last * side + 0.5), start + 1)


def crop(pixels: np.ndarray, values: ParameterValues, rows: slice) -> np.ndarray:
    """Rows of the part inside the crop's edges."""
    height, width = pixels.shape[:2]
    box = find_crop_box(height, width, values)
    return pixels[box.top : box.bottom, box.left : box.right][rows]


def _size_of_crop(height: int, width: int, values: ParameterValues) -> tuple[int, int]:
    box = find_crop_box(height, width, values)
    return box.bottom - box.top, box.right - box.left


def _check_crop(values: ParameterValues) -> None:
    left, top, right, bottom = values
    for first, low, last, high in (("left", left, "right", right), ("top", top, "bottom", bottom)):
        if low >= high:
            raise RecipeError(
                f"crop: {first} is {low:g} and {last} is {high:g}, which leaves nothing; "
                f"{first} has to be less than {last}"
            )


def _describe_crop(values: ParameterValues) -> str:
    left, top, right, bottom = (100 * value for value in values)
    width, height = right - left, bottom - top
    if width < 100 and height < 100:
        return f"cropped to {width:.3g} x {height:.3g} %"
    return (
        f"cropped to {width:.3g} % of its width"
        if width < 100
        else f"cropped to {height:.3g} % of its height"
    )


def find_inscribed_size(height: int, width: int, angle: float) -> tuple[int, int]:
    """The largest upright rectangle of the same shape inside a photo that was turned by `angle` degrees."""
    cos, sin = abs(math.cos(math.radians(angle))), abs(math.sin(math.radians(angle)))
    share = min(width / (width * cos + height * sin), height / (width * sin + height * cos))
    # A product that is whole but for its rounding error must not lose a pixel.
    return max(math.floor(share * height + 1e-9), 1), max(math.floor(share * width + 1e-9), 1)


class Turn(NamedTuple):
    """Where the pixels of a straightened photo lie in the photo before.

    Column x and row y of the result, counted from its centre, lie at (cos x + sin y, cos y - sin x).
    """

    cos: float
    sin: float
    size: tuple[int, int]
    """Height and width of the result."""


def make_turn(pixels: np.ndarray, values: ParameterValues) -> Turn:
    """The turn that straightens a photo (H, W, ...)."""
    (height, width), angle = pixels.shape[:2], math.radians(values[0])
    return Turn(math.cos(angle), math.sin(angle), find_inscribed_size(height, width, values[0]))


def straighten(pixels: np.ndarray, values: ParameterValues, rows: slice) -> np.ndarray:
    """Rows of the photo turned clockwise, interpolated by Catmull-Rom splines, without empty corners.

    Pillow's bicubic filter for turning bends even a ramp, by a tenth of a pixel.
    """
    turn = make_turn(pixels, values)
    start, stop, _ = rows.indices(turn.size[0])
    result = np.empty((stop - start, turn.size[1], *pixels.shape[2:]), pixels.dtype)
    step = max(_CHUNK_PIXELS // turn.size[1], 1)
    for first in range(start, stop, step):
        last = min(first + step, stop)
        result[first - start : last - start] = _interpolate_rows(pixels, turn, first, last)
    return result


def _interpolate_rows(pixels: np.ndarray, turn: Turn, first: int, last: int) -> np.ndarray:
    (height, width), (rows, columns) = pixels.shape[:2], turn.size
    y = np.arange(first, last)[:, None] + (1 - rows) / 2
    x = np.arange(columns)[None, :] + (1 - columns) / 2
    across = turn.cos * x + turn.sin * y + (width - 1) / 2
    down = turn.cos * y - turn.sin * x + (height - 1) / 2
    left, top = np.floor(across).astype(np.intp), np.floor(down).astype(np.intp)
    kind = np.result_type(pixels.dtype, np.float32) if pixels.dtype.kind == "f" else np.float32
    extra = (1,) * (pixels.ndim - 2)
    weights_across = _spline_weights((across - left).astype(kind).reshape(*left.shape, *extra))
    weights_down = _spline_weights((down - top).astype(kind).reshape(*top.shape, *extra))
    total = np.zeros((*left.shape, *pixels.shape[2:]), kind)
    for row, weight_down in enumerate(weights_down, start=-1):
        at_row = np.clip(top + row, 0, height - 1)
        for column, weight_across in enumerate(weights_across, start=-1):
            at_column = np.clip(left + column, 0, width - 1)
            total += weight_down * weight_across * pixels[at_row, at_column]
    if pixels.dtype.kind == "f":
        return np.clip(total, 0, 1).astype(pixels.dtype)
    return np.clip(np.floor(total + np.float32(0.5)), 0, np.iinfo(pixels.dtype).max).astype(pixels.dtype)


def _spline_weights(t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Weights of four neighbours at a share `t` of the way from the second to the third (Catmull-Rom)."""
    return (
        ((2 - t) * t - 1) * t / 2,
        ((3 * t - 5) * t * t + 2) / 2,
        ((4 - 3 * t) * t + 1) * t / 2,
        (t - 1) * t * t / 2,
    )


def _size_of_straightened(height: int, width: int, values: ParameterValues) -> tuple[int, int]:
    return find_inscribed_size(height, width, values[0])


def _describe_straighten(values: ParameterValues) -> str:
    return f"straightened by {abs(values[0]):.3g}° {'clockwise' if values[0] > 0 else 'counterclockwise'}"


def rotate(pixels: np.ndarray, values: ParameterValues, rows: slice) -> np.ndarray:
    """Rows of the photo turned clockwise by quarter turns."""
    return np.rot90(pixels, -round(values[0] / 90))[rows]


def _size_of_rotated(height: int, width: int, values: ParameterValues) -> tuple[int, int]:
    return (width, height) if round(values[0] / 90) % 2 else (height, width)


def _describe_rotate(values: ParameterValues) -> str:
    return {90: "turned right", 180: "turned upside down"}.get(round(values[0]), "turned left")


def flip(pixels: np.ndarray, values: ParameterValues, rows: slice) -> np.ndarray:
    """Rows of the photo mirrored: left to right, top to bottom, or both."""
    horizontal, vertical = (-1 if value else 1 for value in values)
    return pixels[::vertical, ::horizontal][rows]


def _keep_size(height: int, width: int, values: ParameterValues) -> tuple[int, int]:
    return height, width


def _describe_flip(values: ParameterValues) -> str:
    sides = [name for name, value in zip(("left to right", "top to bottom"), values, strict=True) if value]
    return f"mirrored {' and '.join(sides)}"


def _make_edge(name: str, default: float, side: str) -> Parameter:
    about = f"{name} edge, as a share of the {side}"
    return Parameter(name, 0, 1, default, "share", about, step=0.005, title=f"crop {name}")


def _make_mirror(name: str, direction: str) -> Parameter:
    about = f"1 mirrors {direction}"
    return Parameter(name, 0, 1, 0, "0 or 1", about, step=1, whole_steps=True, title=f"{name} flip")


CROP = register_geometry(
    Geometry(
        name="crop",
        group="geometry",
        position=93,
        help="Keeps a rectangle of the photo.",
        parameters=(
            _make_edge("left", 0, "width"),
            _make_edge("top", 0, "height"),
            _make_edge("right", 1, "width"),
            _make_edge("bottom", 1, "height"),
        ),
        phrase=_describe_crop,
        brief="cropped",
        validate=_check_crop,
        function=crop,
        size_after=_size_of_crop,
    )
)

STRAIGHTEN = register_geometry(
    Geometry(
        name="straighten",
        group="geometry",
        position=92,
        help="Turns the photo a little and cuts off the empty corners; its shape stays.",
        parameters=(Parameter("angle", -45, 45, 0, "degrees", "above 0 turns clockwise", step=0.05),),
        phrase=_describe_straighten,
        brief="straightened",
        function=straighten,
        size_after=_size_of_straightened,
        reads_neighbours=True,
    )
)

ROTATE = register_geometry(
    Geometry(
        name="rotate",
        group="geometry",
        position=90,
        help="Turns the photo by quarter turns.",
        parameters=(
            Parameter(
                "angle", 0, 270, 0, "degrees", "clockwise: 0, 90, 180 or 270", step=90, whole_steps=True
            ),
        ),
        phrase=_describe_rotate,
        brief="turned",
        function=rotate,
        size_after=_size_of_rotated,
    )
)

FLIP = register_geometry(
    Geometry(
        name="flip",
        group="geometry",
        position=91,
        help="Mirrors the photo.",
        parameters=(
            _make_mirror("horizontal", "left to right"),
            _make_mirror("vertical", "top to bottom"),
        ),
        phrase=_describe_flip,
        brief="mirrored",
        function=flip,
        size_after=_keep_size,
    )
)
