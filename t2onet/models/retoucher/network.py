"""The network: a request, a photo and a manner in, one operation after the other out.

The operations stand in one order. `begin` reads the request and studies the photo once; then, for each
operation, `step` takes a glance at the picture as it is by now and says whether the operation is used, with
which parameters, and which words asked for it. What has been done so far is in the picture and in the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ... import operations
from ...operations import Operation
from .lite0 import WIDTH, Lite0
from .looking import FEATURES, Glance
from .parameters import parameters
from .reading import Attention, Reading

ORDER = ("brightness", "color", "saturation", "tone", "contrast", "sharpness")
"""In which operations are decided: the most fruitful one for a joint fit (LOG.md)."""
MANNERS = ("literal", "expert")
SIDE = 128
"""Pixels a side of the picture it sees."""


@dataclass(frozen=True)
class Settings:
    """Sizes of the network."""

    words: int = 192
    layers: int = 3
    heads: int = 4
    width: int = 384
    dropout: float = 0.1
    sight: int = 64
    """Numbers that are kept of what the image encoder, which is not trained, saw."""
    blink: float = 0.5
    """Share of those left out at random in training."""
    verdicts: int = 2
    """Kinds of answer: 0 is an edit, the others say what cannot be done."""


class Context(NamedTuple):
    """What `begin` found: words (B, T, words), their mask (B, T), the whole (B, width), verdict logits."""

    words: Tensor
    mask: Tensor
    whole: Tensor
    verdict: Tensor


class Step(NamedTuple):
    """Whether the operation is used (B,) as a logit, its parameters (B, size), the next state, attention."""

    used: Tensor
    parameters: Tensor
    state: Tensor
    attention: Tensor


class Retoucher(nn.Module):
    """See the module."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        width, words = self.settings.width, self.settings.words
        self.order: tuple[Operation, ...] = tuple(operations.get(name) for name in ORDER)
        self.reading = Reading(words, self.settings.layers, self.settings.heads, self.settings.dropout)
        self.seeing = Lite0().requires_grad_(False)
        self.glance = Glance()
        self.manner = nn.Embedding(len(MANNERS), words)
        sight = self.settings.sight
        self.seen = nn.Sequential(nn.Dropout(self.settings.blink), nn.Linear(WIDTH, sight), nn.GELU())
        self.glanced = nn.Sequential(nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width))
        self.gist = nn.Sequential(nn.Linear(2 * words, width), nn.GELU())
        self.whole = nn.Sequential(nn.Linear(2 * width + sight + words, width), nn.GELU(), nn.Dropout(self.settings.dropout), nn.Linear(width, width), nn.LayerNorm(width))
        self.verdict = nn.Sequential(
            nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, self.settings.verdicts)
        )
        self.slots = nn.Parameter(torch.randn(len(ORDER), words) * 0.1)
        self.ask = nn.Linear(width, words)
        self.attend = Attention(words, self.settings.heads)
        self.cell = nn.GRUCell(width + 2 * words, width)
        self.used = nn.ModuleList(_head(width, words, 1) for _ in self.order)
        self.free = nn.ModuleList(_head(width, words, operation.size) for operation in self.order)

    def begin(self, grams: Tensor, image: Tensor, manner: Tensor) -> Context:
        """Pieces of words (B, T, PIECES), pictures (B, 3, SIDE, SIDE) in [0, 1], manners (B,)."""
        words, mask = self.reading(grams)
        manners = self.manner(manner)
        shown = mask[..., None].to(words.dtype)
        mean = (words * shown).sum(1) / shown.sum(1).clamp(min=1)
        gist = torch.cat([mean, words.masked_fill(~mask[..., None], -1e4).amax(1).clamp(min=-10)], -1)
        with torch.no_grad():
            saw = self.seeing(image)
        seen = self.seen(saw)
        parts = [self.gist(gist), seen, self.glanced(self.glance(image)), manners]
        whole = self.whole(torch.cat(parts, -1))
        return Context(words + manners[:, None], mask, whole, self.verdict(gist))

    def first(self, context: Context) -> Tensor:
        """The state before the first operation (B, width)."""
        return context.whole

    def step(self, context: Context, image: Tensor, number: int, state: Tensor) -> Step:
        """The decision on operation `number` of the order, for pictures as they are by now."""
        query = self.slots[number] + self.ask(context.whole)
        found, attention = self.attend(query[:, None], context.words, context.mask)
        heard = torch.cat([found[:, 0], query], -1)
        state = self.cell(torch.cat([self.glanced(self.glance(image)), heard], -1), state)
        inside = torch.cat([state, context.whole, found[:, 0]], -1)
        values = parameters(self.order[number], self.free[number](inside))
        return Step(self.used[number](inside)[:, 0], values, state, attention[:, 0])


def _head(width: int, words: int, size: int) -> nn.Sequential:
    head = nn.Sequential(nn.Linear(2 * width + words, width), nn.GELU(), nn.Linear(width, size))
    last = head[-1]
    assert isinstance(last, nn.Linear)
    nn.init.normal_(last.weight, std=0.01)
    nn.init.zeros_(last.bias)
    return head
