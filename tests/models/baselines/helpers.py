"""The baselines, small enough for 32 x 32 pixels on one core."""

from __future__ import annotations

import torch
from torch import Tensor

from t2onet.models.baselines import BASELINES, BaselineGAN
from t2onet.models.decoding import RequestBatch

WORDS = 20
SMALL: dict[str, dict[str, int]] = {
    "pix2pixaug": {"word_size": 12, "hidden": 16, "width": 6, "depth": 4},
    "geneva": {"word_size": 12, "hidden": 16, "state": 16, "noise": 8, "code": 16, "width": 4},
    "sisgan": {"word_size": 12, "hidden": 16, "code": 8, "width": 4, "blocks": 2},
    "tagan": {"word_size": 12, "hidden": 16, "code": 8, "width": 8, "blocks": 2},
    "bilinear": {"word_size": 12, "hidden": 16, "code": 8, "width": 4, "blocks": 2, "rank": 16},
    "manigan": {
        "word_size": 12,
        "hidden": 16,
        "noise": 8,
        "code": 8,
        "width": 4,
        "critic_width": 2,
        "grid": 4,
    },
}


def small(name: str) -> BaselineGAN:
    return BASELINES[name].gan(BASELINES[name].config(**SMALL[name]), WORDS)


def requests(height: int = 32, width: int = 32, batch: int = 3) -> tuple[RequestBatch, Tensor]:
    """Random photos with requests of 2, 3, ... words, and random targets."""
    image, target = torch.rand(2, batch, 3, height, width)
    tokens = torch.randint(4, WORDS, (batch, 6))
    tokens *= torch.arange(6) < 2 + torch.arange(batch)[:, None]
    return RequestBatch(tokens, tokens != 0, image), target
