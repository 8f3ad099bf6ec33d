"""The network at work: operation after operation, each on the picture that the one before left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from ...operations import Operation
from .network import Retoucher


class Asked(Protocol):
    """Distinct words (W, PIECES), requests (B, T), pictures (B, 3, H, W) and manners (B,)."""

    @property
    def pieces(self) -> Tensor: ...
    @property
    def told(self) -> Tensor: ...
    @property
    def before(self) -> Tensor: ...
    @property
    def manner(self) -> Tensor: ...


class Done(NamedTuple):
    """Pictures (B, 3, H, W), logits of use (B, operations) and of verdict, and what was understood.

    `parameters` are those of each operation.
    """

    image: Tensor
    used: Tensor
    verdict: Tensor
    sense: Tensor
    parameters: tuple[Tensor, ...]


class Hands:
    """Glances, and carries out operations where they are taken.

    `compiled` fuses the arithmetic; `narrow` lets the network, not the pictures, compute in bfloat16.
    """

    def __init__(self, network: Retoucher, *, compiled: bool = False, narrow: bool = False) -> None:
        make: Callable[..., Callable[..., Any]] = torch.compile if compiled else (lambda run: run)
        self.look = make(_looking(network.glance))
        self.begin, self.step = make(network.begin), make(network.step)
        self.apply = [make(_applying(operation)) for operation in network.order]
        self.narrow = narrow


def _looking(glance: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def look(image: Tensor) -> Tensor:
        with torch.no_grad():
            return glance(image)

    return look


def _applying(operation: Operation) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def apply(image: Tensor, parameters: Tensor, taken: Tensor) -> Tensor:
        return torch.where(taken[:, None, None, None], operation.run(image, parameters, 1.0), image)

    return apply


def answerable(verdict: Tensor) -> Tensor:
    """(B, verdicts) logits -> (B, 2): an edit, or any of the matters."""
    return torch.stack([verdict[:, 0], verdict[:, 1:].logsumexp(-1)], -1)


def rollout(network: Retoucher, hands: Hands, asked: Asked, used: Tensor | None = None) -> Done:
    """All operations in turn. `used` (B, operations) says which are taken; without, the network decides."""
    image = asked.before
    narrow = torch.autocast(image.device.type, torch.bfloat16, enabled=hands.narrow)
    numbers = torch.arange(len(network.order), device=image.device)
    look = hands.look(image)
    with narrow:
        context = hands.begin(asked.pieces, asked.told, image, look, asked.manner)
    edits = answerable(context.verdict).argmax(-1) == 0
    state, logits, parameters = context.whole, [], []
    for number, operation in enumerate(network.order):
        with narrow:
            step = hands.step(context, look, numbers[number : number + 1], state)
        state = step.state
        taken = (step.used > 0) & edits if used is None else used[:, number] > 0.5
        logits.append(step.used)
        parameters.append(step.parameters[:, : operation.size])
        image = hands.apply[number](image, parameters[-1], taken)
        if number + 1 < len(network.order):
            look = hands.look(image.detach())
    return Done(image, torch.stack(logits, -1), context.verdict, context.sense, tuple(parameters))
