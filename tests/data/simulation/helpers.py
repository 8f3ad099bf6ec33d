"""Photos for the tests of the simulation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import t2onet
from tests.conftest import EXAMPLES


@cache
def photos(size: int = 64) -> np.ndarray:
    """The example photos, their middle squares: (N, 3, size, size) float32."""
    return np.stack([_square(np.asarray(t2onet.open_image(path).resize(size))) for path in _paths()])


def _paths() -> list[Path]:
    return sorted(EXAMPLES.glob("*.jpg"))


def _square(pixels: np.ndarray) -> np.ndarray:
    size = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - size) // 2, (pixels.shape[1] - size) // 2
    square = pixels[top : top + size, left : left + size]
    return np.ascontiguousarray(square.transpose(2, 0, 1), np.float32) / 255
