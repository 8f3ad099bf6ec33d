"""What the shipped network is taught: to do what was said (literal) and what a retoucher did (expert)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..data.packed import PackedSet
from ..data.simulation.strengths import COLUMNS, edited
from ..language.grams import grams
from ..metrics.attributes import NOTICEABLE, measure
from ..models.retoucher import Retoucher
from ..models.retoucher.network import MANNERS, ORDER
from .lessons import EXPERT, Lesson

LITERAL, AS_EXPERT = MANNERS.index("literal"), MANNERS.index("expert")


@dataclass(frozen=True)
class Teaching:
    """How much each part of the loss counts, and how lessons are made."""

    literal: int = 256
    """Simulated requests in a batch."""
    expert: int = 192
    """Real triplets in a batch."""
    image: float = 10.0
    attributes: float = 0.08
    used: float = 0.3
    verdict: float = 0.3
    expert_image: float = 10.0
    silent: float = 0.15
    """Share of expert triplets whose request is dropped."""
    own: float = 0.6
    """Share whose request is their own; the others have one that was meant for another expert."""
    varied: float = 0.5
    """Share whose input is changed a little, as another camera would have it."""
    variation: float = 0.5


@dataclass(frozen=True)
class Batch:
    """Pictures (B, 3, H, W) and all that is said about them; `weight` (B,) is 0 for what cannot be seen."""

    before: Tensor
    after: Tensor
    grams: Tensor
    manner: Tensor
    used: Tensor
    verdict: Tensor
    weight: Tensor
    literal: Tensor


def rollout(
    network: Retoucher, requests: Tensor, image: Tensor, manner: Tensor, used: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Pictures after all operations, logits of use (B, operations), logits of verdict.

    `used` (B, operations) says which operations are taken; without, the network decides.
    """
    context = network.begin(requests, image, manner)
    edits = context.verdict.argmax(-1) == 0
    state, logits = network.first(context), []
    for number, operation in enumerate(network.order):
        step = network.step(context, image.detach(), number, state)
        state = step.state
        logits.append(step.used)
        taken = used[:, number] > 0.5 if used is not None else (step.used > 0) & edits
        rows = taken.nonzero()[:, 0]
        if len(rows):
            image = image.index_copy(0, rows, operation.run(image[rows], step.parameters[rows], 1.0))
    return image, torch.stack(logits, -1), context.verdict


class Teacher:
    """Makes batches on the device and says what is wrong with the network's answers."""

    def __init__(self, packed: PackedSet, train: np.ndarray, device: torch.device, teaching: Teaching) -> None:
        self.packed, self.train, self.device, self.teaching = packed, train, device, teaching
        self.photos = torch.from_numpy(packed.photos).to(device).permute(0, 3, 1, 2).contiguous()
        self.noticeable = torch.tensor(NOTICEABLE, device=device)
        self.requests = _requests_by_photo(packed)

    def pictures(self, rows: np.ndarray) -> Tensor:
        return self.photos[torch.as_tensor(rows, device=self.device)].float() / 255

    def literal(self, lesson: Lesson) -> Batch:
        """Simulated edits on the photos of the lesson, every other one mirrored."""
        count = len(lesson.photo)
        photos = _flipped(self.pictures(lesson.photo), np.arange(count) % 2 == 0)
        with torch.no_grad():
            before, after = (edited(photos, s).clamp(0, 1) for s in (lesson.before, lesson.after))
            change = (measure(after) - measure(before)) / self.noticeable
        asked = self._here(lesson.asked)
        seen = ((change * asked > 1) | (asked == 0)).all(-1)
        verdict = self._here(lesson.verdict)
        return Batch(
            before=before,
            after=after,
            grams=self._here(lesson.grams).long(),
            manner=torch.full((count,), LITERAL, device=self.device),
            used=self._here(lesson.used),
            verdict=verdict,
            weight=(seen | (verdict > 0)).float(),
            literal=torch.ones(count, device=self.device),
        )

    def expert(self, rng: np.random.Generator) -> Batch:
        """Real triplets."""
        teaching, count = self.teaching, self.teaching.expert
        samples = [self.packed.samples[i] for i in rng.choice(self.train, count)]
        texts = [self._said(sample.before, sample.requests, rng) for sample in samples]
        flips = rng.random(count) < 0.5
        before, after = (
            _flipped(self.pictures(np.array([getattr(sample, side) for sample in samples])), flips)
            for side in ("before", "after")
        )
        with torch.no_grad():
            before = edited(before, _variations(rng, teaching)).clamp(0, 1)
        used = torch.tensor([name in EXPERT for name in ORDER], device=self.device).float()
        zeros = torch.zeros(count, device=self.device)
        return Batch(
            before=before,
            after=after,
            grams=self._here(grams(texts)).long(),
            manner=torch.full((count,), AS_EXPERT, device=self.device),
            used=used.expand(count, -1),
            verdict=zeros.long(),
            weight=zeros + 1,
            literal=zeros,
        )

    def losses(self, network: Retoucher, batch: Batch) -> dict[str, Tensor]:
        """The parts of the loss, weighted; their sum is what training lowers."""
        t = self.teaching
        made, used, verdict = rollout(network, batch.grams, batch.before, batch.manner, batch.used)
        off = (made - batch.after).abs().mean((-3, -2, -1))
        few = int(batch.literal.sum())  # they come first
        aside = (measure(made[:few]) - measure(batch.after[:few])) / self.noticeable
        aside = F.smooth_l1_loss(aside, torch.zeros_like(aside), reduction="none").mean(-1).clamp(max=40)
        gates = F.binary_cross_entropy_with_logits(used, batch.used, reduction="none").mean(-1)
        told = F.cross_entropy(verdict, batch.verdict, reduction="none")
        literal, expert = batch.literal * batch.weight, 1 - batch.literal
        return {
            "image": t.image * _mean(off, literal),
            "attributes": t.attributes * _mean(aside, literal[:few]),
            "used": t.used * _mean(gates, batch.literal),
            "verdict": t.verdict * _mean(told, batch.literal),
            "expert": t.expert_image * _mean(off, expert) + 0.05 * _mean(gates, expert),
        }

    def _here(self, values: np.ndarray) -> Tensor:
        return torch.as_tensor(values, device=self.device)

    def _said(self, row: int, own: tuple[str, ...], rng: np.random.Generator) -> str:
        """A request of the photo: its own, another's, or nothing."""
        if rng.random() < self.teaching.silent:
            return ""
        texts = own if rng.random() < self.teaching.own else self.requests[row]
        return texts[rng.integers(len(texts))] if texts else ""


def joined(one: Batch, other: Batch) -> Batch:
    """Both as one batch; shorter requests are padded."""
    words = max(one.grams.shape[1], other.grams.shape[1])
    padded = [F.pad(batch.grams, (0, 0, 0, words - batch.grams.shape[1])) for batch in (one, other)]
    names = [name for name in Batch.__dataclass_fields__ if name != "grams"]
    parts = {name: torch.cat([getattr(one, name), getattr(other, name)]) for name in names}
    return Batch(grams=torch.cat(padded), **parts)


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1)


def _flipped(pictures: Tensor, flips: np.ndarray) -> Tensor:
    mirror = torch.as_tensor(flips, device=pictures.device)[:, None, None, None]
    return torch.where(mirror, pictures.flip(-1), pictures)


def _requests_by_photo(packed: PackedSet) -> dict[int, tuple[str, ...]]:
    """All that was asked of a photo, whichever expert it was meant for."""
    found: dict[int, list[str]] = {}
    rows = {sample.name.split("_")[0]: sample.before for sample in packed.samples}
    for sample in packed.samples:
        found.setdefault(sample.before, []).extend(sample.requests)
    for text in packed.texts:
        if (row := rows.get(text.name.split("_")[0])) is not None:
            found[row].extend(text.requests)
    return {row: tuple(dict.fromkeys(texts)) for row, texts in found.items()}


_VARIATIONS = {"exposure": 0.5, "contrast": 0.15, "temperature": 10.0, "chroma": 0.15}


def _variations(rng: np.random.Generator, teaching: Teaching) -> np.ndarray:
    """(N, COLUMNS) small edits of inputs; none for those that stay as they are."""
    table = np.zeros((teaching.expert, len(COLUMNS)))
    for name, scale in _VARIATIONS.items():
        table[:, COLUMNS.index(name)] = teaching.variation * scale * rng.normal(size=teaching.expert)
    table[rng.random(teaching.expert) >= teaching.varied] = 0
    return table
