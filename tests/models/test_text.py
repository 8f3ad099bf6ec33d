"""Requests as states."""

from __future__ import annotations

import torch

from t2onet.models.text import LSTMTextEncoder


def test_padding_changes_nothing() -> None:
    reader = LSTMTextEncoder(9, 4, 6, 2)
    short = torch.tensor([[1, 5, 2]])
    padded, mask = (
        torch.tensor([[1, 5, 2, 0, 0], [1, 5, 7, 8, 2]]),
        torch.tensor([[1, 1, 1, 0, 0], [1] * 5]).bool(),
    )
    alone, together = reader(short, None), reader(padded, mask)
    torch.testing.assert_close(together[0][:1, :3], alone[0])
    for end, ends in zip(alone[1:], together[1:], strict=True):
        assert end.shape == (1, 2, 6)
        torch.testing.assert_close(ends[:1], end)


def test_the_last_states_are_those_of_both_directions() -> None:
    states, hidden, _ = LSTMTextEncoder(9, 4, 6, 1)(torch.tensor([[1, 5, 2]]), None)
    torch.testing.assert_close(hidden[:, 0], torch.cat([states[:, -1, :3], states[:, 0, 3:]], -1))


def test_known_vectors_replace_random_ones() -> None:
    reader = LSTMTextEncoder(3, 2, 4, 1)
    before = reader.embedding.weight.detach().clone()
    reader.load_vectors(torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 0.0]]))
    assert torch.equal(reader.embedding.weight[0], before[0])
    assert reader.embedding.weight[1:].tolist() == [[1, 2], [3, 0]]
    assert reader.embedding.weight.requires_grad
