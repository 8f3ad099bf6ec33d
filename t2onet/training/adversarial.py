"""Training the GAN baselines: a generator paints, its discriminator judges, and L1 ties both to targets.

As the T2ONet paper adapts them: pairs at 128 x 128, batches of 64, no augmentation, no caption matching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..data.packed import PackedSet
from ..data.words import WordVectors
from ..models import describe_network
from ..models.baselines import BASELINES, AdversarialBatch, resize_like
from ..models.text import GRUTextEncoder
from .settings import LoopSettings
from .task import Learner, ProcessInfo
from .triplets import HELD_OUT_PAIRS, TripletTask


@dataclass(frozen=True)
class AdversarialSettings:
    """`network` is the config of a baseline, which says which one it is."""

    network: Any
    loop: LoopSettings = field(default_factory=lambda: LoopSettings(learning_rate=2e-4, beta1=0.5))
    l1: float = 100.0
    """Weight of the distance from the target; everything else weighs what its paper says."""
    held: int = HELD_OUT_PAIRS
    """Pairs of the train split that are kept back, to choose weights by."""
    sigma_photos: int = 64
    """Photos that the variance over ten requests is measured on."""


BASELINE_LOOPS: Mapping[str, LoopSettings] = {
    "geneva": LoopSettings(learning_rate=1e-4, beta1=0.0, beta2=0.9)
}
"""Of the baselines whose papers train in another way."""


def get_baseline_settings(name: str) -> AdversarialSettings:
    """A baseline's, as it comes."""
    network = BASELINES[name].config()
    return (
        AdversarialSettings(network, BASELINE_LOOPS[name])
        if name in BASELINE_LOOPS
        else AdversarialSettings(network)
    )


class AdversarialTask(TripletTask):
    """A baseline on the triplets of a packed set, whose plans it does not need."""

    def __init__(
        self, settings: AdversarialSettings, data: PackedSet, words: WordVectors, place: ProcessInfo
    ) -> None:
        super().__init__(settings, words, place, settings.network.word_size)
        self.settings = settings
        self.name = next(name for name, it in BASELINES.items() if it.config is type(settings.network))
        self.game = BASELINES[self.name].game(settings.network, len(words.vocabulary))
        self.network = self.game.generator
        judge = self.game.discriminator
        self.others = (Learner("discriminator", judge, self.judge, self.game.pace),)
        for part in (*self.network.modules(), *judge.modules()):
            if isinstance(part, GRUTextEncoder):
                part.load_vectors(torch.from_numpy(words.vectors))
        self.take(data)
        self._shown: tuple[AdversarialBatch, tuple[Tensor, ...]] | None = None

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The generator's; what it paints is what the discriminator then learns from."""
        batch = self.batch(torch.arange(len(self.train)), iteration - 1, 0)
        given = AdversarialBatch(batch.asked.image, batch.asked.tokens, batch.target)
        drawn = self.network.draw(given.image, given.tokens)
        self._shown = given, tuple(picture.detach() for picture in drawn.pictures)
        missed = [(picture - resize_like(given.target, picture)).abs().mean() for picture in drawn.pictures]
        near = self.settings.l1 * torch.stack(missed).mean()
        return {"l1": near, **drawn.penalties, **self.game.persuade(given, drawn.pictures)}

    def judge(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The discriminator's, of what the generator has just painted; nothing else is shown to it."""
        if self._shown is None:
            return {}
        shown, self._shown = self._shown, None
        return self.game.judge(*shown)

    def validate(self, network: nn.Module) -> dict[str, float]:
        """On the pairs kept back: l1, ssim, sigma."""
        return self.figures(lambda asked: network(asked.image, asked.tokens))

    def metadata(self) -> Mapping[str, str]:
        return describe_network(self.name, self.settings.network, self.words.vocabulary)
