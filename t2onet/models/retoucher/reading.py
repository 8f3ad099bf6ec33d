"""The request as vectors: hashed pieces of words through a small transformer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...language.grams import BUCKETS, LONGEST


class Reading(nn.Module):
    """Distinct words (W, PIECES) and requests (B, T) as rows of them -> (B, T, width) and a mask (B, T).

    The mask is true where there is a word; row 0 stands for none.
    """

    def __init__(self, width: int, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(BUCKETS, width)
        self.places = nn.Parameter(torch.randn(LONGEST, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.pieces.weight, std=0.05)

    def forward(self, pieces: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        mask = told > 0
        shown = (pieces > 0)[..., None]
        words = (self.pieces(pieces) * shown).sum(-2) / shown.sum(-2).clamp(min=1) ** 0.5
        states = words[told] + self.places[: told.shape[1]]
        for block in self.blocks:
            states = block(states, mask)
        return self.norm(states), mask


class Block(nn.Module):
    """A transformer layer, normalised first."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attend = Attention(width, heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normal = self.first(states)
        states = states + self.drop(self.attend(normal, normal, mask)[0])
        thought: Tensor = states + self.drop(self.think(self.second(states)))
        return thought


class Attention(nn.Module):
    """Queries (B, Q, width) to words (B, T, width) -> what they found, and their mean weights (B, Q, T)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, queries: Tensor, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        query, key, value = (
            self._split(self.query(queries)),
            self._split(self.key(words)),
            self._split(self.value(words)),
        )
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], -1e4)
        weights = scores.softmax(-1)
        found = (weights @ value).transpose(1, 2).flatten(2)
        return self.out(found), weights.mean(1)

    def _split(self, states: Tensor) -> Tensor:
        batch, count, _ = states.shape
        return states.reshape(batch, count, self.heads, -1).transpose(1, 2)
