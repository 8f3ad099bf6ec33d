"""Torch networks as systems: photos in batches, on a GPU if there is one. Needs the extra `train`."""

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


class NetworkSystem:
    """A network without modes: T2ONet or the generator of a GAN."""

    has_modes = False
    side = EVALUATION_SIDE

    def __init__(self, name: str, network: Predictor) -> None:
        self.name = name
        self.network = network

    @property
    def paints(self) -> bool:
        """Whether it outputs pixels, of any size, in place of a recipe."""
        return isinstance(self.network, PicturePredictor)

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        pictures = np.stack([question.picture for question in questions])
        replies = self.network.answer(pictures, [question.request for question in questions])
        return [
            SystemAnswer(reply.picture, recipe=None if reply.steps is None else clip_to_recipe(reply.steps))
            for reply in replies
        ]


class RetoucherSystem:
    """The kind of network that is shipped: operations in a fixed order, two modes, and it may decline."""

    has_modes = True
    side = EVALUATION_SIDE

    def __init__(self, name: str, loaded: LoadedNetwork) -> None:
        self.name = name
        self.device = select_device()
        self.network: Any = loaded.network.to(self.device).eval()

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        pictures = np.stack([question.picture for question in questions]).astype(np.float32)
        with torch.inference_mode():
            return list(self._answer(questions, torch.from_numpy(pictures).to(self.device)))

    def _answer(self, questions: Sequence[Question], images: Tensor) -> Iterable[SystemAnswer]:
        requests, modes = zip(*((question.request, question.mode) for question in questions), strict=True)
        runtime = retouching.RetoucherRuntime(self.network)
        encoded = retouching.encode_requests(requests, images, modes)
        done = retouching.decode_recipes(self.network, runtime, encoded)
        declined = (retouching.merge_declined_logits(done.verdict).argmax(-1) == 1).tolist()
        used = (done.used > 0).tolist()
        values = [parameters.tolist() for parameters in done.parameters]
        for index, picture in enumerate(to_arrays(done.image)):
            steps = [
                (name, values[position][index])
                for position, name in enumerate(OPERATION_ORDER)
                if used[index][position] and not declined[index]
            ]
            yield SystemAnswer(picture, declined[index], clip_to_recipe(steps))


def open_network_system(name: str, path: Path, *, bfloat16: bool = False) -> System:
    """The network of a file of weights; with `bfloat16` the generator of a GAN computes in that type."""
    loaded = load_network(path)
    if loaded.metadata["network"] == "retoucher":
        return RetoucherSystem(name, loaded)
    return NetworkSystem(name, make_predictor(loaded, bfloat16=bfloat16))
