"""Results of a rating study: mean ratings with intervals, agreement of raters, and their attention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Integer, select, type_coerce

from ..errors import StudyError
from ..metrics.statistics import estimate_mean
from .models import Output, Page, PageKind, Person, PersonState, Rating, Study, StudyKind, StudySample
from .pages import MIN_CHECKS, passes_check
from .storage import StudyDatabase

MIN_ATTENTION = 0.7
"""Share of known pictures that a rater must have rated as expected to be counted."""
MeasurementLevel = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GivenRating:
    """Stars given to a picture; `system` is None for one that no system made."""

    rater: str
    sample: str
    dataset: str
    system: str | None
    known: str | None
    kind: str
    stars: int


@dataclass(frozen=True)
class MeanRating:
    """Mean rating of a system on a data set and the bounds of its confidence interval, in stars."""

    dataset: str
    system: str
    mean: float
    low: float
    high: float
    ratings: int
    samples: int


@dataclass(frozen=True)
class RaterSummary:
    """Ratings of a rater, known pictures rated as expected, and why they are left out ("" if they count)."""

    name: str
    ratings: int
    passed: int
    known: int
    left_out: str = ""


@dataclass(frozen=True)
class RatingResults:
    """Results of a rating study. Agreement is Krippendorff's alpha (ordinal), None without data."""

    study: str
    means: tuple[MeanRating, ...]
    agreement: float | None
    self_agreement: float | None
    repeated: int
    raters: tuple[RaterSummary, ...]


def compute_results(
    store: StudyDatabase, study_id: int, *, attention: float = MIN_ATTENTION, seed: int = 0
) -> RatingResults:
    """Results of all ratings so far, except of raters who are blocked or below the required `attention`."""
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        if study.kind != StudyKind.RATING:
            raise StudyError(f"{study.name} is an annotation study: it has no ratings")
        people = session.scalars(select(Person).where(Person.study_id == study_id).order_by(Person.id))
        blocked = {person.name: person.state == PersonState.BLOCKED for person in people}
    ratings = read_ratings(store, study_id)
    raters = tuple(_summarize_rater(name, out, ratings, attention) for name, out in blocked.items())
    counted = {rater.name for rater in raters if not rater.left_out}
    valid = [one for one in ratings if one.rater in counted and one.kind != PageKind.CHECK]
    first = [one for one in valid if one.kind == PageKind.SAMPLE]
    repeats = [one for one in valid if one.kind == PageKind.REPEAT]
    repeated = {_rating_key(one) for one in repeats}
    return RatingResults(
        study.name,
        tuple(_compute_means(first, seed)),
        krippendorff_alpha(((one.sample, one.system), one.stars) for one in first),
        krippendorff_alpha((_rating_key(one), one.stars) for one in valid if _rating_key(one) in repeated),
        len(repeats),
        raters,
    )


def read_ratings(store: StudyDatabase, study_id: int) -> list[GivenRating]:
    """All ratings of a study, in the order of its people and their pages."""
    stars = type_coerce(Rating.stars, Integer)
    query = (
        select(
            Person.name, StudySample.name, StudySample.dataset, Output.system, Rating.known, Page.kind, stars
        )
        .join(Page, Rating.page_id == Page.id)
        .join(Person, Page.person_id == Person.id)
        .join(StudySample, Page.sample_id == StudySample.id)
        .outerjoin(Output, Rating.output_id == Output.id)
        .where(Person.study_id == study_id, Rating.stars.is_not(None))
        .order_by(Person.id, Page.number, Rating.place)
    )
    with store.reading() as session:
        return [GivenRating(*row) for row in session.execute(query)]


def _rating_key(one: GivenRating) -> tuple[str, str, str | None]:
    return one.rater, one.sample, one.system


def _summarize_rater(
    name: str, blocked: bool, ratings: Iterable[GivenRating], attention: float
) -> RaterSummary:
    own = [one for one in ratings if one.rater == name]
    known = [passes_check(one.known, one.stars) for one in own if one.known is not None]
    inattentive = len(known) >= MIN_CHECKS and sum(known) < attention * len(known)
    left_out = "blocked" if blocked else "inattentive" if inattentive else ""
    count = sum(one.kind != PageKind.CHECK for one in own)
    return RaterSummary(name, count, sum(known), len(known), left_out)


def _compute_means(ratings: Sequence[GivenRating], seed: int) -> Iterable[MeanRating]:
    """Means on each data set, and on all of them if there are several; the best system first."""
    datasets = sorted({one.dataset for one in ratings})
    for dataset in [*datasets, None] if len(datasets) > 1 else datasets:
        group = [one for one in ratings if dataset is None or one.dataset == dataset]
        name = "all" if dataset is None else dataset
        means = [_compute_mean(name, system, group, seed) for system in _list_systems(group)]
        yield from sorted(means, key=lambda mean: -mean.mean)


def _list_systems(ratings: Iterable[GivenRating]) -> list[str]:
    return sorted({one.system for one in ratings if one.system is not None})


def _compute_mean(dataset: str, system: str, ratings: Iterable[GivenRating], seed: int) -> MeanRating:
    """The bootstrap resamples samples, since ratings of one sample are not independent."""
    stars: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in ratings:
        if one.system == system:
            stars[one.dataset, one.sample].append(one.stars)
    mean, low, high = estimate_mean(list(stars.values()), seed)
    if len(stars) == 1:  # no interval can be estimated from one sample
        low = high = mean
    return MeanRating(dataset, system, mean, low, high, sum(map(len, stars.values())), len(stars))


def krippendorff_alpha(
    values: Iterable[tuple[Hashable, float]], level: MeasurementLevel = "ordinal"
) -> float | None:
    """Krippendorff's alpha of (unit, value) pairs, one for each judgement; units may lack any of the raters.

    1 is perfect agreement, 0 that of chance; None if no two judgements can be compared or all are equal.
    `level` defines differences: equal or not, in ranks, or in the values themselves.

    K. Krippendorff, "Content Analysis", chapter 11.
    """
    counts, domain = _count_values(values)
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 1], sizes[sizes > 1]
    totals = counts.sum(axis=0)
    distance = _squared_differences(domain, totals, level)
    pairs = np.einsum("uc,uk,u->ck", counts, counts, 1 / (sizes - 1)) - np.diag(
        (counts / (sizes - 1)[:, None]).sum(axis=0)
    )
    by_chance = (np.outer(totals, totals) - np.diag(totals)) / max(totals.sum() - 1, 1)
    expected = float((by_chance * distance).sum())
    return None if expected == 0 else 1 - float((pairs * distance).sum()) / expected


def _count_values(values: Iterable[tuple[Hashable, float]]) -> tuple[Floats, Floats]:
    """Counts (units, values) of each value for each unit, and the values in ascending order."""
    units: dict[Hashable, int] = {}
    cells = [(units.setdefault(unit, len(units)), float(value)) for unit, value in values]
    domain = sorted({value for _, value in cells})
    counts = np.zeros((len(units), len(domain)))
    for row, value in cells:
        counts[row, domain.index(value)] += 1
    return counts, np.array(domain)


def _squared_differences(domain: Floats, totals: Floats, level: MeasurementLevel) -> Floats:
    """Squared differences between values (V, V)."""
    if level == "nominal":
        return 1.0 - np.eye(len(domain))
    # Equal values share a rank: between two values are all others in between and half of each of the two.
    places = np.cumsum(totals) - totals / 2 if level == "ordinal" else domain
    return np.square(places[:, None] - places[None, :])
