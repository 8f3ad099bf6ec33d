"""How well the network does: near the expert on real pairs, and as told on simulated requests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...data.packed import PackedSet
from ...data.simulation.judged import Meaning
from ...language import Attribute
from ...language.grams import spelt
from ...metrics.attributes import NOTICEABLE, measure
from ...metrics.attributes import ORDER as ATTRIBUTES
from ...models.retoucher import Retoucher
from ...models.retoucher.rollout import Hands, answerable, rollout
from ..figures import nearness
from .item import EXPERT, LITERAL
from .lessons import lesson
from .literal import Literal
from .pictures import Darkroom, moved

SIMULATED, SEED = 1024, 11
DECLINED = 0.03
"""Share of real requests that could be answered and may be declined, so that fewer others are answered."""
_SIZE = 128


class Asked(NamedTuple):
    """Requests to pictures, as `rollout` takes them."""

    pieces: Tensor
    told: Tensor
    before: Tensor
    manner: Tensor


def asked(requests: list[str], pictures: Tensor, manner: int) -> Asked:
    """The same manner for all."""
    pieces, told = (torch.from_numpy(part).long().to(pictures.device) for part in spelt(requests))
    return Asked(pieces, told, pictures, torch.full((len(requests),), manner, device=pictures.device))


def expert_figures(
    network: Retoucher, data: PackedSet, numbers: NDArray[np.int64], photos: Tensor
) -> dict[str, float]:
    """`l1` and, where it can be measured, `ssim` from answers in manner expert to the experts' pictures."""
    hands = Hands(network)

    def answered() -> Iterator[tuple[Tensor, Tensor]]:
        for start in range(0, len(numbers), _SIZE):
            samples = [data.samples[number] for number in numbers[start : start + _SIZE]]
            before, after = (
                photos[[getattr(sample, side) for sample in samples]].float() / 255
                for side in ("before", "after")
            )
            requests = [sample.requests[0] if sample.requests else "" for sample in samples]
            yield rollout(network, hands, asked(requests, before, EXPERT)).image, after

    return nearness(answered())


def literal_figures(network: Retoucher, literal: Literal, photos: Tensor) -> dict[str, float]:
    """`following` over classes of attribute and sign; `flagged` and `flagged_wrongly` shares of requests."""
    rng = np.random.default_rng(SEED)
    hits, counts = torch.zeros(6, 2), torch.zeros(6, 2)
    flags: dict[bool, list[Tensor]] = {True: [], False: []}
    hands, darkroom = Hands(network), Darkroom(photos)
    for _ in range(0, SIMULATED, _SIZE):
        batch = darkroom.batch(moved(lesson(list(literal.items(rng, _SIZE))), photos.device))
        done = rollout(network, hands, batch)
        change = ((measure(done.image) - measure(batch.before)) / change_unit(photos.device)).cpu()
        wanted = (batch.asked.sign() * batch.weight[:, None]).cpu()
        for column, sign in enumerate((1.0, -1.0)):
            counts[:, column] += (wanted == sign).sum(0)
            hits[:, column] += ((wanted == sign) & (change * sign > 1)).sum(0)
        told = answerable(done.verdict).argmax(-1).cpu() == 1
        for possible, found in flags.items():
            found.append(told[(batch.verdict.cpu() == 0) == possible])
    shares = (hits / counts)[counts > 0]
    return {
        "following": shares.mean().item(),
        "flagged": torch.cat(flags[False]).float().mean().item(),
        "flagged_wrongly": torch.cat(flags[True]).float().mean().item(),
    }


def real_figures(
    network: Retoucher, requests: Sequence[tuple[str, Meaning]], rows: NDArray[np.int64], photos: Tensor
) -> dict[str, float]:
    """`real_following` of requests that were read one by one, each on a photo of `rows`; and `caution`, how
    much sooner than even odds say it may decline, if it may decline a few that it could answer; and
    `real_flagged`, the share of those it cannot answer that it then declines.
    """
    hits: dict[tuple[Attribute, int], list[bool]] = {}
    odds: dict[bool, list[float]] = {True: [], False: []}
    hands, few = Hands(network), np.random.default_rng(SEED).choice(rows, len(requests))
    for start in range(0, len(requests), _SIZE):
        told = requests[start : start + _SIZE]
        before = photos[few[start : start + _SIZE]].float() / 255
        done = rollout(network, hands, asked([text for text, _ in told], before, LITERAL))
        change = ((measure(done.image) - measure(before)) / change_unit(photos.device)).cpu()
        doubts = answerable(done.verdict).diff(dim=-1)[:, 0].tolist()
        for (_, meaning), moved_by, doubt in zip(told, change.tolist(), doubts, strict=True):
            if (possible := bool(meaning.intents) or meaning.vague) or meaning.matter:
                odds[possible].append(doubt)
            for intent in meaning.intents:
                right = moved_by[ATTRIBUTES[intent.attribute]] * intent.sign > 1
                hits.setdefault((intent.attribute, intent.sign), []).append(right)
    caution = -float(np.quantile(odds[True] or [0.0], 1 - DECLINED))
    return {
        "real_following": _mean([_mean(found) for found in hits.values()]),
        "caution": caution,
        "real_flagged": _mean([doubt > -caution for doubt in odds[False]]),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def change_unit(device: torch.device) -> Tensor:
    """(6,) just noticeable amounts."""
    return torch.tensor(NOTICEABLE, device=device)
