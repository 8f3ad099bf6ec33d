"""Train the shipped network to do what was said (literal mode) and what a retoucher did (expert mode)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

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
from ..language.vocabulary import SPECIAL, Vocabulary
from ..metrics.attributes import ATTRIBUTE_INDEX as ATTRIBUTES
from ..metrics.attributes import measure_attributes
from ..models import describe_network
from ..models.retoucher import (
    Retoucher,
    RetoucherConfig,
    RetoucherRuntime,
    compile_if,
    decode_recipes,
    encode_requests,
    merge_declined_logits,
)
from .retoucher_data import (
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
    noticeable_change,
    photo_id,
)
from .task import LoopSettings, ProcessInfo, derive_seed
from .triplets import HELD_OUT_PAIRS, measure_closeness, photos_to_tensor, split_validation

SIMULATED_REQUESTS, VALIDATION_SEED = 1024, 11
MAX_DECLINED_SHARE = 0.03
"""Share of answerable real requests that may be declined, for more unanswerable ones to be declined."""
_BATCH_SIZE = 128
_ENDLESS = 10**9


@dataclass(frozen=True)
class LossWeights:
    """Weights of the parts of the loss."""

    image: float = 10.0
    attributes: float = 0.16
    used: float = 0.3
    verdict: float = 0.3
    sense: float = 0.3
    expert: float = 10.0


class RetoucherLoss:
    """The weighted parts of the loss."""

    def __init__(self, weights: LossWeights, runtime: RetoucherRuntime, *, compiled: bool = False) -> None:
        self.weights, self.runtime = weights, runtime
        wrap = compile_if(compiled)
        self.attribute_error, self.image_error = wrap(_attribute_error), wrap(_image_error)

    def __call__(self, network: Retoucher, batch: RetoucherBatch) -> dict[str, Tensor]:
        w = self.weights
        output = decode_recipes(network, self.runtime, batch.requests, batch.used)
        distance = self.image_error(output.image, batch.after)
        attributes = self.attribute_error(output.image, batch.after)
        gates = functional.binary_cross_entropy_with_logits(output.used, batch.used, reduction="none").mean(
            -1
        )
        sense = _sense_error(output.sense, batch.asked)
        real = batch.real.float()
        literal = (1 - real) * batch.weight
        return {
            "image": w.image * _weighted_mean(distance, literal),
            "attributes": w.attributes * _weighted_mean(attributes, literal),
            "used": w.used * (_weighted_mean(gates, 1 - real) + 0.1 * _weighted_mean(gates, real)),
            "verdict": w.verdict * _verdict_error(output.verdict, batch.verdict).mean(),
            "sense": w.sense * _weighted_mean(sense, (1 - real) * (batch.verdict == 0)),
            "expert": w.expert * _weighted_mean(distance, real),
        }


def _image_error(image: Tensor, target: Tensor) -> Tensor:
    return (image - target).abs().mean((-3, -2, -1))


def _attribute_error(image: Tensor, target: Tensor) -> Tensor:
    """(B,): the distance between attributes, in just noticeable changes, limited for far ones."""
    distance = (measure_attributes(image) - measure_attributes(target)) / noticeable_change(image.device)
    losses = functional.smooth_l1_loss(distance, torch.zeros_like(distance), reduction="none")
    return losses.mean(-1).clamp(max=40)


def _sense_error(sense: Tensor, asked: Tensor) -> Tensor:
    """(B,): the distance of the predicted changes (B, attributes) from the requested ones."""
    return functional.smooth_l1_loss(sense, asked, reduction="none", beta=0.3).sum(-1)


def _verdict_error(logits: Tensor, verdict: Tensor) -> Tensor:
    """(B,): whether the request can be answered, and if not, which kind it is, where that is known."""
    answered = functional.cross_entropy(
        merge_declined_logits(logits), (verdict != 0).long(), reduction="none"
    )
    named = functional.cross_entropy(logits[:, 1:], (verdict - 1).clamp(min=0), reduction="none")
    return answered + torch.where(verdict > 0, named, 0.0)


def _weighted_mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1)


def measure_expert_closeness(
    network: Retoucher, data: PackedSet, numbers: NDArray[np.int64], photos: Tensor
) -> dict[str, float]:
    """`l1` and, where it can be measured, `ssim` between answers in expert mode and the experts' pictures."""
    runtime = RetoucherRuntime(network)

    def answer() -> Iterator[tuple[Tensor, Tensor]]:
        for start in range(0, len(numbers), _BATCH_SIZE):
            samples = [data.samples[number] for number in numbers[start : start + _BATCH_SIZE]]
            before, after = (
                photos[[getattr(sample, side) for sample in samples]].float() / 255
                for side in ("before", "after")
            )
            requests = [sample.requests[0] if sample.requests else "" for sample in samples]
            batch = encode_requests(requests, before, ["expert"] * len(requests))
            yield decode_recipes(network, runtime, batch).image, after

    return measure_closeness(answer())


def measure_literal_following(
    network: Retoucher, literal: LiteralSampler, photos: Tensor
) -> dict[str, float]:
    """On simulated requests: `following`, the mean over classes of attribute and sign; `flagged` and
    `flagged_wrongly`, the shares of unanswerable and of answerable requests that are declined.
    """
    rng = np.random.default_rng(VALIDATION_SEED)
    hits, counts = torch.zeros(2, len(ATTRIBUTES), 2)
    declined: dict[bool, list[Tensor]] = {True: [], False: []}
    runtime, renderer = RetoucherRuntime(network), BatchRenderer(photos)
    for _ in range(0, SIMULATED_REQUESTS, _BATCH_SIZE):
        samples = collate_samples(list(literal.sample(rng, _BATCH_SIZE)))
        batch = renderer.render(move_to_device(samples, photos.device))
        output = decode_recipes(network, runtime, batch.requests)
        change = _measure_change(batch.requests.image, output.image)
        wanted = (batch.asked.sign() * batch.weight[:, None]).cpu()
        for column, sign in enumerate((1.0, -1.0)):
            counts[:, column] += (wanted == sign).sum(0)
            hits[:, column] += ((wanted == sign) & (change * sign > 1)).sum(0)
        declines = merge_declined_logits(output.verdict).argmax(-1).cpu() == 1
        for possible, parts in declined.items():
            parts.append(declines[(batch.verdict.cpu() == 0) == possible])
    shares = (hits / counts)[counts > 0]
    return {
        "following": shares.mean().item(),
        "flagged": torch.cat(declined[False]).float().mean().item(),
        "flagged_wrongly": torch.cat(declined[True]).float().mean().item(),
    }


def measure_real_following(
    network: Retoucher, requests: Sequence[tuple[str, Meaning]], rows: NDArray[np.int64], photos: Tensor
) -> dict[str, float]:
    """On labelled requests, each with a photo of `rows`: `real_following`; `caution`, the offset of
    the decline logit at which `MAX_DECLINED_SHARE` of the answerable requests are declined; and
    `real_flagged`, the share of unanswerable requests that are then declined.
    """
    hits: dict[tuple[Attribute, int], list[bool]] = {}
    logits: dict[bool, list[float]] = {True: [], False: []}
    runtime = RetoucherRuntime(network)
    photo_rows = np.random.default_rng(VALIDATION_SEED).choice(rows, len(requests))
    for start in range(0, len(requests), _BATCH_SIZE):
        labelled = requests[start : start + _BATCH_SIZE]
        before = photos[photo_rows[start : start + _BATCH_SIZE]].float() / 255
        batch = encode_requests([text for text, _ in labelled], before, ["literal"] * len(labelled))
        output = decode_recipes(network, runtime, batch)
        changes = _measure_change(before, output.image).tolist()
        decline_logits = merge_declined_logits(output.verdict).diff(dim=-1)[:, 0].tolist()
        for (_, meaning), change, logit in zip(labelled, changes, decline_logits, strict=True):
            if (possible := bool(meaning.intents) or meaning.vague) or meaning.matter:
                logits[possible].append(logit)
            for intent in meaning.intents:
                follows = change[ATTRIBUTES[intent.attribute]] * intent.sign > 1
                hits.setdefault((intent.attribute, intent.sign), []).append(follows)
    caution = -float(np.quantile(logits[True] or [0.0], 1 - MAX_DECLINED_SHARE))
    return {
        "real_following": _mean_or_nan([_mean_or_nan(follows) for follows in hits.values()]),
        "caution": caution,
        "real_flagged": _mean_or_nan([logit > -caution for logit in logits[False]]),
    }


def _measure_change(before: Tensor, after: Tensor) -> Tensor:
    """(B, attributes) on the CPU, in just noticeable changes."""
    change: Tensor = measure_attributes(after) - measure_attributes(before)
    return (change / noticeable_change(before.device)).cpu()


def _mean_or_nan(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


@dataclass(frozen=True)
class RetoucherSettings:
    """`batch` of the loop is split into simulated and real samples."""

    network: RetoucherConfig = field(
        default_factory=lambda: RetoucherConfig(dropout=0.15, photo_dropout=0.4, verdicts=len(VERDICTS))
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
    validation_pairs: int = HELD_OUT_PAIRS
    """Pairs of the train split that are held out, to choose weights by."""
    no_dropout_share: float = 0.15
    """Share of the iterations, at the end, without dropout, as in use: else edits are too weak."""
    frozen: tuple[str, ...] = ()
    """Parts of the network that are frozen (`reading`, say), with `--from`."""
    room: int = 4096
    """Maximum of distinct words in a batch."""
    workers: int = 0
    """Processes that prepare batches ahead; 0 prepares each when it is needed."""
    compiled: bool = False
    """Compile the arithmetic on pictures: for GPUs."""
    narrow: bool = False
    """Older name of `precision=bfloat16`."""


class RetoucherTask:
    """The network on a packed set: simulated requests about its photos, and its pairs.

    With `precision=bfloat16` the network alone computes in it; pictures stay in float32.
    """

    selects = "score"
    own_precision = True

    def __init__(
        self, settings: RetoucherSettings, data: PackedSet, words: None, process: ProcessInfo
    ) -> None:
        torch.manual_seed(derive_seed(settings.loop.seed))
        self.settings, self.data, self.process = settings, data, process
        self.train, self.validation = split_validation(data, settings.validation_pairs, settings.loop.seed)
        self.network = Retoucher(replace(settings.network, verdicts=len(VERDICTS)))
        _freeze_parts(self.network, settings.frozen)
        self.photos = photos_to_tensor(data, process.device)
        self.renderer = BatchRenderer(self.photos, compiled=settings.compiled)
        bfloat16 = settings.narrow or settings.loop.precision == "bfloat16"
        runtime = RetoucherRuntime(self.network, compiled=settings.compiled, bfloat16=bfloat16)
        self.losses = RetoucherLoss(settings.weights, runtime, compiled=settings.compiled)
        self.dataset = self._build_dataset()
        self.judged_requests = _list_judged_requests(data)
        self._loader: tuple[int, Iterator[CollatedSamples]] = (0, iter(()))

    def _build_dataset(self) -> RetoucherDataset:
        """Real requests are the labelled ones; where there are none, those that rules understand."""
        settings, data = self.settings, self.data
        requests = list(_list_train_requests(data, self.validation))
        phrases = mine([labelled for labelled in requests if judged(plain(labelled[0]))] or requests)
        size = settings.loop.batch // self.process.processes
        real = round(size * settings.real)
        photos = np.concatenate([data.before[self.train], data.after[self.train]])
        return RetoucherDataset(
            LiteralSampler(photos, data.after[self.train], echoes(phrases) if phrases.asked else None),
            ExpertSampler(list_expert_pairs(data, self.train), settings.chances, group_paraphrases(phrases)),
            (size - real, real),
            settings.room,
            _ENDLESS,
            derive_seed(settings.loop.seed, self.process.rank),
        )

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        samples = move_to_device(self._load_batch(iteration), self.process.device)
        if iteration > self.settings.loop.iterations * (1 - self.settings.no_dropout_share):
            _disable_dropout(self.network)
        return self.losses(self.network, self.renderer.render(samples))

    def _load_batch(self, number: int) -> CollatedSamples:
        """Batch `number`, prepared ahead by worker processes if there are any."""
        if not self.settings.workers:
            return self.dataset[number]
        next_number, batches = self._loader
        if next_number != number:
            loader: DataLoader[Any] = DataLoader(
                cast(Dataset[Any], self.dataset),
                batch_size=None,
                sampler=range(number, _ENDLESS),
                num_workers=self.settings.workers,
                collate_fn=_return_unchanged,
            )
            batches = iter(loader)
        self._loader = number + 1, batches
        return next(batches)

    def validate(self, network: nn.Module) -> dict[str, float]:
        """Figures on the validation pairs and requests.

        `score` is the distance to the expert plus a tenth of the share of requests that are not followed: of
        real ones or, where there are none, of simulated ones.
        """
        retoucher = cast(Retoucher, network)
        rows = self.data.after[self.validation]
        figures = measure_expert_closeness(retoucher, self.data, self.validation, self.photos)
        figures |= measure_literal_following(retoucher, LiteralSampler(rows, rows), self.photos)
        if self.judged_requests:
            figures |= measure_real_following(retoucher, self.judged_requests, rows, self.photos)
        following = figures.get("real_following", figures["following"])
        return figures | {"score": figures["l1"] + 0.1 * (1 - following)}

    def metadata(self) -> Mapping[str, str]:
        # It has no vocabulary; load_network expects one.
        described = describe_network("retoucher", self.network.settings, Vocabulary(SPECIAL))
        return described | {"verdicts": json.dumps(VERDICTS)}


def _list_judged_requests(data: PackedSet) -> list[tuple[str, Meaning]]:
    """Requests of the train split that are labelled and held out, with their meaning."""
    texts = {plain(text) for words in data.texts if words.split == "train" for text in words.requests}
    return [(text, meaning) for text in sorted(texts) if held_back(text) and (meaning := judged(text))]


def _freeze_parts(network: nn.Module, parts: Sequence[str]) -> None:
    known = dict(network.named_children())
    for part in parts:
        if part not in known:
            raise TrainingError(f"the network has no part {part!r} to freeze; it has {', '.join(known)}")
        known[part].requires_grad_(False)


def _disable_dropout(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def _return_unchanged(batch: Any) -> Any:
    return batch


def _list_train_requests(
    data: PackedSet, validation: NDArray[np.int64]
) -> Iterator[tuple[str, Labels | None]]:
    """Requests of the train split with labels, without those about validation photos."""
    excluded = {photo_id(data.samples[number].name) for number in validation}
    for words in (*data.texts, *data.samples):
        if words.split == "train" and photo_id(words.name) not in excluded:
            labels = {label["name"]: {"local": label["local"]} for label in words.labels.get("operators", ())}
            for request in words.requests:
                yield request, labels or None
