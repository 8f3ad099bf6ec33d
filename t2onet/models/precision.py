"""Whether a device computes in bfloat16, which some CPUs do not."""

from __future__ import annotations

from functools import cache

import torch
from torch import nn

NO_BFLOAT16 = "this device does not compute in bfloat16; computing in float32"
"""What to say where bfloat16 was asked for in vain."""


def answering_device() -> torch.device:
    """Where networks answer: the GPU, where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@cache
def computes_bfloat16(device: torch.device) -> bool:
    """Whether layers of the kinds that our networks have run on a device in bfloat16, forwards and backwards.

    It is tried, since neither a CPU's name nor its flags say which layers a library has code for: without
    AVX-512, oneDNN has convolutions and no LSTM.
    """
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            lstm, convolution = nn.LSTM(8, 8).to(device), nn.Conv2d(3, 8, 3).to(device)
            with torch.autocast(device.type, torch.bfloat16):
                states, _ = lstm(torch.ones(2, 1, 8, device=device))
                features = convolution(torch.ones(1, 3, 4, 4, device=device))
            (states.sum() + features.sum()).backward()
    except RuntimeError:
        return False
    return True
