"""One table for an editor: near the expert, doing what was said, and honest about what it cannot do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..data import Dataset, Sample
from ..editor import performed_thoughts, small
from ..image import open_image
from ..language import Attribute
from ..language.ten_requests import TEN_REQUESTS
from ..metrics.pictures import distance, psnr, ssim, variety
from ..policy import Policy
from .following import CLASSES, Following, follow, ordered_amounts
from .labelled import LabelledRequest

_RIGHT: tuple[tuple[Attribute, int], ...] = (
    (Attribute.LIGHTNESS, -1),
    (Attribute.LIGHTNESS, 1),
    (Attribute.COLOURFULNESS, 1),
    (Attribute.COLOURFULNESS, -1),
    (Attribute.CONTRAST, 1),
    (Attribute.CONTRAST, -1),
    (Attribute.COLOURFULNESS, 1),
    (Attribute.COLOURFULNESS, -1),
    (Attribute.LIGHTNESS, 1),
    (Attribute.LIGHTNESS, 1),
)
"""What each of them asks for."""
AMOUNTS: tuple[tuple[Attribute, int, tuple[str, str, str]], ...] = (
    (Attribute.LIGHTNESS, 1, ("make it a little brighter", "make it brighter", "make it a lot brighter")),
    (Attribute.LIGHTNESS, -1, ("darken it slightly", "darken it", "darken it a lot")),
    (Attribute.COLOURFULNESS, 1, ("a bit more saturation", "more saturation", "much more saturation")),
    (Attribute.WARMTH, 1, ("make it a little warmer", "make it warmer", "make it a lot warmer")),
    (Attribute.CONTRAST, 1, ("add a bit of contrast", "add contrast", "add a lot of contrast")),
)
"""The same request in three amounts."""


@dataclass(frozen=True)
class Case:
    """A photo, its target and its request, small."""

    before: np.ndarray
    after: np.ndarray
    request: str


@dataclass
class Evaluation:
    """Figures by name, and following in detail for each manner."""

    figures: dict[str, float] = field(default_factory=dict)
    following: dict[str, Following] = field(default_factory=dict)

    def lines(self) -> Iterator[tuple[str, str]]:
        """Name and figure, as they are printed."""
        for name, value in self.figures.items():
            yield name, f"{value:.4f}"
        for manner, found in self.following.items():
            for attribute, sign in CLASSES:
                count = len(found.hits[attribute, sign])
                label = f"{manner}: {'more' if sign > 0 else 'less'} {attribute}"
                yield label, f"{found.share((attribute, sign)):.3f} of {count}"


def cases(dataset: Dataset, split: str, side: int, count: int | None = None, seed: int = 0) -> list[Case]:
    """Samples of a split at the size a policy sees, all or some drawn by the seed."""
    samples: Sequence[Sample] = dataset.split(split)
    if count is not None and count < len(samples):
        order = np.random.default_rng(seed).permutation(len(samples))[:count]
        samples = [samples[at] for at in sorted(order)]
    return [_case(sample, side) for sample in samples]


def _case(sample: Sample, side: int) -> Case:
    before, after = (small(open_image(path), side) for path in (sample.before, sample.after))
    return Case(before, after, sample.requests[0] if sample.requests else "")


def evaluate(
    policy: Policy,
    found: Sequence[Case],
    sentences: Mapping[LabelledRequest, str],
    *,
    each: int = 4,
    seed: int = 0,
    progress: Callable[[str], None] = lambda stage: None,
) -> Evaluation:
    """All figures; `each` is the number of photos for every labelled request."""
    result = Evaluation()
    progress("distance to the expert")
    _near_the_expert(policy, found, result.figures)
    photos = [case.before for case in found]
    for manner in ("literal", "expert") if sentences else ():
        progress(f"following, {manner}")
        following = follow(policy, sentences, photos, manner=manner, each=each, seed=seed)
        result.following[manner] = following
        _following_figures(manner, following, result.figures)
    progress("amounts and the paper's ten requests")
    few = photos[:: max(1, len(photos) // 50)]
    result.figures["amounts in order"] = ordered_amounts(policy, few, AMOUNTS)
    _ten_requests(policy, few, result.figures)
    return result


def _near_the_expert(policy: Policy, found: Sequence[Case], figures: dict[str, float]) -> None:
    rows = []
    for case in found:
        answer = policy.answer(case.before, case.request, "expert")
        made = performed_thoughts(answer.thoughts, case.before)
        rows.append(
            (
                distance(case.before, case.after),
                distance(made, case.after),
                ssim(case.before, case.after),
                ssim(made, case.after),
                min(psnr(made, case.after), 99.0),
            )
        )
    names = ("input L1", "expert: L1", "input SSIM", "expert: SSIM", "expert: PSNR")
    figures.update(zip(names, np.mean(rows, axis=0).tolist(), strict=True))


def _following_figures(manner: str, found: Following, figures: dict[str, float]) -> None:
    figures[f"{manner}: following"] = found.mean
    figures[f"{manner}: following, least class"] = found.least
    figures[f"{manner}: unrequested change"] = float(np.mean(found.aside))
    figures[f"{manner}: all of a compound request"] = float(np.mean(found.compound))
    figures[f"{manner}: all of a misspelt request"] = float(np.mean(found.misspelt))
    figures[f"{manner}: unanswerable flagged"] = float(np.mean(found.flagged))
    figures[f"{manner}: wrongly flagged"] = float(np.mean(found.wrongly))


def _ten_requests(policy: Policy, photos: Sequence[np.ndarray], figures: dict[str, float]) -> None:
    """Sigma, and how many of the ten change the photos the right way on average."""
    from ..metrics.attributes import ORDER, changes

    sigmas, moved = [], np.zeros(len(TEN_REQUESTS))
    for picture in photos:
        answers = [policy.answer(picture, request, "literal") for request in TEN_REQUESTS]
        pictures = [performed_thoughts(answer.thoughts, picture) for answer in answers]
        sigmas.append(variety(pictures))
        for at, (attribute, sign) in enumerate(_RIGHT):
            moved[at] += sign * float(changes(picture, pictures[at])[ORDER[attribute]])
    figures["sigma x 100"] = 100 * float(np.mean(sigmas)) if sigmas else math.nan
    figures["of the paper's ten requests right"] = float((moved > 0).sum())
