"""Decode requests into steps: one loop, and who chooses in it (a plan, the network, or chance)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .t2onet import ActionSpace, StepDecoder, StepOutput

# Decoding step by step: one loop, and who chooses in it (a plan, the network, or chance).


class RequestBatch(NamedTuple):
    """A batch of requests and the photos they are about."""

    tokens: Tensor
    """(B, L) word ids."""
    mask: Tensor | None
    """(B, L) bool: where there is a word; None without padding."""
    image: Tensor
    """(B, 3, H, W) in [0, 1]."""
    manner: Tensor | None = None

    def rows(self, numbers: Tensor) -> RequestBatch:
        """Those with these numbers (N,), which may come more than once."""
        mask, manner = (None if part is None else part[numbers] for part in (self.mask, self.manner))
        return RequestBatch(self.tokens[numbers], mask, self.image[numbers], manner)


class StepChoice(NamedTuple):
    """What is done at one step."""

    operations: Tensor
    """(B,) numbers, `actions.end` among them."""
    parameters: Tensor
    """(B, P)."""


class DecodingStrategy(Protocol):
    """Decides on a step; `allowed` (B, n + 1) is what has not been used, or the end alone after it."""

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice: ...


class TeacherForcing:
    """Does what plans say: operations (B, T), filled up with the end, and parameters (B, T, P)."""

    def __init__(self, operations: Tensor, parameters: Tensor) -> None:
        self.operations = operations
        self.parameters = parameters

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        return StepChoice(self.operations[:, at], self.parameters[:, at])


class ParameterNoise:
    """Gaussian tries around predicted parameters, as wide as R h / 3, R the declared half-range."""

    def __init__(self, actions: ActionSpace, h: float, generator: torch.Generator) -> None:
        self.actions = actions
        self.h = h
        self.generator = generator

    def __call__(self, parameters: Tensor) -> Tensor:
        if not self.h:
            return parameters
        drawn = torch.randn(parameters.shape, generator=self.generator).to(parameters)
        return self.actions.clamped(parameters + drawn * self.actions.half_range * (self.h / 3))


class GreedyDecoding:
    """Takes the likeliest operation, with the predicted parameters or a try around them."""

    def __init__(self, noise: ParameterNoise | None = None) -> None:
        self.noise = noise

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        likeliest = output.logits.masked_fill(~allowed, float("-inf")).argmax(-1)
        return StepChoice(likeliest, self.noise(output.parameters) if self.noise else output.parameters)


class SampledDecoding:
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
        noise: ParameterNoise | None = None,
    ) -> None:
        self.generator = generator
        self.temperature = temperature
        self.explore = explore
        self.top = top
        self.noise = noise

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        scores = output.logits.detach().float() / self.temperature
        likely = torch.softmax(scores.masked_fill(~allowed, float("-inf")), -1)
        if self.top is not None and self.top < likely.shape[-1]:
            allowed = allowed & (likely >= likely.topk(self.top).values[:, -1:])
            likely = likely * allowed
        even = allowed / allowed.sum(-1, keepdim=True)
        odds = (1 - self.explore) * likely + self.explore * even
        waits = torch.empty(odds.shape).exponential_(generator=self.generator).to(odds)
        drawn = (odds / waits).argmax(-1)  # whose clock rings first: nothing has to leave the device
        return StepChoice(drawn, self.noise(output.parameters) if self.noise else output.parameters)


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


def decode_steps(
    network: StepDecoder, asked: RequestBatch, choose: DecodingStrategy, steps: int | None = None
) -> Rollout:
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


# What was done as plain steps, and several answers to one request: other parameters, other operations.

DecodedSteps = tuple[tuple[str, tuple[float, ...]], ...]
"""Operations with their parameters, as `Recipe.from_steps` takes them."""

_DECIMALS = 5
_SAMPLING_ROUNDS = 8
"""Times that as many answers are drawn as are asked for, before there seem to be no more."""


class DecodedVariant(NamedTuple):
    """One of several."""

    steps: DecodedSteps
    image: Tensor
    """(3, H, W) in [0, 1]."""


@torch.no_grad()
def decode_variants(
    network: StepDecoder,
    asked: RequestBatch,
    count: int,
    *,
    generator: torch.Generator,
    h: float = 0.1,
    top: int = 1,
) -> list[DecodedVariant]:
    """Up to `count` different answers to one request, the network's own first.

    Parameters are sampled with a standard deviation of R h / 3, and operations among the `top` likeliest.
    There may be fewer: without `h`, and where the network would do nothing, few answers differ.
    """
    found = {answer.steps: answer for answer in _decode_batch(network, asked, GreedyDecoding())}
    many = asked.rows(torch.zeros(count, dtype=torch.int64, device=asked.image.device))
    choose = SampledDecoding(generator, top=top, noise=ParameterNoise(network.actions, h, generator))
    for _ in range(_SAMPLING_ROUNDS):
        if len(found) >= count:
            break
        for answer in _decode_batch(network, many, choose):
            found.setdefault(answer.steps, answer)
    return list(found.values())[:count]


def _decode_batch(
    network: StepDecoder, asked: RequestBatch, choose: GreedyDecoding | SampledDecoding
) -> list[DecodedVariant]:
    done = decode_steps(network, asked, choose)
    return [
        DecodedVariant(*one) for one in zip(extract_steps(network.actions, done), done.final, strict=True)
    ]


def extract_steps(actions: ActionSpace, done: Rollout) -> list[DecodedSteps]:
    """What was done to each photo, up to the end; parameters are rounded to what anyone could tell apart."""
    rows = zip(done.operations.tolist(), done.parameters.tolist(), strict=True)
    return [
        tuple(_extract_step(actions, *step) for step in zip(*row, strict=True) if step[0] != actions.end)
        for row in rows
    ]


def _extract_step(actions: ActionSpace, number: int, row: list[float]) -> tuple[str, tuple[float, ...]]:
    operation = actions.operations[number]
    rounded = [round(value, _DECIMALS) for value in row[actions.places[number]]]
    return operation.name, tuple(operation.clip(rounded))
