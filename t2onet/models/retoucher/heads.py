"""For each operation of an order, from a vector to whether it is used and with which parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...operations import Operation

GENTLE = 0.25
"""Free numbers near 0 move a parameter by this share of its range: a network begins with small edits."""


class Heads(nn.Module):
    """Two layers for each operation, side by side in one tensor, so that a graph picks them by number."""

    default: Tensor
    up: Tensor
    down: Tensor
    octaves: Tensor
    curved: Tensor

    def __init__(self, order: Sequence[Operation], inside: int, width: int) -> None:
        super().__init__()
        self.size = max(operation.size for operation in order)
        count, outside = len(order), self.size + 1
        self.first = nn.Parameter(torch.randn(count, inside, width) / inside**0.5)
        self.bend = nn.Parameter(torch.zeros(count, width))
        self.second = nn.Parameter(torch.randn(count, width, outside) * 0.01)
        self.shift = nn.Parameter(torch.zeros(count, outside))
        for name, rows in _ranges(order, self.size).items():
            self.register_buffer(name, torch.tensor(rows), persistent=False)

    def forward(self, states: Tensor, number: Tensor) -> tuple[Tensor, Tensor]:
        """(B, inside) -> a logit of use (B,), and parameters (B, size), of which its own come first."""
        with torch.autocast(states.device.type, enabled=False):
            hidden = functional.gelu(states.float() @ self.first[number][0] + self.bend[number])
            free = hidden @ self.second[number][0] + self.shift[number]
        return free[:, 0], self.bounded(free[:, 1:], number)

    def bounded(self, free: Tensor, number: Tensor) -> Tensor:
        """(B, size) any numbers -> (B, size) within the declared ranges; 0 is the default.

        Rises of curves are multiplied, so that they stay positive; other parameters move on a straight line.
        """
        bounded = torch.tanh(GENTLE * free)
        way = torch.where(bounded > 0, self.up[number], self.down[number])
        curve = torch.exp(self.octaves[number] * bounded)
        return torch.where(self.curved[number], curve, self.default[number] + bounded * way)


def _ranges(order: Sequence[Operation], size: int) -> dict[str, list[list[float]] | list[list[bool]]]:
    """The ranges of all parameters, filled up to the same number for each operation."""

    def rows(values: Sequence[Sequence[float]]) -> list[list[float]]:
        return [[*row, *[0.0] * (size - len(row))] for row in values]

    slots = [operation.slots for operation in order]
    return {
        "default": rows([[slot.default for slot in row] for row in slots]),
        "up": rows([[slot.high - slot.default for slot in row] for row in slots]),
        "down": rows([[slot.default - slot.low for slot in row] for row in slots]),
        "octaves": rows([[math.log(slot.high) if len(row) > 1 else 0.0 for slot in row] for row in slots]),
        "curved": [[len(row) > 1] * size for row in slots],
    }
