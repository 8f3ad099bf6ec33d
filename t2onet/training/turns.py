"""A player's turn: losses, a step down them, and the average that follows. It knows no files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from .averaging import Average
from .checkpoints import State
from .schedule import learning_rate
from .seeds import generator_of, seed_of
from .settings import LoopSettings
from .task import Player


class Objective(nn.Module):
    """A loss as a module, so that a distributed wrapper sees every pass through the player's network."""

    def __init__(self, player: Player, number: int, settings: LoopSettings, rank: int) -> None:
        super().__init__()
        self.network = player.network
        self.narrow = settings.precision == "bfloat16"
        self._loss = player.loss
        self._numbers = (settings.seed, rank, number)

    def forward(self, iteration: int) -> dict[str, Tensor]:
        seed, rank, number = self._numbers
        torch.manual_seed(seed_of(seed, iteration, rank, 2 * number + 1))
        generator = generator_of(seed, iteration, rank, 2 * number + 2)
        device = next(self.network.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.narrow):
            return self._loss(iteration, generator)


class Turn:
    """What a player, the `number`-th from 0, does in every iteration; the first has the average."""

    def __init__(self, player: Player, number: int, settings: LoopSettings, accelerator: Accelerator) -> None:
        self.player = player
        self.settings = settings
        self.accelerator = accelerator
        objective = Objective(player, number, settings, accelerator.process_index)
        self.objective = accelerator.prepare_model(objective.to(accelerator.device))
        network, betas = player.network, (settings.beta1, settings.beta2)
        self.state = State(
            player.name,
            network,
            torch.optim.AdamW(network.parameters(), betas=betas, weight_decay=settings.weight_decay),
            Average(network, settings.ema) if settings.ema and not number else None,
        )

    def take(self, iteration: int) -> dict[str, Tensor]:
        """One step down the player's losses, whose parts are returned; none, and no step, if it has none."""
        settings, (_, network, optimizer, average) = self.settings, self.state
        for group in optimizer.param_groups:
            group["lr"] = self.player.pace * learning_rate(settings, iteration)
        optimizer.zero_grad(set_to_none=True)
        parts: dict[str, Tensor] = self.objective(iteration)
        if not parts:
            return {}
        self.accelerator.backward(torch.stack(list(parts.values())).sum())
        if settings.clip:
            nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
        optimizer.step()
        if average is not None:
            average.update(network, iteration)
        return {name: part.detach() for name, part in parts.items()}


@contextmanager
def frozen(networks: Iterable[nn.Module]) -> Iterator[None]:
    """No gradient reaches weights of these networks, though it passes through them."""
    weights = [weight for network in networks for weight in network.parameters() if weight.requires_grad]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)
