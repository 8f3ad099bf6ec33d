"""Networks in torch as systems: many photos at once, on a GPU where there is one. Needs the extra `train`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..language.grams import spelt
from ..models import Loaded, load_network
from ..models.answering import Answering, Painting, answering, arrays
from ..models.precision import answering_device
from ..models.retoucher import rollout as retouching
from ..models.retoucher.network import MANNERS, ORDER
from ..training.retoucher.exams import Asked as Told
from .systems import SIDE, Made, Question, System, recipe_of


class NetworkSystem:
    """A network without manners: T2ONet or the generator of a GAN."""

    manners = False
    side = SIDE

    def __init__(self, name: str, network: Answering) -> None:
        self.name = name
        self.network = network

    @property
    def paints(self) -> bool:
        """Whether it makes pictures of any size itself, without a recipe."""
        return isinstance(self.network, Painting)

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        pictures = np.stack([question.picture for question in questions])
        replies = self.network.answer(pictures, [question.request for question in questions])
        return [
            Made(reply.picture, recipe=None if reply.steps is None else recipe_of(reply.steps))
            for reply in replies
        ]


class Retouching:
    """Decides on each operation in a fixed order, in either manner, and may decline: the shipped network."""

    manners = True
    side = SIDE

    def __init__(self, name: str, loaded: Loaded) -> None:
        self.name = name
        self.device = answering_device()
        self.network: Any = loaded.network.to(self.device).eval()

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        pictures = np.stack([question.picture for question in questions]).astype(np.float32)
        with torch.inference_mode():
            return list(self._made(questions, torch.from_numpy(pictures).to(self.device)))

    def _made(self, questions: Sequence[Question], images: Tensor) -> Iterable[Made]:
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
        for at, picture in enumerate(arrays(done.image)):
            steps = [
                (name, values[k][at]) for k, name in enumerate(ORDER) if used[at][k] and not declined[at]
            ]
            yield Made(picture, declined[at], recipe_of(steps))


def network_system(name: str, path: Path, *, narrow: bool = False) -> System:
    """The network of a file of weights, whichever kind it is; generators may compute in bfloat16."""
    loaded = load_network(path)
    if loaded.metadata["network"] == "retoucher":
        return Retouching(name, loaded)
    return NetworkSystem(name, answering(loaded, narrow=narrow))
