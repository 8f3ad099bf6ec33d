"""Pictures of given CIELAB colours."""

from __future__ import annotations

import numpy as np

from t2onet.image.colour import encode_srgb, lightness_to_luminance, xyz_to_linear


def lab_to_srgb(values: np.ndarray) -> np.ndarray:
    """L*, a*, b* (3, H, W) to display-referred sRGB, which may lie outside [0, 1]."""
    lightness, red_green, warmth = values
    y = (lightness + 16) / 116
    roots = np.stack([y + red_green / 500, y, y - warmth / 200])
    return encode_srgb(xyz_to_linear(lightness_to_luminance(1.16 * roots - 0.16)))
