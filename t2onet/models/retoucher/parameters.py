"""From a network's free numbers to parameters of an operation, within its declared range."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...operations import Operation

GENTLE = 0.25
"""Free numbers near 0 move a parameter by this share of its range: a network begins with small edits."""


def parameters(operation: Operation, free: Tensor) -> Tensor:
    """(B, size) any numbers -> (B, size) parameters; 0 is the default. Rises of curves stay positive."""
    (slot, *_) = operation.slots
    if operation.size > 1:
        return slot.default * torch.exp(math.log(slot.high / slot.default) * torch.tanh(GENTLE * free))
    bounded = torch.tanh(GENTLE * free)
    return slot.default + torch.where(
        bounded > 0, bounded * (slot.high - slot.default), bounded * (slot.default - slot.low)
    )
