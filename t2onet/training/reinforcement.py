"""Training the paper's network by trial and reward (Appx. B): targets alone, no plans.

REINFORCE teaches which operation to choose and the deterministic policy gradient its parameters, with the
return G in place of a learned Q. By the paper's theorem the latter is the gradient of the image loss.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..data.packed import PackedSet
from ..models import Noise, Sampled, T2ONetConfig, rollout
from .decoder import DecoderSettings, DecoderTask
from .losses import choice_loss, image_loss
from .task import Place
from .triplets import Batch
from .words import Words


@dataclass(frozen=True)
class ReinforcementSettings(DecoderSettings):
    """The paper's: episodes of five steps, none of them the end."""

    network: T2ONetConfig = field(default_factory=lambda: T2ONetConfig(max_steps=5, ends=False))
    epsilon: float = 0.05
    """Share of operations that are drawn evenly, whatever the network thinks of them."""
    h: float = 0.1
    """How wide parameters are sampled: a third of h times their half-range."""


class ReinforcementTask(DecoderTask):
    """T2ONet, taught by what its own tries come to."""

    follows = False

    def __init__(self, settings: ReinforcementSettings, data: PackedSet, words: Words, place: Place) -> None:
        super().__init__(settings, data, words, place)
        self.settings = settings

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        return self.episode(self.batch(torch.arange(len(self.train)), iteration - 1, 0), generator)

    def episode(self, batch: Batch, generator: torch.Generator) -> dict[str, Tensor]:
        """One try at each photo: minus the gradients of J are those of `choice` and of `image` (Alg. 3)."""
        noise = Noise(self.network.actions, self.settings.h, generator)
        choose = Sampled(generator, explore=self.settings.epsilon, noise=noise)
        done = rollout(self.network, batch.asked, choose)
        return {"choice": choice_loss(done, batch.target), "image": image_loss(done, batch.target)}
