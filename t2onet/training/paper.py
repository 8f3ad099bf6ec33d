"""Training the paper's network: plans by teacher forcing and photos by free running, in turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

import torch
from torch import Tensor, nn

from ..data.packed import PackedSet
from ..errors import DataError, TrainingError
from ..language.ten_requests import TEN_REQUESTS
from ..models import Asked, Greedy, Network, Noise, T2ONet, T2ONetConfig, Teacher, description, rollout
from .figures import distance, similarity, variance
from .losses import image_loss, operation_loss, parameter_loss
from .seeds import drawn, seed_of
from .settings import LoopSettings
from .task import Place
from .triplets import Batch, Triplets, photos_of, triplets
from .words import Words


@dataclass(frozen=True)
class PaperSettings:
    """The paper's, by default: Adam at 1e-3, batches of 64, L1 on the final photo, no sampling."""

    network: T2ONetConfig = field(default_factory=T2ONetConfig)
    loop: LoopSettings = field(default_factory=LoopSettings)
    image_loss: Literal["none", "l1"] = "l1"
    h: float = 0.0
    """How wide parameters are sampled for the image loss: a third of h times their half-range."""
    sigma_photos: int = 64
    """Photos that the variance over ten requests is measured on."""


class PaperTask:
    """T2ONet on the triplets of a packed set."""

    selects = "l1"

    def __init__(self, settings: PaperSettings, data: PackedSet, words: Words, place: Place) -> None:
        if (given := words.vectors.shape[1]) != settings.network.word_size:
            raise TrainingError(f"word vectors are {given} numbers long; give word_size={given}")
        torch.manual_seed(seed_of(settings.loop.seed))
        self.settings = settings
        self.words = words
        self.place = place
        self.network = T2ONet(settings.network, len(words.vocabulary))
        self.network.reader.load_vectors(torch.from_numpy(words.vectors))
        photos = photos_of(data, place.device)
        self.train, self.val = (self._triplets(data, split, photos) for split in ("train", "val"))
        self._planned = torch.nonzero(self.train.planned).flatten().cpu()
        if not len(self._planned):
            raise DataError("no sample of the train split has a plan to learn from; plan the dataset first")

    def _triplets(self, data: PackedSet, split: str, photos: Tensor) -> Triplets:
        return triplets(
            data,
            split,
            photos,
            vocabulary=self.words.vocabulary,
            actions=self.network.actions,
            max_steps=self.settings.network.max_steps,
        )

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Odd iterations follow plans, even ones go freely; without an image loss all follow plans."""
        if self.settings.image_loss == "none":
            return self.follow(self._batch(self._planned, iteration - 1, 0))
        if iteration % 2:
            return self.follow(self._batch(self._planned, iteration // 2, 0))
        return self.go_freely(self._batch(torch.arange(len(self.train)), iteration // 2 - 1, 1), generator)

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
        """L_L1, the network choosing every step."""
        noise = Noise(self.network.actions, self.settings.h, generator)
        done = rollout(self.network, batch.asked, Greedy(noise))
        return {"image": image_loss(done, batch.target)}

    def _batch(self, rows: Tensor, at: int, stream: int) -> Batch:
        """This process's share of batch number `at` (from 0) out of the triplets `rows`."""
        loop = self.settings.loop
        chosen = torch.from_numpy(drawn(len(rows), loop.batch, at, loop.seed, stream))
        return self.train.batch(rows[chosen[self.place.rank :: self.place.processes]])

    def validate(self, network: nn.Module) -> dict[str, float]:
        """On the val split, decoding greedily: l1, ssim, sigma (x 100, as the paper prints it), steps."""
        if not len(self.val):
            return {}
        answers = cast(Network, network)
        columns: dict[str, list[Tensor]] = {"l1": [], "steps": []}
        for batch in self._in_turn(len(self.val)):
            done = rollout(answers, batch.asked, Greedy())
            columns["l1"].append(distance(done.final, batch.target))
            columns["steps"].append((done.operations != answers.actions.end).sum(1).float())
            if (found := similarity(done.final, batch.target)) is not None:
                columns.setdefault("ssim", []).append(found)
        figures = {name: torch.cat(parts).mean().item() for name, parts in columns.items()}
        return figures | {"sigma": 100 * self._variance(answers)}

    def _variance(self, network: Network) -> float:
        """Over the paper's ten requests, on some photos of the val split."""
        found = []
        for batch in self._in_turn(min(self.settings.sigma_photos, len(self.val))):
            photos = batch.asked.image
            answers = [
                rollout(network, self._asked(request, photos), Greedy()).final for request in TEN_REQUESTS
            ]
            found.append(variance(torch.stack(answers)))
        return torch.cat(found).mean().item()

    def _asked(self, request: str, photos: Tensor) -> Asked:
        tokens = torch.tensor([self.words.vocabulary.encode(request)] * len(photos), device=photos.device)
        return Asked(tokens, tokens != 0, photos)

    def _in_turn(self, count: int) -> Iterator[Batch]:
        """The first `count` triplets of the val split."""
        size = self.settings.loop.batch
        for start in range(0, count, size):
            yield self.val.batch(torch.arange(start, min(start + size, count)))

    def metadata(self) -> Mapping[str, str]:
        return description("t2onet", self.settings.network, self.words.vocabulary)
