"""A small network and what it is asked."""

from __future__ import annotations

import torch

from t2onet.models.retoucher import Retoucher, RetoucherConfig, RetoucherRequests, encode_requests

VERDICTS = ("edit", "crop", "rotate")
SMALL = RetoucherConfig(words=16, layers=1, heads=2, width=24, verdicts=len(VERDICTS))


def network(seed: int = 0) -> Retoucher:
    torch.manual_seed(seed)
    return Retoucher(SMALL).eval()


def question(*requests: str, mode: str = "literal", size: int = 32) -> RetoucherRequests:
    """Each request to another picture."""
    torch.manual_seed(1)
    return encode_requests(requests, torch.rand(len(requests), 3, size, size), [mode] * len(requests))
