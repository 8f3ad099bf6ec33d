"""What the loop asks of a task, and seeded randomness for it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .settings import LoopSettings

# What the loop asks of something to be trained. The loop knows nothing of photos or requests.


@dataclass(frozen=True)
class ProcessInfo:
    """Where this process computes, and which of several it is."""

    device: torch.device
    rank: int = 0
    processes: int = 1


LossFunction = Callable[[int, torch.Generator], dict[str, Tensor]]
"""As `Task.loss`."""


@dataclass(frozen=True)
class Learner:
    """Someone who learns by losses of their own, which change the weights of nobody else."""

    name: str
    network: nn.Module
    loss: LossFunction
    """Without parts at an iteration, the player sits it out; names of parts differ between players."""
    pace: float = 1.0
    """The learning rate, as a multiple of the loop's."""
    metadata: Mapping[str, str] | None = None
    """What a file of these weights says; without it they are kept in the checkpoint only."""


class TrainingTask(Protocol):
    """Something to be trained: a network, and perhaps `others`, which learn beside it.

    `others` is a sequence of players; a task without it has one player. In every iteration the network has
    its turn first and the others follow in their order.
    """

    @property
    def network(self) -> nn.Module: ...

    @property
    def selects(self) -> str:
        """The figure of `validate` whose lowest value marks the best weights."""

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The parts whose sum is minimised; iterations count from 1.

        Whatever is drawn comes from `generator` (on the CPU) or follows from `iteration`.
        """

    def validate(self, network: nn.Module) -> dict[str, float]:
        """Figures of a network of the same make, which is in evaluation mode."""

    def metadata(self) -> Mapping[str, str]:
        """What a file of weights must say so that the network can be made again."""


_RESERVED_NAMES = ("", "network", "average", "optimizer", "best", "checkpoint")
"""Names of the network itself, of its parts in a checkpoint and of the files of a run."""


def list_learners(task: TrainingTask) -> tuple[Learner, ...]:
    """The network of a task as a player without a name, then the others."""
    others: tuple[Learner, ...] = tuple(getattr(task, "others", ()))
    names = [player.name for player in others]
    if len({*names, *_RESERVED_NAMES}) < len(names) + len(_RESERVED_NAMES):
        raise ValueError(f"players beside the network are called {names}; each needs a name of its own")
    return Learner("", task.network, task.loss), *others


# Randomness that follows from numbers alone, so that a run resumes exactly where it was.


def derive_seed(*numbers: int) -> int:
    """A seed of 63 bits for numbers from 0 up."""
    return int(_seed_sequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def make_generator(*numbers: int) -> torch.Generator:
    """A generator on the CPU, so that every device sees the same draws."""
    return torch.Generator().manual_seed(derive_seed(*numbers))


def draw_batch_indices(count: int, size: int, at: int, *numbers: int) -> NDArray[np.int64]:
    """Batch number `at` (from 0) of `size` out of `count`: all come up once before any comes up again."""
    places = np.arange(at * size, (at + 1) * size)
    epochs = {
        int(epoch): shuffle_indices(count, int(epoch), *numbers) for epoch in np.unique(places // count)
    }
    return np.array([epochs[int(place // count)][place % count] for place in places], np.int64)


def shuffle_indices(count: int, *numbers: int) -> NDArray[np.int64]:
    """0 .. count - 1 shuffled."""
    return np.random.default_rng(_seed_sequence(numbers)).permutation(count)


def _seed_sequence(numbers: tuple[int, ...]) -> np.random.SeedSequence:
    """NumPy takes (1,) and (1, 0) for the same; their count tells them apart."""
    return np.random.SeedSequence([len(numbers), *numbers])


# A moving average of a network's weights, which often edits better than the weights themselves.


class WeightAverage:
    """A second network of the same make; the first few iterations count more than `keep` says."""

    def __init__(self, network: nn.Module, keep: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.keep = keep

    @torch.no_grad()
    def update(self, network: nn.Module, iteration: int) -> None:
        """Move towards `network` after an iteration (from 1); counts and running figures are copied."""
        share = 1 - min(self.keep, iteration / (iteration + 10))
        for mine, new in zip(self.network.parameters(), network.parameters(), strict=True):
            mine.lerp_(new, share)
        for kept, now in zip(self.network.buffers(), network.buffers(), strict=True):
            kept.copy_(now)


# The learning rate as a function of the iteration alone, so that there is no state to keep.


def compute_learning_rate(settings: LoopSettings, iteration: int) -> float:
    """At an iteration from 1: rising through the warm-up, then constant or half a cosine down to zero."""
    if iteration <= settings.warm_up:
        return settings.learning_rate * iteration / settings.warm_up
    if settings.schedule == "constant":
        return settings.learning_rate
    done = (iteration - settings.warm_up) / max(1, settings.iterations - settings.warm_up)
    return settings.learning_rate * (1 + math.cos(math.pi * min(1.0, done))) / 2
