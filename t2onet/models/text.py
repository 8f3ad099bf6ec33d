"""Text encoders: word vectors through a bidirectional LSTM (T2ONet) or GRU (picture networks)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class LSTMTextEncoder(nn.Module):
    """Word ids (B, L) -> a state per word (B, L, hidden), and the final states of the layers."""

    def __init__(self, words: int, word_size: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, word_size)
        self.lstm = nn.LSTM(word_size, hidden // 2, layers, batch_first=True, bidirectional=True)

    def load_vectors(self, vectors: Tensor) -> None:
        """Start from word vectors (words, word_size); rows of zeros are unknown words and stay random."""
        load_known_vectors(self.embedding, vectors)

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
        return states, _join_directions(hidden), _join_directions(cell)


def load_known_vectors(embedding: nn.Embedding, vectors: Tensor) -> None:
    """Set the rows of an embedding whose vector is known, that is, not all zeros."""
    known = vectors.abs().sum(1) > 0
    with torch.no_grad():
        embedding.weight[known] = vectors[known].to(embedding.weight.dtype)


def _join_directions(states: Tensor) -> Tensor:
    """(layers * 2, B, half) -> (B, layers, 2 * half)."""
    return torch.cat([states[0::2], states[1::2]], -1).transpose(0, 1)


class SentenceEncoding(NamedTuple):
    """An encoded request."""

    states: Tensor
    """(B, L, size), zero where there is no word."""
    mask: Tensor
    """(B, L) bool: where there is a word."""
    whole: Tensor
    """(B, size): the final states of both directions."""

    @property
    def mean(self) -> Tensor:
        """(B, size): the mean over the words."""
        return self.states.sum(1) / self.mask.sum(1, keepdim=True)


class GRUTextEncoder(nn.Module):
    """Word ids (B, L), zeros after the last -> states of `size` numbers, half of them from each direction.

    `LSTMTextEncoder` packs sequences, which needs their lengths on the host. Here the backward GRU runs over
    sentences reversed by index, so that nothing leaves the device.
    """

    def __init__(self, words: int, word_size: int, size: int) -> None:
        super().__init__()
        if size % 2:
            raise ValueError(
                f"states of {size} numbers cannot be split between two directions; give an even size"
            )
        self.embedding = nn.Embedding(words, word_size)
        self.forth = nn.GRU(word_size, size // 2, batch_first=True)
        self.back = nn.GRU(word_size, size // 2, batch_first=True)

    def load_vectors(self, vectors: Tensor) -> None:
        """As `LSTMTextEncoder.load_vectors`."""
        load_known_vectors(self.embedding, vectors)

    def forward(self, tokens: Tensor) -> SentenceEncoding:
        mask = tokens != 0
        embedded = self.embedding(tokens)
        reversal = _reversal_indices(mask)[..., None]
        forth, _ = self.forth(embedded)
        back, _ = self.back(embedded.gather(1, reversal.expand_as(embedded)))
        last = (mask.sum(1) - 1)[:, None, None].expand(-1, 1, forth.shape[-1])
        whole = torch.cat([forth.gather(1, last), back.gather(1, last)], -1)[:, 0]
        states = torch.cat([forth, back.gather(1, reversal.expand_as(back))], -1)
        return SentenceEncoding(states * mask[..., None], mask, whole)


def _reversal_indices(mask: Tensor) -> Tensor:
    """(B, L): positions of the words from last to first, then the padding in place."""
    positions = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - positions, positions)
