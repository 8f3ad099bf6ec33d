"""What a picture looks like at a glance: its tones and colours as histograms, and its attributes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...metrics.attributes import measure
from ...metrics.colour import lab

BINS = 24
_GRID = 4
"""Every fourth pixel in each direction is counted."""
_SCALE = (50.0, 20.0, 25.0, 15.0, 15.0, 1.0)
_CENTRE = (50.0, 20.0, 20.0, 5.0, 2.0, -1.5)
"""Roughly the middle and spread of each attribute over photos, to bring them near -1 to 1."""
FEATURES = 6 * BINS + 6


class Glance(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, FEATURES): soft histograms of R, G, B, L*, a*, b*, and the attributes."""

    def forward(self, image: Tensor) -> Tensor:
        few = image[..., _GRID // 2 :: _GRID, _GRID // 2 :: _GRID]
        planes = lab(few) / image.new_tensor([100.0, 120.0, 120.0])[:, None, None]
        planes = planes + image.new_tensor([0.0, 0.5, 0.5])[:, None, None]
        values = torch.cat([few, planes], -3).flatten(-2)
        middle, spread = image.new_tensor(_CENTRE), image.new_tensor(_SCALE)
        attributes = (measure(image) - middle) / spread
        return torch.cat([_histograms(values).flatten(1), attributes], -1)


def _histograms(values: Tensor) -> Tensor:
    """(B, C, N) in [0, 1] -> (B, C, BINS): shares, as roots, each value divided among its two nearest bins."""
    centres = torch.linspace(0, 1, BINS, device=values.device, dtype=values.dtype)
    near = (1 - (values[..., None] - centres).abs() * (BINS - 1)).clamp(min=0)
    return (near.mean(-2) + 1e-4) ** 0.5
