"""Settings that a device can follow: float32 in the place of bfloat16 where it does not compute in that."""

from __future__ import annotations

from typing import TypeVar

import torch

from ..models.precision import computes_bfloat16
from .settings import changed, names

S = TypeVar("S")

_WIDE = {"precision": "float32", "narrow": "false"}
"""Settings that may ask for bfloat16, and how they do not."""


def supported(settings: S, device: torch.device) -> S:
    """The settings as they are, or without bfloat16 where the device lacks it."""
    wide = changed(settings, [f"{name}={value}" for name, value in _WIDE.items() if name in names(settings)])
    return settings if wide == settings or computes_bfloat16(device) else wide
