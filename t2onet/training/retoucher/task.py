"""The shipped network as something to be trained: lessons in, losses and figures out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from ...data.packed import PackedSet
from ...data.simulation.echoes import echoes
from ...data.simulation.judged import Meaning, held_back, judged
from ...data.simulation.mining import Labels, mine, plain
from ...errors import TrainingError
from ...language.vocabulary import SPECIAL, Vocabulary
from ...models import description
from ...models.retoucher import Retoucher, Settings
from ...models.retoucher.rollout import Hands
from ..holding import HELD, parted
from ..seeds import seed_of
from ..settings import LoopSettings
from ..task import Place
from ..triplets import photos_of
from .exams import expert_figures, literal_figures, real_figures
from .expert import Chances, Expert, pairs_of, same_as
from .item import VERDICTS
from .lessons import Lesson, Lessons
from .literal import Literal
from .losses import Losses, Weights
from .pictures import Darkroom, moved

_ENDLESS = 10**9


@dataclass(frozen=True)
class RetoucherSettings:
    """`batch` of the loop is split in simulated and real items."""

    network: Settings = field(
        default_factory=lambda: Settings(dropout=0.15, blink=0.4, verdicts=len(VERDICTS))
    )
    loop: LoopSettings = field(
        default_factory=lambda: LoopSettings(
            iterations=7500,
            batch=640,
            beta2=0.98,
            weight_decay=0.05,
            schedule="cosine",
            warm_up=300,
            clip=1.0,
            ema=0.999,
        )
    )
    weights: Weights = field(default_factory=Weights)
    chances: Chances = field(
        default_factory=lambda: Chances(dropped=0.15, crop=0.5, varied=0.7, variation=0.7, between=0.3)
    )
    real: float = 0.2
    """Share of a batch that are pairs of photographs."""
    held: int = HELD
    """Pairs of the train split that are kept back, to choose weights by."""
    dry: float = 0.15
    """Share of the iterations, at the end, without dropout, as it is at work: else edits are too weak."""
    kept: tuple[str, ...] = ()
    """Parts of the network that stay as they are, `reading` say, when training goes on from weights."""
    room: int = 4096
    """Distinct words that a batch has place for."""
    workers: int = 0
    """Processes that make lessons ahead; 0 makes each when it is needed."""
    compiled: bool = False
    """Fuse the arithmetic of pictures: for GPUs."""
    narrow: bool = False
    """Let the network compute in bfloat16."""


class RetoucherTask:
    """The network on a packed set: simulated requests on its photos, and its pairs."""

    selects = "score"

    def __init__(self, settings: RetoucherSettings, data: PackedSet, words: None, place: Place) -> None:
        torch.manual_seed(seed_of(settings.loop.seed))
        self.settings, self.data, self.place = settings, data, place
        self.train, self.held = parted(data, settings.held, settings.loop.seed)
        self.network = Retoucher(replace(settings.network, verdicts=len(VERDICTS)))
        _keep(self.network, settings.kept)
        self.photos = photos_of(data, place.device)
        self.darkroom = Darkroom(self.photos, compiled=settings.compiled)
        hands = Hands(self.network, compiled=settings.compiled, narrow=settings.narrow)
        self.losses = Losses(settings.weights, hands, compiled=settings.compiled)
        self.lessons = self._lessons()
        self.read = _read_one_by_one(data)
        self._ahead: tuple[int, Iterator[Lesson]] = (0, iter(()))

    def _lessons(self) -> Lessons:
        """Of real requests those that were read one by one; where there are none, those that rules read."""
        settings, data = self.settings, self.data
        requests = list(_requests(data, self.held))
        phrases = mine([said for said in requests if judged(plain(said[0]))] or requests)
        heard = echoes(phrases) if phrases.asked else None
        size = settings.loop.batch // self.place.processes
        real = round(size * settings.real)
        photos = np.concatenate([data.before[self.train], data.after[self.train]])
        return Lessons(
            Literal(photos, data.after[self.train], heard),
            Expert(pairs_of(data, self.train), settings.chances, same_as(phrases)),
            (size - real, real),
            settings.room,
            _ENDLESS,
            seed_of(settings.loop.seed, self.place.rank),
        )

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        lesson = self._lesson(iteration)
        if iteration > self.settings.loop.iterations * (1 - self.settings.dry):
            _dried(self.network)
        return self.losses(self.network, self.darkroom.batch(moved(lesson, self.place.device)))

    def _lesson(self, number: int) -> Lesson:
        """Lesson `number`, made ahead in other processes where there are some."""
        if not self.settings.workers:
            return self.lessons[number]
        due, lessons = self._ahead
        if due != number:
            loader: DataLoader[Any] = DataLoader(
                cast(Dataset[Any], self.lessons),
                batch_size=None,
                sampler=range(number, _ENDLESS),
                num_workers=self.settings.workers,
                collate_fn=_as_it_is,
            )
            lessons = iter(loader)
        self._ahead = number + 1, lessons
        return next(lessons)

    def validate(self, network: nn.Module) -> dict[str, float]:
        """On the pairs and requests kept back.

        `score` rises with the distance to the expert and with the share of requests that are not followed:
        of real ones, or where there are none, of simulated ones.
        """
        answers = cast(Retoucher, network)
        rows = self.data.after[self.held]
        figures = expert_figures(answers, self.data, self.held, self.photos)
        figures |= literal_figures(answers, Literal(rows, rows), self.photos)
        if self.read:
            figures |= real_figures(answers, self.read, rows, self.photos)
        following = figures.get("real_following", figures["following"])
        return figures | {"score": figures["l1"] + 0.1 * (1 - following)}

    def metadata(self) -> Mapping[str, str]:
        known = description("retoucher", self.network.settings, Vocabulary(SPECIAL))
        return known | {"verdicts": json.dumps(VERDICTS)}


def _read_one_by_one(data: PackedSet) -> list[tuple[str, Meaning]]:
    """Requests of the train split that were read one by one and are kept for choosing weights."""
    said = {plain(text) for words in data.texts if words.split == "train" for text in words.requests}
    return [(text, meaning) for text in sorted(said) if held_back(text) and (meaning := judged(text))]


def _keep(network: nn.Module, parts: Sequence[str]) -> None:
    known = dict(network.named_children())
    for part in parts:
        if part not in known:
            raise TrainingError(f"the network has no part {part!r} to keep; it has {', '.join(known)}")
        known[part].requires_grad_(False)


def _dried(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def _as_it_is(lesson: Any) -> Any:
    return lesson


def _requests(data: PackedSet, held: NDArray[np.int64]) -> Iterator[tuple[str, Labels | None]]:
    """Those of the train split, without any of a photo that is kept back."""
    kept = {data.samples[number].name.partition("_")[0] for number in held}
    for words in (*data.texts, *data.samples):
        if words.split == "train" and words.name.partition("_")[0] not in kept:
            used = {known["name"]: {"local": known["local"]} for known in words.labels.get("operators", ())}
            for request in words.requests:
                yield request, used or None
