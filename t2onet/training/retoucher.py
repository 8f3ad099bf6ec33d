"""Train the shipped network: losses, validation figures and the task."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from ..data.packed import PackedSet
from ..data.simulation.echoes import echoes
from ..data.simulation.judged import Meaning, held_back, judged
from ..data.simulation.mining import Labels, mine, plain
from ..errors import TrainingError
from ..language import Attribute
from ..language.grams import spelt
from ..language.vocabulary import SPECIAL, Vocabulary
from ..metrics.attributes import ATTRIBUTE_INDEX as ATTRIBUTES
from ..metrics.attributes import JUST_NOTICEABLE, measure_attributes
from ..models import describe_network
from ..models.retoucher import (
    Retoucher,
    RetoucherConfig,
    RetoucherRuntime,
    decode_recipes,
    merge_declined_logits,
)
from .retoucher_data import (
    EXPERT_MODE,
    LITERAL_MODE,
    VERDICTS,
    BatchRenderer,
    CollatedSamples,
    ExpertSampler,
    ExpertSampling,
    LiteralSampler,
    RetoucherBatch,
    RetoucherDataset,
    collate_samples,
    group_paraphrases,
    list_expert_pairs,
    move_to_device,
)
from .settings import LoopSettings
from .task import ProcessInfo, derive_seed
from .triplets import HELD_OUT_PAIRS, measure_closeness, photos_to_tensor, split_validation

# The shipped network's lessons: to do what was said (literal), and what a retoucher did (expert).


# What is wrong with the network's answers to a batch.


@dataclass(frozen=True)
class LossWeights:
    """How much each part counts."""

    image: float = 10.0
    attributes: float = 0.16
    used: float = 0.3
    verdict: float = 0.3
    sense: float = 0.3
    expert: float = 10.0


class RetoucherLoss:
    """The parts of the loss, weighted; their sum is what training lowers."""

    def __init__(self, weights: LossWeights, hands: RetoucherRuntime, *, compiled: bool = False) -> None:
        self.weights, self.hands = weights, hands
        make: Callable[..., Callable[..., Tensor]] = torch.compile if compiled else (lambda run: run)
        self.aside, self.off = make(_attribute_error), make(_image_error)

    def __call__(self, network: Retoucher, batch: RetoucherBatch) -> dict[str, Tensor]:
        w = self.weights
        done = decode_recipes(network, self.hands, batch, batch.used)
        off = self.off(done.image, batch.after)
        aside = self.aside(done.image, batch.after)
        gates = functional.binary_cross_entropy_with_logits(done.used, batch.used, reduction="none").mean(-1)
        real = batch.real.float()
        literal = (1 - real) * batch.weight
        return {
            "image": w.image * _weighted_mean(off, literal),
            "attributes": w.attributes * _weighted_mean(aside, literal),
            "used": w.used * (_weighted_mean(gates, 1 - real) + 0.1 * _weighted_mean(gates, real)),
            "verdict": w.verdict * _verdict_error(done.verdict, batch.verdict).mean(),
            "sense": w.sense
            * _weighted_mean(_sense_error(done.sense, batch.asked), (1 - real) * (batch.verdict == 0)),
            "expert": w.expert * _weighted_mean(off, real),
        }


def _image_error(made: Tensor, wanted: Tensor) -> Tensor:
    return (made - wanted).abs().mean((-3, -2, -1))


def _attribute_error(made: Tensor, wanted: Tensor) -> Tensor:
    """How far attributes (B, 6) are from those wanted, in noticeable amounts, far ones counted less."""
    apart = (measure_attributes(made) - measure_attributes(wanted)) / torch.tensor(
        JUST_NOTICEABLE, device=made.device
    )
    return functional.smooth_l1_loss(apart, torch.zeros_like(apart), reduction="none").mean(-1).clamp(max=40)


def _sense_error(sense: Tensor, asked: Tensor) -> Tensor:
    """How far what was understood (B, attributes) is from what was asked for."""
    return functional.smooth_l1_loss(sense, asked, reduction="none", beta=0.3).sum(-1)


def _verdict_error(logits: Tensor, verdict: Tensor) -> Tensor:
    """Whether it can be answered; and where not, which matter it is, if that is known."""
    answered = functional.cross_entropy(
        merge_declined_logits(logits), (verdict != 0).long(), reduction="none"
    )
    named = functional.cross_entropy(logits[:, 1:], (verdict - 1).clamp(min=0), reduction="none")
    return answered + torch.where(verdict > 0, named, 0.0)


def _weighted_mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1)


# How well the network does: near the expert on real pairs, and as told on simulated requests.

SIMULATED_REQUESTS, VALIDATION_SEED = 1024, 11
MAX_DECLINED_SHARE = 0.03
"""Share of real requests that could be answered and may be declined, so that fewer others are answered."""
_BATCH_SIZE = 128


class EncodedRequests(NamedTuple):
    """Requests to pictures, as `rollout` takes them."""

    pieces: Tensor
    told: Tensor
    before: Tensor
    manner: Tensor


def encode_requests(requests: list[str], pictures: Tensor, manner: int) -> EncodedRequests:
    """The same manner for all."""
    pieces, told = (torch.from_numpy(part).long().to(pictures.device) for part in spelt(requests))
    return EncodedRequests(
        pieces, told, pictures, torch.full((len(requests),), manner, device=pictures.device)
    )


def measure_expert_closeness(
    network: Retoucher, data: PackedSet, numbers: NDArray[np.int64], photos: Tensor
) -> dict[str, float]:
    """`l1` and, where it can be measured, `ssim` from answers in manner expert to the experts' pictures."""
    hands = RetoucherRuntime(network)

    def answered() -> Iterator[tuple[Tensor, Tensor]]:
        for start in range(0, len(numbers), _BATCH_SIZE):
            samples = [data.samples[number] for number in numbers[start : start + _BATCH_SIZE]]
            before, after = (
                photos[[getattr(sample, side) for sample in samples]].float() / 255
                for side in ("before", "after")
            )
            requests = [sample.requests[0] if sample.requests else "" for sample in samples]
            yield decode_recipes(network, hands, encode_requests(requests, before, EXPERT_MODE)).image, after

    return measure_closeness(answered())


def measure_literal_following(
    network: Retoucher, literal: LiteralSampler, photos: Tensor
) -> dict[str, float]:
    """`following` over classes of attribute and sign; `flagged` and `flagged_wrongly` shares of requests."""
    rng = np.random.default_rng(VALIDATION_SEED)
    hits, counts = torch.zeros(6, 2), torch.zeros(6, 2)
    flags: dict[bool, list[Tensor]] = {True: [], False: []}
    hands, darkroom = RetoucherRuntime(network), BatchRenderer(photos)
    for _ in range(0, SIMULATED_REQUESTS, _BATCH_SIZE):
        batch = darkroom.batch(
            move_to_device(collate_samples(list(literal.items(rng, _BATCH_SIZE))), photos.device)
        )
        done = decode_recipes(network, hands, batch)
        change = (
            (measure_attributes(done.image) - measure_attributes(batch.before))
            / noticeable_change(photos.device)
        ).cpu()
        wanted = (batch.asked.sign() * batch.weight[:, None]).cpu()
        for column, sign in enumerate((1.0, -1.0)):
            counts[:, column] += (wanted == sign).sum(0)
            hits[:, column] += ((wanted == sign) & (change * sign > 1)).sum(0)
        told = merge_declined_logits(done.verdict).argmax(-1).cpu() == 1
        for possible, found in flags.items():
            found.append(told[(batch.verdict.cpu() == 0) == possible])
    shares = (hits / counts)[counts > 0]
    return {
        "following": shares.mean().item(),
        "flagged": torch.cat(flags[False]).float().mean().item(),
        "flagged_wrongly": torch.cat(flags[True]).float().mean().item(),
    }


def measure_real_following(
    network: Retoucher, requests: Sequence[tuple[str, Meaning]], rows: NDArray[np.int64], photos: Tensor
) -> dict[str, float]:
    """`real_following` of requests that were read one by one, each on a photo of `rows`; and `caution`, how
    much sooner than even odds say it may decline, if it may decline a few that it could answer; and
    `real_flagged`, the share of those it cannot answer that it then declines.
    """
    hits: dict[tuple[Attribute, int], list[bool]] = {}
    odds: dict[bool, list[float]] = {True: [], False: []}
    hands, few = RetoucherRuntime(network), np.random.default_rng(VALIDATION_SEED).choice(rows, len(requests))
    for start in range(0, len(requests), _BATCH_SIZE):
        told = requests[start : start + _BATCH_SIZE]
        before = photos[few[start : start + _BATCH_SIZE]].float() / 255
        done = decode_recipes(
            network, hands, encode_requests([text for text, _ in told], before, LITERAL_MODE)
        )
        change = (
            (measure_attributes(done.image) - measure_attributes(before)) / noticeable_change(photos.device)
        ).cpu()
        doubts = merge_declined_logits(done.verdict).diff(dim=-1)[:, 0].tolist()
        for (_, meaning), moved_by, doubt in zip(told, change.tolist(), doubts, strict=True):
            if (possible := bool(meaning.intents) or meaning.vague) or meaning.matter:
                odds[possible].append(doubt)
            for intent in meaning.intents:
                right = moved_by[ATTRIBUTES[intent.attribute]] * intent.sign > 1
                hits.setdefault((intent.attribute, intent.sign), []).append(right)
    caution = -float(np.quantile(odds[True] or [0.0], 1 - MAX_DECLINED_SHARE))
    return {
        "real_following": _mean_or_nan([_mean_or_nan(found) for found in hits.values()]),
        "caution": caution,
        "real_flagged": _mean_or_nan([doubt > -caution for doubt in odds[False]]),
    }


def _mean_or_nan(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def noticeable_change(device: torch.device) -> Tensor:
    """(6,) just noticeable amounts."""
    return torch.tensor(JUST_NOTICEABLE, device=device)


# The shipped network as something to be trained: lessons in, losses and figures out.

_ENDLESS = 10**9


@dataclass(frozen=True)
class RetoucherSettings:
    """`batch` of the loop is split in simulated and real items."""

    network: RetoucherConfig = field(
        default_factory=lambda: RetoucherConfig(dropout=0.15, blink=0.4, verdicts=len(VERDICTS))
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
    weights: LossWeights = field(default_factory=LossWeights)
    chances: ExpertSampling = field(
        default_factory=lambda: ExpertSampling(dropped=0.15, crop=0.5, varied=0.7, variation=0.7, between=0.3)
    )
    real: float = 0.2
    """Share of a batch that are pairs of photographs."""
    held: int = HELD_OUT_PAIRS
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

    def __init__(self, settings: RetoucherSettings, data: PackedSet, words: None, place: ProcessInfo) -> None:
        torch.manual_seed(derive_seed(settings.loop.seed))
        self.settings, self.data, self.place = settings, data, place
        self.train, self.held = split_validation(data, settings.held, settings.loop.seed)
        self.network = Retoucher(replace(settings.network, verdicts=len(VERDICTS)))
        _freeze_parts(self.network, settings.kept)
        self.photos = photos_to_tensor(data, place.device)
        self.darkroom = BatchRenderer(self.photos, compiled=settings.compiled)
        hands = RetoucherRuntime(self.network, compiled=settings.compiled, narrow=settings.narrow)
        self.losses = RetoucherLoss(settings.weights, hands, compiled=settings.compiled)
        self.lessons = self._lessons()
        self.read = _list_judged_requests(data)
        self._ahead: tuple[int, Iterator[CollatedSamples]] = (0, iter(()))

    def _lessons(self) -> RetoucherDataset:
        """Of real requests those that were read one by one; where there are none, those that rules read."""
        settings, data = self.settings, self.data
        requests = list(_list_train_requests(data, self.held))
        phrases = mine([said for said in requests if judged(plain(said[0]))] or requests)
        heard = echoes(phrases) if phrases.asked else None
        size = settings.loop.batch // self.place.processes
        real = round(size * settings.real)
        photos = np.concatenate([data.before[self.train], data.after[self.train]])
        return RetoucherDataset(
            LiteralSampler(photos, data.after[self.train], heard),
            ExpertSampler(list_expert_pairs(data, self.train), settings.chances, group_paraphrases(phrases)),
            (size - real, real),
            settings.room,
            _ENDLESS,
            derive_seed(settings.loop.seed, self.place.rank),
        )

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        lesson = self._lesson(iteration)
        if iteration > self.settings.loop.iterations * (1 - self.settings.dry):
            _disable_dropout(self.network)
        return self.losses(self.network, self.darkroom.batch(move_to_device(lesson, self.place.device)))

    def _lesson(self, number: int) -> CollatedSamples:
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
                collate_fn=_return_unchanged,
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
        figures = measure_expert_closeness(answers, self.data, self.held, self.photos)
        figures |= measure_literal_following(answers, LiteralSampler(rows, rows), self.photos)
        if self.read:
            figures |= measure_real_following(answers, self.read, rows, self.photos)
        following = figures.get("real_following", figures["following"])
        return figures | {"score": figures["l1"] + 0.1 * (1 - following)}

    def metadata(self) -> Mapping[str, str]:
        known = describe_network("retoucher", self.network.settings, Vocabulary(SPECIAL))
        return known | {"verdicts": json.dumps(VERDICTS)}


def _list_judged_requests(data: PackedSet) -> list[tuple[str, Meaning]]:
    """Requests of the train split that were read one by one and are kept for choosing weights."""
    said = {plain(text) for words in data.texts if words.split == "train" for text in words.requests}
    return [(text, meaning) for text in sorted(said) if held_back(text) and (meaning := judged(text))]


def _freeze_parts(network: nn.Module, parts: Sequence[str]) -> None:
    known = dict(network.named_children())
    for part in parts:
        if part not in known:
            raise TrainingError(f"the network has no part {part!r} to keep; it has {', '.join(known)}")
        known[part].requires_grad_(False)


def _disable_dropout(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def _return_unchanged(lesson: Any) -> Any:
    return lesson


def _list_train_requests(data: PackedSet, held: NDArray[np.int64]) -> Iterator[tuple[str, Labels | None]]:
    """Those of the train split, without any of a photo that is kept back."""
    kept = {data.samples[number].name.partition("_")[0] for number in held}
    for words in (*data.texts, *data.samples):
        if words.split == "train" and words.name.partition("_")[0] not in kept:
            used = {known["name"]: {"local": known["local"]} for known in words.labels.get("operators", ())}
            for request in words.requests:
                yield request, used or None
