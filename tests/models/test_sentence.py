"""Requests read both ways without asking how long they are."""

from __future__ import annotations

import pytest
import torch

from t2onet.models.text import GRUTextEncoder


def test_it_reads_as_a_packed_gru_does() -> None:
    """Each sentence alone, without its padding, through torch's own way of reading both ways."""
    sentence = GRUTextEncoder(20, 6, 8)
    both = torch.nn.GRU(6, 4, batch_first=True, bidirectional=True)
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        getattr(both, name).data.copy_(getattr(sentence.forth, name))
        getattr(both, f"{name}_reverse").data.copy_(getattr(sentence.back, name))
    tokens = torch.tensor([[1, 5, 6, 2, 0], [1, 7, 2, 0, 0], [1, 5, 9, 3, 2]])
    heard = sentence(tokens)
    for row, length in enumerate((4, 3, 5)):
        states, ends = both(sentence.embedding(tokens[row : row + 1, :length]))
        torch.testing.assert_close(heard.states[row, :length], states[0])
        assert not heard.states[row, length:].any()
        torch.testing.assert_close(heard.whole[row], ends[:, 0].flatten())
        torch.testing.assert_close(heard.mean[row], states[0].mean(0))


def test_padding_changes_nothing() -> None:
    sentence = GRUTextEncoder(20, 6, 8)
    tokens = torch.tensor([[1, 5, 6, 2]])
    padded = torch.cat([tokens, torch.zeros(1, 3, dtype=torch.long)], 1)
    torch.testing.assert_close(sentence(padded).whole, sentence(tokens).whole)


def test_it_begins_with_known_vectors() -> None:
    sentence = GRUTextEncoder(3, 2, 4)
    before = sentence.embedding.weight.clone()
    sentence.load_vectors(torch.tensor([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]))
    assert sentence.embedding.weight[1].tolist() == [1.0, 2.0]
    assert torch.equal(sentence.embedding.weight[[0, 2]], before[[0, 2]])


def test_two_ways_need_an_even_size() -> None:
    with pytest.raises(ValueError, match="states of 5 numbers cannot be split"):
        GRUTextEncoder(20, 6, 5)
