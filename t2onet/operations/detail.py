"""Local contrast, haze and noise: clarity, dehaze and denoise; and inpainting, a repair.

Clarity, dehaze and denoise compare a pixel with its surroundings, smoothed by a guided filter (He et al.
2010): linear in the pixel inside a window, so that strong edges stay and no halos appear. Windows are a share
of the photo's short side, so that a preview shows what the export will be. They act on displayed values, in
which equal steps look about equally large.

Inpainting fills what a mask covers from its surroundings, by Telea's fast marching in OpenCV (the extra
`local`). The fill has no fine detail, so above the reference size it is computed at that size and enlarged:
previews and exports agree, and large photos cost no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import PIL.Image

from ..errors import RecipeError, needs_extra
from ..image.colour import LUMINANCE_WEIGHTS, luminance
from ..image.pixels import Array, array_namespace, per_pixel, to_array_like
from ._declarations import Attribute, Frame, Operation, Repair, pixel_scale
from ._parameters import Phrase, degree, percentage
from ._registry import register, register_repair
from .light import change_luminance

LEAST_VARIANCE = 1e-12
"""Keeps a flat window from dividing zero by zero."""
ROOT_OFFSET = 1e-4
"""Keeps the slope of a square root finite: a standard deviation of 0.01 counts as none."""
BLOCKS_PER_DEVIATION = 4
"""Wide windows are made of blocks, which saves time; a preview averages the same blocks as the export."""


@dataclass(frozen=True)
class Box:
    """A moving average along each axis: weight 1 up to `whole` pixels away, `fraction` one pixel further.

    The fraction gives it any variance, so that it grows smoothly with the photo (Gwosdek et al. 2011).
    """

    whole: int
    fraction: float

    @classmethod
    def with_deviation(cls, pixels: float) -> Box:
        """The box with this standard deviation along each axis."""
        variance = pixels * pixels
        whole = int((math.sqrt(1 + 12 * variance) - 1) / 2)
        missing = (2 * whole + 1) * (variance - whole * (whole + 1) / 3)
        return cls(whole, max(missing, 0.0) / (2 * ((whole + 1) ** 2 - variance)))

    @property
    def size(self) -> float:
        return 2 * self.whole + 1 + 2 * self.fraction

    @property
    def reach(self) -> int:
        return self.whole + (self.fraction > 0)

    def smooth(self, image: Array) -> Array:
        """The average around each pixel of (..., H, W), borders repeated; float64 for the sums."""
        for _ in range(2):
            image = array_namespace(image).swapaxes(self._smooth_rows(image), -1, -2)
        return image

    def _smooth_rows(self, image: Array) -> Array:
        xp, width = array_namespace(image), image.shape[-1]
        left, right = [image[..., :1]] * (self.whole + 1), [image[..., -1:]] * (self.whole + 1)
        padded = xp.concat([*left, image, *right], axis=-1)
        sums = xp.cumsum(padded, -1, dtype=xp.float64)
        inside = sums[..., 2 * self.whole + 1 : -1] - sums[..., :width]
        ends = padded[..., :width] + padded[..., 2 * self.whole + 2 :]
        return (inside + self.fraction * ends) / self.size


@dataclass(frozen=True)
class Blocks:
    """Pixels along one side of a tile in blocks, which are counted from the edge of the photo."""

    size: int
    first: int
    """The first pixel of the tile."""
    count: int
    """How many pixels the tile has."""

    @property
    def edges(self) -> np.ndarray:
        """Pixels of the tile at which blocks begin and end; the outer blocks may be cut."""
        begin, end = self.first // self.size, (self.first + self.count - 1) // self.size
        edges: np.ndarray = np.arange(begin, end + 2) * self.size - self.first
        return edges.clip(0, self.count)

    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each pixel the blocks between whose centres it lies, and how far towards the second."""
        places = (self.first + np.arange(self.count) + 0.5) / self.size - 0.5 - self.first // self.size
        last = len(self.edges) - 2
        before = np.floor(places).astype(np.int64).clip(0, last)
        return before, (before + 1).clip(0, last), (places - before).clip(0, 1)

    def average(self, image: Array) -> Array:
        """(..., pixels) -> (..., blocks)."""
        if self.size == 1:
            return image
        xp, edges = array_namespace(image), self.edges
        sums = xp.cumsum(xp.concat([xp.zeros_like(image[..., :1]), image], axis=-1), -1, dtype=xp.float64)
        at_edges = sums[..., xp.asarray(edges)]
        return (at_edges[..., 1:] - at_edges[..., :-1]) / to_array_like(np.diff(edges), at_edges)

    def spread(self, blocks: Array) -> Array:
        """(..., blocks) -> (..., pixels), in straight lines between the centres of blocks."""
        if self.size == 1:
            return blocks
        xp, (before, after, share) = array_namespace(blocks), self.places()
        start = blocks[..., xp.asarray(before)]
        return start + to_array_like(share, blocks) * (blocks[..., xp.asarray(after)] - start)


@dataclass(frozen=True)
class Window:
    """What lies around a pixel: a box of blocks of `block` pixels."""

    block: int
    box: Box

    @classmethod
    def of_share(cls, share: float, frame: Frame) -> Window:
        """The window whose standard deviation is this share of the photo's short side."""
        deviation = share * frame.short_side
        block = math.ceil(deviation / BLOCKS_PER_DEVIATION)
        return cls(block, Box.with_deviation(deviation / block))

    @property
    def reach(self) -> int:
        """Pixels that `smooth_between_edges` reads: to the next block, and two boxes from its centre."""
        return math.ceil((2 * self.box.reach + 1.5) * self.block)

    def split(self, frame: Frame, height: int, width: int) -> tuple[Blocks, Blocks]:
        """Rows and columns of a tile in blocks."""
        return Blocks(self.block, frame.top, height), Blocks(self.block, frame.left, width)


def smooth_between_edges(
    image: Array, window: Window, frame: Frame, tolerance: Array | float, lowering: float = 0.0
) -> Array:
    """The guided filter of (..., H, W) by itself: contrasts far above `tolerance` stay, the rest goes.

    `lowering` takes that many standard deviations of its window from the level of each pixel.
    """
    xp, smooth = array_namespace(image), window.box.smooth
    rows, columns = window.split(frame, *image.shape[-2:])

    def average(values: Array) -> Array:
        return xp.swapaxes(rows.average(xp.swapaxes(columns.average(values), -1, -2)), -1, -2)

    def spread(values: Array) -> Array:
        return columns.spread(xp.swapaxes(rows.spread(xp.swapaxes(values, -1, -2)), -1, -2))

    blocks = average(image)
    mean = smooth(blocks)
    variance = xp.clip(smooth(blocks * blocks) - mean * mean, 0.0, None)
    slope = variance / (variance + tolerance**2 + LEAST_VARIANCE)
    level = mean * (1.0 - slope)
    if lowering:
        level = level - lowering * ((variance + ROOT_OFFSET) ** 0.5 - ROOT_OFFSET**0.5)
    return spread(smooth(slope)) * image + spread(smooth(level))


CLARITY_WIDTH = 0.015
"""Standard deviation of clarity's window, as a share of the short side."""
CLARITY_TOLERANCE = 0.08
"""Contrasts far above it are edges, which clarity leaves alone."""
CLARITY_LIMIT = 0.12
"""The most that a pixel is taken to differ from its surroundings; beyond it halos would show."""
CLARITY_GAINS = 1.3, 0.8
"""How many times local contrast is added at 100, and taken away at -100."""


def scale_clarity(amount: Array) -> Array:
    """From -100 .. 100 to the gain of local contrast."""
    xp, (up, down) = array_namespace(amount), CLARITY_GAINS
    return (up * xp.clip(amount, 0.0, None) + down * xp.clip(amount, None, 0.0)) / 100.0


def clarity(image: Array, parameters: Array, frame: Frame) -> Array:
    """Adds what distinguishes a pixel from its smooth surroundings, most in midtones."""
    xp, window = array_namespace(image), Window.of_share(CLARITY_WIDTH, frame)
    tones = luminance(image)
    surroundings = smooth_between_edges(tones, window, frame, CLARITY_TOLERANCE)
    detail = tones - surroundings
    limited = detail / (1.0 + (detail / CLARITY_LIMIT) ** 2) ** 0.5
    midtones = 1.0 - (2.0 * surroundings - 1.0) ** 2
    moved = tones + per_pixel(scale_clarity(parameters[..., 0])) * midtones * limited
    return to_array_like(change_luminance(image, xp.clip(moved, 0.0, 1.0)), image)


DEHAZE_WIDTH = 0.015
"""Standard deviation of dehaze's window, as a share of the short side."""
DEHAZE_TOLERANCE = 0.1
"""Contrasts of the darkest channel far above it are borders of something nearer."""
DEHAZE_LOWERING = 1.0
"""Standard deviations below the mean that stand for the darkest pixel of a window."""
DEHAZE_STRENGTH = 0.7
"""Share of the haze that is taken away at 100."""
VEIL = 0.5, 0.4
"""What is added at -100: everywhere, and in proportion to the haze that is there."""


def dehaze(image: Array, parameters: Array, frame: Frame) -> Array:
    """Divides the distance from white by what haze let through, judged by the darkest channel around.

    Haze adds white light, so that no channel of a hazy window is dark (He et al. 2009, "dark channel").
    """
    xp, window = array_namespace(image), Window.of_share(DEHAZE_WIDTH, frame)
    amount = per_pixel(parameters[..., 0] / 100.0)
    darkest = xp.amin(image, axis=-3, keepdims=True)
    haze = smooth_between_edges(darkest, window, frame, DEHAZE_TOLERANCE, DEHAZE_LOWERING)
    haze = xp.clip(haze, 0.0, 1.0)
    removed = DEHAZE_STRENGTH * xp.clip(amount, 0.0, None) * haze
    added = xp.clip(-amount, 0.0, None) * (VEIL[0] + VEIL[1] * haze)
    return to_array_like(1.0 - (1.0 - image) / (1.0 - removed + added), image)


LUMINANCE_WIDTH, COLOUR_WIDTH = 0.0012, 0.004
"""Standard deviations of the windows that noise is averaged over, as shares of the short side."""
LUMINANCE_TOLERANCE, COLOUR_TOLERANCE = 0.07, 0.1
"""Contrast at 100 below which everything is taken for noise."""


def denoise(image: Array, parameters: Array, frame: Frame) -> Array:
    """Smooths lightness and, more widely, the two differences of colour, each between its own edges."""
    xp = array_namespace(image)
    tones = luminance(image)
    colours = image[..., ::2, :, :] - tones  # red and blue; green follows
    tolerance = per_pixel(parameters[..., 0] * (LUMINANCE_TOLERANCE / 100.0))
    tones = smooth_between_edges(tones, Window.of_share(LUMINANCE_WIDTH, frame), frame, tolerance)
    tolerance = per_pixel(parameters[..., 1] * (COLOUR_TOLERANCE / 100.0))
    colours = smooth_between_edges(colours, Window.of_share(COLOUR_WIDTH, frame), frame, tolerance)
    red, blue = colours[..., :1, :, :], colours[..., 1:, :, :]
    green = -(LUMINANCE_WEIGHTS[0] * red + LUMINANCE_WEIGHTS[2] * blue) / LUMINANCE_WEIGHTS[1]
    return to_array_like(tones + xp.concat([red, green, blue], axis=-3), image)


register(
    Operation(
        name="clarity",
        group="detail",
        position=55,
        attribute=Attribute.SHARPNESS,
        help="Raises or lowers local contrast, most in midtones, without halos.",
        parameters=(percentage("amount", "above 0 adds texture, below 0 softens it"),),
        phrase=Phrase(more="clearer", less="softer", amount=lambda amount: degree(abs(amount), 20, 60)),
        formula=clarity,
        reach=lambda frame: Window.of_share(CLARITY_WIDTH, frame).reach,
    )
)

register(
    Operation(
        name="dehaze",
        group="detail",
        position=11,
        attribute=Attribute.CONTRAST,
        help="Clears haze away, or adds it.",
        parameters=(percentage("amount", "above 0 clears haze, below 0 adds it"),),
        phrase=Phrase(more="less haze", less="more haze", amount=lambda amount: degree(abs(amount), 20, 60)),
        formula=dehaze,
        reach=lambda frame: Window.of_share(DEHAZE_WIDTH, frame).reach,
    )
)

register(
    Operation(
        name="denoise",
        group="detail",
        position=2,
        help="Smooths noise of lightness and of colour; edges stay.",
        parameters=(
            percentage("luminance", "how strong a grain goes", low=0.0, title="denoise"),
            percentage("color", "how strong a speckle of colour goes", low=0.0, title="color denoise"),
        ),
        phrase=Phrase(more="less noise", less="less noise"),
        formula=denoise,
        reach=lambda frame: Window.of_share(COLOUR_WIDTH, frame).reach,
    )
)


INPAINT_RADIUS = 5
"""Radius of Telea's method, in pixels at the reference size."""
INPAINT_MARGIN = 16
"""Pixels around the hole, at the reference size, that the fill reads."""


def inpaint(image: np.ndarray, mask: np.ndarray, scale: float | None = None, /) -> np.ndarray:
    """`image` (3, H, W), filled wherever `mask` (H, W) is above zero.

    `scale` is the `pixel_scale` of the photo that the image is a part of; None if it is a whole photo.
    """
    hole = mask > 0
    if not hole.any():
        return image
    if hole.all():
        raise RecipeError("inpaint: the mask covers the whole picture, which leaves nothing to fill it from")
    scale = pixel_scale(*mask.shape) if scale is None else scale
    box = _find_bounds(hole, math.ceil(INPAINT_MARGIN * scale))
    result = image.copy()
    result[:, *box] = np.where(hole[box], _fill_hole(image[:, *box], hole[box], scale), image[:, *box])
    return result


def _find_bounds(hole: np.ndarray, margin: int) -> tuple[slice, slice]:
    """The rows and columns of the hole and a margin around it."""
    rows, columns = np.flatnonzero(hole.any(axis=1)), np.flatnonzero(hole.any(axis=0))
    return (
        slice(max(0, rows[0] - margin), rows[-1] + margin + 1),
        slice(max(0, columns[0] - margin), columns[-1] + margin + 1),
    )


def _fill_hole(image: np.ndarray, hole: np.ndarray, scale: float) -> np.ndarray:
    """(3, H, W), filled at the reference size; valid inside the hole only."""
    size = tuple(max(1, round(side / scale)) for side in hole.shape)
    small = image if size == hole.shape else np.stack([_resize_channel(channel, size) for channel in image])
    missing = hole if size == hole.shape else _resize_channel(hole.astype(np.float32), size) > 0
    filled = np.stack([_inpaint_channel(channel, missing) for channel in small])
    if size != hole.shape:
        filled = np.stack([_resize_channel(channel, hole.shape) for channel in filled])
    clamped: np.ndarray = np.clip(filled, 0, 1)
    return clamped


def _inpaint_channel(channel: np.ndarray, missing: np.ndarray) -> np.ndarray:
    cv2 = _import_opencv()
    levels = np.ascontiguousarray(channel * 255, np.float32)  # OpenCV's slope term is about one 8-bit level
    filled: np.ndarray = cv2.inpaint(levels, missing.astype(np.uint8), INPAINT_RADIUS, cv2.INPAINT_TELEA)
    return filled / 255


def _resize_channel(channel: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    smaller = size[0] < channel.shape[0] or size[1] < channel.shape[1]
    method = PIL.Image.Resampling.BOX if smaller else PIL.Image.Resampling.BICUBIC
    return np.asarray(PIL.Image.fromarray(np.ascontiguousarray(channel)).resize((size[1], size[0]), method))


def _import_opencv() -> Any:
    with needs_extra(RecipeError, "inpaint needs OpenCV", "local"):
        import cv2
    return cv2


INPAINT = register_repair(
    Repair(
        name="inpaint",
        help="Removes what the mask covers: fills it in from around.",
        function=inpaint,
        phrase="something removed",
        margin=INPAINT_MARGIN,
    )
)
