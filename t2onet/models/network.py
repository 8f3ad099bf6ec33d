"""What every network that turns a request into steps can do: one exporter and one runtime serve all."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from .actions import Actions


class Context(NamedTuple):
    """What is known before the first step."""

    words: Tensor
    """(B, L, D): the request, word by word."""
    mask: Tensor
    """(B, L) bool: where there is a word."""
    state: Tensor
    """(B, S): the memory that the first step begins with."""


class StepOutput(NamedTuple):
    """What one step says."""

    logits: Tensor
    """(B, n + 1): over the operations and the end."""
    parameters: Tensor
    """(B, P): of all operations, side by side as in `Actions`, inside their ranges."""
    state: Tensor
    """(B, S): the memory for the next step."""
    attention: Tensor
    """(B, L): over the words of the request, summing to one."""


class Network(Protocol):
    """A request and a photo -> the next step, given the photo as it is now."""

    actions: Actions
    max_steps: int

    def begin(
        self, tokens: Tensor, mask: Tensor | None, image: Tensor, manner: Tensor | None = None
    ) -> Context:
        """Read a request (B, L) of word ids; without a mask there is no padding.

        `image` (B, 3, H, W) is the photo as it came, `manner` (B,) 0 for literal and 1 for expert.
        """

    def look(self, image: Tensor) -> Tensor:
        """The photo as it is now, (B, 3, H, W) in [0, 1] -> features (B, F)."""

    def step(self, context: Context, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        """What to do next; `previous` (B,) is the last operation's number, `actions.start` at first."""
