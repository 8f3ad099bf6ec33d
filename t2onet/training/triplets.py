"""Triplets (photo, request, target) as tensors, and what every task on them shares."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.packed import PackedSample, PackedSet
from ..data.words import WordVectors
from ..errors import DataError, TrainingError
from ..language import Vocabulary
from ..language.ten_requests import TEN_REQUESTS
from ..models import ActionSpace, RequestBatch
from .settings import LoopSettings
from .task import ProcessInfo, derive_seed, draw_batch_indices, shuffle_indices

# Pairs of the train split that are kept back to choose weights by, so that the val split stays unseen.

HELD_OUT_PAIRS = 300
"""Pairs kept back, unless a setting says otherwise."""
_SPLIT_STREAM = 7


class ValidationSplit(NamedTuple):
    """Numbers of samples of the train split."""

    train: NDArray[np.int64]
    held: NDArray[np.int64]


def split_validation(data: PackedSet, held: int, seed: int) -> ValidationSplit:
    """The train split in two; at most half of it is kept back."""
    numbers = data.split("train")
    if len(numbers) < 2:
        raise DataError("the train split has fewer than two pairs; there is nothing to learn from")
    shuffled = numbers[shuffle_indices(len(numbers), seed, _SPLIT_STREAM)]
    few = min(held, len(numbers) // 2)
    return ValidationSplit(shuffled[few:], shuffled[:few])


# A packed set as tensors: (photo, request, target) with the plan as numbers, batch by batch.


class TripletBatch(NamedTuple):
    """Some triplets."""

    asked: RequestBatch
    target: Tensor
    """(B, 3, S, S) in [0, 1]."""
    operations: Tensor
    """(B, T + 1) of the plan, filled up with the end."""
    parameters: Tensor
    """(B, T + 1, P) of the plan, defaults where there is none."""


@dataclass(frozen=True)
class Triplets:
    """Some triplets, one for each request, on a device."""

    photos: Tensor
    """(N, 3, S, S) uint8, each once."""
    before: Tensor
    after: Tensor
    tokens: Tensor
    operations: Tensor
    parameters: Tensor
    planned: Tensor
    """(E,) bool: which have a plan."""

    def __len__(self) -> int:
        return len(self.before)

    def batch(self, rows: Tensor) -> TripletBatch:
        """The triplets with these numbers."""
        rows = rows.to(self.before.device)
        tokens = self.tokens[rows]
        before, after = (self.photos[side[rows]].float() / 255 for side in (self.before, self.after))
        asked = RequestBatch(tokens, tokens != 0, before)
        return TripletBatch(asked, after, self.operations[rows], self.parameters[rows])


def photos_to_tensor(data: PackedSet, device: torch.device) -> Tensor:
    """(N, 3, S, S) uint8."""
    return torch.from_numpy(np.ascontiguousarray(data.photos.transpose(0, 3, 1, 2))).to(device)


def build_triplets(
    data: PackedSet,
    numbers: NDArray[np.int64],
    photos: Tensor,
    *,
    vocabulary: Vocabulary,
    actions: ActionSpace | None = None,
    max_steps: int = 0,
) -> Triplets:
    """Those of the samples with these numbers; plans are left alone where no `actions` are given.

    Plans must keep to the operations and steps that the network may use.
    """
    samples = [data.samples[number] for number in numbers]
    entries = [(sample, request) for sample in samples for request in sample.requests]
    plans = [_encode_plan(sample, actions, max_steps) for sample, _ in entries]
    columns = zip(*plans, strict=True) if plans else ([], [])
    operations, parameters = (np.array(column) for column in columns)

    def column(values: Any, kind: torch.dtype = torch.int64) -> Tensor:
        return torch.as_tensor(np.asarray(values), dtype=kind, device=photos.device)

    return Triplets(
        photos=photos,
        before=column([sample.before for sample, _ in entries]),
        after=column([sample.after for sample, _ in entries]),
        tokens=column([vocabulary.encode(request) for _, request in entries]),
        operations=column(operations),
        parameters=column(parameters, torch.float32),
        planned=column([bool(actions and sample.plan) for sample, _ in entries], torch.bool),
    )


def _encode_plan(
    sample: PackedSample, actions: ActionSpace | None, max_steps: int
) -> tuple[list[int], list[list[float]]]:
    """Numbers of operations and rows of parameters, one more than steps so that the end always fits."""
    if actions is None:
        return [], []
    steps: Sequence[dict[str, Any]] = sample.plan["steps"] if sample.plan else []
    if len(steps) > max_steps:
        raise DataError(
            f"{sample.name}: its plan has {len(steps)} steps and the network takes at most {max_steps}; "
            "plan the dataset with that maximum"
        )
    defaults = [value for operation in actions.operations for value in operation.defaults]
    chosen = [actions.end] * (max_steps + 1)
    rows = [list(defaults) for _ in chosen]
    for at, step in enumerate(steps):
        if step["operation"] not in actions.names:
            raise DataError(
                f"{sample.name}: its plan uses {step['operation']}, and the network has "
                f"{', '.join(actions.names)}; plan the dataset with these operations"
            )
        number = actions.names.index(step["operation"])
        operation = actions.operations[number]
        chosen[at] = number
        rows[at][actions.places[number]] = operation.canonical(operation.check(step["parameters"]))
    return chosen, rows


# What is measured while training: distance from the target, similarity, and whether requests matter.


def measure_closeness(answers: Iterable[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """Batches of (photos, targets) -> the mean `l1` and, where it can be measured, `ssim` of all."""
    found: dict[str, list[Tensor]] = {"l1": []}
    for image, target in answers:
        found["l1"].append(l1_distance(image, target))
        if (alike := structural_similarity(image, target)) is not None:
            found.setdefault("ssim", []).append(alike)
    return {name: torch.cat(parts).mean().item() for name, parts in found.items()}


def measure_request_variance(
    answer: Callable[[RequestBatch], Tensor], photos: Iterable[Tensor], vocabulary: Vocabulary
) -> float:
    """The paper's sigma over its ten requests, on batches of photos; times 100, as the paper prints it."""
    found = []
    for images in photos:
        asked = [_repeat_request(request, images, vocabulary) for request in TEN_REQUESTS]
        found.append(answer_variance(torch.stack([answer(one) for one in asked])))
    return 100 * torch.cat(found).mean().item()


def _repeat_request(request: str, photos: Tensor, vocabulary: Vocabulary) -> RequestBatch:
    """The same of each photo."""
    tokens = torch.tensor([vocabulary.encode(request)] * len(photos), device=photos.device)
    return RequestBatch(tokens, tokens != 0, photos)


def l1_distance(image: Tensor, target: Tensor) -> Tensor:
    """(B, 3, H, W) twice -> the mean absolute difference of each, (B,)."""
    return (image - target).abs().mean((1, 2, 3))


def answer_variance(images: Tensor) -> Tensor:
    """The paper's sigma: R answers to one photo (R, B, 3, H, W) -> the mean variance over them, (B,)."""
    return images.var(0, correction=0).mean((1, 2, 3))


def structural_similarity(image: Tensor, target: Tensor) -> Tensor | None:
    """SSIM of each, (B,); None where torchmetrics is not installed or does not fit this torch."""
    measure = _load_ssim()
    return None if measure is None else measure(image, target)


@cache
def _load_ssim() -> Callable[[Tensor, Tensor], Tensor] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torchmetrics.functional.image import structural_similarity_index_measure
    except (ImportError, RuntimeError):  # the latter where a torchvision beside it is made for another torch
        return None

    def measure(image: Tensor, target: Tensor) -> Tensor:
        found = structural_similarity_index_measure(image, target, data_range=1.0, reduction="none")
        return torch.as_tensor(found).reshape(len(image))

    return measure


# What all tasks on triplets share: some to learn from in batches, some kept back, and figures on those.


class TripletSettings(Protocol):
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

    def __init__(
        self, settings: TripletSettings, words: WordVectors, place: ProcessInfo, word_size: int
    ) -> None:
        if (given := words.vectors.shape[1]) != word_size:
            raise TrainingError(f"word vectors are {given} numbers long; give word_size={given}")
        torch.manual_seed(derive_seed(settings.loop.seed))
        self.words = words
        self.place = place
        self.loop, self.sigma_photos, self._kept = settings.loop, settings.sigma_photos, settings.held

    def take(self, data: PackedSet, actions: ActionSpace | None = None, max_steps: int = 0) -> None:
        """The train split, part of it kept back; plans are read for `actions`, and left alone without."""
        photos, words = photos_to_tensor(data, self.place.device), self.words.vocabulary
        learned, held = split_validation(data, self._kept, self.loop.seed)
        self.train = build_triplets(
            data, learned, photos, vocabulary=words, actions=actions, max_steps=max_steps
        )
        self.held = build_triplets(data, held, photos, vocabulary=words, max_steps=max_steps)
        if not len(self.train):
            raise DataError(
                "no pair of the train split has a request, and this config learns from requests; "
                "add requests to the dataset, or train the config default, which can do without"
            )

    def batch(self, rows: Tensor, at: int, stream: int) -> TripletBatch:
        """This process's share of batch number `at` (from 0) out of the triplets `rows`."""
        chosen = torch.from_numpy(draw_batch_indices(len(rows), self.loop.batch, at, self.loop.seed, stream))
        return self.train.batch(rows[chosen[self.place.rank :: self.place.processes]])

    def figures(self, answer: Callable[[RequestBatch], Tensor]) -> dict[str, float]:
        """l1, ssim and sigma of answers to the pairs kept back, which are asked for in order first."""
        if not len(self.held):
            return {}
        near = measure_closeness(
            (answer(batch.asked), batch.target) for batch in self._in_turn(len(self.held))
        )
        few = self._in_turn(min(self.sigma_photos, len(self.held)))
        sigma = measure_request_variance(answer, (batch.asked.image for batch in few), self.words.vocabulary)
        return near | {"sigma": sigma}

    def _in_turn(self, count: int) -> Iterator[TripletBatch]:
        """The first `count` triplets kept back."""
        for start in range(0, count, self.loop.batch):
            yield self.held.batch(torch.arange(start, min(start + self.loop.batch, count)))
