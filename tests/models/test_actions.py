"""Operations as numbers, all parameters in one row."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from t2onet.models.t2onet import ActionSpace
from t2onet.operations import PAPER, get_published_operation

ACTIONS = ActionSpace()


def test_the_declared_operations_in_their_order_then_the_end_and_the_start() -> None:
    assert ACTIONS.names == PAPER
    assert (ACTIONS.end, ACTIONS.start) == (6, 7)
    assert ACTIONS.width == sum(get_published_operation(name).size for name in PAPER) == 36
    assert [place.stop - place.start for place in ACTIONS.slices] == [o.size for o in ACTIONS.operations]


def test_the_paper_s_half_ranges() -> None:
    published = {
        "brightness": 2.0,
        "contrast": 1.0,
        "saturation": 0.5,
        "sharpness": 0.75,
        "tone": 0.75,
        "color": 0.1,
    }
    for name, place in zip(ACTIONS.names, ACTIONS.slices, strict=True):
        assert set(ACTIONS.half_range[place].tolist()) == {torch.tensor(published[name]).item()}


def test_zero_is_the_default() -> None:
    defaults = [value for operation in ACTIONS.operations for value in operation.defaults]
    assert ACTIONS.squash(torch.zeros(ACTIONS.width)).tolist() == pytest.approx(defaults, abs=1e-6)


@given(st.lists(st.floats(-50, 50), min_size=ACTIONS.width, max_size=ACTIONS.width))
def test_parameters_stay_inside_their_ranges(raw: list[float]) -> None:
    values = ACTIONS.squash(torch.tensor(raw))
    assert (values >= ACTIONS.low).all()
    assert (values <= ACTIONS.high).all()


def test_each_photo_gets_its_own_operation() -> None:
    images = torch.rand(8, 3, 6, 6)
    choices = torch.tensor([3, 0, 6, 5, 1, 0, 4, 2])
    parameters = ACTIONS.squash(torch.randn(8, ACTIONS.width))
    done = ACTIONS.apply_choices(images, choices, parameters)
    for row, choice in enumerate(choices.tolist()):
        if choice == ACTIONS.end:
            assert torch.equal(done[row], images[row])
        else:
            alone = ACTIONS.operations[choice](images[row], parameters[row, ACTIONS.slices[choice]])
            torch.testing.assert_close(done[row], alone)
            assert not torch.equal(done[row], images[row])


def test_gradients_reach_the_chosen_parameters_and_no_others() -> None:
    images = 0.2 + 0.5 * torch.rand(6, 3, 6, 6)
    parameters = ACTIONS.squash(0.1 * torch.randn(6, ACTIONS.width)).requires_grad_()
    (ACTIONS.apply_choices(images, torch.arange(6), parameters) ** 2).sum().backward()
    assert parameters.grad is not None
    assert torch.equal(parameters.grad != 0, ACTIONS.parameter_mask[:6])


def test_a_set_of_operations() -> None:
    two = ActionSpace(["tone", "brightness"])
    assert (two.names, two.width, two.end) == (("tone", "brightness"), 9, 2)
