"""The paper's losses, worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from t2onet.models.decoding import GreedyDecoding, TeacherForcing, decode_steps
from t2onet.models.t2onet import ActionSpace
from t2onet.training.paper import image_loss, operation_loss, parameter_loss
from tests.models.helpers import Scripted, make_requests

ACTIONS = ActionSpace()
DEFAULTS = ACTIONS.squash(torch.zeros(ACTIONS.width))


def follow_plan(plan: list[list[int]], predicted: torch.Tensor, logits: torch.Tensor) -> tuple[object, ...]:
    chosen = torch.tensor(plan)
    parameters = DEFAULTS.expand(*chosen.shape, -1)
    network = Scripted(logits, predicted)
    done = decode_steps(
        network, make_requests(len(plan)), TeacherForcing(chosen, parameters), chosen.shape[1]
    )
    return done, chosen, parameters


def test_operations_count_up_to_and_with_the_end() -> None:
    """Seven equal odds cost log 7 each: brightness and end of one plan, the end of the other."""
    logits = torch.zeros(7)
    done, chosen, _ = follow_plan([[0, 6, 6], [6, 6, 6]], DEFAULTS, logits)
    assert operation_loss(done, chosen).item() == pytest.approx(math.log(7), abs=1e-6)
    likes_end = torch.tensor([0.0, 0, 0, 0, 0, 0, 50])
    done, chosen, _ = follow_plan([[0, 6, 6], [6, 6, 6]], DEFAULTS, likes_end)
    assert operation_loss(done, chosen).item() == pytest.approx(50 / 3, abs=1e-4)


def test_only_parameters_of_planned_operations_count() -> None:
    """All 36 are off by .5; brightness (1) and tone (8) are planned, so the mean square is .25."""
    order = [ACTIONS.names.index("brightness"), ACTIONS.names.index("tone"), ACTIONS.end]
    done, chosen, parameters = follow_plan([order], DEFAULTS + 0.5, torch.zeros(7))
    assert parameter_loss(done, chosen, parameters, ACTIONS).item() == pytest.approx(0.25, abs=1e-5)
    wrong = DEFAULTS.clone()
    wrong[ACTIONS.slices[order[0]]] += 3.0
    done, chosen, parameters = follow_plan([order], wrong, torch.zeros(7))
    assert parameter_loss(done, chosen, parameters, ACTIONS).item() == pytest.approx(9 / 9, abs=1e-5)


def test_a_plan_without_steps_has_no_parameters_to_miss() -> None:
    done, chosen, parameters = follow_plan([[6, 6]], DEFAULTS + 0.5, torch.zeros(7))
    assert parameter_loss(done, chosen, parameters, ACTIONS).item() == 0


def test_the_image_loss_is_the_mean_absolute_difference() -> None:
    what = make_requests(2)
    network = Scripted(torch.tensor([0.0, 0, 0, 0, 0, 0, 9]).requires_grad_())
    done = decode_steps(network, what, GreedyDecoding())
    loss = image_loss(done, what.image + 0.25)
    assert loss.item() == pytest.approx(0.25, abs=1e-6)
    loss.backward()  # although nothing was done to any photo
    assert network.logits.grad is not None
    assert not network.logits.grad.any()
