"""Measure one system: distance to the expert, following of requests, and honesty about declined ones.

Everything measured is a row: a sample (a photo and a request) with its figures by name. Statistics are means
over rows, so that each can be traced back, resampled, and compared sample by sample with another system's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.spreadsheet import to_csv
from ..language import Attribute
from ..language.wishes import TEN_REQUESTS
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, check_followed, measure_unrequested_change
from ..metrics.distances import LPIPS_TITLE as LPIPS
from ..metrics.distances import (
    FeatureExtractor,
    FeatureRows,
    Lpips,
    answer_variance,
    delta_e,
    l1_distance,
    psnr,
    ssim,
)
from ..metrics.statistics import (
    AveragedStatistic,
    FrechetStatistic,
    MeanStatistic,
    Statistic,
    mean_of_classes,
)
from ..options import MODES
from .cases import Case, EvaluationProgress, LabelledRequest, RequestKind, ignore_progress
from .systems import Question, System, SystemAnswer, answer_in_batches

SamplePart = Literal["pairs", "requests", "amounts", "ten requests"]
Combine = Callable[[NDArray[np.float64]], NDArray[np.float64]]
ANY_MODE = "any"
"""The mode of systems without modes: their rows count for both."""
MAX_PSNR = 99.0
"""Decibels recorded for equal pictures, whose PSNR is infinite."""
FEW_PHOTOS = 50
"""About how many photos the amounts and the paper's ten requests are measured on by default."""

REQUEST_CLASSES: dict[tuple[Attribute, int], str] = {
    (attribute, sign): f"{'more' if sign > 0 else 'less'} {attribute}"
    for attribute in Attribute
    for sign in (1, -1)
}
"""Classes of intents, with their names in tables."""
UNREQUESTED = "unrequested change"
COMPOUND_FOLLOWED = "all of a compound request"
MISSPELT_FOLLOWED = "all of a misspelt request"
VAGUE_ANSWERED = "a vague request answered"
VAGUE_NEARER = "a vague request nearer the expert"
UNANSWERABLE_FLAGGED = "unanswerable flagged"
WRONGLY_FLAGGED = "wrongly flagged"
AMOUNTS_IN_ORDER = "amounts in order"
SIGMA_FIGURE = "sigma x 100"
TEN_REQUEST_COLUMNS = tuple(f"request {number}" for number in range(1, 11))
"""Columns of how far each of the paper's ten requests moves a photo in the right direction."""
_KEY_COLUMNS = ("system", "part", "photo", "request", "manner")
"""`manner` is the mode: files of older releases have that name."""
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
AMOUNT_REQUESTS: tuple[tuple[Attribute, int, tuple[str, str, str]], ...] = (
    (Attribute.LIGHTNESS, 1, ("make it a little brighter", "make it brighter", "make it a lot brighter")),
    (Attribute.LIGHTNESS, -1, ("darken it slightly", "darken it", "darken it a lot")),
    (Attribute.COLOURFULNESS, 1, ("a bit more saturation", "more saturation", "much more saturation")),
    (Attribute.WARMTH, 1, ("make it a little warmer", "make it warmer", "make it a lot warmer")),
    (Attribute.CONTRAST, 1, ("add a bit of contrast", "add contrast", "add a lot of contrast")),
)
"""Requests in three amounts."""
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
"""What each of the paper's ten requests asks for."""


@dataclass(frozen=True)
class MeasurementOptions:
    """What to measure: all pairs of a split, or `count`, and labelled requests on `each` photos.

    The paper's ten requests and, with `amounts`, requests in three amounts are measured on about `few`
    photos. There is a Frechet distance for each of `extractors`. `jobs` systems are measured at once.
    """

    split: str = "val"
    count: int | None = None
    each: int = 4
    seed: int = 0
    few: int = FEW_PHOTOS
    amounts: bool = True
    extractors: Sequence[FeatureExtractor] = ()
    lpips: Lpips | None = None
    jobs: int = 1


@dataclass(frozen=True)
class SampleRow:
    """The figures of one photo and request. `request` names a sentence and does not quote it."""

    part: SamplePart
    photo: str
    request: str
    mode: str
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Evaluation:
    """A system's rows, its statistics by name, and following by class."""

    name: str
    rows: tuple[SampleRow, ...]
    figures: Mapping[str, Statistic]
    classes: Mapping[str, Statistic]
    runs: tuple[Evaluation, ...] = ()
    """The training runs that it is the mean of, if there are several."""


@dataclass(frozen=True)
class TargetFeatures:
    """Features of the targets of all cases, for a Frechet distance."""

    extractor: FeatureExtractor
    features: FeatureRows

    @classmethod
    def from_cases(cls, extractor: FeatureExtractor, cases: Sequence[Case]) -> TargetFeatures:
        return cls(extractor, extractor([case.after for case in cases]))


def evaluate_system(
    system: System,
    cases: Sequence[Case],
    sentences: Mapping[LabelledRequest, str],
    options: MeasurementOptions,
    *,
    targets: Sequence[TargetFeatures] = (),
    progress: EvaluationProgress = ignore_progress,
) -> Evaluation:
    """Measure a system on the cases; `targets` are their features for the Frechet distances."""
    outputs: list[np.ndarray] = []
    rows = list(_measure_pairs(system, cases, outputs, options.lpips, progress))
    for mode in MODES if system.has_modes else MODES[:1]:
        rows += measure_requests(
            system, sentences, cases, mode=mode, each=options.each, seed=options.seed, progress=progress
        )
    some = cases[:: max(1, len(cases) // options.few)]
    if options.amounts:
        rows += measure_amounts(system, some, progress)
    rows += _measure_ten_requests(system, some, progress)
    if not system.has_modes:
        rows = [replace(row, mode=ANY_MODE) for row in rows]
    frechet = _measure_frechet(tuple(case.name for case in cases), outputs, targets, progress)
    figures = summarize_pairs(rows) | frechet | summarize_requests(rows) | summarize_photos(rows)
    return Evaluation(system.name, tuple(rows), figures, summarize_classes(rows))


def average_runs(name: str, runs: Sequence[Evaluation]) -> Evaluation:
    """The mean over several training runs of one system."""
    figures, classes = (
        {key: AveragedStatistic(tuple(part[key] for part in parts)) for key in parts[0]}
        for parts in ([run.figures for run in runs], [run.classes for run in runs])
    )
    return Evaluation(name, (), figures, classes, tuple(runs))


def _measure_pairs(
    system: System,
    cases: Sequence[Case],
    outputs: list[np.ndarray],
    lpips: Lpips | None,
    progress: EvaluationProgress,
) -> Iterator[SampleRow]:
    """Distances to the expert; the system's pictures are appended to `outputs`."""
    questions = [Question(case.before, case.request, "expert") for case in cases]
    for case, answer in zip(cases, answer_in_batches(system, questions, "pairs", progress), strict=True):
        outputs.append(answer.picture)
        yield SampleRow("pairs", case.name, "", "expert", _measure_distances(case, answer, lpips))


def _measure_distances(case: Case, answer: SystemAnswer, lpips: Lpips | None) -> dict[str, float]:
    distances = {
        "L1": l1_distance(answer.picture, case.after),
        "SSIM": ssim(answer.picture, case.after),
        "PSNR": min(psnr(answer.picture, case.after), MAX_PSNR),
        "delta-E 2000": delta_e(answer.picture, case.after),
    }
    if lpips is not None:
        distances[LPIPS] = lpips(answer.picture, case.after)
    return distances if answer.recipe is None else distances | {"steps": float(len(answer.recipe.steps))}


def _measure_frechet(
    names: tuple[str, ...],
    outputs: Sequence[np.ndarray],
    targets: Sequence[TargetFeatures],
    progress: EvaluationProgress,
) -> dict[str, Statistic]:
    statistics: dict[str, Statistic] = {}
    for target in targets:
        progress(target.extractor.title, 0, len(outputs))
        features = target.extractor(outputs)
        statistics[f"expert: {target.extractor.title}"] = FrechetStatistic(names, features, target.features)
    return statistics


def measure_requests(
    system: System,
    sentences: Mapping[LabelledRequest, str],
    cases: Sequence[Case],
    *,
    mode: str = "literal",
    each: int = 4,
    seed: int = 0,
    progress: EvaluationProgress = ignore_progress,
) -> Iterator[SampleRow]:
    """Every labelled request on `each` photos drawn by the seed."""
    rng = np.random.default_rng(seed)
    tasks = [
        (label, sentence, cases[index])
        for label, sentence in sentences.items()
        for index in rng.choice(len(cases), min(each, len(cases)), replace=False)
    ]
    questions = [Question(case.before, sentence, mode) for _, sentence, case in tasks]
    answers = answer_in_batches(system, questions, f"labelled requests, {mode}", progress)
    for (label, _, case), answer in zip(tasks, answers, strict=True):
        yield SampleRow("requests", case.name, label.name, mode, score_answer(label, case, answer))


def score_answer(label: LabelledRequest, case: Case, answer: SystemAnswer) -> dict[str, float]:
    """The figures of one answer, 1 for yes and 0 for no; a declined request counts as an unchanged photo."""
    if label.kind is RequestKind.UNANSWERABLE:
        return {UNANSWERABLE_FLAGGED: float(answer.declined)}
    after = case.before if answer.declined else answer.picture
    change = case.measure_change(after)
    scores = {WRONGLY_FLAGGED: float(answer.declined)}
    if label.kind is RequestKind.VAGUE:
        nearer = l1_distance(after, case.after) < l1_distance(case.before, case.after)
        return scores | {
            VAGUE_ANSWERED: float((abs(change) > JUST_NOTICEABLE).any()),
            VAGUE_NEARER: float(nearer),
        }
    followed = check_followed(change, label.intents)
    for intent, hit in zip(label.intents, followed, strict=True):
        scores[REQUEST_CLASSES[intent.attribute, intent.sign]] = float(hit)
    scores[UNREQUESTED] = measure_unrequested_change(change, label.intents)
    if label.typo:
        scores[MISSPELT_FOLLOWED] = float(all(followed))
    if len(label.intents) > 1:
        scores[COMPOUND_FOLLOWED] = float(all(followed))
    return scores


def measure_amounts(
    system: System, cases: Sequence[Case], progress: EvaluationProgress = ignore_progress
) -> Iterator[SampleRow]:
    """Whether "a little" changes less than the plain request, and that less than "a lot", on each photo."""
    questions = [
        Question(case.before, request, "literal")
        for case in cases
        for _, _, requests in AMOUNT_REQUESTS
        for request in requests
    ]
    answers = answer_in_batches(system, questions, "amounts", progress)
    for case in cases:
        for attribute, sign, requests in AMOUNT_REQUESTS:
            index = ATTRIBUTE_INDEX[attribute]
            changes = [sign * case.measure_change(next(answers).picture)[index] for _ in requests]
            ordered = float(all(less < more for less, more in pairwise(changes)))
            name = REQUEST_CLASSES[attribute, sign]
            yield SampleRow("amounts", case.name, name, "literal", {AMOUNTS_IN_ORDER: ordered})


def _measure_ten_requests(
    system: System, cases: Sequence[Case], progress: EvaluationProgress
) -> Iterator[SampleRow]:
    """The paper's sigma, and how far each of its ten requests moves a photo in the right direction."""
    questions = [Question(case.before, request, "literal") for case in cases for request in TEN_REQUESTS]
    answers = answer_in_batches(system, questions, "the paper's ten requests", progress)
    for case in cases:
        outputs = [next(answers).picture for _ in TEN_REQUESTS]
        figures = {SIGMA_FIGURE: 100 * answer_variance(outputs)}
        for name, output, (attribute, sign) in zip(TEN_REQUEST_COLUMNS, outputs, _TEN_INTENTS, strict=True):
            figures[name] = sign * float(case.measure_change(output)[ATTRIBUTE_INDEX[attribute]])
        yield SampleRow("ten requests", case.name, "", "literal", figures)


def summarize_pairs(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """Distances to the expert; a sample is a pair."""
    return _drop_empty(
        (f"expert: {column}", _select_statistic(rows, "pairs", "expert", [column]))
        for column in _PAIR_COLUMNS
    )


def summarize_requests(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """Answers to labelled requests in each mode; a sample is a sentence, with all its photos."""
    return _drop_empty(_iterate_request_statistics(rows))


def _iterate_request_statistics(rows: Sequence[SampleRow]) -> Iterator[tuple[str, Statistic]]:
    classes = tuple(REQUEST_CLASSES.values())
    for mode in MODES:
        yield f"{mode}: following", _select_statistic(rows, "requests", mode, classes)
        worst = _select_statistic(rows, "requests", mode, classes, _min_of_classes)
        yield f"{mode}: following, least class", worst
        for column in _REQUEST_COLUMNS:
            yield f"{mode}: {column}", _select_statistic(rows, "requests", mode, [column])


def summarize_classes(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """Following by class."""
    return _drop_empty(
        (f"{mode}: {column}", _select_statistic(rows, "requests", mode, [column]))
        for mode in MODES
        for column in REQUEST_CLASSES.values()
    )


def summarize_photos(rows: Sequence[SampleRow]) -> dict[str, Statistic]:
    """Amounts, and the paper's ten requests; a sample is a photo, with all its requests."""
    statistics = {
        AMOUNTS_IN_ORDER: _select_statistic(rows, "amounts", "literal", [AMOUNTS_IN_ORDER]),
        SIGMA_FIGURE: _select_statistic(rows, "ten requests", "literal", [SIGMA_FIGURE]),
        "of the paper's ten requests right": _select_statistic(
            rows, "ten requests", "literal", TEN_REQUEST_COLUMNS, _count_positive
        ),
    }
    return _drop_empty(statistics.items())


def _select_statistic(
    rows: Iterable[SampleRow],
    part: str,
    mode: str,
    columns: Sequence[str],
    combine: Combine = mean_of_classes,
) -> Statistic:
    selected = (row for row in rows if row.part == part and row.mode in {mode, ANY_MODE})
    return collect_means(selected, columns, _get_request if part == "requests" else _get_photo, combine)


def collect_means(
    rows: Iterable[SampleRow],
    columns: Sequence[str],
    get_sample: Callable[[SampleRow], str],
    combine: Combine = mean_of_classes,
) -> MeanStatistic:
    """The means of some columns, combined; rows of one sample (a photo, a sentence) are resampled together.

    Samples without any of the columns are ignored.
    """
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
    for row in rows:
        present = np.array([name in row.figures for name in columns], np.float64)
        if present.any():
            name = get_sample(row)
            values = np.array([row.figures.get(column, 0.0) for column in columns], np.float64)
            sums[name] = sums.get(name, 0.0) + values
            counts[name] = counts.get(name, 0.0) + present
    shape = (len(sums), len(columns))
    sum_array, count_array = (np.array(list(part.values())).reshape(shape) for part in (sums, counts))
    return MeanStatistic(tuple(sums), sum_array, count_array, combine)


def _get_request(row: SampleRow) -> str:
    return row.request


def _get_photo(row: SampleRow) -> str:
    return row.photo


def _min_of_classes(means: np.ndarray) -> np.ndarray:
    return np.asarray(np.fmin.reduce(means, axis=-1))


def _count_positive(means: np.ndarray) -> np.ndarray:
    return np.asarray((means > 0).sum(-1, dtype=np.float64))


def _drop_empty(statistics: Iterable[tuple[str, Statistic]]) -> dict[str, Statistic]:
    return {name: statistic for name, statistic in statistics if statistic.names}


def rows_to_csv(systems: Mapping[str, Sequence[SampleRow]]) -> str:
    """The rows of all systems, with their figures to six digits; blank where a row has no such figure."""
    columns = list(dict.fromkeys(name for rows in systems.values() for row in rows for name in row.figures))
    lines = [[*_KEY_COLUMNS, *columns]]
    for system, rows in systems.items():
        for row in rows:
            figures = [f"{row.figures[name]:.6g}" if name in row.figures else "" for name in columns]
            lines.append([system, row.part, row.photo, row.request, row.mode, *figures])
    return to_csv(lines)
