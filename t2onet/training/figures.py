"""What is measured while training: distance from the target, similarity, and whether requests matter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import cache

import torch
from torch import Tensor

from ..language import Vocabulary
from ..language.ten_requests import TEN_REQUESTS
from ..models import Asked


def nearness(answers: Iterable[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """Batches of (photos, targets) -> the mean `l1` and, where it can be measured, `ssim` of all."""
    found: dict[str, list[Tensor]] = {"l1": []}
    for image, target in answers:
        found["l1"].append(distance(image, target))
        if (alike := similarity(image, target)) is not None:
            found.setdefault("ssim", []).append(alike)
    return {name: torch.cat(parts).mean().item() for name, parts in found.items()}


def request_variance(
    answer: Callable[[Asked], Tensor], photos: Iterable[Tensor], vocabulary: Vocabulary
) -> float:
    """The paper's sigma over its ten requests, on batches of photos; times 100, as the paper prints it."""
    found = []
    for images in photos:
        asked = [_asked(request, images, vocabulary) for request in TEN_REQUESTS]
        found.append(variance(torch.stack([answer(one) for one in asked])))
    return 100 * torch.cat(found).mean().item()


def _asked(request: str, photos: Tensor, vocabulary: Vocabulary) -> Asked:
    """The same of each photo."""
    tokens = torch.tensor([vocabulary.encode(request)] * len(photos), device=photos.device)
    return Asked(tokens, tokens != 0, photos)


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
