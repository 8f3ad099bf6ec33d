"""Batched predictions of trained networks, and their answers to recorded questions.

Runs where only torch, safetensors, NumPy and Pillow are installed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..data.dataset import hash_file
from ..data.records import (
    BEST_WEIGHTS_FILE,
    AnswerSet,
    BytePicture,
    QuestionSet,
    RecordedPictures,
    RecordedQuestion,
    RecordedRecipes,
    read_answers_source,
    read_questions,
    read_run_record,
    to_byte_picture,
    to_float_picture,
)
from ..errors import DataError, TrainingError
from ..image import write_atomically
from .decoding import GreedyDecoding, NamedSteps, RequestBatch, decode_steps, extract_steps
from .files import LoadedNetwork, load_network

NO_BFLOAT16_MESSAGE = "this device does not compute in bfloat16; computing in float32"
_BATCH_SIZE = 64
_CHECKSUM_LENGTH = 12
_DISCRIMINATOR = "discriminator"
"""The kind of network that answers no requests."""


def select_device() -> torch.device:
    """The GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@cache
def supports_bfloat16(device: torch.device) -> bool:
    """Whether the layers our networks consist of run on a device in bfloat16, forward and backward.

    It is tried out, since neither a CPU's name nor its flags say which layers a library implements: without
    AVX-512, oneDNN has convolutions and no LSTM.
    """
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            lstm, convolution = nn.LSTM(8, 8).to(device), nn.Conv2d(3, 8, 3).to(device)
            with torch.autocast(device.type, torch.bfloat16):
                states, _ = lstm(torch.ones(2, 1, 8, device=device))
                features = convolution(torch.ones(1, 3, 4, 4, device=device))
            (states.sum() + features.sum()).backward()
    except RuntimeError:
        return False
    return True


class Prediction(NamedTuple):
    """A picture (3, H, W) float32 in [0, 1] and the steps that made it, if it was made by operations."""

    picture: np.ndarray
    steps: NamedSteps | None = None


class Predictor(ABC):
    """A network in evaluation mode, on the GPU if there is one."""

    def __init__(self, loaded: LoadedNetwork) -> None:
        self.device = select_device()
        self.network: Any = loaded.network.to(self.device).eval()
        self.vocabulary = loaded.vocabulary

    def answer(self, pictures: np.ndarray, requests: Sequence[str]) -> list[Prediction]:
        """Predict for pictures (B, 3, H, W) in [0, 1] and a request for each."""
        images = torch.from_numpy(pictures.astype(np.float32)).to(self.device)
        tokens = torch.tensor([self.vocabulary.encode(request) for request in requests], device=self.device)
        with torch.inference_mode():
            return list(self.predict(images, tokens))

    @abstractmethod
    def predict(self, images: Tensor, tokens: Tensor) -> Iterable[Prediction]:
        """Predict for images (B, 3, H, W) and word ids (B, L)."""


class StepPredictor(Predictor):
    """T2ONet, decoded greedily."""

    def predict(self, images: Tensor, tokens: Tensor) -> Iterable[Prediction]:
        rollout = decode_steps(self.network, RequestBatch(tokens, tokens != 0, images), GreedyDecoding())
        return map(Prediction, to_arrays(rollout.final), extract_steps(self.network.actions, rollout))


class PicturePredictor(Predictor):
    """The generator of a GAN, called as generator(images, tokens).

    With `bfloat16` it computes in that precision where the device supports it: a fraction of one of 255
    levels less exact, and on many CPUs twice as fast.
    """

    def __init__(self, loaded: LoadedNetwork, *, bfloat16: bool = False) -> None:
        super().__init__(loaded)
        self.network = self.network.to(memory_format=torch.channels_last)
        self.bfloat16 = bfloat16 and supports_bfloat16(self.device)

    def predict(self, images: Tensor, tokens: Tensor) -> Iterable[Prediction]:
        images = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16):
            pictures = self.network(images, tokens)
        return map(Prediction, to_arrays(pictures.float().clamp(0, 1)))


def make_predictor(loaded: LoadedNetwork, *, bfloat16: bool = False) -> Predictor:
    """The predictor for a kind of network; `bfloat16` concerns generators only."""
    if loaded.metadata["network"] == "t2onet":
        return StepPredictor(loaded)
    return PicturePredictor(loaded, bfloat16=bfloat16)


def to_arrays(images: Tensor) -> list[np.ndarray]:
    """Split images (B, 3, H, W) into arrays (3, H, W)."""
    return list(images.cpu().numpy())


def answer_runs(
    questions: Path,
    runs: Path,
    out: Path,
    *,
    only: Sequence[str] = (),
    bfloat16: bool = False,
    report: Callable[[str], None],
) -> None:
    """Answer questions with the best weights of every run in a folder, or of `only`, into `out`/NAME.zip.

    A run whose present weights have already answered these questions is skipped.
    """
    question_set = read_questions(questions)
    if bfloat16 and not supports_bfloat16(select_device()):
        bfloat16 = False
        report(NO_BFLOAT16_MESSAGE)
    out.mkdir(parents=True, exist_ok=True)
    for name in _list_runs(runs, only):
        weights, path = runs / name / BEST_WEIGHTS_FILE, out / f"{name}.zip"
        source = {
            "questions": question_set.fingerprint,
            "weights": hash_file(weights)[:_CHECKSUM_LENGTH],
            "narrow": bfloat16,
        }
        if _is_answered(path, source):
            report(f"{name}: already answered")
            continue
        answers = answer_questions(question_set, weights, {"run": name, **source}, bfloat16=bfloat16)
        if answers is None:
            report(f"{name}: skipped, a {_DISCRIMINATOR} does not answer recorded questions")
            continue
        data = answers.to_zip()
        write_atomically(path, data, overwrite=True)
        report(f"{name}: {len(answers.keys)} answers, {len(data) / 1e6:.1f} MB -> {path}")


def answer_questions(
    questions: QuestionSet, weights: Path, source: Mapping[str, Any], *, bfloat16: bool = False
) -> AnswerSet | None:
    """Answer with the weights in a file; None if their kind cannot. `source` is stored with the answers."""
    loaded = load_network(weights)
    metadata = loaded.metadata
    if metadata["network"] == _DISCRIMINATOR:
        return None
    about = {
        **source,
        "network": metadata["network"],
        "config": json.loads(metadata["config"]),
        **(read_run_record(weights.parent) or {"progress": None, "settings": None}),
        "iteration": int(metadata["iteration"]) if "iteration" in metadata else None,
        "figures": json.loads(metadata.get("figures", "{}")),
    }
    answers = _collect_answers(make_predictor(loaded, bfloat16=bfloat16), list(questions.asked.values()))
    return AnswerSet(list(questions.asked), answers, about)


def _collect_answers(
    predictor: Predictor, questions: Sequence[RecordedQuestion]
) -> RecordedRecipes | RecordedPictures:
    steps: list[NamedSteps] = []
    pictures: list[BytePicture] = []
    for start in range(0, len(questions), _BATCH_SIZE):
        batch = questions[start : start + _BATCH_SIZE]
        photos = np.stack([to_float_picture(question.picture) for question in batch])
        for prediction in predictor.answer(photos, [question.request for question in batch]):
            if prediction.steps is None:
                pictures.append(to_byte_picture(prediction.picture))
            else:
                steps.append(prediction.steps)
    return RecordedPictures(pictures) if pictures else RecordedRecipes(steps)


def _list_runs(runs: Path, only: Sequence[str]) -> list[str]:
    names = sorted(path.parent.name for path in runs.glob(f"*/{BEST_WEIGHTS_FILE}"))
    if not names:
        raise TrainingError(
            f"no folder in {runs} has {BEST_WEIGHTS_FILE}; give the folder of trained runs with --runs"
        )
    if absent := [name for name in only if name not in names]:
        raise TrainingError(f"{runs} has no weights of {absent[0]}; there are {', '.join(names)}")
    return [name for name in names if not only or name in only]


def _is_answered(path: Path, source: Mapping[str, object]) -> bool:
    """Whether a file holds answers to these questions by these weights; unreadable files count as no."""
    try:
        return path.is_file() and source.items() <= read_answers_source(path).items()
    except (DataError, TypeError):
        return False
