"""Learning by reward: the paper's theorem, REINFORCE, and episodes as it has them."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from torch import Tensor

from t2onet.models.decoding import (
    GreedyDecoding,
    ParameterNoise,
    Rollout,
    StepChoice,
    TeacherForcing,
    decode_steps,
)
from t2onet.models.t2onet import StepOutput, T2ONet
from t2onet.training import LoopSettings, ProcessInfo, TrainingRun, WordVectors
from t2onet.training.loop import SilentReporter
from t2onet.training.paper import (
    ReinforcementSettings,
    ReinforcementTask,
    cumulative_returns,
    image_loss,
    reinforce_loss,
    step_rewards,
)
from t2onet.training.task import apply_assignments, make_generator
from t2onet.training.triplets import l1_distance
from tests.models.helpers import Scripted, make_requests, small
from tests.training.helpers import REQUESTS, SMALL, make_packed_set

WORDS = WordVectors.without_vectors(REQUESTS * 2, 12)


def task_of(*changes: str, ways: int = 4) -> ReinforcementTask:
    settings = apply_assignments(ReinforcementSettings(), (*SMALL, *changes))
    return ReinforcementTask(
        settings, make_packed_set(plans=False, ways=ways), WORDS, ProcessInfo(torch.device("cpu"))
    )


def slopes(value: Tensor, network: T2ONet) -> dict[str, Tensor]:
    """Of a number, by every weight of a network."""
    names, weights = zip(*network.named_parameters(), strict=True)
    found = torch.autograd.grad(value, weights, retain_graph=True, allow_unused=True)
    return {n: torch.zeros_like(w) if s is None else s for n, w, s in zip(names, weights, found, strict=True)}


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    scale = max(slope.abs().max().item() for slope in one.values())
    assert scale > 1e-6
    for name, slope in one.items():
        torch.testing.assert_close(slope, other[name], rtol=1e-3, atol=1e-4 * scale, msg=name)


class Again:
    """Does what was done, whose parameters count as given, and keeps what it would have done: alpha_t."""

    def __init__(self, done: Rollout, noise: ParameterNoise) -> None:
        self.done = done
        self.noise = noise
        self.alphas: list[Tensor] = []

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        self.alphas.append(self.noise(output.parameters))
        return StepChoice(self.done.operations[:, at], self.done.parameters[:, at].detach())


class Tries:
    """These operations with parameters around the predicted ones, kept so that G has a slope in them."""

    def __init__(self, order: tuple[int, ...], noise: ParameterNoise) -> None:
        self.order = order
        self.noise = noise
        self.alphas: list[Tensor] = []

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        self.alphas.append(self.noise(output.parameters))
        return StepChoice(torch.full((len(allowed),), self.order[at]), self.alphas[-1])


def test_the_deterministic_policy_gradient_is_minus_the_slope_of_the_image_loss() -> None:
    """The theorem, by its own words: the sum over t of dG_{t+1}/dalpha_t dalpha_t/dtheta, G from rewards.

    dG/dalpha_t is taken along everything that follows the step; dalpha_t/dtheta with all that came before
    it as given.
    """
    network, what, target = small().eval(), make_requests(3), torch.rand(3, 3, 32, 32)
    tries = Tries((4, 0, 3), ParameterNoise(network.actions, 0.1, make_generator(1)))
    done = decode_steps(network, what, tries, 3)
    gains = cumulative_returns(step_rewards(done, target)).mean(0)
    again = Again(done, ParameterNoise(network.actions, 0.1, make_generator(1)))
    decode_steps(network, what, again, 3)
    policy: Tensor = torch.zeros(())
    for gain, alpha, same in zip(gains, tries.alphas, again.alphas, strict=True):
        torch.testing.assert_close(alpha, same)
        (slope,) = torch.autograd.grad(gain, alpha, retain_graph=True)
        policy = policy + (slope.detach() * same).sum()
    assert_same(slopes(policy, network), slopes(-image_loss(done, target), network))


def test_both_losses_together_lead_down_the_expected_cost() -> None:
    """All ways to take two of three operations, each with its chance: the cost that is to be expected."""
    network = small(operations=("brightness", "contrast", "saturation"), max_steps=2, ends=False).eval()
    what, target = make_requests(1), torch.rand(1, 3, 32, 32)
    expected, estimated = torch.zeros(()), torch.zeros(())
    for order in permutations(range(3), 2):
        done = decode_steps(
            network, what, Tries(order, ParameterNoise(network.actions, 0.1, make_generator(1)))
        )
        odds = torch.log_softmax(done.logits.masked_fill(~done.allowed, float("-inf")), -1)[0]
        chance = sum(odds[at, chosen] for at, chosen in enumerate(order)).exp()
        expected = expected + chance * l1_distance(done.final, target)[0]
        estimated = estimated + chance.detach() * (reinforce_loss(done, target) + image_loss(done, target))
    assert_same(slopes(expected, network), slopes(estimated, network))


def test_rewards_by_hand() -> None:
    """Grey .2, target .6: brightness + .5 leads to .3, then +1 to .6; so G is .4, then .3."""
    network = Scripted(torch.zeros(7))
    what = make_requests(1)._replace(image=torch.full((1, 3, 8, 8), 0.2))
    parameters = torch.zeros(1, 2, network.actions.width)
    parameters[0, :, network.actions.slices[0]] = torch.tensor([[0.5], [1.0]])
    done = decode_steps(network, what, TeacherForcing(torch.tensor([[0, 0]]), parameters), 2)
    gained = step_rewards(done, torch.full((1, 3, 8, 8), 0.6))
    assert gained[0].tolist() == pytest.approx([0.1, 0.3], abs=1e-6)
    assert cumulative_returns(gained)[0].tolist() == pytest.approx([0.4, 0.3], abs=1e-6)


@pytest.mark.slow
def test_episodes_are_five_operations_and_never_the_end() -> None:
    task = task_of()
    network = task.network.eval()
    with torch.no_grad():
        network.chooser.bias[network.actions.end] = 99.0
        assert task.validate(network)["steps"] == 5.0
    assert set(task.episode_loss(task.train.batch(torch.arange(4)), make_generator(0))) == {"choice", "image"}


def test_the_same_iteration_tries_the_same() -> None:
    one, other = (task_of().loss(3, make_generator(3)) for _ in range(2))
    assert {k: v.item() for k, v in one.items()} == {k: v.item() for k, v in other.items()}


@pytest.mark.slow
def test_the_operation_that_helps_becomes_likely(tmp_path: Path) -> None:
    """All photos were brightened; one step may be taken."""
    task = task_of("operations=sharpness,brightness,saturation", "max_steps=1", "validation_pairs=2", ways=1)
    batch = task.train.batch(torch.arange(len(task.train)))

    def chance() -> float:
        task.network.eval()
        with torch.no_grad():
            done = decode_steps(task.network, batch.requests, GreedyDecoding())
        odds = done.logits[:, 0].masked_fill(~done.allowed[:, 0], float("-inf")).softmax(-1)
        return odds[:, task.network.actions.names.index("brightness")].mean().item()

    before = chance()
    settings = LoopSettings(iterations=80, validate_every=80, learning_rate=0.003)
    TrainingRun(task, settings, tmp_path, Accelerator(cpu=True), SilentReporter(), settings_json="{}").run()
    assert before < 0.5
    assert chance() > 0.9
