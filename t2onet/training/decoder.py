"""What every way to train the paper's network shares: its triplets and the figures of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn

from ..data.packed import PackedSet
from ..models import Asked, Greedy, Network, T2ONet, T2ONetConfig, description, rollout
from .holding import HELD
from .settings import LoopSettings
from .task import Place
from .triplet_task import TripletTask
from .words import Words


@dataclass(frozen=True)
class DecoderSettings:
    """Of any of them."""

    network: T2ONetConfig = field(default_factory=T2ONetConfig)
    loop: LoopSettings = field(default_factory=LoopSettings)
    held: int = HELD
    """Pairs of the train split that are kept back, to choose weights by."""
    sigma_photos: int = 64
    """Photos that the variance over ten requests is measured on."""


class DecoderTask(TripletTask):
    """T2ONet on the triplets of a packed set; `follows` says whether plans are read."""

    follows: bool

    def __init__(self, settings: DecoderSettings, data: PackedSet, words: Words, place: Place) -> None:
        super().__init__(settings, words, place, settings.network.word_size)
        self.network = T2ONet(settings.network, len(words.vocabulary))
        self.network.reader.load_vectors(torch.from_numpy(words.vectors))
        self.take(data, self.network.actions if self.follows else None, self.network.max_steps)

    def validate(self, network: nn.Module) -> dict[str, float]:
        """On the pairs kept back, decoding greedily: l1, ssim, sigma, steps."""
        steps: list[Tensor] = []

        def answer(asked: Asked) -> Tensor:
            done = rollout(cast(Network, network), asked, Greedy())
            steps.append((done.operations != self.network.actions.end).sum(1).float())
            return done.final

        if figures := self.figures(answer):
            figures["steps"] = torch.cat(steps)[: len(self.held)].mean().item()
        return figures

    def metadata(self) -> Mapping[str, str]:
        return description("t2onet", self.network.config, self.words.vocabulary)
