"""Triplets (photo, request, target) as tensors: word vectors, batches, validation, and a base task."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.packed import PackedSample, PackedSet
from ..errors import DataError, TrainingError
from ..language import Vocabulary
from ..language.vocabulary import WordVectors
from ..language.wishes import TEN_REQUESTS
from ..models.decoding import RequestBatch
from ..models.t2onet import ActionSpace
from ..models.text import GRUTextEncoder, LSTMTextEncoder
from .task import LoopSettings, ProcessInfo, derive_seed, draw_batch_indices, shuffle_indices

HELD_OUT_PAIRS = 300
"""Default number of validation pairs."""
_SPLIT_STREAM = 7


def load_text_encoders(network: nn.Module, words: WordVectors) -> None:
    """Start all text encoders of a network from word vectors."""
    for module in network.modules():
        if isinstance(module, GRUTextEncoder | LSTMTextEncoder):
            module.load_vectors(torch.from_numpy(words.vectors))


class ValidationSplit(NamedTuple):
    """Numbers of samples of the train split: to learn from, and to choose weights by."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]


def split_validation(data: PackedSet, count: int, seed: int) -> ValidationSplit:
    """Hold `count` pairs of the train split out, at most half of it, so that the val split stays unseen."""
    numbers = data.split("train")
    if len(numbers) < 2:
        raise DataError("the train split has fewer than two pairs; training needs more")
    shuffled = numbers[shuffle_indices(len(numbers), seed, _SPLIT_STREAM)]
    count = min(count, len(numbers) // 2)
    return ValidationSplit(shuffled[count:], shuffled[:count])


class TripletBatch(NamedTuple):
    """A batch of triplets with their plans."""

    requests: RequestBatch
    target: Tensor
    """(B, 3, S, S) in [0, 1]."""
    operations: Tensor
    """(B, T + 1) of the plan, padded with the end."""
    parameters: Tensor
    """(B, T + 1, P) of the plan, defaults where there is none."""


@dataclass(frozen=True)
class Triplets:
    """Triplets on a device, one for each request."""

    photos: Tensor
    """(N, 3, S, S) uint8, each photo once."""
    before: Tensor
    after: Tensor
    tokens: Tensor
    operations: Tensor
    parameters: Tensor
    planned: Tensor
    """(E,) bool: which triplets have a plan."""

    def __len__(self) -> int:
        return len(self.before)

    def batch(self, rows: Tensor) -> TripletBatch:
        """The triplets with the numbers `rows`."""
        rows = rows.to(self.before.device)
        tokens = self.tokens[rows]
        before, after = (self.photos[side[rows]].float() / 255 for side in (self.before, self.after))
        requests = RequestBatch(tokens, tokens != 0, before)
        return TripletBatch(requests, after, self.operations[rows], self.parameters[rows])


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
    """The triplets of the samples with these numbers; plans are read only if `actions` are given.

    Plans must use only the operations and the number of steps that the network allows.
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
    """Numbers of operations and rows of parameters, `max_steps` + 1 of them so that the end always fits."""
    if actions is None:
        return [], []
    steps: Sequence[dict[str, Any]] = sample.plan["steps"] if sample.plan else []
    if len(steps) > max_steps:
        raise DataError(
            f"{sample.name}: its plan has {len(steps)} steps and the network allows at most {max_steps}; "
            "plan the dataset with that maximum"
        )
    defaults = [value for operation in actions.operations for value in operation.defaults]
    numbers = [actions.end] * (max_steps + 1)
    rows = [list(defaults) for _ in numbers]
    for at, step in enumerate(steps):
        if step["operation"] not in actions.names:
            raise DataError(
                f"{sample.name}: its plan uses {step['operation']}, and the network has "
                f"{', '.join(actions.names)}; plan the dataset with these operations"
            )
        number = actions.names.index(step["operation"])
        operation = actions.operations[number]
        numbers[at] = number
        rows[at][actions.slices[number]] = operation.canonical(operation.check(step["parameters"]))
    return numbers, rows


def measure_closeness(answers: Iterable[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """Batches of (pictures, targets) -> the mean `l1` and, where torchmetrics is installed, `ssim`."""
    figures: dict[str, list[Tensor]] = {"l1": []}
    for image, target in answers:
        figures["l1"].append(l1_distance(image, target))
        if (similarity := structural_similarity(image, target)) is not None:
            figures.setdefault("ssim", []).append(similarity)
    return {name: torch.cat(parts).mean().item() for name, parts in figures.items()}


def measure_request_variance(
    answer: Callable[[RequestBatch], Tensor], photos: Iterable[Tensor], vocabulary: Vocabulary
) -> float:
    """The paper's sigma over its ten requests, on batches of photos; times 100, as the paper prints it."""
    variances = []
    for images in photos:
        batches = [_repeat_request(request, images, vocabulary) for request in TEN_REQUESTS]
        variances.append(answer_variance(torch.stack([answer(batch) for batch in batches])))
    return 100 * torch.cat(variances).mean().item()


def _repeat_request(request: str, photos: Tensor, vocabulary: Vocabulary) -> RequestBatch:
    """The same request for each photo."""
    tokens = torch.tensor([vocabulary.encode(request)] * len(photos), device=photos.device)
    return RequestBatch(tokens, tokens != 0, photos)


def l1_distance(image: Tensor, target: Tensor) -> Tensor:
    """Mean absolute difference of pictures (B, 3, H, W), (B,)."""
    return (image - target).abs().mean((1, 2, 3))


def answer_variance(images: Tensor) -> Tensor:
    """The paper's sigma: R answers to one photo (R, B, 3, H, W) -> the mean variance over them, (B,)."""
    return images.var(0, correction=0).mean((1, 2, 3))


def structural_similarity(image: Tensor, target: Tensor) -> Tensor | None:
    """SSIM of each picture, (B,); None where torchmetrics cannot be imported."""
    measure = _load_ssim()
    return None if measure is None else measure(image, target)


@cache
def _load_ssim() -> Callable[[Tensor, Tensor], Tensor] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torchmetrics.functional.image import structural_similarity_index_measure
    except (ImportError, RuntimeError):  # RuntimeError: a torchvision that was built for another torch
        return None

    def measure(image: Tensor, target: Tensor) -> Tensor:
        values = structural_similarity_index_measure(image, target, data_range=1.0, reduction="none")
        return torch.as_tensor(values).reshape(len(image))

    return measure


@dataclass(frozen=True)
class TripletSettings:
    """Settings of all tasks on triplets."""

    network: Any
    loop: LoopSettings = field(default_factory=LoopSettings)
    validation_pairs: int = HELD_OUT_PAIRS
    """Pairs of the train split that are held out, to choose weights by."""
    sigma_photos: int = 64
    """Photos that the variance over ten requests is measured on."""


class TripletTask:
    """Batches of triplets, and validation; subclasses add the network and its losses."""

    selects = "l1"
    train: Triplets
    validation: Triplets

    def __init__(
        self, settings: TripletSettings, words: WordVectors, process: ProcessInfo, word_size: int
    ) -> None:
        if (size := words.vectors.shape[1]) != word_size:
            raise TrainingError(f"word vectors have {size} numbers; set word_size={size}")
        torch.manual_seed(derive_seed(settings.loop.seed))
        self.words = words
        self.process = process
        self.loop, self.sigma_photos = settings.loop, settings.sigma_photos
        self.validation_pairs = settings.validation_pairs

    def load(self, data: PackedSet, actions: ActionSpace | None = None, max_steps: int = 0) -> None:
        """Read the train split and hold part of it out; plans are read only if `actions` are given."""
        photos, vocabulary = photos_to_tensor(data, self.process.device), self.words.vocabulary
        train, validation = split_validation(data, self.validation_pairs, self.loop.seed)
        self.train = build_triplets(
            data, train, photos, vocabulary=vocabulary, actions=actions, max_steps=max_steps
        )
        self.validation = build_triplets(data, validation, photos, vocabulary=vocabulary, max_steps=max_steps)
        if not len(self.train):
            raise DataError(
                "no pair of the train split has a request, and networks learn from requests; "
                "add requests to the dataset and pack it again"
            )

    def batch(self, rows: Tensor, at: int, stream: int) -> TripletBatch:
        """This process's share of batch number `at` (from 0) of the triplets `rows`."""
        chosen = torch.from_numpy(draw_batch_indices(len(rows), self.loop.batch, at, self.loop.seed, stream))
        return self.train.batch(rows[chosen[self.process.rank :: self.process.processes]])

    def measure(self, answer: Callable[[RequestBatch], Tensor]) -> dict[str, float]:
        """l1, ssim and sigma of answers on the validation triplets, which are answered in order first."""
        if not len(self.validation):
            return {}
        figures = measure_closeness(
            (answer(batch.requests), batch.target) for batch in self._validation_batches(len(self.validation))
        )
        batches = self._validation_batches(min(self.sigma_photos, len(self.validation)))
        photos = (batch.requests.image for batch in batches)
        return figures | {"sigma": measure_request_variance(answer, photos, self.words.vocabulary)}

    def _validation_batches(self, count: int) -> Iterator[TripletBatch]:
        """The first `count` validation triplets."""
        for start in range(0, count, self.loop.batch):
            yield self.validation.batch(torch.arange(start, min(start + self.loop.batch, count)))
