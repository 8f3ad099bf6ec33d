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
from ...metrics.attributes import ORDER as ATTRIBUTES
from ...operations import Operation
from .heads import Heads
from .looking import FEATURES, Glance, Study
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
    blink: float = 0.3
    """Share of what was seen in the photo that is left out at random in training."""
    channels: tuple[int, ...] = (32, 32, 64, 128, 256)
    """Of the layers that study the photo."""
    verdicts: int = 2
    """Kinds of answer: 0 is an edit, the others say what cannot be done."""


class Context(NamedTuple):
    """What `begin` found: words (B, T, words), their mask (B, T), the whole (B, width), verdict logits.

    `sense` (B, attributes) is what the words ask for, apart from the photo: signed roots of amounts.
    """

    words: Tensor
    mask: Tensor
    whole: Tensor
    verdict: Tensor
    sense: Tensor


class Step(NamedTuple):
    """Whether the operation is used (B,) as a logit, its parameters (B, size), the next state, attention.

    Of the parameters the first are those of the operation, as many as it has.
    """

    used: Tensor
    parameters: Tensor
    state: Tensor
    attention: Tensor


class Retoucher(nn.Module):
    """See the module."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        width, words, blink = self.settings.width, self.settings.words, self.settings.blink
        self.order: tuple[Operation, ...] = tuple(operations.get(name) for name in ORDER)
        self.reading = Reading(words, self.settings.layers, self.settings.heads, self.settings.dropout)
        self.manner = nn.Embedding(len(MANNERS), words)
        self.gist = nn.Sequential(nn.Linear(2 * words, width), nn.GELU())
        self.verdict = nn.Sequential(
            nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, self.settings.verdicts)
        )
        self.sense = nn.Sequential(nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, len(ATTRIBUTES)))
        self.glance, self.study = Glance(), Study(self.settings.channels)
        self.glanced = nn.Sequential(
            nn.Dropout(blink), nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width)
        )
        self.seen = nn.Sequential(
            nn.Dropout(blink), nn.Linear(FEATURES + self.settings.channels[-1], width), nn.GELU()
        )
        self.whole = nn.Sequential(
            nn.Dropout(self.settings.dropout),
            nn.Linear(2 * width + words + len(ATTRIBUTES), width),
            nn.GELU(),
            nn.Dropout(self.settings.dropout),
            nn.Linear(width, width),
            nn.LayerNorm(width),
        )
        self.slots = nn.Parameter(torch.randn(len(ORDER), words) * 0.1)
        self.ask = nn.Linear(width, words)
        self.attend = Attention(words, self.settings.heads)
        self.cell = nn.GRUCell(width + 2 * words, width)
        self.heads = Heads(self.order, 2 * width + words, width)

    def begin(self, pieces: Tensor, told: Tensor, image: Tensor, look: Tensor, manner: Tensor) -> Context:
        """Distinct words as pieces (W, PIECES), requests as rows of them (B, T), pictures (B, 3, SIDE, SIDE)
        in [0, 1] and the glance at them (B, FEATURES), manners (B,).
        """
        words, mask = self.reading(pieces, told)
        manners = self.manner(manner)
        shown = mask[..., None].to(words.dtype)
        mean = (words * shown).sum(1) / shown.sum(1).clamp(min=1)
        most = words.masked_fill(~mask[..., None], -10.0).amax(1)
        gist = torch.cat([mean, most], -1)
        seen = self.seen(torch.cat([look, self.study(image)], -1))
        sense = self.sense(gist)
        whole = self.whole(torch.cat([self.gist(gist), seen, manners, sense], -1))
        return Context(words + manners[:, None], mask, whole, self.verdict(gist).float(), sense.float())

    def step(self, context: Context, look: Tensor, number: Tensor, state: Tensor) -> Step:
        """The decision on operation `number` (1,), after a glance at pictures as they are by now.

        The state before the first operation is the context's `whole`.
        """
        query = self.slots[number] + self.ask(context.whole)
        found, attention = self.attend(query[:, None], context.words, context.mask)
        heard = torch.cat([found[:, 0], query], -1)
        state = self.cell(torch.cat([self.glanced(look), heard], -1), state)
        used, parameters = self.heads(torch.cat([state, context.whole, found[:, 0]], -1), number)
        return Step(used, parameters, state, attention[:, 0])
