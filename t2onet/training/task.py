"""What the loop asks of something to be trained. The loop knows nothing of photos or requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Place:
    """Where this process computes, and which of several it is."""

    device: torch.device
    rank: int = 0
    processes: int = 1


Loss = Callable[[int, torch.Generator], dict[str, Tensor]]
"""As `Task.loss`."""


@dataclass(frozen=True)
class Player:
    """Someone who learns by losses of their own, which change the weights of nobody else."""

    name: str
    network: nn.Module
    loss: Loss
    """Without parts at an iteration, the player sits it out; names of parts differ between players."""
    pace: float = 1.0
    """The learning rate, as a multiple of the loop's."""
    metadata: Mapping[str, str] | None = None
    """What a file of these weights says; without it they are kept in the checkpoint only."""


class Task(Protocol):
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


_TAKEN = ("", "network", "average", "optimizer", "best", "checkpoint")
"""Names of the network itself, of its parts in a checkpoint and of the files of a run."""


def players_of(task: Task) -> tuple[Player, ...]:
    """The network of a task as a player without a name, then the others."""
    others: tuple[Player, ...] = tuple(getattr(task, "others", ()))
    names = [player.name for player in others]
    if len({*names, *_TAKEN}) < len(names) + len(_TAKEN):
        raise ValueError(f"players beside the network are called {names}; each needs a name of its own")
    return Player("", task.network, task.loss), *others
