"""Results of a rating study: means with intervals, agreement, attention of raters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Integer, select, type_coerce

from ..errors import StudyError
from .models import Output, Page, PageKind, Person, PersonState, Rating, Study, StudyKind, StudySample
from .pages import MIN_CHECKS, passes_check
from .storage import StudyDatabase

# How far people agree: Krippendorff's alpha, for any number of raters and any gaps.
#
# K. Krippendorff, "Content Analysis", chapter 11. 1 is agreement, 0 what chance would give, below it is
# worse.

MeasurementLevel = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]


def krippendorff_alpha(
    values: Iterable[tuple[Hashable, float]], level: MeasurementLevel = "ordinal"
) -> float | None:
    """Of (unit, value) pairs, one for each judgement; None where no two judgements can be compared or differ.

    `level` says what a difference means: any is one, in ranks passed over, or in the value itself.
    """
    counts, domain = _count_values(values)
    judged = counts.sum(axis=1)
    counts, judged = counts[judged > 1], judged[judged > 1]
    totals = counts.sum(axis=0)
    everything = totals.sum()
    distance = _squared_differences(domain, totals, level)
    pairs = np.einsum("uc,uk,u->ck", counts, counts, 1 / (judged - 1)) - np.diag(
        (counts / (judged - 1)[:, None]).sum(axis=0)
    )
    by_chance = (np.outer(totals, totals) - np.diag(totals)) / max(everything - 1, 1)
    expected = float((by_chance * distance).sum())
    return None if expected == 0 else 1 - float((pairs * distance).sum()) / expected


def _count_values(values: Iterable[tuple[Hashable, float]]) -> tuple[Floats, Floats]:
    """How often each value (columns, ascending) was given to each unit (rows), and the values."""
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
    # Ranks of equal values are shared, so the way from c to k is all between and half of either end.
    places = np.cumsum(totals) - totals / 2 if level == "ordinal" else domain
    return np.square(places[:, None] - places[None, :])


# What a rating study has found: means with confidence intervals, agreement, attention of raters.

RESAMPLES = 2000
CONFIDENCE = 0.95
MIN_ATTENTION = 0.7
"""Share of known pictures that a rater has to have rated as anybody would, for others to count."""


@dataclass(frozen=True)
class GivenRating:
    """Stars that someone gave; `system` is None for a picture that none made."""

    rater: str
    sample: str
    dataset: str
    system: str | None
    known: str | None
    kind: str
    stars: int


@dataclass(frozen=True)
class MeanRating:
    """Of one system on one data set: the mean and the ends of its confidence interval, in stars."""

    dataset: str
    system: str
    mean: float
    low: float
    high: float
    ratings: int
    samples: int


@dataclass(frozen=True)
class RaterSummary:
    """How much of the known someone has got right, and why they are left out ("" where they count)."""

    name: str
    ratings: int
    passed: int
    known: int
    left_out: str = ""


@dataclass(frozen=True)
class RatingResults:
    """Of a rating study; agreements are Krippendorff's alpha (ordinal), None with nothing to compare."""

    study: str
    means: tuple[MeanRating, ...]
    agreement: float | None
    self_agreement: float | None
    repeated: int
    raters: tuple[RaterSummary, ...]


def compute_results(
    store: StudyDatabase, study_id: int, *, attention: float = MIN_ATTENTION, seed: int = 0
) -> RatingResults:
    """Of all ratings so far, without those of raters who are blocked or fall short of `attention`."""
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        if study.kind != StudyKind.RATING:
            raise StudyError(f"{study.name} is a study of another kind: it has no ratings")
        people = session.scalars(select(Person).where(Person.study_id == study_id).order_by(Person.id))
        blocked = {person.name: person.state == PersonState.BLOCKED for person in people}
    ratings = read_ratings(store, study_id)
    raters = tuple(_summarize_rater(name, out, ratings, attention) for name, out in blocked.items())
    counted = {rater.name for rater in raters if not rater.left_out}
    kept = [one for one in ratings if one.rater in counted and one.kind != PageKind.CHECK]
    first = [one for one in kept if one.kind == PageKind.SAMPLE]
    again = [one for one in kept if one.kind == PageKind.REPEAT]
    twice = {_rating_key(one) for one in again}
    return RatingResults(
        study.name,
        tuple(_compute_means(first, seed)),
        krippendorff_alpha(((one.sample, one.system), one.stars) for one in first),
        krippendorff_alpha((_rating_key(one), one.stars) for one in kept if _rating_key(one) in twice),
        len(again),
        raters,
    )


def read_ratings(store: StudyDatabase, study_id: int) -> list[GivenRating]:
    """All stars of a study, in the order of its people and their pages."""
    stars = type_coerce(Rating.stars, Integer)
    wanted = (
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
        return [GivenRating(*row) for row in session.execute(wanted)]


def _rating_key(one: GivenRating) -> tuple[str, str, str | None]:
    return one.rater, one.sample, one.system


def _summarize_rater(
    name: str, blocked: bool, ratings: Iterable[GivenRating], attention: float
) -> RaterSummary:
    own = [one for one in ratings if one.rater == name]
    known = [passes_check(one.known, one.stars) for one in own if one.known is not None]
    short = len(known) >= MIN_CHECKS and sum(known) < attention * len(known)
    why = "blocked" if blocked else "inattentive" if short else ""
    return RaterSummary(name, sum(one.kind != PageKind.CHECK for one in own), sum(known), len(known), why)


def _compute_means(ratings: Sequence[GivenRating], seed: int) -> Iterable[MeanRating]:
    """Of each data set, the best system first; of all of them together where there are several."""
    datasets = sorted({one.dataset for one in ratings})
    for dataset in [*datasets, None] if len(datasets) > 1 else datasets:
        group = [one for one in ratings if dataset is None or one.dataset == dataset]
        found = [
            _compute_mean("all" if dataset is None else dataset, s, group, seed) for s in _list_systems(group)
        ]
        yield from sorted(found, key=lambda mean: -mean.mean)


def _list_systems(ratings: Iterable[GivenRating]) -> list[str]:
    return sorted({one.system for one in ratings if one.system is not None})


def _compute_mean(dataset: str, system: str, ratings: Iterable[GivenRating], seed: int) -> MeanRating:
    stars: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in ratings:
        if one.system == system:
            stars[one.dataset, one.sample].append(one.stars)
    low, mean, high = bootstrap_interval(list(stars.values()), seed)
    return MeanRating(dataset, system, mean, low, high, sum(map(len, stars.values())), len(stars))


def bootstrap_interval(groups: Sequence[Sequence[float]], seed: int = 0) -> tuple[float, float, float]:
    """Low, mean and high by the percentile bootstrap over groups: ratings of one sample hang together."""
    sums, sizes = np.array([sum(group) for group in groups]), np.array([len(group) for group in groups])
    chance = np.random.default_rng(seed)
    drawn = chance.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=RESAMPLES)
    means = (drawn @ sums) / (drawn @ sizes)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(sums.sum() / sizes.sum()), float(high)
