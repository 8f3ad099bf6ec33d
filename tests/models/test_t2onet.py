"""The paper's network, step by step."""

from __future__ import annotations

import pytest
import torch

from t2onet.models.decoding import GreedyDecoding, decode_steps
from t2onet.models.t2onet import StepDecoder, T2ONet, T2ONetConfig
from tests.models.helpers import WORDS, make_requests, small


def one_step(network: T2ONet, batch: int = 3) -> tuple[torch.Tensor, ...]:
    what = make_requests(batch)
    context = network.begin(what.tokens, what.mask)
    previous = torch.full((batch,), network.actions.start)
    return tuple(network.step(context, network.encode_image(what.image), previous, context.state))


def test_the_published_sizes() -> None:
    config = T2ONetConfig()
    assert (config.word_size, config.operation_size, config.image_size, config.hidden) == (300, 300, 512, 512)
    network = T2ONet(config, 918)
    assert network.reader.lstm.hidden_size == 256
    assert network.reader.lstm.num_layers == network.decoder.num_layers == 2
    assert network.max_steps == 6


def test_shapes() -> None:
    logits, parameters, state, attention = one_step(small())
    assert logits.shape == (3, 7)
    assert parameters.shape == (3, 36)
    assert state.shape == (3, 2 * 2 * 16)
    assert attention.shape == (3, 5)


def test_it_is_a_network() -> None:
    network: StepDecoder = small()
    assert network.actions.end == 6


@pytest.mark.parametrize("attention", [True, False])
def test_attention_is_shared_among_the_words_alone(attention: bool) -> None:
    *_, weights = one_step(small(attention=attention))
    assert weights.sum(1).tolist() == pytest.approx([1, 1, 1])
    assert (weights[0, 2:] == 0).all()
    assert (weights[0, :2] > 0).all()


def test_attention_by_hand() -> None:
    """beta = softmax(h . h_i), s = tanh(W [sum beta_i h_i; h] + b)."""
    network = small()
    what = make_requests(1)
    context = network.begin(what.tokens, what.mask)
    hidden = torch.randn(1, 16)
    words = context.words[0, :2]
    beta = torch.softmax(words @ hidden[0], 0)
    mixed = torch.tanh(network.mix.weight @ torch.cat([beta @ words, hidden[0]]) + network.mix.bias)
    found, weights = network._attend(context, hidden)
    torch.testing.assert_close(weights[0, :2], beta)
    torch.testing.assert_close(found[0], mixed)


@pytest.mark.parametrize("changes", [{}, {"image": False}, {"operation": False}, {"attention": False}])
def test_gradients_reach_every_parameter(changes: dict[str, bool]) -> None:
    network = small(**changes)
    what = make_requests()
    context = network.begin(what.tokens, what.mask)
    state, total = context.state, torch.tensor(0.0)
    for previous in [network.actions.start, *range(network.actions.end)]:
        told = torch.full((3,), previous)
        output = network.step(context, network.encode_image(what.image), told, state)
        state = output.state
        total = total + (output.logits**2).sum() + (output.parameters**2).sum()
    total.backward()
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == []


def test_what_an_ablation_leaves_out_is_not_there() -> None:
    assert not hasattr(small(image=False), "eye")
    assert not hasattr(small(operation=False), "embedding")
    assert not hasattr(small(attention=False), "mix")
    with pytest.raises(ValueError, match="both are off"):
        T2ONetConfig(image=False, operation=False)


@pytest.mark.parametrize(("changes", "same"), [({}, False), ({"image": False}, True)])
def test_the_photo_matters_unless_it_is_left_out(changes: dict[str, bool], same: bool) -> None:
    network = small(**changes).eval()
    what = make_requests(1)
    light, dark = (
        decode_steps(network, what._replace(image=what.image * x), GreedyDecoding(), 1).logits
        for x in (1, 0.1)
    )
    assert torch.equal(light, dark) is same


@pytest.mark.parametrize(("changes", "same"), [({}, False), ({"operation": False}, True)])
def test_the_operation_before_matters_unless_it_is_left_out(changes: dict[str, bool], same: bool) -> None:
    network = small(**changes).eval()
    what = make_requests(1)
    context = network.begin(what.tokens, what.mask)
    first, second = (
        network.step(context, network.encode_image(what.image), torch.tensor([k]), context.state).logits
        for k in (0, 1)
    )
    assert torch.equal(first, second) is same


def test_a_request_without_padding_needs_no_mask() -> None:
    network = small().eval()
    what = make_requests(1)
    with_mask = network.begin(what.tokens, what.mask)
    without = network.begin(what.tokens[:, :2], None)
    torch.testing.assert_close(with_mask.state, without.state)
    torch.testing.assert_close(with_mask.words[:, :2], without.words)


def test_words_beyond_the_vocabulary_are_a_mistake() -> None:
    with pytest.raises(IndexError):
        small().begin(torch.tensor([[WORDS]]), None)
