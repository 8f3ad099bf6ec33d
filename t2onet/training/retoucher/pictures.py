"""The pixels of a lesson, made where the network is: all rows in one go, nothing asked of the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from ...data.simulation.strengths import COLUMNS, STAGES
from ...metrics.attributes import NOTICEABLE, measure
from .lessons import Lesson

_LIGHTNESS, _CONTRAST = (8.0, 95.0), 4.0
"""Mean L* and least deviation of a picture that is not wrecked."""


@dataclass(frozen=True)
class Batch:
    """A lesson with its pictures (B, 3, H, W); `weight` (B,) is 0 for what the pictures do not bear out."""

    before: Tensor
    after: Tensor
    weight: Tensor
    pieces: Tensor
    told: Tensor
    manner: Tensor
    used: Tensor
    verdict: Tensor
    asked: Tensor
    real: Tensor


def moved(lesson: Lesson, device: torch.device) -> dict[str, Tensor]:
    """The columns of a lesson as tensors on the device."""
    return {field.name: torch.from_numpy(getattr(lesson, field.name)).to(device) for field in fields(lesson)}


class Darkroom:
    """Makes batches out of lessons; `compiled` fuses the arithmetic, which pays on a GPU."""

    def __init__(self, photos: Tensor, *, compiled: bool = False) -> None:
        self.photos = photos
        """(P, 3, H, W) uint8."""
        make: Callable[..., Callable[..., Tensor]] = torch.compile if compiled else (lambda run: run)
        self.stages = [(make(_stage(edit)), names) for edit, names in STAGES]
        self.weights = make(_weights)

    @torch.no_grad()
    def batch(self, lesson: dict[str, Tensor]) -> Batch:
        photo, target = self._framed(lesson["photo"], lesson["target"], lesson["frame"])
        photo = torch.lerp(photo, target, lesson["towards"][:, None, None, None]).clamp(0, 1)
        made = self._edited(photo, lesson["strengths"])
        spoils = lesson["spoils"][:, None, None, None]
        before, after = torch.where(spoils, made, photo), torch.where(spoils, target, made)
        free = lesson["real"] | (lesson["verdict"] != 0)
        weight = torch.where(free, 1.0, self.weights(before, after, lesson["asked"]))
        names = ("pieces", "told", "manner", "used", "verdict", "asked", "real")
        return Batch(before, after, weight, *(lesson[name] for name in names))

    def _framed(self, photo: Tensor, target: Tensor, frame: Tensor) -> tuple[Tensor, Tensor]:
        both = torch.cat([self.photos[photo], self.photos[target]], 1).float() / 255
        share, x, y, mirror = frame.unbind(-1)
        zero = torch.zeros_like(share)
        across, down = torch.stack([share * mirror, zero, x], -1), torch.stack([zero, share, y], -1)
        grid = functional.affine_grid(torch.stack([across, down], 1), list(both.shape), align_corners=False)
        shown = functional.grid_sample(both, grid, padding_mode="border", align_corners=False)
        return shown[:, :3].contiguous(), shown[:, 3:].contiguous()

    def _edited(self, photos: Tensor, strengths: Tensor) -> Tensor:
        for stage, names in self.stages:
            photos = stage(photos, *(strengths[:, COLUMNS.index(name)] for name in names))
        return photos


def _stage(edit: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(photos: Tensor, *strengths: Tensor) -> Tensor:
        wanted = torch.stack(strengths).abs().amax(0) > 0
        return torch.where(wanted[:, None, None, None], edit(photos, *strengths), photos)

    return run


def _weights(before: Tensor, after: Tensor, asked: Tensor) -> Tensor:
    """1 where all that was asked for can be seen and the picture is not wrecked, else 0."""
    first, second = measure(before), measure(after)
    change = (second - first) / torch.tensor(NOTICEABLE, device=before.device)
    seen = ((change * asked.sign() > 1) | (asked == 0)).all(-1)
    (low, high), light, spread = _LIGHTNESS, second[:, 0], second[:, 1]
    sound = (light > torch.clamp(first[:, 0] - 0.5, max=low)) & (
        light < torch.clamp(first[:, 0] + 0.5, min=high)
    )
    sound = sound & (spread > torch.clamp(first[:, 1] - 0.5, max=_CONTRAST))
    borne_out: Tensor = (seen & sound).float()
    return borne_out
