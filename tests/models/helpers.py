"""Small networks, and one whose every word is given."""

from __future__ import annotations

import torch
from torch import Tensor

from t2onet.models.decoding import RequestBatch
from t2onet.models.t2onet import ActionSpace, DecoderContext, StepOutput, T2ONet, T2ONetConfig

WORDS = 20
SMALL = {"hidden": 16, "width": 4, "image_size": 12, "word_size": 10, "operation_size": 6}


def small(**changes: object) -> T2ONet:
    return T2ONet(T2ONetConfig(**{**SMALL, **changes}), WORDS)  # type: ignore[arg-type]


def make_requests(batch: int = 3, length: int = 5, size: int = 32) -> RequestBatch:
    """Requests of 2, 3, ... words and random photos."""
    tokens = torch.randint(4, WORDS, (batch, length))
    mask = torch.arange(length)[None] < 2 + torch.arange(batch)[:, None]
    return RequestBatch(tokens * mask, mask, torch.rand(batch, 3, size, size))


class Scripted:
    """Says the logits it was given, whatever is asked, and keeps what it was shown."""

    def __init__(self, logits: Tensor, parameters: Tensor | None = None, max_steps: int = 6) -> None:
        self.actions = ActionSpace()
        self.max_steps = max_steps
        self.logits = logits
        self.parameters = torch.zeros(self.actions.width) if parameters is None else parameters
        self.looked: list[Tensor] = []
        self.heard: list[Tensor] = []

    def begin(self, tokens: Tensor, mask: Tensor | None) -> DecoderContext:
        return DecoderContext(
            tokens[..., None].float(), torch.ones_like(tokens, dtype=torch.bool), tokens[:, :1].float()
        )

    def encode_image(self, image: Tensor) -> Tensor:
        self.looked.append(image)
        return image.flatten(1)

    def step(self, context: DecoderContext, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        self.heard.append(previous)
        batch, words = context.mask.shape
        parameters = self.parameters.expand(batch, -1)
        return StepOutput(
            self.logits.expand(batch, -1), parameters, state, torch.full((batch, words), 1 / words)
        )
