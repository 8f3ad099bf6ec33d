"""What is wrong with the network's answers to a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from ...metrics.attributes import NOTICEABLE, measure
from ...models.retoucher.network import Retoucher
from ...models.retoucher.rollout import Hands, answerable, rollout
from .pictures import Batch


@dataclass(frozen=True)
class Weights:
    """How much each part counts."""

    image: float = 10.0
    attributes: float = 0.16
    used: float = 0.3
    verdict: float = 0.3
    sense: float = 0.3
    expert: float = 10.0


class Losses:
    """The parts of the loss, weighted; their sum is what training lowers."""

    def __init__(self, weights: Weights, hands: Hands, *, compiled: bool = False) -> None:
        self.weights, self.hands = weights, hands
        make: Callable[..., Callable[..., Tensor]] = torch.compile if compiled else (lambda run: run)
        self.aside, self.off = make(_aside), make(_off)

    def __call__(self, network: Retoucher, batch: Batch) -> dict[str, Tensor]:
        w = self.weights
        done = rollout(network, self.hands, batch, batch.used)
        off = self.off(done.image, batch.after)
        aside = self.aside(done.image, batch.after)
        gates = functional.binary_cross_entropy_with_logits(done.used, batch.used, reduction="none").mean(-1)
        real = batch.real.float()
        literal = (1 - real) * batch.weight
        return {
            "image": w.image * _mean(off, literal),
            "attributes": w.attributes * _mean(aside, literal),
            "used": w.used * (_mean(gates, 1 - real) + 0.1 * _mean(gates, real)),
            "verdict": w.verdict * _judged(done.verdict, batch.verdict).mean(),
            "sense": w.sense * _mean(_misread(done.sense, batch.asked), (1 - real) * (batch.verdict == 0)),
            "expert": w.expert * _mean(off, real),
        }


def _off(made: Tensor, wanted: Tensor) -> Tensor:
    return (made - wanted).abs().mean((-3, -2, -1))


def _aside(made: Tensor, wanted: Tensor) -> Tensor:
    """How far attributes (B, 6) are from those wanted, in noticeable amounts, far ones counted less."""
    apart = (measure(made) - measure(wanted)) / torch.tensor(NOTICEABLE, device=made.device)
    return functional.smooth_l1_loss(apart, torch.zeros_like(apart), reduction="none").mean(-1).clamp(max=40)


def _misread(sense: Tensor, asked: Tensor) -> Tensor:
    """How far what was understood (B, attributes) is from what was asked for."""
    return functional.smooth_l1_loss(sense, asked, reduction="none", beta=0.3).sum(-1)


def _judged(logits: Tensor, verdict: Tensor) -> Tensor:
    """Whether it can be answered; and where not, which matter it is, if that is known."""
    answered = functional.cross_entropy(answerable(logits), (verdict != 0).long(), reduction="none")
    named = functional.cross_entropy(logits[:, 1:], (verdict - 1).clamp(min=0), reduction="none")
    return answered + torch.where(verdict > 0, named, 0.0)


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1)
