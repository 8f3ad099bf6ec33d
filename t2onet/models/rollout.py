"""Decoding step by step: one loop, and who chooses in it (a plan, the network, or chance)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .actions import Actions
from .network import Network, StepOutput


class Asked(NamedTuple):
    """A batch of requests and the photos they are about."""

    tokens: Tensor
    """(B, L) word ids."""
    mask: Tensor | None
    """(B, L) bool: where there is a word; None without padding."""
    image: Tensor
    """(B, 3, H, W) in [0, 1]."""
    manner: Tensor | None = None

    def rows(self, numbers: Tensor) -> Asked:
        """Those with these numbers (N,), which may come more than once."""
        mask, manner = (None if part is None else part[numbers] for part in (self.mask, self.manner))
        return Asked(self.tokens[numbers], mask, self.image[numbers], manner)


class Choice(NamedTuple):
    """What is done at one step."""

    operations: Tensor
    """(B,) numbers, `actions.end` among them."""
    parameters: Tensor
    """(B, P)."""


class Chooser(Protocol):
    """Decides on a step; `allowed` (B, n + 1) is what has not been used, or the end alone after it."""

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> Choice: ...


class Teacher:
    """Does what plans say: operations (B, T), filled up with the end, and parameters (B, T, P)."""

    def __init__(self, operations: Tensor, parameters: Tensor) -> None:
        self.operations = operations
        self.parameters = parameters

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> Choice:
        return Choice(self.operations[:, at], self.parameters[:, at])


class Noise:
    """Gaussian tries around predicted parameters, as wide as R h / 3, R the declared half-range."""

    def __init__(self, actions: Actions, h: float, generator: torch.Generator) -> None:
        self.actions = actions
        self.h = h
        self.generator = generator

    def __call__(self, parameters: Tensor) -> Tensor:
        if not self.h:
            return parameters
        drawn = torch.randn(parameters.shape, generator=self.generator).to(parameters)
        return self.actions.clamped(parameters + drawn * self.actions.half_range * (self.h / 3))


class Greedy:
    """Takes the likeliest operation, with the predicted parameters or a try around them."""

    def __init__(self, noise: Noise | None = None) -> None:
        self.noise = noise

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> Choice:
        likeliest = output.logits.masked_fill(~allowed, float("-inf")).argmax(-1)
        return Choice(likeliest, self.noise(output.parameters) if self.noise else output.parameters)


class Sampled:
    """Draws operations by their probabilities, a share `explore` of them evenly among the allowed.

    With `top` only so many of the likeliest are allowed.
    """

    def __init__(
        self,
        generator: torch.Generator,
        *,
        temperature: float = 1.0,
        explore: float = 0.0,
        top: int | None = None,
        noise: Noise | None = None,
    ) -> None:
        self.generator = generator
        self.temperature = temperature
        self.explore = explore
        self.top = top
        self.noise = noise

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> Choice:
        scores = output.logits.detach().float() / self.temperature
        likely = torch.softmax(scores.masked_fill(~allowed, float("-inf")), -1)
        if self.top is not None and self.top < likely.shape[-1]:
            allowed = allowed & (likely >= likely.topk(self.top).values[:, -1:])
            likely = likely * allowed
        even = allowed / allowed.sum(-1, keepdim=True)
        odds = (1 - self.explore) * likely + self.explore * even
        waits = torch.empty(odds.shape).exponential_(generator=self.generator).to(odds)
        drawn = (odds / waits).argmax(-1)  # whose clock rings first: nothing has to leave the device
        return Choice(drawn, self.noise(output.parameters) if self.noise else output.parameters)


@dataclass(frozen=True)
class Rollout:
    """What happened in T steps."""

    operations: Tensor
    """(B, T) chosen, the end from where it was chosen."""
    parameters: Tensor
    """(B, T, P) carried out."""
    active: Tensor
    """(B, T) bool: up to and with the end's first choice."""
    allowed: Tensor
    """(B, T, n + 1) bool: what could be chosen."""
    logits: Tensor
    """(B, T, n + 1) as the network said."""
    predicted: Tensor
    """(B, T, P) parameters as the network said."""
    attention: Tensor
    """(B, T, L)."""
    images: tuple[Tensor, ...]
    """T + 1 times (B, 3, H, W): as it came, then after each step."""

    @property
    def final(self) -> Tensor:
        return self.images[-1]


def rollout(network: Network, asked: Asked, choose: Chooser, steps: int | None = None) -> Rollout:
    """Up to `steps` steps (the network's maximum by default), or until all have come to the end.

    Each operation can be chosen once; gradients flow through photos, features and states.
    """
    actions = network.actions
    context = network.begin(asked.tokens, asked.mask, asked.image, asked.manner)
    image, state = asked.image, context.state
    previous = torch.full_like(asked.tokens[:, 0], actions.start)
    used = torch.zeros(len(image), actions.end, dtype=torch.bool, device=image.device)
    active = torch.ones_like(used[:, 0])
    rows: list[tuple[Tensor, ...]] = []
    images = [image]
    for at in range(network.max_steps if steps is None else steps):
        allowed = actions.allowed(used, ~active)
        output = network.step(context, network.look(image), previous, state)
        choice = choose(at, output, allowed)
        image = actions.perform(image, *choice)
        rows.append((*choice, active, allowed, output.logits, output.parameters, output.attention))
        images.append(image)
        previous, state = choice.operations, output.state
        active = active & (previous != actions.end)
        used = used | (one_hot(previous, actions.end + 1)[:, :-1] > 0)
        if not active.any():
            break
    columns = (torch.stack(column, 1) for column in zip(*rows, strict=True))
    operations, parameters, going, could, logits, predicted, attention = columns
    return Rollout(operations, parameters, going, could, logits, predicted, attention, tuple(images))
