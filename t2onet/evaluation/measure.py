"""Measure one system: distance to the expert, following of requests, and honesty about declined ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.spreadsheet import to_csv
from ..language import Attribute
from ..language.ten_requests import TEN_REQUESTS
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, check_followed, measure_unrequested_change
from ..metrics.distances import LPIPS_TITLE as LPIPS
from ..metrics.distances import Lpips, answer_variance, delta_e, l1_distance, psnr, ssim
from ..metrics.features import FeatureExtractor, FeatureRows
from ..metrics.statistics import (
    AveragedStatistic,
    FrechetStatistic,
    MeanStatistic,
    Statistic,
    mean_of_classes,
)
from ..options import MODES
from .cases import Case, EvaluationProgress, ignore_progress
from .labelled import LabelledRequest, RequestKind
from .systems import Question, System, SystemAnswer, answer_in_batches

# One table of everything measured: a row for each sample, a column for each figure, blank where none.

SamplePart = Literal["pairs", "requests", "amounts", "ten requests"]
Combine = Callable[[NDArray[np.float64]], NDArray[np.float64]]
_KEY_COLUMNS = ("system", "part", "photo", "request", "manner")


@dataclass(frozen=True)
class SampleRow:
    """What came of one photo and what was asked of it. `request` names a sentence and does not quote it."""

    part: SamplePart
    photo: str
    request: str
    manner: str
    figures: Mapping[str, float]


def rows_to_csv(systems: Mapping[str, Sequence[SampleRow]]) -> str:
    """The rows of all systems, with their figures to six digits."""
    columns = list(dict.fromkeys(name for rows in systems.values() for row in rows for name in row.figures))
    lines = [[*_KEY_COLUMNS, *columns]]
    for system, rows in systems.items():
        for row in rows:
            figures = [f"{row.figures[name]:.6g}" if name in row.figures else "" for name in columns]
            lines.append([system, row.part, row.photo, row.request, row.manner, *figures])
    return to_csv(lines)


def collect_means(
    rows: Iterable[SampleRow],
    columns: Sequence[str],
    sample: Callable[[SampleRow], str],
    combine: Combine = mean_of_classes,
) -> MeanStatistic:
    """The means of some columns, combined; rows of one sample (a photo, a sentence) stay together.

    Samples without any of the columns are left out.
    """
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
    for row in rows:
        there = np.array([name in row.figures for name in columns], np.float64)
        if there.any():
            name = sample(row)
            values = np.array([row.figures.get(column, 0.0) for column in columns], np.float64)
            sums[name] = sums.get(name, 0.0) + values
            counts[name] = counts.get(name, 0.0) + there
    shape = (len(sums), len(columns))
    values, numbers = (np.array(list(part.values())).reshape(shape) for part in (sums, counts))
    return MeanStatistic(tuple(sums), values, numbers, combine)


# Does a system do what was said? Real requests, labelled by hand, on photos it has not seen.

REQUEST_CLASSES: dict[tuple[Attribute, int], str] = {
    (attribute, sign): f"{'more' if sign > 0 else 'less'} {attribute}"
    for attribute in Attribute
    for sign in (1, -1)
}
"""What can be asked for, and what it is called in tables."""
UNREQUESTED = "unrequested change"
COMPOUND_FOLLOWED = "all of a compound request"
MISSPELT_FOLLOWED = "all of a misspelt request"
VAGUE_ANSWERED = "a vague request answered"
VAGUE_NEARER = "a vague request nearer the expert"
UNANSWERABLE_FLAGGED = "unanswerable flagged"
WRONGLY_FLAGGED = "wrongly flagged"
AMOUNTS_IN_ORDER = "amounts in order"
AMOUNT_REQUESTS: tuple[tuple[Attribute, int, tuple[str, str, str]], ...] = (
    (Attribute.LIGHTNESS, 1, ("make it a little brighter", "make it brighter", "make it a lot brighter")),
    (Attribute.LIGHTNESS, -1, ("darken it slightly", "darken it", "darken it a lot")),
    (Attribute.COLOURFULNESS, 1, ("a bit more saturation", "more saturation", "much more saturation")),
    (Attribute.WARMTH, 1, ("make it a little warmer", "make it warmer", "make it a lot warmer")),
    (Attribute.CONTRAST, 1, ("add a bit of contrast", "add contrast", "add a lot of contrast")),
)
"""The same request in three amounts."""


def measure_requests(
    system: System,
    sentences: Mapping[LabelledRequest, str],
    cases: Sequence[Case],
    *,
    manner: str = "literal",
    each: int = 4,
    seed: int = 0,
    told: EvaluationProgress = ignore_progress,
) -> Iterator[SampleRow]:
    """Every labelled request on `each` photos drawn by the seed."""
    rng = np.random.default_rng(seed)
    asked = [
        (label, sentence, cases[at])
        for label, sentence in sentences.items()
        for at in rng.choice(len(cases), min(each, len(cases)), replace=False)
    ]
    questions = [Question(case.before, sentence, manner) for _, sentence, case in asked]
    answers = answer_in_batches(system, questions, f"labelled requests, {manner}", told)
    for (label, _, case), made in zip(asked, answers, strict=True):
        yield SampleRow("requests", case.name, label.name, manner, judge_answer(label, case, made))


def judge_answer(label: LabelledRequest, case: Case, made: SystemAnswer) -> dict[str, float]:
    """What can be said about one answer, 1 for yes and 0 for no; what was declined changes nothing."""
    if label.kind is RequestKind.UNANSWERABLE:
        return {UNANSWERABLE_FLAGGED: float(made.declined)}
    after = case.before if made.declined else made.picture
    change = case.change(after)
    found = {WRONGLY_FLAGGED: float(made.declined)}
    if label.kind is RequestKind.VAGUE:
        nearer = l1_distance(after, case.after) < l1_distance(case.before, case.after)
        return found | {
            VAGUE_ANSWERED: float((abs(change) > JUST_NOTICEABLE).any()),
            VAGUE_NEARER: float(nearer),
        }
    seen = check_followed(change, label.intents)
    for intent, hit in zip(label.intents, seen, strict=True):
        found[REQUEST_CLASSES[intent.attribute, intent.sign]] = float(hit)
    found[UNREQUESTED] = measure_unrequested_change(change, label.intents)
    if label.typo:
        found[MISSPELT_FOLLOWED] = float(all(seen))
    if len(label.intents) > 1:
        found[COMPOUND_FOLLOWED] = float(all(seen))
    return found


def measure_amounts(
    system: System, cases: Sequence[Case], told: EvaluationProgress = ignore_progress
) -> Iterator[SampleRow]:
    """Whether a little is less than plain, and plain less than a lot, on each photo."""
    questions = [
        Question(case.before, request, "literal")
        for case in cases
        for _, _, requests in AMOUNT_REQUESTS
        for request in requests
    ]
    answers = answer_in_batches(system, questions, "amounts", told)
    for case in cases:
        for attribute, sign, requests in AMOUNT_REQUESTS:
            steps = [sign * case.change(next(answers).picture)[ATTRIBUTE_INDEX[attribute]] for _ in requests]
            right = all(less < more for less, more in pairwise(steps))
            yield SampleRow(
                "amounts",
                case.name,
                REQUEST_CLASSES[attribute, sign],
                "literal",
                {AMOUNTS_IN_ORDER: float(right)},
            )


# From rows to figures: which columns a figure is the mean of, and what counts as one sample of it.

ANY_MODE = "any"
"""The manner of systems that tell none apart: their rows count for both."""
SIGMA_FIGURE = "sigma x 100"
TEN_REQUEST_COLUMNS = tuple(f"request {number}" for number in range(1, 11))
"""Columns of how far each of the paper's requests moved a photo the right way."""
_PAIR_COLUMNS = ("L1", "SSIM", "PSNR", "delta-E 2000", LPIPS, "steps")
_REQUEST_COLUMNS = (
    UNREQUESTED,
    COMPOUND_FOLLOWED,
    MISSPELT_FOLLOWED,
    VAGUE_ANSWERED,
    VAGUE_NEARER,
    UNANSWERABLE_FLAGGED,
    WRONGLY_FLAGGED,
)


def summarize_pairs(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """How near the expert's the pictures are; a sample is a pair."""
    return _drop_empty(
        (f"expert: {column}", _select_statistic(rows, "pairs", "expert", [column]))
        for column in _PAIR_COLUMNS
    )


def summarize_requests(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """How labelled requests were answered in each manner; a sample is a sentence, with all its photos."""
    return _drop_empty(_request_statistics(rows))


def _request_statistics(rows: Sequence[SampleRow]) -> Iterator[tuple[str, Statistic]]:
    classes = tuple(REQUEST_CLASSES.values())
    for manner in MODES:
        yield f"{manner}: following", _select_statistic(rows, "requests", manner, classes)
        yield (
            f"{manner}: following, least class",
            _select_statistic(rows, "requests", manner, classes, _minimum),
        )
        for column in _REQUEST_COLUMNS:
            yield f"{manner}: {column}", _select_statistic(rows, "requests", manner, [column])


def summarize_classes(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """Following, class by class."""
    return _drop_empty(
        (f"{manner}: {column}", _select_statistic(rows, "requests", manner, [column]))
        for manner in MODES
        for column in REQUEST_CLASSES.values()
    )


def summarize_photos(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """Amounts, and the paper's ten requests; a sample is a photo, with all that was asked of it."""
    found = {
        AMOUNTS_IN_ORDER: _select_statistic(rows, "amounts", "literal", [AMOUNTS_IN_ORDER]),
        SIGMA_FIGURE: _select_statistic(rows, "ten requests", "literal", [SIGMA_FIGURE]),
        "of the paper's ten requests right": _select_statistic(
            rows, "ten requests", "literal", TEN_REQUEST_COLUMNS, _count_positive
        ),
    }
    return _drop_empty(found.items())


def _select_statistic(
    rows: Iterable[SampleRow],
    part: str,
    manner: str,
    columns: Sequence[str],
    combine: Combine = mean_of_classes,
) -> Statistic:
    chosen = (row for row in rows if row.part == part and row.manner in {manner, ANY_MODE})
    return collect_means(chosen, columns, _sentence_key if part == "requests" else _photo_key, combine)


def _sentence_key(row: SampleRow) -> str:
    return row.request


def _photo_key(row: SampleRow) -> str:
    return row.photo


def _minimum(means: np.ndarray) -> np.ndarray:
    return np.asarray(np.fmin.reduce(means, axis=-1))


def _count_positive(means: np.ndarray) -> np.ndarray:
    """How many of them are above zero."""
    return np.asarray((means > 0).sum(-1, dtype=np.float64))


def _drop_empty(figures: Iterable[tuple[str, Statistic]]) -> dict[str, Statistic]:
    """Those with a sample."""
    return {name: figure for name, figure in figures if figure.names}


# A system measured: near the expert, doing what was said, and honest about what it cannot do.
#
# Every figure is made from rows, one for each sample, so that it can be followed back and compared sample by
# sample with that of another system.

MAX_PSNR = 99.0
"""Decibels that stand for an equal picture, whose PSNR is infinite."""
FEW_PHOTOS = 50
"""About how many photos the amounts and the paper's ten requests are asked of, unless told otherwise."""
_TEN_INTENTS: tuple[tuple[Attribute, int], ...] = (
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
class TargetFeatures:
    """The targets of all cases as features, which a system's pictures are compared with."""

    extractor: FeatureExtractor
    features: FeatureRows

    @classmethod
    def of(cls, extractor: FeatureExtractor, cases: Sequence[Case]) -> TargetFeatures:
        return cls(extractor, extractor([case.after for case in cases]))


@dataclass(frozen=True)
class Evaluation:
    """A system's rows, its figures by name, and following class by class."""

    name: str
    rows: tuple[SampleRow, ...]
    figures: Mapping[str, Statistic]
    classes: Mapping[str, Statistic]
    runs: tuple[Evaluation, ...] = ()
    """Those that it is the mean of, where a system was trained several times."""


def average_runs(name: str, runs: Sequence[Evaluation]) -> Evaluation:
    """Of several training runs of one system: every figure is the mean over them."""
    figures, classes = (
        {key: AveragedStatistic(tuple(part[key] for part in parts)) for key in parts[0]}
        for parts in ([run.figures for run in runs], [run.classes for run in runs])
    )
    return Evaluation(name, (), figures, classes, tuple(runs))


def evaluate_system(
    system: System,
    cases: Sequence[Case],
    sentences: Mapping[LabelledRequest, str],
    *,
    each: int = 4,
    few: int = FEW_PHOTOS,
    amounts: bool = True,
    seed: int = 0,
    wanted: Sequence[TargetFeatures] = (),
    lpips: Lpips | None = None,
    told: EvaluationProgress = ignore_progress,
) -> Evaluation:
    """All figures; `each` is the number of photos for every labelled request.

    About `few` photos are asked the paper's ten requests and, if `amounts` are wanted, for those.
    """
    pictures: list[np.ndarray] = []
    rows = list(_measure_pairs(system, cases, pictures, lpips, told))
    for manner in MODES if system.manners else MODES[:1]:
        rows += measure_requests(system, sentences, cases, manner=manner, each=each, seed=seed, told=told)
    some = cases[:: max(1, len(cases) // few)]
    if amounts:
        rows += measure_amounts(system, some, told)
    rows += _measure_ten_requests(system, some, told)
    if not system.manners:
        rows = [replace(row, manner=ANY_MODE) for row in rows]
    crowds = _measure_frechet(tuple(case.name for case in cases), pictures, wanted, told)
    figures = summarize_pairs(rows) | crowds | summarize_requests(rows) | summarize_photos(rows)
    return Evaluation(system.name, tuple(rows), figures, summarize_classes(rows))


def _measure_pairs(
    system: System,
    cases: Sequence[Case],
    pictures: list[np.ndarray],
    lpips: Lpips | None,
    told: EvaluationProgress,
) -> Iterator[SampleRow]:
    """How near the expert it comes; what it made is added to `pictures`."""
    questions = [Question(case.before, case.request, "expert") for case in cases]
    for case, made in zip(cases, answer_in_batches(system, questions, "pairs", told), strict=True):
        pictures.append(made.picture)
        yield SampleRow("pairs", case.name, "", "expert", _measure_distances(case, made, lpips))


def _measure_distances(case: Case, made: SystemAnswer, lpips: Lpips | None) -> dict[str, float]:
    found = {
        "L1": l1_distance(made.picture, case.after),
        "SSIM": ssim(made.picture, case.after),
        "PSNR": min(psnr(made.picture, case.after), MAX_PSNR),
        "delta-E 2000": delta_e(made.picture, case.after),
    }
    if lpips is not None:
        found[LPIPS] = lpips(made.picture, case.after)
    return found if made.recipe is None else found | {"steps": float(len(made.recipe.steps))}


def _measure_frechet(
    names: tuple[str, ...],
    pictures: Sequence[np.ndarray],
    wanted: Sequence[TargetFeatures],
    told: EvaluationProgress,
) -> dict[str, Statistic]:
    found: dict[str, Statistic] = {}
    for one in wanted:
        told(one.extractor.title, 0, len(pictures))
        found[f"expert: {one.extractor.title}"] = FrechetStatistic(
            names, one.extractor(pictures), one.features
        )
    return found


def _measure_ten_requests(
    system: System, cases: Sequence[Case], told: EvaluationProgress
) -> Iterator[SampleRow]:
    """The paper's sigma, and how far each of its ten requests moves a photo the right way."""
    questions = [Question(case.before, request, "literal") for case in cases for request in TEN_REQUESTS]
    answers = answer_in_batches(system, questions, "the paper's ten requests", told)
    for case in cases:
        pictures = [next(answers).picture for _ in TEN_REQUESTS]
        moved = {
            name: sign * float(case.change(picture)[ATTRIBUTE_INDEX[attribute]])
            for name, picture, (attribute, sign) in zip(
                TEN_REQUEST_COLUMNS, pictures, _TEN_INTENTS, strict=True
            )
        }
        yield SampleRow(
            "ten requests", case.name, "", "literal", {SIGMA_FIGURE: 100 * answer_variance(pictures), **moved}
        )
