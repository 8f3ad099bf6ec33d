"""What was done as plain steps, and several answers to one request: other parameters, other operations."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .actions import Actions
from .network import Network
from .rollout import Asked, Greedy, Noise, Rollout, Sampled, rollout

Steps = tuple[tuple[str, tuple[float, ...]], ...]
"""Operations with their parameters, as `Recipe.from_steps` takes them."""

_DECIMALS = 5
_ROUNDS = 8
"""Times that as many answers are drawn as are asked for, before there seem to be no more."""


class Answer(NamedTuple):
    """One of several."""

    steps: Steps
    image: Tensor
    """(3, H, W) in [0, 1]."""


@torch.no_grad()
def several(
    network: Network, asked: Asked, count: int, *, generator: torch.Generator, h: float = 0.1, top: int = 1
) -> list[Answer]:
    """Up to `count` different answers to one request, the network's own first.

    Parameters are sampled with a standard deviation of R h / 3, and operations among the `top` likeliest.
    There may be fewer: without `h`, and where the network would do nothing, few answers differ.
    """
    found = {answer.steps: answer for answer in _answers(network, asked, Greedy())}
    many = asked.rows(torch.zeros(count, dtype=torch.int64, device=asked.image.device))
    choose = Sampled(generator, top=top, noise=Noise(network.actions, h, generator))
    for _ in range(_ROUNDS):
        if len(found) >= count:
            break
        for answer in _answers(network, many, choose):
            found.setdefault(answer.steps, answer)
    return list(found.values())[:count]


def _answers(network: Network, asked: Asked, choose: Greedy | Sampled) -> list[Answer]:
    done = rollout(network, asked, choose)
    return [Answer(*one) for one in zip(steps_of(network.actions, done), done.final, strict=True)]


def steps_of(actions: Actions, done: Rollout) -> list[Steps]:
    """What was done to each photo, up to the end; parameters are rounded to what anyone could tell apart."""
    rows = zip(done.operations.tolist(), done.parameters.tolist(), strict=True)
    return [
        tuple(_step(actions, *step) for step in zip(*row, strict=True) if step[0] != actions.end)
        for row in rows
    ]


def _step(actions: Actions, number: int, row: list[float]) -> tuple[str, tuple[float, ...]]:
    operation = actions.operations[number]
    rounded = [round(value, _DECIMALS) for value in row[actions.places[number]]]
    return operation.name, tuple(operation.clipped(rounded))
