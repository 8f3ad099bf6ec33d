"""What every way to train the paper's network shares: triplets, batches of them, and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.packed import PackedSet
from ..errors import TrainingError
from ..models import Actions, Asked, Greedy, Network, T2ONet, T2ONetConfig, description, rollout
from .figures import nearness, request_variance
from .holding import HELD, parted
from .seeds import drawn, seed_of
from .settings import LoopSettings
from .task import Place
from .triplets import Batch, Triplets, photos_of, triplets
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


class DecoderTask:
    """T2ONet on the triplets of a packed set; `follows` says whether plans are read."""

    selects = "l1"
    follows: bool

    def __init__(self, settings: DecoderSettings, data: PackedSet, words: Words, place: Place) -> None:
        if (given := words.vectors.shape[1]) != settings.network.word_size:
            raise TrainingError(f"word vectors are {given} numbers long; give word_size={given}")
        torch.manual_seed(seed_of(settings.loop.seed))
        self.words = words
        self.place = place
        self.loop, self.sigma_photos = settings.loop, settings.sigma_photos
        self.network = T2ONet(settings.network, len(words.vocabulary))
        self.network.reader.load_vectors(torch.from_numpy(words.vectors))
        photos = photos_of(data, place.device)
        parts = parted(data, settings.held, settings.loop.seed)
        self.train = self._triplets(data, parts.train, photos, self.network.actions if self.follows else None)
        self.held = self._triplets(data, parts.held, photos, None)

    def _triplets(
        self, data: PackedSet, numbers: NDArray[np.int64], photos: Tensor, actions: Actions | None
    ) -> Triplets:
        steps = self.network.max_steps
        words = self.words.vocabulary
        return triplets(data, numbers, photos, vocabulary=words, actions=actions, max_steps=steps)

    def batch(self, rows: Tensor, at: int, stream: int) -> Batch:
        """This process's share of batch number `at` (from 0) out of the triplets `rows`."""
        chosen = torch.from_numpy(drawn(len(rows), self.loop.batch, at, self.loop.seed, stream))
        return self.train.batch(rows[chosen[self.place.rank :: self.place.processes]])

    def validate(self, network: nn.Module) -> dict[str, float]:
        """On the pairs kept back, decoding greedily: l1, ssim, steps, sigma."""
        if not len(self.held):
            return {}
        steps: list[Tensor] = []

        def answer(asked: Asked) -> Tensor:
            done = rollout(cast(Network, network), asked, Greedy())
            steps.append((done.operations != self.network.actions.end).sum(1).float())
            return done.final

        near = nearness((answer(batch.asked), batch.target) for batch in self._in_turn(len(self.held)))
        taken = torch.cat(steps).mean().item()
        few = self._in_turn(min(self.sigma_photos, len(self.held)))
        sigma = request_variance(answer, (batch.asked.image for batch in few), self.words.vocabulary)
        return near | {"steps": taken, "sigma": sigma}

    def _in_turn(self, count: int) -> Iterator[Batch]:
        """The first `count` triplets kept back."""
        for start in range(0, count, self.loop.batch):
            yield self.held.batch(torch.arange(start, min(start + self.loop.batch, count)))

    def metadata(self) -> Mapping[str, str]:
        return description("t2onet", self.network.config, self.words.vocabulary)
