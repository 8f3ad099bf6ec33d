"""A moving average of a network's weights, which often edits better than the weights themselves."""

from __future__ import annotations

import copy

import torch
from torch import nn


class Average:
    """A second network of the same make; the first few iterations count more than `keep` says."""

    def __init__(self, network: nn.Module, keep: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.keep = keep

    @torch.no_grad()
    def update(self, network: nn.Module, iteration: int) -> None:
        """Move towards `network` after an iteration (from 1); counts and running figures are copied."""
        share = 1 - min(self.keep, iteration / (iteration + 10))
        for mine, new in zip(self.network.parameters(), network.parameters(), strict=True):
            mine.lerp_(new, share)
        for kept, now in zip(self.network.buffers(), network.buffers(), strict=True):
            kept.copy_(now)
