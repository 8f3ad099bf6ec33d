"""Adversarial training: a discriminator beside any generator, and the GAN baselines as a task.

The baselines are adapted as the T2ONet paper says: pairs at 128 x 128, batches of 64, L1 between picture and
target, no augmentation, no caption matching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from ..data.packed import PackedSet
from ..data.words import WordVectors
from ..models import RequestBatch, describe_network
from ..models.baselines import BASELINES, resize_like
from .task import Learner, LoopSettings, ProcessInfo
from .triplets import TripletBatch, TripletSettings, TripletTask, load_text_encoders

Pictures = tuple[Tensor, ...]
"""(B, 3, h, w) in [0, 1], the finished ones last."""


class Adversary(Protocol):
    """A discriminator and both adversarial losses; every `BaselineGAN` is one."""

    @property
    def discriminator(self) -> nn.Module: ...

    @property
    def pace(self) -> float:
        """Learning rate of the discriminator, as a multiple of the loop's."""

    def generator_loss(self, requests: RequestBatch, pictures: Pictures) -> dict[str, Tensor]:
        """The generator's loss for pictures that the discriminator recognizes as generated."""

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: Pictures
    ) -> dict[str, Tensor]:
        """The discriminator's loss for confusing targets with pictures."""


class AdversarialTraining:
    """Trains a discriminator on the pictures that its generator was last penalized for."""

    def __init__(
        self, adversary: Adversary, words: WordVectors, metadata: Mapping[str, str] | None = None
    ) -> None:
        self.adversary = adversary
        load_text_encoders(adversary.discriminator, words)
        self.learner = Learner("discriminator", adversary.discriminator, self.loss, adversary.pace, metadata)
        self._last: tuple[TripletBatch, Pictures] | None = None

    def generator_loss(self, batch: TripletBatch, pictures: Pictures) -> dict[str, Tensor]:
        """The generator's loss for pictures, from which the discriminator learns next."""
        self._last = batch, tuple(picture.detach() for picture in pictures)
        return self.adversary.generator_loss(batch.requests, pictures)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The discriminator's; empty, so that it skips the iteration, if the generator made no pictures."""
        if self._last is None:
            return {}
        (batch, pictures), self._last = self._last, None
        return self.adversary.discriminator_loss(batch.requests, batch.target, pictures)


@dataclass(frozen=True)
class AdversarialSettings(TripletSettings):
    """`network` is the config of a baseline, whose type says which one it is."""

    network: Any
    loop: LoopSettings = field(default_factory=lambda: LoopSettings(learning_rate=2e-4, beta1=0.5))
    l1: float = 100.0
    """Weight of the distance from the target; other losses have the weights of their papers."""


BASELINE_LOOPS: Mapping[str, LoopSettings] = {
    "geneva": LoopSettings(learning_rate=1e-4, beta1=0.0, beta2=0.9)
}
"""Loop settings of the baselines whose papers differ from the default."""


def get_baseline_settings(name: str) -> AdversarialSettings:
    """The default settings of a baseline."""
    network = BASELINES[name].config()
    if name in BASELINE_LOOPS:
        return AdversarialSettings(network, BASELINE_LOOPS[name])
    return AdversarialSettings(network)


class AdversarialTask(TripletTask):
    """A baseline on the triplets of a packed set; plans are not needed."""

    def __init__(
        self, settings: AdversarialSettings, data: PackedSet, words: WordVectors, process: ProcessInfo
    ) -> None:
        super().__init__(settings, words, process, settings.network.word_size)
        self.settings = settings
        self.name = next(
            name for name, baseline in BASELINES.items() if baseline.config is type(settings.network)
        )
        gan = BASELINES[self.name].gan(settings.network, len(words.vocabulary))
        self.network = gan.generator
        load_text_encoders(self.network, words)
        self.adversarial = AdversarialTraining(gan, words)
        self.others = (self.adversarial.learner,)
        self.load(data)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The generator's: distance from the target, penalties of its paper, and the adversarial loss."""
        batch = self.batch(torch.arange(len(self.train)), iteration - 1, 0)
        output = self.network.generate(batch.requests.image, batch.requests.tokens)
        errors = [(picture - resize_like(batch.target, picture)).abs().mean() for picture in output.pictures]
        distance = self.settings.l1 * torch.stack(errors).mean()
        adversarial = self.adversarial.generator_loss(batch, output.pictures)
        return {"l1": distance, **output.penalties, **adversarial}

    def validate(self, network: nn.Module) -> dict[str, float]:
        """l1, ssim and sigma on the validation pairs."""
        return self.measure(lambda requests: network(requests.image, requests.tokens))

    def metadata(self) -> Mapping[str, str]:
        return describe_network(self.name, self.settings.network, self.words.vocabulary)
