"""Several answers to one request."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import t2onet
from t2onet import Recipe
from t2onet.models.decoding import GreedyDecoding, RequestBatch, decode_steps, decode_variants, extract_steps
from t2onet.models.t2onet import ActionSpace
from tests.models.helpers import Scripted, make_requests, small

ACTIONS = ActionSpace()


def one() -> RequestBatch:
    """A request to one photo."""
    tokens, mask, image = make_requests(2)
    return RequestBatch(tokens[1:], mask[1:], image[1:])


def make_generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_answers_differ_in_their_parameters_and_the_first_is_the_networks_own() -> None:
    network, what = small().eval(), one()
    network.chooser.bias.data[network.actions.end] = -9.0
    answers = decode_variants(network, what, 4, h=0.3, generator=make_generator())
    assert len({answer.steps for answer in answers}) == 4
    torch.testing.assert_close(
        answers[0].image, decode_steps(network, what, GreedyDecoding()).final[0].detach()
    )
    assert len({tuple(name for name, _ in answer.steps) for answer in answers}) == 1
    again = decode_variants(network, what, 4, h=0.3, generator=make_generator())
    assert [answer.steps for answer in again] == [answer.steps for answer in answers]


def test_operations_come_from_the_likeliest() -> None:
    """Three are about as likely as the end, one of them comes first; the others never do."""
    logits = torch.tensor([2.0, -9.0, 2.1, -9.0, 1.9, -9.0, 1.0])
    network = Scripted(logits, ACTIONS.squash(torch.ones(ACTIONS.width)), max_steps=1)
    answers = decode_variants(network, one(), 9, h=0.0, top=3, generator=make_generator())
    first = [answer.steps[0][0] for answer in answers]
    assert first[0] == ACTIONS.names[2]
    assert sorted(first) == sorted(ACTIONS.names[k] for k in (0, 2, 4))


def test_where_nothing_differs_there_is_one_answer() -> None:
    silent = Scripted(torch.tensor([0.0, 0, 0, 0, 0, 0, 9]))
    (answer,) = decode_variants(silent, one(), 5, h=0.5, generator=make_generator())
    assert answer.steps == ()
    certain = Scripted(torch.tensor([9.0, 0, 0, 0, 0, 0, 5]), ACTIONS.squash(torch.ones(ACTIONS.width)))
    assert len(decode_variants(certain, one(), 5, h=0.0, generator=make_generator())) == 1


def test_steps_are_a_recipe_that_makes_the_same_picture() -> None:
    """Also at the ends of their ranges, which are not exact in the network's numbers."""
    network, what = small().eval(), one()
    network.chooser.bias.data[network.actions.end] = -9.0
    for answer in decode_variants(network, what, 6, h=6.0, generator=make_generator()):
        recipe = Recipe.from_steps(answer.steps)
        photo = np.ascontiguousarray(what.image[0].numpy().transpose(1, 2, 0))
        made = np.asarray(t2onet.apply(recipe, photo))
        assert np.abs(made - answer.image.numpy().transpose(1, 2, 0)).max() < 5e-3


def test_steps_end_with_the_end() -> None:
    logits = torch.tensor([[0.0, 0, 0, 0, 0, 0, 9], [9, 0, 0, 0, 0, 0, 1]])
    network = Scripted(logits, ACTIONS.squash(torch.zeros(ACTIONS.width)))
    nothing, brightness = extract_steps(
        ACTIONS, decode_steps(network, make_requests(2), GreedyDecoding()), decimals=5
    )
    assert (nothing, brightness) == ((), ((ACTIONS.names[0], (pytest.approx(0.0),)),))
