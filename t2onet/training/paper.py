"""Training the paper's network: plans by teacher forcing and photos by free running, in turns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor

from ..data.packed import PackedSet
from ..errors import DataError
from ..models import DiscriminatorConfig, Greedy, Noise, Teacher, rollout
from .decoder import DecoderSettings, DecoderTask
from .losses import image_loss, operation_loss, parameter_loss, reached
from .opponent import Opponent
from .task import Place, Player
from .triplets import Batch
from .words import Words


@dataclass(frozen=True)
class PaperSettings(DecoderSettings):
    """The paper's, by default: Adam at 1e-3, batches of 64, L1 on the final photo, no sampling."""

    image_loss: Literal["none", "l1", "adversarial", "both"] = "l1"
    h: float = 0.0
    """How wide parameters are sampled for the image loss: a third of h times their half-range."""
    discriminator: DiscriminatorConfig = field(default_factory=DiscriminatorConfig)
    """Of the adversarial loss; it reads the same word vectors as the network."""
    discriminator_pace: float = 0.2
    """Its learning rate, as a multiple of the network's."""


class PaperTask(DecoderTask):
    """T2ONet, taught by plans and by targets."""

    follows = True

    def __init__(self, settings: PaperSettings, data: PackedSet, words: Words, place: Place) -> None:
        super().__init__(settings, data, words, place)
        self.settings = settings
        self.opponent: Opponent | None = None
        if settings.image_loss in ("adversarial", "both"):
            reads = replace(settings.discriminator, vector_size=settings.network.word_size)
            self.opponent = Opponent(reads, words, settings.discriminator_pace)
        self._planned = torch.nonzero(self.train.planned).flatten().cpu()
        if not len(self._planned):
            raise DataError("no sample of the train split has a plan to learn from; plan the dataset first")

    @property
    def others(self) -> tuple[Player, ...]:
        return () if self.opponent is None else (self.opponent.player,)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Odd iterations follow plans, even ones go freely; without an image loss all follow plans."""
        if self.settings.image_loss == "none":
            return self.follow(self.batch(self._planned, iteration - 1, 0))
        if iteration % 2:
            return self.follow(self.batch(self._planned, iteration // 2, 0))
        return self.go_freely(self.batch(torch.arange(len(self.train)), iteration // 2 - 1, 1), generator)

    def follow(self, batch: Batch) -> dict[str, Tensor]:
        """L_o and L_alpha, the plan choosing every step."""
        actions = self.network.actions
        teacher = Teacher(batch.operations, batch.parameters)
        done = rollout(self.network, batch.asked, teacher, batch.operations.shape[1])
        return {
            "operation": operation_loss(done, batch.operations),
            "parameter": parameter_loss(done, batch.operations, batch.parameters, actions),
        }

    def go_freely(self, batch: Batch, generator: torch.Generator) -> dict[str, Tensor]:
        """L_L1, L_adv or both of the final photo, the network choosing every step."""
        noise = Noise(self.network.actions, self.settings.h, generator)
        done = rollout(self.network, batch.asked, Greedy(noise))
        parts: dict[str, Tensor] = {}
        if self.settings.image_loss != "adversarial":
            parts["image"] = image_loss(done, batch.target)
        if self.opponent is not None:
            parts["unconvinced"] = reached(self.opponent.unconvinced(batch, done.final), done)
        return parts
