"""A small network and what it is asked."""

from __future__ import annotations

import torch

from t2onet.models.retoucher import Retoucher, Settings
from t2onet.training.retoucher.exams import Asked, asked

VERDICTS = ("edit", "crop", "rotate")
SMALL = Settings(words=16, layers=1, heads=2, width=24, verdicts=len(VERDICTS))


def network(seed: int = 0) -> Retoucher:
    torch.manual_seed(seed)
    return Retoucher(SMALL).eval()


def question(*requests: str, manner: int = 0, size: int = 32) -> Asked:
    """Each request to another picture."""
    torch.manual_seed(1)
    return asked(list(requests), torch.rand(len(requests), 3, size, size), manner)
