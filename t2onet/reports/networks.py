"""Networks in torch as systems: many photos at once, on a GPU where there is one. Needs the extra `train`.

What a network is asked and how it answers depends on its kind, the one its weights file names; a kind that
is not listed in `KINDS` is a generator, called as generator(images (B, 3, H, W), tokens (B, L)).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..language.grams import spelt
from ..models import Asked, Greedy, Loaded, load_network, rollout
from ..models.retoucher import rollout as retouching
from ..models.retoucher.network import MANNERS, ORDER
from ..training.retoucher.exams import Asked as Told
from .systems import SIDE, Made, Question, System, recipe_of


class NetworkSystem(ABC):
    """A network with its weights."""

    manners = False
    side = SIDE

    def __init__(self, name: str, loaded: Loaded) -> None:
        self.name = name
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network: Any = loaded.network.to(self.device).eval()
        self.vocabulary = loaded.vocabulary

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        pictures = np.stack([question.picture for question in questions]).astype(np.float32)
        with torch.inference_mode():
            return list(self.made(questions, torch.from_numpy(pictures).to(self.device)))

    @abstractmethod
    def made(self, questions: Sequence[Question], images: Tensor) -> Iterable[Made]:
        """What comes of images (B, 3, H, W)."""

    def tokens(self, questions: Sequence[Question]) -> Tensor:
        """(B, L) word ids."""
        ids = [self.vocabulary.encode(question.request) for question in questions]
        return torch.tensor(ids, device=self.device)


class Stepping(NetworkSystem):
    """Decodes step by step, always taking the likeliest operation: T2ONet, however it was trained."""

    def made(self, questions: Sequence[Question], images: Tensor) -> Iterable[Made]:
        tokens = self.tokens(questions)
        done = rollout(self.network, Asked(tokens, tokens != 0, images), Greedy())
        rows = zip(_arrays(done.final), done.operations.tolist(), done.parameters.tolist(), strict=True)
        for picture, chosen, parameters in rows:
            yield Made(picture, recipe=recipe_of(self._steps(zip(chosen, parameters, strict=True))))

    def _steps(self, decisions: Iterable[tuple[int, list[float]]]) -> Iterator[tuple[str, list[float]]]:
        actions = self.network.actions
        for number, parameters in decisions:
            if number != actions.end:
                yield actions.names[number], parameters[actions.places[number]]


class Retouching(NetworkSystem):
    """Decides on each operation in a fixed order, in either manner, and may decline: the shipped network."""

    manners = True

    def made(self, questions: Sequence[Question], images: Tensor) -> Iterable[Made]:
        parts = (
            torch.from_numpy(part).long() for part in spelt([question.request for question in questions])
        )
        pieces, told = (part.to(self.device) for part in parts)
        manner = torch.tensor([MANNERS.index(question.manner) for question in questions], device=self.device)
        hands = retouching.Hands(self.network)
        done = retouching.rollout(self.network, hands, Told(pieces, told, images, manner))
        declined = (retouching.answerable(done.verdict).argmax(-1) == 1).tolist()
        used = (done.used > 0).tolist()
        values = [parameters.tolist() for parameters in done.parameters]
        for at, picture in enumerate(_arrays(done.image)):
            steps = [
                (name, values[k][at]) for k, name in enumerate(ORDER) if used[at][k] and not declined[at]
            ]
            yield Made(picture, declined[at], recipe_of(steps))


class Painting(NetworkSystem):
    """Makes the picture itself, without a recipe: the generator of a GAN.

    A `narrow` one computes in bfloat16, which costs a fraction of a level of 255 and, on CPUs that know it,
    half the time.
    """

    narrow = False

    def __init__(self, name: str, loaded: Loaded) -> None:
        super().__init__(name, loaded)
        self.network = self.network.to(memory_format=torch.channels_last)

    def made(self, questions: Sequence[Question], images: Tensor) -> Iterable[Made]:
        images = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.narrow):
            painted = self.network(images, self.tokens(questions))
        return map(Made, _arrays(painted.float().clamp(0, 1)))


KINDS: dict[str, type[NetworkSystem]] = {"t2onet": Stepping, "retoucher": Retouching}


def network_system(name: str, path: Path, *, narrow: bool = False) -> System:
    """The network of a file of weights, whichever kind it is; generators may compute in bfloat16."""
    loaded = load_network(path)
    system = KINDS.get(loaded.metadata["network"], Painting)(name, loaded)
    if isinstance(system, Painting):
        system.narrow = narrow
    return system


def _arrays(images: Tensor) -> list[np.ndarray]:
    return list(images.cpu().numpy())
