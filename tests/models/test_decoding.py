"""Decoding: who chooses, what is allowed, what the photos become."""

from __future__ import annotations

import pytest
import torch

from t2onet.models.decoding import (
    GreedyDecoding,
    ParameterNoise,
    SampledDecoding,
    StepChoice,
    TeacherForcing,
    decode_steps,
)
from t2onet.models.t2onet import ActionSpace, StepOutput
from tests.models.helpers import Scripted, make_requests, small

ACTIONS = ActionSpace()
IDENTITY = ACTIONS.squash(torch.zeros(ACTIONS.width))


def test_each_operation_is_used_once_in_the_order_of_liking() -> None:
    network = Scripted(torch.tensor([3.0, 6, 1, 5, 2, 4, 0]), IDENTITY)
    done = decode_steps(network, make_requests(2), GreedyDecoding())
    assert done.operations.tolist() == [[1, 3, 5, 0, 4, 2]] * 2
    assert done.active.all()


def test_after_the_end_nothing_changes() -> None:
    """Row 0 ends at once by liking the end; the other goes on with brightness."""
    logits = torch.tensor([[0.0, 0, 0, 0, 0, 0, 9], [9, 0, 0, 0, 0, 0, 1]])
    network = Scripted(logits, ACTIONS.squash(torch.ones(ACTIONS.width)))
    what = make_requests(2)
    done = decode_steps(network, what, GreedyDecoding())
    assert done.operations.tolist() == [[6, 6], [0, 6]]
    assert done.active.tolist() == [[True, False], [True, True]]
    assert torch.equal(done.final[0], what.image[0])
    assert not torch.equal(done.final[1], what.image[1])
    assert done.allowed[0, 1].tolist() == [False] * 6 + [True]
    assert done.allowed[1, 1].tolist() == [False] + [True] * 6


def test_without_an_end_it_goes_on_until_nothing_is_left() -> None:
    network = Scripted(torch.tensor([0.0, 0, 0, 0, 0, 0, 99]), IDENTITY, max_steps=7)
    network.actions = ActionSpace(ends=False)
    explored = decode_steps(
        network, make_requests(2), SampledDecoding(torch.Generator().manual_seed(0), explore=1.0)
    )
    for done in (decode_steps(network, make_requests(2), GreedyDecoding()), explored):
        assert [sorted(row) for row in done.operations.tolist()] == [list(range(7))] * 2
        assert done.operations[:, -1].tolist() == [ACTIONS.end] * 2


def test_it_looks_at_the_photo_as_it_is_and_hears_what_was_done() -> None:
    network = Scripted(torch.tensor([9.0, 0, 8, 0, 0, 0, 1]), ACTIONS.squash(torch.ones(ACTIONS.width)))
    done = decode_steps(network, make_requests(2), GreedyDecoding())
    assert [previous[0].item() for previous in network.heard] == [ACTIONS.start, 0, 2]
    assert len(done.images) == 4
    for seen, image in zip(network.looked, done.images, strict=False):
        assert torch.equal(seen, image)


def test_a_teacher_does_what_the_plan_says() -> None:
    network = Scripted(torch.tensor([9.0, 0, 0, 0, 0, 0, 0]))
    plan = torch.tensor([[4, 0, 6], [6, 6, 6]])
    parameters = ACTIONS.squash(torch.randn(2, 3, ACTIONS.width))
    what = make_requests(2)
    done = decode_steps(network, what, TeacherForcing(plan, parameters), 3)
    assert done.operations.tolist() == plan.tolist()
    assert done.active.tolist() == [[True, True, True], [True, False, False]]
    by_hand = ACTIONS.operations[4](what.image[0], parameters[0, 0, ACTIONS.slices[4]])
    by_hand = ACTIONS.operations[0](by_hand, parameters[0, 1, ACTIONS.slices[0]])
    torch.testing.assert_close(done.final[0], by_hand)
    assert torch.equal(done.predicted, torch.zeros(2, 3, ACTIONS.width))


@pytest.mark.parametrize("steps", [1, 3])
def test_no_more_steps_than_asked_for(steps: int) -> None:
    network = Scripted(torch.tensor([6.0, 5, 4, 3, 2, 1, 0]), IDENTITY, max_steps=steps)
    assert decode_steps(network, make_requests(1), GreedyDecoding()).operations.shape == (1, steps)


def test_the_width_of_sampling_is_a_third_of_h_times_the_half_range() -> None:
    """Brightness has R = 2: at h = .3 a draw of one moves it by .2."""
    draws = torch.randn(1, ACTIONS.width, generator=torch.Generator().manual_seed(5))
    tried = ParameterNoise(ACTIONS, 0.3, torch.Generator().manual_seed(5))(IDENTITY[None])
    assert tried[0, 0].item() == pytest.approx(0.2 * draws[0, 0].item(), abs=1e-6)
    expected = ACTIONS.clamp(IDENTITY + draws * ACTIONS.half_range * 0.1)
    torch.testing.assert_close(tried, expected)


def test_tries_stay_inside_their_ranges_and_none_are_made_without_a_width() -> None:
    wild = ParameterNoise(ACTIONS, 100.0, torch.Generator().manual_seed(0))(IDENTITY.expand(50, -1))
    assert torch.equal(wild, ACTIONS.clamp(wild))
    assert ParameterNoise(ACTIONS, 0.0, torch.Generator())(IDENTITY) is IDENTITY


def output(logits: torch.Tensor) -> StepOutput:
    return StepOutput(logits, IDENTITY.expand(len(logits), -1), logits, logits)


def test_sampling_follows_the_probabilities_of_what_is_allowed() -> None:
    logits = torch.tensor([[0.0, 1.0, 5.0, 0, 0, 0, 0]]).expand(4000, -1)
    allowed = torch.tensor([[True, True, False, False, False, False, False]]).expand(4000, -1)
    choose = SampledDecoding(torch.Generator().manual_seed(0))
    shares = torch.bincount(choose(0, output(logits), allowed).operations, minlength=7) / 4000
    assert shares[1].item() == pytest.approx(torch.sigmoid(torch.tensor(1.0)).item(), abs=0.03)
    assert shares[2:].sum() == 0


def test_exploring_tries_what_is_unlikely() -> None:
    logits = torch.tensor([[50.0, 0, 0, 0, 0, 0, 0]]).expand(4000, -1)
    allowed = torch.ones(4000, 7, dtype=torch.bool)
    choose = SampledDecoding(torch.Generator().manual_seed(0), explore=0.7)
    shares = torch.bincount(choose(0, output(logits), allowed).operations, minlength=7) / 4000
    assert shares[0].item() == pytest.approx(0.4, abs=0.03)
    assert shares[1:].tolist() == pytest.approx([0.1] * 6, abs=0.03)


def test_the_same_seed_samples_the_same() -> None:
    network, what = small().eval(), make_requests(2)

    def answer(seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        noise = ParameterNoise(network.actions, 0.5, generator)
        return decode_steps(network, what, SampledDecoding(generator, noise=noise)).final

    assert torch.equal(answer(1), answer(1))
    assert not torch.equal(answer(1), answer(2))


class InTurn:
    """Operation 0, then 1, ...: so that gradients can be followed through all."""

    def __call__(self, at: int, output: StepOutput, allowed: torch.Tensor) -> StepChoice:
        return StepChoice(torch.full((len(allowed),), at), output.parameters)


def test_the_final_photo_teaches_all_but_the_choice() -> None:
    network = small()
    decode_steps(network, make_requests(), InTurn()).final.sum().backward()
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == ["chooser.weight", "chooser.bias"]
