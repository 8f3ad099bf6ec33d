"""Requests for networks that make pictures: word vectors through a GRU each way, and no word to the host.

`Reader` packs sequences, for which the lengths must come back from the device; here the way back runs over
sentences turned round by their own lengths.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from .reader import begin_with


class Heard(NamedTuple):
    """A request, read."""

    states: Tensor
    """(B, L, size), zero where there is no word."""
    mask: Tensor
    """(B, L) bool: where there is a word."""
    whole: Tensor
    """(B, size): what both ways end with."""

    @property
    def mean(self) -> Tensor:
        """(B, size), over the words."""
        return self.states.sum(1) / self.mask.sum(1, keepdim=True)


class Sentence(nn.Module):
    """Word ids (B, L), zeros after the last -> states of `size`, half of them from each way."""

    def __init__(self, words: int, word_size: int, size: int) -> None:
        super().__init__()
        if size % 2:
            raise ValueError(f"states of {size} numbers cannot be split between two ways; give an even size")
        self.embedding = nn.Embedding(words, word_size)
        self.forth = nn.GRU(word_size, size // 2, batch_first=True)
        self.back = nn.GRU(word_size, size // 2, batch_first=True)

    def load_vectors(self, vectors: Tensor) -> None:
        """As `Reader.load_vectors`."""
        begin_with(self.embedding, vectors)

    def forward(self, tokens: Tensor) -> Heard:
        mask = tokens != 0
        embedded = self.embedding(tokens)
        turned = _turned(mask)[..., None]
        forth, _ = self.forth(embedded)
        back, _ = self.back(embedded.gather(1, turned.expand_as(embedded)))
        last = (mask.sum(1) - 1)[:, None, None].expand(-1, 1, forth.shape[-1])
        whole = torch.cat([forth.gather(1, last), back.gather(1, last)], -1)[:, 0]
        states = torch.cat([forth, back.gather(1, turned.expand_as(back))], -1)
        return Heard(states * mask[..., None], mask, whole)


def _turned(mask: Tensor) -> Tensor:
    """(B, L): places of the words from the last to the first, then those without a word as they are."""
    places = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
