"""Decode requests into steps: one loop, and strategies that choose in it (plan, network or sampling)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .t2onet import ActionSpace, StepDecoder, StepOutput

NamedSteps = tuple[tuple[str, tuple[float, ...]], ...]
"""Operations with their parameters, for `Recipe.from_steps`; `recipe.Step` itself needs pydantic."""

_DECIMALS = 5
_SAMPLING_ROUNDS = 8
"""Rounds of `count` samples each, after which no more distinct answers are expected."""


class RequestBatch(NamedTuple):
    """A batch of requests and the photos they are about."""

    tokens: Tensor
    """(B, L) word ids, zeros after the last."""
    mask: Tensor | None
    """(B, L) bool: where there is a word; None without padding."""
    image: Tensor
    """(B, 3, H, W) in [0, 1]."""

    def select(self, rows: Tensor) -> RequestBatch:
        """The requests with these numbers (N,), which may repeat."""
        return RequestBatch(
            self.tokens[rows], None if self.mask is None else self.mask[rows], self.image[rows]
        )


class StepChoice(NamedTuple):
    """What is done at one step."""

    operations: Tensor
    """(B,) numbers, `actions.end` among them."""
    parameters: Tensor
    """(B, P)."""


class DecodingStrategy(Protocol):
    """Chooses a step; `allowed` (B, n + 1) marks unused operations and the end, or the end alone after it."""

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice: ...


class TeacherForcing:
    """Follows plans: operations (B, T), padded with the end, and parameters (B, T, P)."""

    def __init__(self, operations: Tensor, parameters: Tensor) -> None:
        self.operations = operations
        self.parameters = parameters

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        return StepChoice(self.operations[:, at], self.parameters[:, at])


class ParameterNoise:
    """Gaussian noise on predicted parameters: standard deviation R h / 3, R the declared half-range."""

    def __init__(self, actions: ActionSpace, h: float, generator: torch.Generator) -> None:
        self.actions = actions
        self.h = h
        self.generator = generator

    def __call__(self, parameters: Tensor) -> Tensor:
        if not self.h:
            return parameters
        noise = torch.randn(parameters.shape, generator=self.generator).to(parameters)
        return self.actions.clamp(parameters + noise * self.actions.half_range * (self.h / 3))


class GreedyDecoding:
    """Takes the likeliest operation, with the predicted parameters or noise around them."""

    def __init__(self, noise: ParameterNoise | None = None) -> None:
        self.noise = noise

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        likeliest = output.logits.masked_fill(~allowed, float("-inf")).argmax(-1)
        return StepChoice(likeliest, self.noise(output.parameters) if self.noise else output.parameters)


class SampledDecoding:
    """Samples operations by their probabilities, a share `explore` of them uniformly among the allowed.

    With `top` only that many of the likeliest are allowed.
    """

    def __init__(
        self,
        generator: torch.Generator,
        *,
        explore: float = 0.0,
        top: int | None = None,
        noise: ParameterNoise | None = None,
    ) -> None:
        self.generator = generator
        self.explore = explore
        self.top = top
        self.noise = noise

    def __call__(self, at: int, output: StepOutput, allowed: Tensor) -> StepChoice:
        scores = output.logits.detach().float()
        likely = torch.softmax(scores.masked_fill(~allowed, float("-inf")), -1)
        if self.top is not None and self.top < likely.shape[-1]:
            allowed = allowed & (likely >= likely.topk(self.top).values[:, -1:])
            likely = likely * allowed
        uniform = allowed / allowed.sum(-1, keepdim=True)
        odds = (1 - self.explore) * likely + self.explore * uniform
        # The exponential race samples in proportion to the odds, without a transfer to the host.
        times = torch.empty(odds.shape).exponential_(generator=self.generator).to(odds)
        sampled = (odds / times).argmax(-1)
        return StepChoice(sampled, self.noise(output.parameters) if self.noise else output.parameters)


@dataclass(frozen=True)
class Rollout:
    """The record of T steps."""

    operations: Tensor
    """(B, T) chosen; the end from where it was first chosen."""
    parameters: Tensor
    """(B, T, P) applied."""
    active: Tensor
    """(B, T) bool: up to and including the first end."""
    allowed: Tensor
    """(B, T, n + 1) bool: what could be chosen."""
    logits: Tensor
    """(B, T, n + 1) of the network."""
    predicted: Tensor
    """(B, T, P) parameters predicted by the network."""
    attention: Tensor
    """(B, T, L)."""
    images: tuple[Tensor, ...]
    """T + 1 times (B, 3, H, W): the photo, then the picture after each step."""

    @property
    def final(self) -> Tensor:
        return self.images[-1]


def decode_steps(
    network: StepDecoder, requests: RequestBatch, choose: DecodingStrategy, steps: int | None = None
) -> Rollout:
    """Decode up to `steps` steps (by default the network's maximum), or until all rows have ended.

    Each operation can be chosen once. Gradients flow through pictures, features and states.
    """
    actions = network.actions
    context = network.begin(requests.tokens, requests.mask)
    image, state = requests.image, context.state
    previous = torch.full_like(requests.tokens[:, 0], actions.start)
    used = torch.zeros(len(image), actions.end, dtype=torch.bool, device=image.device)
    active = torch.ones_like(used[:, 0])
    rows: list[tuple[Tensor, ...]] = []
    images = [image]
    for at in range(network.max_steps if steps is None else steps):
        allowed = actions.find_allowed(used, ~active)
        output = network.step(context, network.encode_image(image), previous, state)
        choice = choose(at, output, allowed)
        image = actions.apply_choices(image, *choice)
        rows.append((*choice, active, allowed, output.logits, output.parameters, output.attention))
        images.append(image)
        previous, state = choice.operations, output.state
        active = active & (previous != actions.end)
        used = used | (one_hot(previous, actions.end + 1)[:, :-1] > 0)
        if not active.any():
            break
    columns = (torch.stack(column, 1) for column in zip(*rows, strict=True))
    operations, parameters, was_active, could, logits, predicted, attention = columns
    return Rollout(operations, parameters, was_active, could, logits, predicted, attention, tuple(images))


def extract_steps(actions: ActionSpace, rollout: Rollout, *, decimals: int | None = None) -> list[NamedSteps]:
    """The steps of each row up to its end; with `decimals`, rounded and clipped to their ranges."""

    def extract(number: int, row: list[float]) -> tuple[str, tuple[float, ...]]:
        operation, values = actions.operations[number], tuple(row[actions.slices[number]])
        if decimals is not None:
            values = tuple(operation.clip([round(value, decimals) for value in values]))
        return operation.name, values

    return [
        tuple(extract(*step) for step in zip(numbers, rows, strict=True) if step[0] != actions.end)
        for numbers, rows in zip(rollout.operations.tolist(), rollout.parameters.tolist(), strict=True)
    ]


class DecodedVariant(NamedTuple):
    """One of several answers to a request."""

    steps: NamedSteps
    image: Tensor
    """(3, H, W) in [0, 1]."""


@torch.no_grad()
def decode_variants(
    network: StepDecoder,
    request: RequestBatch,
    count: int,
    *,
    generator: torch.Generator,
    h: float = 0.1,
    top: int = 1,
) -> list[DecodedVariant]:
    """Up to `count` different answers to one request, the greedy one first.

    Parameters are sampled with standard deviation R h / 3, and operations among the `top` likeliest. There
    may be fewer answers: with `h` of zero, or where the network would do nothing, few of them differ.
    """
    variants = {variant.steps: variant for variant in _decode_batch(network, request, GreedyDecoding())}
    repeated = request.select(torch.zeros(count, dtype=torch.int64, device=request.image.device))
    choose = SampledDecoding(generator, top=top, noise=ParameterNoise(network.actions, h, generator))
    for _ in range(_SAMPLING_ROUNDS):
        if len(variants) >= count:
            break
        for variant in _decode_batch(network, repeated, choose):
            variants.setdefault(variant.steps, variant)
    return list(variants.values())[:count]


def _decode_batch(
    network: StepDecoder, requests: RequestBatch, choose: DecodingStrategy
) -> list[DecodedVariant]:
    rollout = decode_steps(network, requests, choose)
    steps = extract_steps(network.actions, rollout, decimals=_DECIMALS)
    return [DecodedVariant(*pair) for pair in zip(steps, rollout.final, strict=True)]
