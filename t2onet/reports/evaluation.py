"""A system measured: near the expert, doing what was said, and honest about what it cannot do.

Every figure is made from rows, one for each sample, so that it can be followed back and compared sample by
sample with that of another system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..language import Attribute
from ..language.ten_requests import TEN_REQUESTS
from ..metrics.attributes import ORDER
from ..metrics.features import Extractor
from ..metrics.frechet import Rows
from ..metrics.intervals import Averaged, Crowds, Statistic
from ..metrics.lpips import TITLE as LPIPS
from ..metrics.lpips import Lpips
from ..metrics.pictures import delta_e, distance, psnr, ssim, variety
from .cases import Case, Told, quiet
from .figures import ANY, MANNERS, SIGMA, TEN, class_figures, pair_figures, photo_figures, request_figures
from .following import amount_rows, request_rows
from .labelled import LabelledRequest
from .rows import Row
from .systems import Made, Question, System, answered

LOUDEST = 99.0
"""Decibels that stand for an equal picture, whose PSNR is infinite."""
FEW = 50
"""About how many photos the amounts and the paper's ten requests are asked of, unless told otherwise."""
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
"""What each of the ten asks for."""


@dataclass(frozen=True)
class Wanted:
    """The targets of all cases as features, which a system's pictures are compared with."""

    extractor: Extractor
    features: Rows

    @classmethod
    def of(cls, extractor: Extractor, cases: Sequence[Case]) -> Wanted:
        return cls(extractor, extractor([case.after for case in cases]))


@dataclass(frozen=True)
class Evaluation:
    """A system's rows, its figures by name, and following class by class."""

    name: str
    rows: tuple[Row, ...]
    figures: Mapping[str, Statistic]
    classes: Mapping[str, Statistic]
    runs: tuple[Evaluation, ...] = ()
    """Those that it is the mean of, where a system was trained several times."""


def averaged(name: str, runs: Sequence[Evaluation]) -> Evaluation:
    """Of several training runs of one system: every figure is the mean over them."""
    figures, classes = (
        {key: Averaged(tuple(part[key] for part in parts)) for key in parts[0]}
        for parts in ([run.figures for run in runs], [run.classes for run in runs])
    )
    return Evaluation(name, (), figures, classes, tuple(runs))


def evaluate(
    system: System,
    cases: Sequence[Case],
    sentences: Mapping[LabelledRequest, str],
    *,
    each: int = 4,
    few: int = FEW,
    amounts: bool = True,
    seed: int = 0,
    wanted: Sequence[Wanted] = (),
    lpips: Lpips | None = None,
    told: Told = quiet,
) -> Evaluation:
    """All figures; `each` is the number of photos for every labelled request.

    About `few` photos are asked the paper's ten requests and, if `amounts` are wanted, for those.
    """
    pictures: list[np.ndarray] = []
    rows = list(_pair_rows(system, cases, pictures, lpips, told))
    for manner in MANNERS if system.manners else MANNERS[:1]:
        rows += request_rows(system, sentences, cases, manner=manner, each=each, seed=seed, told=told)
    some = cases[:: max(1, len(cases) // few)]
    if amounts:
        rows += amount_rows(system, some, told)
    rows += _ten_rows(system, some, told)
    if not system.manners:
        rows = [replace(row, manner=ANY) for row in rows]
    crowds = _crowds(tuple(case.name for case in cases), pictures, wanted, told)
    figures = pair_figures(rows) | crowds | request_figures(rows) | photo_figures(rows)
    return Evaluation(system.name, tuple(rows), figures, class_figures(rows))


def _pair_rows(
    system: System, cases: Sequence[Case], pictures: list[np.ndarray], lpips: Lpips | None, told: Told
) -> Iterator[Row]:
    """How near the expert it comes; what it made is added to `pictures`."""
    questions = [Question(case.before, case.request, "expert") for case in cases]
    for case, made in zip(cases, answered(system, questions, "pairs", told), strict=True):
        pictures.append(made.picture)
        yield Row("pairs", case.name, "", "expert", _near(case, made, lpips))


def _near(case: Case, made: Made, lpips: Lpips | None) -> dict[str, float]:
    found = {
        "L1": distance(made.picture, case.after),
        "SSIM": ssim(made.picture, case.after),
        "PSNR": min(psnr(made.picture, case.after), LOUDEST),
        "delta-E 2000": delta_e(made.picture, case.after),
    }
    if lpips is not None:
        found[LPIPS] = lpips(made.picture, case.after)
    return found if made.recipe is None else found | {"steps": float(len(made.recipe.steps))}


def _crowds(
    names: tuple[str, ...], pictures: Sequence[np.ndarray], wanted: Sequence[Wanted], told: Told
) -> dict[str, Statistic]:
    found: dict[str, Statistic] = {}
    for one in wanted:
        told(one.extractor.title, 0, len(pictures))
        found[f"expert: {one.extractor.title}"] = Crowds(names, one.extractor(pictures), one.features)
    return found


def _ten_rows(system: System, cases: Sequence[Case], told: Told) -> Iterator[Row]:
    """The paper's sigma, and how far each of its ten requests moves a photo the right way."""
    questions = [Question(case.before, request, "literal") for case in cases for request in TEN_REQUESTS]
    answers = answered(system, questions, "the paper's ten requests", told)
    for case in cases:
        pictures = [next(answers).picture for _ in TEN_REQUESTS]
        moved = {
            name: sign * float(case.change(picture)[ORDER[attribute]])
            for name, picture, (attribute, sign) in zip(TEN, pictures, _RIGHT, strict=True)
        }
        yield Row("ten requests", case.name, "", "literal", {SIGMA: 100 * variety(pictures), **moved})
