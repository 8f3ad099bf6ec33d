"""What a rating study has found: means with confidence intervals, agreement, attention of raters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Integer, select, type_coerce

from ..errors import StudyError
from .agreement import alpha
from .checks import ENOUGH, passed
from .models import Kind, Output, Page, PageKind, Person, Rating, Sample, State, Study
from .storage import Store

RESAMPLES = 2000
CONFIDENCE = 0.95
ATTENTION = 0.7
"""Share of known pictures that a rater has to have rated as anybody would, for others to count."""


@dataclass(frozen=True)
class Given:
    """Stars that someone gave; `system` is None for a picture that none made."""

    rater: str
    sample: str
    dataset: str
    system: str | None
    known: str | None
    kind: str
    stars: int


@dataclass(frozen=True)
class Mean:
    """Of one system on one data set: the mean and the ends of its confidence interval, in stars."""

    dataset: str
    system: str
    mean: float
    low: float
    high: float
    ratings: int
    samples: int


@dataclass(frozen=True)
class Rater:
    """How much of the known someone has got right, and why they are left out ("" where they count)."""

    name: str
    ratings: int
    passed: int
    known: int
    left_out: str = ""


@dataclass(frozen=True)
class Results:
    """Of a rating study; agreements are Krippendorff's alpha (ordinal), None with nothing to compare."""

    study: str
    means: tuple[Mean, ...]
    agreement: float | None
    self_agreement: float | None
    repeated: int
    raters: tuple[Rater, ...]


def results(store: Store, study_id: int, *, attention: float = ATTENTION, seed: int = 0) -> Results:
    """Of all ratings so far, without those of raters who are blocked or fall short of `attention`."""
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        if study.kind != Kind.RATING:
            raise StudyError(f"{study.name} is a study of another kind: it has no ratings")
        people = session.scalars(select(Person).where(Person.study_id == study_id).order_by(Person.id))
        blocked = {person.name: person.state == State.BLOCKED for person in people}
    ratings = given(store, study_id)
    raters = tuple(_rater(name, out, ratings, attention) for name, out in blocked.items())
    counted = {rater.name for rater in raters if not rater.left_out}
    kept = [one for one in ratings if one.rater in counted and one.kind != PageKind.CHECK]
    first = [one for one in kept if one.kind == PageKind.SAMPLE]
    again = [one for one in kept if one.kind == PageKind.REPEAT]
    twice = {_place(one) for one in again}
    return Results(
        study.name,
        tuple(_means(first, seed)),
        alpha(((one.sample, one.system), one.stars) for one in first),
        alpha((_place(one), one.stars) for one in kept if _place(one) in twice),
        len(again),
        raters,
    )


def given(store: Store, study_id: int) -> list[Given]:
    """All stars of a study, in the order of its people and their pages."""
    stars = type_coerce(Rating.stars, Integer)
    wanted = (
        select(Person.name, Sample.name, Sample.dataset, Output.system, Rating.known, Page.kind, stars)
        .join(Page, Rating.page_id == Page.id)
        .join(Person, Page.person_id == Person.id)
        .join(Sample, Page.sample_id == Sample.id)
        .outerjoin(Output, Rating.output_id == Output.id)
        .where(Person.study_id == study_id, Rating.stars.is_not(None))
        .order_by(Person.id, Page.number, Rating.place)
    )
    with store.reading() as session:
        return [Given(*row) for row in session.execute(wanted)]


def _place(one: Given) -> tuple[str, str, str | None]:
    return one.rater, one.sample, one.system


def _rater(name: str, blocked: bool, ratings: Iterable[Given], attention: float) -> Rater:
    own = [one for one in ratings if one.rater == name]
    known = [passed(one.known, one.stars) for one in own if one.known is not None]
    short = len(known) >= ENOUGH and sum(known) < attention * len(known)
    why = "blocked" if blocked else "inattentive" if short else ""
    return Rater(name, sum(one.kind != PageKind.CHECK for one in own), sum(known), len(known), why)


def _means(ratings: Sequence[Given], seed: int) -> Iterable[Mean]:
    """Of each data set, the best system first; of all of them together where there are several."""
    datasets = sorted({one.dataset for one in ratings})
    for dataset in [*datasets, None] if len(datasets) > 1 else datasets:
        group = [one for one in ratings if dataset is None or one.dataset == dataset]
        found = [_mean("all" if dataset is None else dataset, s, group, seed) for s in _systems(group)]
        yield from sorted(found, key=lambda mean: -mean.mean)


def _systems(ratings: Iterable[Given]) -> list[str]:
    return sorted({one.system for one in ratings if one.system is not None})


def _mean(dataset: str, system: str, ratings: Iterable[Given], seed: int) -> Mean:
    stars: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in ratings:
        if one.system == system:
            stars[one.dataset, one.sample].append(one.stars)
    low, mean, high = interval(list(stars.values()), seed)
    return Mean(dataset, system, mean, low, high, sum(map(len, stars.values())), len(stars))


def interval(groups: Sequence[Sequence[float]], seed: int = 0) -> tuple[float, float, float]:
    """Low, mean and high by the percentile bootstrap over groups: ratings of one sample hang together."""
    sums, sizes = np.array([sum(group) for group in groups]), np.array([len(group) for group in groups])
    chance = np.random.default_rng(seed)
    drawn = chance.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=RESAMPLES)
    means = (drawn @ sums) / (drawn @ sizes)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(sums.sum() / sizes.sum()), float(high)
