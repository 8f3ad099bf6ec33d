"""Text encoders: word vectors through a bidirectional LSTM (T2ONet) or GRU (picture networks)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# Requests as a sequence of states: word vectors through a bi-directional LSTM.


class LSTMTextEncoder(nn.Module):
    """Word ids (B, L) -> a state for each word (B, L, hidden), and what the layers end with."""

    def __init__(self, words: int, word_size: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, word_size)
        self.lstm = nn.LSTM(word_size, hidden // 2, layers, batch_first=True, bidirectional=True)

    def load_vectors(self, vectors: Tensor) -> None:
        """Begin with known word vectors (words, word_size); rows of zeros are unknown and stay random."""
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
    """Put known vectors, those that are not all zeros, in place of what an embedding begins with."""
    known = vectors.abs().sum(1) > 0
    with torch.no_grad():
        embedding.weight[known] = vectors[known].to(embedding.weight.dtype)


def _join_directions(ends: Tensor) -> Tensor:
    """(layers * 2, B, half) -> (B, layers, 2 * half)."""
    return torch.cat([ends[0::2], ends[1::2]], -1).transpose(0, 1)


# Requests for networks that make pictures: word vectors through a GRU each way, and no word to the host.
#
# `Reader` packs sequences, for which the lengths must come back from the device; here the way back runs over
# sentences turned round by their own lengths.


class SentenceEncoding(NamedTuple):
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


class GRUTextEncoder(nn.Module):
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
        load_known_vectors(self.embedding, vectors)

    def forward(self, tokens: Tensor) -> SentenceEncoding:
        mask = tokens != 0
        embedded = self.embedding(tokens)
        turned = _reversal_indices(mask)[..., None]
        forth, _ = self.forth(embedded)
        back, _ = self.back(embedded.gather(1, turned.expand_as(embedded)))
        last = (mask.sum(1) - 1)[:, None, None].expand(-1, 1, forth.shape[-1])
        whole = torch.cat([forth.gather(1, last), back.gather(1, last)], -1)[:, 0]
        states = torch.cat([forth, back.gather(1, turned.expand_as(back))], -1)
        return SentenceEncoding(states * mask[..., None], mask, whole)


def _reversal_indices(mask: Tensor) -> Tensor:
    """(B, L): places of the words from the last to the first, then those without a word as they are."""
    places = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
