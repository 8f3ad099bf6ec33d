"""Many requests at once to a network of any kind without manners: photos in, pictures and steps out.

How a network answers depends on its kind, the one its weights file names: T2ONet decides on steps, any other
is a generator, called as generator(images (B, 3, H, W), tokens (B, L)).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .files import Loaded
from .precision import answering_device, computes_bfloat16
from .rollout import Asked, Greedy, rollout

Decisions = tuple[tuple[str, list[float]], ...]
"""Operations with their parameters exactly as they were carried out."""


class Reply(NamedTuple):
    """A picture (3, H, W) float32 in [0, 1] and, where it was made by operations, these."""

    picture: np.ndarray
    steps: Decisions | None = None


class Answering(ABC):
    """A network on the GPU, where there is one."""

    def __init__(self, loaded: Loaded) -> None:
        self.device = answering_device()
        self.network: Any = loaded.network.to(self.device).eval()
        self.vocabulary = loaded.vocabulary

    def answer(self, pictures: np.ndarray, requests: Sequence[str]) -> list[Reply]:
        """To requests about pictures (B, 3, H, W) in [0, 1]."""
        images = torch.from_numpy(pictures.astype(np.float32)).to(self.device)
        tokens = torch.tensor([self.vocabulary.encode(request) for request in requests], device=self.device)
        with torch.inference_mode():
            return list(self.replies(images, tokens))

    @abstractmethod
    def replies(self, images: Tensor, tokens: Tensor) -> Iterable[Reply]:
        """What comes of images (B, 3, H, W) and word ids (B, L)."""


class Stepping(Answering):
    """Decodes step by step, always taking the likeliest operation: T2ONet, however it was trained."""

    def replies(self, images: Tensor, tokens: Tensor) -> Iterable[Reply]:
        done = rollout(self.network, Asked(tokens, tokens != 0, images), Greedy())
        rows = zip(arrays(done.final), done.operations.tolist(), done.parameters.tolist(), strict=True)
        for picture, chosen, parameters in rows:
            yield Reply(picture, self._decisions(zip(chosen, parameters, strict=True)))

    def _decisions(self, steps: Iterable[tuple[int, list[float]]]) -> Decisions:
        actions = self.network.actions
        return tuple(
            (actions.names[number], parameters[actions.places[number]])
            for number, parameters in steps
            if number != actions.end
        )


class Painting(Answering):
    """Makes the picture itself, without steps: the generator of a GAN.

    A `narrow` one computes in bfloat16 where the device can, which costs a fraction of a level of 255 and, on
    many CPUs, half the time.
    """

    def __init__(self, loaded: Loaded, *, narrow: bool = False) -> None:
        super().__init__(loaded)
        self.network = self.network.to(memory_format=torch.channels_last)
        self.narrow = narrow and computes_bfloat16(self.device)

    def replies(self, images: Tensor, tokens: Tensor) -> Iterable[Reply]:
        images = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.narrow):
            painted = self.network(images, tokens)
        return map(Reply, arrays(painted.float().clamp(0, 1)))


def answering(loaded: Loaded, *, narrow: bool = False) -> Answering:
    """By the kind of a network; `narrow` lets generators compute in bfloat16."""
    if loaded.metadata["network"] == "t2onet":
        return Stepping(loaded)
    return Painting(loaded, narrow=narrow)


def arrays(images: Tensor) -> list[np.ndarray]:
    """Each (3, H, W)."""
    return list(images.cpu().numpy())
