"""Pictures with structure, colours and all tones, made by hand."""

from __future__ import annotations

import numpy as np


def scene(size: int = 64, seed: int = 0) -> np.ndarray:
    """(3, size, size) float32: a sky, hills and texture, within 5 and 80 % of white."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:size, 0:size] / size
    hills = (y > 0.5 + 0.15 * np.sin(6 * x + seed)).astype(float)
    sky = np.stack([0.5 + 0.2 * y, 0.6 + 0.1 * y, 0.75 - 0.1 * x])
    ground = np.stack([0.35 * x + 0.1, 0.4 - 0.2 * y * x, 0.1 + 0.15 * x])
    picture = sky * (1 - hills) + ground * hills + rng.normal(0, 0.03, (3, size, size))
    return np.ascontiguousarray(np.clip(picture, 0.05, 0.8), np.float32)
