"""What all tasks on triplets share: some to learn from in batches, some kept back, and figures on those."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from ..data.packed import PackedSet
from ..errors import DataError, TrainingError
from ..models import Actions, Asked
from .figures import nearness, request_variance
from .holding import parted
from .seeds import drawn, seed_of
from .settings import LoopSettings
from .task import Place
from .triplets import Batch, Triplets, photos_of, triplets
from .words import Words


class Settings(Protocol):
    """Of any such task."""

    @property
    def loop(self) -> LoopSettings: ...

    @property
    def held(self) -> int: ...

    @property
    def sigma_photos(self) -> int: ...


class TripletTask:
    """Triplets of a packed set; what answers a request is for others to say."""

    selects = "l1"
    train: Triplets
    held: Triplets

    def __init__(self, settings: Settings, words: Words, place: Place, word_size: int) -> None:
        if (given := words.vectors.shape[1]) != word_size:
            raise TrainingError(f"word vectors are {given} numbers long; give word_size={given}")
        torch.manual_seed(seed_of(settings.loop.seed))
        self.words = words
        self.place = place
        self.loop, self.sigma_photos, self._kept = settings.loop, settings.sigma_photos, settings.held

    def take(self, data: PackedSet, actions: Actions | None = None, max_steps: int = 0) -> None:
        """The train split, part of it kept back; plans are read for `actions`, and left alone without."""
        photos, words = photos_of(data, self.place.device), self.words.vocabulary
        learned, held = parted(data, self._kept, self.loop.seed)
        self.train = triplets(data, learned, photos, vocabulary=words, actions=actions, max_steps=max_steps)
        self.held = triplets(data, held, photos, vocabulary=words, max_steps=max_steps)
        if not len(self.train):
            raise DataError(
                "no pair of the train split has a request, and this config learns from requests; "
                "add requests to the dataset, or train the config default, which can do without"
            )

    def batch(self, rows: Tensor, at: int, stream: int) -> Batch:
        """This process's share of batch number `at` (from 0) out of the triplets `rows`."""
        chosen = torch.from_numpy(drawn(len(rows), self.loop.batch, at, self.loop.seed, stream))
        return self.train.batch(rows[chosen[self.place.rank :: self.place.processes]])

    def figures(self, answer: Callable[[Asked], Tensor]) -> dict[str, float]:
        """l1, ssim and sigma of answers to the pairs kept back, which are asked for in order first."""
        if not len(self.held):
            return {}
        near = nearness((answer(batch.asked), batch.target) for batch in self._in_turn(len(self.held)))
        few = self._in_turn(min(self.sigma_photos, len(self.held)))
        sigma = request_variance(answer, (batch.asked.image for batch in few), self.words.vocabulary)
        return near | {"sigma": sigma}

    def _in_turn(self, count: int) -> Iterator[Batch]:
        """The first `count` triplets kept back."""
        for start in range(0, count, self.loop.batch):
            yield self.held.batch(torch.arange(start, min(start + self.loop.batch, count)))
