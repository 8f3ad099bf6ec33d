"""A small network and what it is asked."""

from __future__ import annotations

import torch

from t2onet.models.retoucher import Retoucher, RetoucherConfig
from t2onet.training.retoucher import EncodedRequests, encode_requests

VERDICTS = ("edit", "crop", "rotate")
SMALL = RetoucherConfig(words=16, layers=1, heads=2, width=24, verdicts=len(VERDICTS))


def network(seed: int = 0) -> Retoucher:
    torch.manual_seed(seed)
    return Retoucher(SMALL).eval()


def question(*requests: str, manner: int = 0, size: int = 32) -> EncodedRequests:
    """Each request to another picture."""
    torch.manual_seed(1)
    return encode_requests(list(requests), torch.rand(len(requests), 3, size, size), manner)
