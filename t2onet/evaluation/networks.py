"""Torch networks as systems, in batches, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..models import LoadedNetwork, load_network
from ..models import retoucher as retouching
from ..models.answering import PicturePredictor, Predictor, make_predictor, select_device, to_arrays
from ..models.retoucher import OPERATION_ORDER
from .systems import EVALUATION_SIDE, Question, System, SystemAnswer, clip_to_recipe

# Networks in torch as systems: many photos at once, on a GPU where there is one. Needs the extra `train`.


class NetworkSystem:
    """A network without manners: T2ONet or the generator of a GAN."""

    manners = False
    side = EVALUATION_SIDE

    def __init__(self, name: str, network: Predictor) -> None:
        self.name = name
        self.network = network

    @property
    def paints(self) -> bool:
        """Whether it makes pictures of any size itself, without a recipe."""
        return isinstance(self.network, PicturePredictor)

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        pictures = np.stack([question.picture for question in questions])
        replies = self.network.answer(pictures, [question.request for question in questions])
        return [
            SystemAnswer(reply.picture, recipe=None if reply.steps is None else clip_to_recipe(reply.steps))
            for reply in replies
        ]


class RetoucherSystem:
    """Decides on each operation in a fixed order, in either manner, and may decline: the shipped network."""

    manners = True
    side = EVALUATION_SIDE

    def __init__(self, name: str, loaded: LoadedNetwork) -> None:
        self.name = name
        self.device = select_device()
        self.network: Any = loaded.network.to(self.device).eval()

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        pictures = np.stack([question.picture for question in questions]).astype(np.float32)
        with torch.inference_mode():
            return list(self._made(questions, torch.from_numpy(pictures).to(self.device)))

    def _made(self, questions: Sequence[Question], images: Tensor) -> Iterable[SystemAnswer]:
        requests, modes = zip(*((question.request, question.manner) for question in questions), strict=True)
        batch = retouching.encode_requests(requests, images, modes)
        done = retouching.decode_recipes(self.network, retouching.RetoucherRuntime(self.network), batch)
        declined = (retouching.merge_declined_logits(done.verdict).argmax(-1) == 1).tolist()
        used = (done.used > 0).tolist()
        values = [parameters.tolist() for parameters in done.parameters]
        for at, picture in enumerate(to_arrays(done.image)):
            steps = [
                (name, values[k][at])
                for k, name in enumerate(OPERATION_ORDER)
                if used[at][k] and not declined[at]
            ]
            yield SystemAnswer(picture, declined[at], clip_to_recipe(steps))


def open_network_system(name: str, path: Path, *, narrow: bool = False) -> System:
    """The network of a file of weights, whichever kind it is; generators may compute in bfloat16."""
    loaded = load_network(path)
    if loaded.metadata["network"] == "retoucher":
        return RetoucherSystem(name, loaded)
    return NetworkSystem(name, make_predictor(loaded, bfloat16=narrow))
