"""Shapes in the frame of a photo: positions such as the top, and gradients. They do not look at colours.

Arrays broadcast to a tile: those that depend on rows or columns alone have one column or row.
"""

from __future__ import annotations

import numpy as np

from ..operations import Frame
from ..operations.effects import measure_squares
from ..operations.light import rise
from ..recipe.where import Linear, Radial

HALF_BORDER = (0.4, 0.6)
"""Shares of a side between which one half of the photo fades into the other."""
CENTRE_BORDER = (0.25, 0.75)
"""Distances from the centre between which it fades into the edges; the corners are at 1."""
CORNER_BORDER = (0.72, 1.0)
"""The same for the corners, which begin beyond the middle of each side."""
_MIN_FEATHER = 0.001
"""Share of the radius below which an edge is hard."""


def weigh_position(name: str, frame: Frame, height: int, width: int) -> np.ndarray:
    """How far the pixels of a tile lie at the top, bottom, left, right, in the centre, edges or corners."""
    if name in ("centre", "edges", "corners"):
        rows, columns = measure_squares(frame, height, width)
        distance = np.sqrt(rows[:, None] + columns).astype(np.float32)
        outside = rise(distance, *(CORNER_BORDER if name == "corners" else CENTRE_BORDER))
        return np.asarray(1 - outside if name == "centre" else outside)
    x, y = _measure_shares(frame, height, width)
    beyond = np.asarray(rise(y if name in ("top", "bottom") else x, *HALF_BORDER))
    return 1 - beyond if name in ("top", "left") else beyond


def weigh_linear(gradient: Linear, frame: Frame, height: int, width: int) -> np.ndarray:
    """1 up to the start of a gradient, 0 beyond its end; its lines cross its direction at right angles."""
    (x0, y0), (x1, y1) = gradient.start, gradient.end
    x, y = _measure_shares(frame, height, width)
    across, down = (x1 - x0) * frame.width**2, (y1 - y0) * frame.height**2
    length = (x1 - x0) * across + (y1 - y0) * down
    place = ((x - x0) * across + (y - y0) * down) / length
    return np.asarray(1 - rise(place, 0.0, 1.0))


def weigh_radial(gradient: Radial, frame: Frame, height: int, width: int) -> np.ndarray:
    """1 inside a circle, fading to 0 at its radius."""
    x, y = _measure_shares(frame, height, width)
    across, down = (x - gradient.centre[0]) * frame.width, (y - gradient.centre[1]) * frame.height
    distance = np.hypot(across, down) / (gradient.radius * frame.short_side)
    if gradient.feather < _MIN_FEATHER:
        return (distance <= 1).astype(np.float32)
    return np.asarray(rise(distance, 1.0, 1.0 - gradient.feather))


def _measure_shares(frame: Frame, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres of a tile's pixels as shares of the photo: (1, W) from the left, (H, 1) from the top."""
    x = (frame.left + np.arange(width, dtype=np.float32) + 0.5) / np.float32(frame.width)
    y = (frame.top + np.arange(height, dtype=np.float32) + 0.5) / np.float32(frame.height)
    return x[None, :], y[:, None]
