"""Planning through a discriminator: an edit without a target."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import t2onet
from t2onet import PlanError
from t2onet.language import Vocabulary
from t2onet.models.discriminator import (
    Discriminator,
    DiscriminatorConfig,
    DiscriminatorCost,
    load_discriminator_cost,
)
from t2onet.models.files import describe_network, write_tensors
from t2onet.planning import write_report
from tests.models.helpers import small

VOCABULARY = Vocabulary.of(["brighter please", "darker please"], minimum=1)
SMALL = DiscriminatorConfig(patch_width=4, vector_size=6, request_size=8, request_channels=4)
LIKED = 0.6
SLOW = pytest.mark.slow


def grey(level: float, height: int = 24, width: int = 36) -> np.ndarray:
    """(H, W, 3) float32 of one level."""
    return np.full((height, width, 3), level, np.float32)


def connoisseur() -> Discriminator:
    """Made by hand to like pixels of level .6: each of its patches looks at one and says 1 - 2 |v - .6|.

    A leaky ReLU of z and one of -z add up to .8 |z|; pictures come to it as 2 v - 1.
    """
    network = Discriminator(SMALL, len(VOCABULARY))
    for weight in network.parameters():
        weight.data.zero_()
    middle = (2, 2)
    for patches in network.patches:
        first, *others = (layer[0] for layer in (*patches.seen, patches.joint))
        for channel, sign in enumerate((1.0, -1.0)):
            first.weight.data[(channel, 4, *middle)] = sign  # green of the picture
            first.bias.data[channel] = -sign * (2 * LIKED - 1)
        for layer in others:
            for channel in (0, 1):
                layer.weight.data[(channel, channel, *middle)] = 1.0
        patches.out.weight.data[(0, slice(2), *middle)] = -1 / 0.96
        patches.out.bias.data[0] = 1.0
    return network


def cost_of(photo: np.ndarray, request: str = "brighter please", size: int = 16) -> DiscriminatorCost:
    return DiscriminatorCost(connoisseur(), VOCABULARY, photo, request, size=size)


def test_the_cost_is_one_minus_the_score_for_arrays_and_tensors() -> None:
    cost = cost_of(grey(0.3))
    pictures = [np.full((3, 24, 36), level, np.float32) for level in (0.3, 0.5, LIKED, 0.8)]
    told = [cost(picture) for picture in pictures]
    assert told[2] == min(told)
    assert told[0] > told[1] > told[2] < told[3]
    tensor = torch.from_numpy(pictures[0]).requires_grad_()
    found = cost(tensor)
    assert found.item() == pytest.approx(told[0], abs=1e-6)
    found.backward()
    assert tensor.grad is not None
    assert (tensor.grad[1] <= 0).all()
    assert tensor.grad[1].min() < 0


def test_it_compares_with_the_photo_at_the_size_of_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    photo = np.random.default_rng(0).random((40, 60, 3)).astype(np.float32)
    cost = cost_of(photo, size=8)
    seen: list[torch.Tensor] = []

    def score(before: torch.Tensor, after: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        seen.extend([before, after])
        return torch.zeros(1)

    monkeypatch.setattr(cost.discriminator, "score", score)
    for pixels in (photo, photo.reshape(20, 2, 30, 2, 3).mean((1, 3))):
        cost(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
        assert seen[-1].shape == (1, 3, 8, 8)
        torch.testing.assert_close(seen[-2], seen[-1], atol=1e-3, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", ["nelder-mead", *(pytest.param(n, marks=SLOW) for n in ("adam", "l-bfgs"))]
)
def test_the_planner_finds_what_it_likes_best(solver: str) -> None:
    """From .3 to .6 is twice as bright; saturation does nothing to grey, and stays out."""
    if solver == "nelder-mead":
        pytest.importorskip("scipy", reason="an extra")
    photo = grey(0.3)
    found = t2onet.plan(photo, cost=cost_of(photo), operations=["saturation", "brightness"], solver=solver)
    assert [step.operation for step in found.recipe.steps] == ["brightness"]
    assert found.recipe.steps[0].parameters[0] == pytest.approx(1.0, abs=0.03)
    assert (found.start_cost, found.cost) == (found.costs[0], found.costs[-1])
    assert found.cost < found.start_cost
    assert found.target is None
    edited = t2onet.apply(found.recipe, photo)
    assert np.asarray(edited).mean() == pytest.approx(LIKED, abs=0.01)


@pytest.mark.slow
def test_what_such_a_plan_cannot_do_is_refused(tmp_path: Path) -> None:
    photo = grey(0.3)
    chosen = {"cost": cost_of(photo), "operations": ["brightness"], "solver": "adam"}
    found = t2onet.plan(photo, **chosen)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="no edited photo to differ from"):
        _ = found.residual
    with pytest.raises(PlanError, match="this plan is for a custom cost"):
        write_report(found, tmp_path / "plan.html")
    with pytest.raises(PlanError, match="pass exactly one of after"):
        t2onet.plan(photo, photo, **chosen)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="pass exactly one of after"):
        t2onet.plan(photo)
    with pytest.raises(PlanError, match="'joint' needs an edited photo"):
        t2onet.plan(photo, way="joint", **chosen)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="L1 cost only"):
        t2onet.plan(photo, **{**chosen, "solver": "fast"})  # type: ignore[arg-type]


def listener(level: float, shift: float) -> Discriminator:
    """Made by hand to like pixels `shift` above a level when asked for "brighter", and below it for "darker".

    Layers pass 2 v on, which is never negative. The request reaches the last but one as a channel of 1 or -1;
    its leaky ReLUs of z and -z, where z is 2 (v - level - shift) or 2 (v - level + shift), add up to .8 |z|.
    """
    torch.manual_seed(0)
    network = Discriminator(SMALL, len(VOCABULARY)).eval()
    requests = torch.tensor([VOCABULARY.encode(text) for text in ("brighter please", "darker please")])
    with torch.no_grad():
        brighter, darker = network.sentence(requests).whole
        for weight in network.patches.parameters():
            weight.zero_()
        along = (brighter - darker) / (brighter - darker).square().sum()
        for patches in network.patches:
            told, *seen, joint = (layer[0] for layer in (patches.told, *patches.seen, patches.joint))
            told.weight[0], told.bias[0] = 6 * along, 1 - 6 * along @ brighter  # 1 and -5, which leaks to -1
            seen[0].weight[0, 4, 2, 2] = seen[0].bias[0] = 1.0  # green of the picture, which comes as 2 v - 1
            for layer in seen[1:]:
                layer.weight[0, 0, 2, 2] = 1.0
            for channel, sign in enumerate((1.0, -1.0)):
                joint.weight[channel, 0, 2, 2] = sign
                joint.weight[channel, -SMALL.request_channels, 2, 2] = -sign * 2 * shift
                joint.bias[channel] = -sign * 2 * level
            patches.out.weight[0, :2, 2, 2] = -0.5
            patches.out.bias[0] = 1.0
    return network


@pytest.mark.slow
@pytest.mark.parametrize(("request_", "wanted"), [("brighter please", 0.6), ("darker please", 0.2)])
def test_the_request_decides_what_is_planned(request_: str, wanted: float, tmp_path: Path) -> None:
    path = tmp_path / "discriminator.safetensors"
    facts = describe_network("discriminator", SMALL, VOCABULARY)
    write_tensors(path, listener(0.4, 0.2).state_dict(), facts)
    photo = grey(0.4)
    cost = load_discriminator_cost(path, photo, request_, size=16)
    (step,) = t2onet.plan(photo, cost=cost, operations=["brightness"], solver="adam").recipe.steps
    assert step.parameters[0] == pytest.approx(wanted / 0.4 - 1, abs=0.05)


def test_other_weights_are_no_discriminator(tmp_path: Path) -> None:
    network = small()
    words = Vocabulary((*VOCABULARY.words, *(f"word{n}" for n in range(20 - len(VOCABULARY)))))
    path = tmp_path / "best.safetensors"
    write_tensors(path, network.state_dict(), describe_network("t2onet", network.config, words))
    with pytest.raises(PlanError, match=r"holds a t2onet; give the discriminator\.safetensors"):
        load_discriminator_cost(path, grey(0.3), "brighter please")
