"""What a picture looks like: at a glance its tones and colours, and at leisure what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from ...metrics.attributes import measure_lab
from ...metrics.colour import lab

BINS = 24
_GRID = 4
"""Every fourth pixel in each direction is counted."""
_SCALE = (50.0, 20.0, 25.0, 15.0, 15.0, 1.0)
_CENTRE = (50.0, 20.0, 20.0, 5.0, 2.0, -1.5)
"""Roughly the spread and middle of each attribute over photos, to bring them near -1 to 1."""
FEATURES = 6 * BINS + 6


class Glance(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, FEATURES): soft histograms of R, G, B, L*, a*, b*, and the attributes."""

    def forward(self, image: Tensor) -> Tensor:
        whole = lab(image)
        light, red, warm = whole[..., _GRID // 2 :: _GRID, _GRID // 2 :: _GRID].unbind(-3)
        few = image[..., _GRID // 2 :: _GRID, _GRID // 2 :: _GRID]
        planes = torch.stack([light / 100, red / 120 + 0.5, warm / 120 + 0.5], -3)
        attributes = [
            (value - middle) / spread
            for value, middle, spread in zip(measure_lab(whole).unbind(-1), _CENTRE, _SCALE, strict=True)
        ]
        values = torch.cat([few, planes], -3).flatten(-2)
        return torch.cat([_histograms(values).flatten(1), torch.stack(attributes, -1)], -1)


def _histograms(values: Tensor) -> Tensor:
    """(B, C, N) in [0, 1] -> (B, C, BINS): shares, as roots, each value shared by its two nearest bins."""
    centres = torch.arange(BINS, device=values.device, dtype=values.dtype) / (BINS - 1)
    near = (1 - (values[..., None] - centres).abs() * (BINS - 1)).clamp(min=0)
    return (near.mean(-2) + 1e-4) ** 0.5


class Study(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, channels[-1]): a small residual network, averaged over the picture."""

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        first = channels[0]
        layers: list[nn.Module] = [nn.Conv2d(3, first, 5, 2, 2, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
        for before, after in pairwise(channels):
            layers.append(Residual(before, after, 1 if before == after else 2))
        self.layers = nn.Sequential(*layers)

    def forward(self, image: Tensor) -> Tensor:
        seen: Tensor = self.layers(2 * image - 1)
        return seen.mean((-2, -1))


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, states: Tensor) -> Tensor:
        return torch.relu(self.path(states) + self.shortcut(states))
