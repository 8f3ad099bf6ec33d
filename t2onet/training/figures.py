"""What is measured while training: distance from the target, similarity, and whether requests matter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def distance(image: Tensor, target: Tensor) -> Tensor:
    """(B, 3, H, W) twice -> the mean absolute difference of each, (B,)."""
    return (image - target).abs().mean((1, 2, 3))


def variance(images: Tensor) -> Tensor:
    """The paper's sigma: R answers to one photo (R, B, 3, H, W) -> the mean variance over them, (B,)."""
    return images.var(0, correction=0).mean((1, 2, 3))


def similarity(image: Tensor, target: Tensor) -> Tensor | None:
    """SSIM of each, (B,); None where torchmetrics is not installed or does not fit this torch."""
    measure = _ssim()
    return None if measure is None else measure(image, target)


@cache
def _ssim() -> Callable[[Tensor, Tensor], Tensor] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torchmetrics.functional.image import structural_similarity_index_measure
    except (ImportError, RuntimeError):  # the latter where a torchvision beside it is made for another torch
        return None

    def measure(image: Tensor, target: Tensor) -> Tensor:
        found = structural_similarity_index_measure(image, target, data_range=1.0, reduction="none")
        return torch.as_tensor(found).reshape(len(image))

    return measure
