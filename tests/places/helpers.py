"""Pictures whose parts are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from t2onet.image import image_from_array
from t2onet.places import OpenedPhoto, resolve_where
from t2onet.recipe.where import parse_where
from tests.metrics.helpers import lab_to_srgb


def resolve(where: Any, pixels: np.ndarray, **options: Any) -> np.ndarray:
    """The mask (H, W) of a place from 0 to 1."""
    levels = resolve_where(parse_where(where), OpenedPhoto(image_from_array(pixels)), **options)
    assert levels.dtype == np.uint8
    return levels / 255


def grey(*lightness: float) -> np.ndarray:
    """One row of greys (1, W, 3) of these L*."""
    lab = np.zeros((3, 1, len(lightness)))
    lab[0] = lightness
    return np.ascontiguousarray(np.clip(np.asarray(lab_to_srgb(lab)), 0, 1).transpose(1, 2, 0))


def smooth_picture(height: int, width: int) -> np.ndarray:
    """A picture (H, W, 3) of all tones and hues without detail, the same at any size."""
    y, x = np.mgrid[:height, :width]
    x, y = (x + 0.5) / width, (y + 0.5) / height
    waves = [np.sin(2 * np.pi * (x * a + y * b + c)) for a, b, c in ((1, 0, 0), (0.5, 1, 0.3), (-1, 1, 0.6))]
    return np.stack([0.5 + 0.45 * wave for wave in waves], axis=-1).astype(np.float32)
