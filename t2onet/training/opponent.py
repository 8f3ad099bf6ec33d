"""D(I0, I, Q) as an opponent: it learns to tell answers from targets, and its opinion is an image loss."""

from __future__ import annotations

import torch
from torch import Tensor

from ..models import Discriminator, DiscriminatorConfig, description, least_squares
from .task import Player
from .triplets import Batch
from .words import Words


class Opponent:
    """Hears answers in the turn of whoever gives them, and learns from the last of them in its own."""

    def __init__(self, config: DiscriminatorConfig, words: Words, pace: float) -> None:
        self.network = Discriminator(config, len(words.vocabulary))
        self.network.sentence.load_vectors(torch.from_numpy(words.vectors))
        facts = description("discriminator", config, words.vocabulary)
        self.player = Player("discriminator", self.network, self.loss, pace, facts)
        self._heard: tuple[Batch, Tensor] | None = None

    def unconvinced(self, batch: Batch, answers: Tensor) -> Tensor:
        """L_adv of answers (B, 3, H, W): how far they are from being taken for targets."""
        self._heard = batch, answers.detach()
        return least_squares(self._opinions(batch, answers), 1.0)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Targets should be taken for what they are, and so should answers; without any it waits."""
        if self._heard is None:
            return {}
        (batch, answers), self._heard = self._heard, None
        return {
            "target_missed": least_squares(self._opinions(batch, batch.target), 1.0),
            "answer_missed": least_squares(self._opinions(batch, answers), 0.0),
        }

    def _opinions(self, batch: Batch, photos: Tensor) -> tuple[Tensor, ...]:
        opinions: tuple[Tensor, ...] = self.network(batch.asked.image, photos, batch.asked.tokens)
        return opinions
