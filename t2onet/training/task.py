"""What the loop asks of something to be trained. The loop knows nothing of photos or requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Place:
    """Where this process computes, and which of several it is."""

    device: torch.device
    rank: int = 0
    processes: int = 1


class Task(Protocol):
    """Something to be trained."""

    @property
    def network(self) -> nn.Module: ...

    @property
    def selects(self) -> str:
        """The figure of `validate` whose lowest value marks the best weights."""

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The parts whose sum is minimised; iterations count from 1.

        Whatever is drawn comes from `generator` (on the CPU) or follows from `iteration`.
        """

    def validate(self, network: nn.Module) -> dict[str, float]:
        """Figures of a network of the same make, which is in evaluation mode."""

    def metadata(self) -> Mapping[str, str]:
        """What a file of weights must say so that the network can be made again."""
