"""Requests as a sequence of states: word vectors through a bi-directional LSTM."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Reader(nn.Module):
    """Word ids (B, L) -> a state for each word (B, L, hidden), and what the layers end with."""

    def __init__(self, words: int, word_size: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, word_size)
        self.lstm = nn.LSTM(word_size, hidden // 2, layers, batch_first=True, bidirectional=True)

    def load_vectors(self, vectors: Tensor) -> None:
        """Begin with known word vectors (words, word_size); rows of zeros are unknown and stay random."""
        begin_with(self.embedding, vectors)

    def forward(self, tokens: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """States (B, L, hidden), then hidden and cell state (B, layers, hidden), both directions joined."""
        embedded = self.embedding(tokens)
        if mask is None:
            states, (hidden, cell) = self.lstm(embedded)
        else:
            lengths = mask.sum(1).cpu()
            packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
            out, (hidden, cell) = self.lstm(packed)
            states, _ = pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])
        return states, _joined(hidden), _joined(cell)


def begin_with(embedding: nn.Embedding, vectors: Tensor) -> None:
    """Put known vectors, those that are not all zeros, in place of what an embedding begins with."""
    known = vectors.abs().sum(1) > 0
    with torch.no_grad():
        embedding.weight[known] = vectors[known].to(embedding.weight.dtype)


def _joined(ends: Tensor) -> Tensor:
    """(layers * 2, B, half) -> (B, layers, 2 * half)."""
    return torch.cat([ends[0::2], ends[1::2]], -1).transpose(0, 1)
