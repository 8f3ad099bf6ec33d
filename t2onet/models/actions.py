"""Operations as a decoder sees them: numbers to choose from, and one row of all their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from ..operations import get, operations


class Actions(nn.Module):
    """Operations are 0 .. n-1 in the order given; `end` follows; `start` is only ever an input.

    The parameters of all operations lie side by side in a row of `width` numbers, those of operation k at
    `places[k]`. Without `ends` the end cannot be chosen while an operation is left. Nothing here is learned.
    """

    low: Tensor
    high: Tensor
    half_range: Tensor
    belongs: Tensor
    """(n + 1, width) bool: which numbers of a row are an operation's; none are the end's."""
    _centre: Tensor

    def __init__(self, names: Sequence[str] | None = None, *, ends: bool = True) -> None:
        super().__init__()
        self.ends = ends
        self.names = tuple(operations() if names is None else names)
        self.operations = tuple(get(name) for name in self.names)
        starts = [sum(o.size for o in self.operations[:k]) for k in range(len(self.names) + 1)]
        self.places = tuple(slice(a, b) for a, b in pairwise(starts))
        self.width = starts[-1]
        slots = [slot for operation in self.operations for slot in operation.slots]
        shares = torch.tensor([(slot.default - slot.low) / (slot.high - slot.low) for slot in slots])
        belongs = torch.zeros(len(self.names) + 1, self.width, dtype=torch.bool)
        for number, place in enumerate(self.places):
            belongs[number, place] = True
        self._constant("low", torch.tensor([slot.low for slot in slots]))
        self._constant("high", torch.tensor([slot.high for slot in slots]))
        self._constant("half_range", torch.tensor([slot.half_range for slot in slots]))
        self._constant("belongs", belongs)
        self._constant("_centre", torch.logit(shares))

    def _constant(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    @property
    def end(self) -> int:
        return len(self.names)

    @property
    def start(self) -> int:
        return len(self.names) + 1

    def allowed(self, used: Tensor, ended: Tensor) -> Tensor:
        """(B, n + 1) bool: what may come next, given the operations `used` (B, n) and who has `ended` (B,).

        Nothing comes twice, and after the end only the end.
        """
        free = ~(used | ended[:, None])
        end = torch.ones_like(ended) if self.ends else ~free.any(1)
        return torch.cat([free, end[:, None]], 1)

    def squashed(self, raw: Tensor) -> Tensor:
        """Any numbers (..., width) -> parameters inside their ranges; zeros become the defaults."""
        return self.low + (self.high - self.low) * torch.sigmoid(raw.float() + self._centre)

    def clamped(self, parameters: Tensor) -> Tensor:
        """The nearest allowed parameters (..., width)."""
        return torch.minimum(torch.maximum(parameters, self.low), self.high)

    def perform(self, images: Tensor, choices: Tensor, parameters: Tensor) -> Tensor:
        """Each image (B, 3, H, W) after its operation (B,) with its part of `parameters` (B, width).

        Images that chose the end stay as they are. The formulas run in float32, whatever the network does.
        """
        with torch.autocast(images.device.type, enabled=False):
            for number, (operation, place) in enumerate(zip(self.operations, self.places, strict=True)):
                rows = torch.nonzero(choices == number).flatten()
                if len(rows):
                    edited = operation(images[rows], parameters[rows, place].float())
                    images = images.index_copy(0, rows, edited)
        return images
