"""Inpainting: fills what a mask covers from its surroundings, by Telea's fast marching.

OpenCV (the extra `local`) is imported at the first use. The fill has no fine detail, so above the reference
size it is computed at that size and enlarged: previews and exports agree, and large photos cost no more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import PIL.Image

from ..errors import RecipeError
from ._declarations import Repair, pixel_scale
from ._registry import register_repair

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
    try:
        import cv2
    except ImportError:
        raise RecipeError("inpaint needs OpenCV: pip install 't2onet[local]'") from None
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
