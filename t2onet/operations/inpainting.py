"""Repairs: operations that need a mask and have no parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import PIL.Image

from ..errors import RecipeError
from ._registry import Repair, pixel_scale, register_repair

# Inpainting: what a mask covers is filled in from around it, as if it had never been there.
#
# Telea's fast marching, as OpenCV has it (the extra `local`), which is loaded at the first use. The fill
# has no
# detail of its own, so above the reference size it is made there and enlarged: a preview and the export
# agree,
# and large photos cost no more. Another inpainter is a `Repair` of another name, registered by whoever has
# it.

INPAINT_RADIUS = 5
"""How many pixels around a missing one, at the reference size, tell what it was."""
INPAINT_MARGIN = 16
"""Pixels around the hole, at the reference size, that the fill may look at."""


def inpaint(image: np.ndarray, mask: np.ndarray, scale: float | None = None, /) -> np.ndarray:
    """(3, H, W) with everything that `mask` (H, W) touches filled in from what it does not.

    `scale` is the `pixel_scale` of the photo that the image is a part of; without it, the image is a photo.
    """
    hole = mask > 0
    if not hole.any():
        return image
    if hole.all():
        raise RecipeError("inpaint: the mask covers the whole picture, which leaves nothing to fill it from")
    scale = pixel_scale(*mask.shape) if scale is None else scale
    where = _find_bounds(hole, math.ceil(INPAINT_MARGIN * scale))
    result = image.copy()
    result[:, *where] = np.where(
        hole[where], _fill_hole(image[:, *where], hole[where], scale), image[:, *where]
    )
    return result


def _find_bounds(hole: np.ndarray, margin: int) -> tuple[slice, slice]:
    """The rows and columns that hold the hole, and a margin."""
    rows, columns = np.flatnonzero(hole.any(axis=1)), np.flatnonzero(hole.any(axis=0))
    return (
        slice(max(0, rows[0] - margin), rows[-1] + margin + 1),
        slice(max(0, columns[0] - margin), columns[-1] + margin + 1),
    )


def _fill_hole(image: np.ndarray, hole: np.ndarray, scale: float) -> np.ndarray:
    """(3, H, W), filled at the reference size; only what lies in the hole is meant to be used."""
    size = tuple(max(1, round(side / scale)) for side in hole.shape)
    small = image if size == hole.shape else np.stack([_resize_channel(channel, size) for channel in image])
    missing = hole if size == hole.shape else _resize_channel(hole.astype(np.float32), size) > 0
    found = np.stack([_inpaint_channel(channel, missing) for channel in small])
    if size != hole.shape:
        found = np.stack([_resize_channel(channel, hole.shape) for channel in found])
    clamped: np.ndarray = np.clip(found, 0, 1)
    return clamped


def _inpaint_channel(channel: np.ndarray, missing: np.ndarray) -> np.ndarray:
    cv2 = _import_opencv()
    levels = np.ascontiguousarray(channel * 255, np.float32)  # OpenCV's slope term is about one 8-bit level
    found: np.ndarray = cv2.inpaint(levels, missing.astype(np.uint8), INPAINT_RADIUS, cv2.INPAINT_TELEA)
    return found / 255


def _resize_channel(channel: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    smaller = size[0] < channel.shape[0] or size[1] < channel.shape[1]
    way = PIL.Image.Resampling.BOX if smaller else PIL.Image.Resampling.BICUBIC
    return np.asarray(PIL.Image.fromarray(np.ascontiguousarray(channel)).resize((size[1], size[0]), way))


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
        phrase="removes something from the picture",
        margin=INPAINT_MARGIN,
    )
)
