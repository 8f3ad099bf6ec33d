"""Batched answers of any trained network: photos and requests in, pictures and steps out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from .decoding import GreedyDecoding, RequestBatch, decode_steps
from .files import LoadedNetwork

# Whether a device computes in bfloat16, which some CPUs do not.

NO_BFLOAT16_MESSAGE = "this device does not compute in bfloat16; computing in float32"
"""What to say where bfloat16 was asked for in vain."""


def select_device() -> torch.device:
    """Where networks answer: the GPU, where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@cache
def supports_bfloat16(device: torch.device) -> bool:
    """Whether layers of the kinds that our networks have run on a device in bfloat16, forwards and backwards.

    It is tried, since neither a CPU's name nor its flags say which layers a library has code for: without
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


# Many requests at once to a network of any kind without manners: photos in, pictures and steps out.
#
# How a network answers depends on its kind, the one its weights file names: T2ONet decides on steps, any
# other
# is a generator, called as generator(images (B, 3, H, W), tokens (B, L)).

AppliedSteps = tuple[tuple[str, list[float]], ...]
"""Operations with their parameters exactly as they were carried out."""


class Prediction(NamedTuple):
    """A picture (3, H, W) float32 in [0, 1] and, where it was made by operations, these."""

    picture: np.ndarray
    steps: AppliedSteps | None = None


class Predictor(ABC):
    """A network on the GPU, where there is one."""

    def __init__(self, loaded: LoadedNetwork) -> None:
        self.device = select_device()
        self.network: Any = loaded.network.to(self.device).eval()
        self.vocabulary = loaded.vocabulary

    def answer(self, pictures: np.ndarray, requests: Sequence[str]) -> list[Prediction]:
        """To requests about pictures (B, 3, H, W) in [0, 1]."""
        images = torch.from_numpy(pictures.astype(np.float32)).to(self.device)
        tokens = torch.tensor([self.vocabulary.encode(request) for request in requests], device=self.device)
        with torch.inference_mode():
            return list(self.replies(images, tokens))

    @abstractmethod
    def replies(self, images: Tensor, tokens: Tensor) -> Iterable[Prediction]:
        """What comes of images (B, 3, H, W) and word ids (B, L)."""


class StepPredictor(Predictor):
    """Decodes step by step, always taking the likeliest operation: T2ONet, however it was trained."""

    def replies(self, images: Tensor, tokens: Tensor) -> Iterable[Prediction]:
        done = decode_steps(self.network, RequestBatch(tokens, tokens != 0, images), GreedyDecoding())
        rows = zip(to_arrays(done.final), done.operations.tolist(), done.parameters.tolist(), strict=True)
        for picture, chosen, parameters in rows:
            yield Prediction(picture, self._decisions(zip(chosen, parameters, strict=True)))

    def _decisions(self, steps: Iterable[tuple[int, list[float]]]) -> AppliedSteps:
        actions = self.network.actions
        return tuple(
            (actions.names[number], parameters[actions.places[number]])
            for number, parameters in steps
            if number != actions.end
        )


class PicturePredictor(Predictor):
    """Makes the picture itself, without steps: the generator of a GAN.

    A `narrow` one computes in bfloat16 where the device can, which costs a fraction of a level of 255 and, on
    many CPUs, half the time.
    """

    def __init__(self, loaded: LoadedNetwork, *, narrow: bool = False) -> None:
        super().__init__(loaded)
        self.network = self.network.to(memory_format=torch.channels_last)
        self.narrow = narrow and supports_bfloat16(self.device)

    def replies(self, images: Tensor, tokens: Tensor) -> Iterable[Prediction]:
        images = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.narrow):
            painted = self.network(images, tokens)
        return map(Prediction, to_arrays(painted.float().clamp(0, 1)))


def make_predictor(loaded: LoadedNetwork, *, narrow: bool = False) -> Predictor:
    """By the kind of a network; `narrow` lets generators compute in bfloat16."""
    if loaded.metadata["network"] == "t2onet":
        return StepPredictor(loaded)
    return PicturePredictor(loaded, narrow=narrow)


def to_arrays(images: Tensor) -> list[np.ndarray]:
    """Each (3, H, W)."""
    return list(images.cpu().numpy())
