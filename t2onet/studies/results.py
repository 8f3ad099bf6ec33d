"""Results of studies: mean ratings with intervals, agreement of raters, and exports as tables or pairs."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Integer, or_, select, type_coerce
from sqlalchemy.orm import selectinload

from ..data.dataset import make_unique
from ..data.pairs import REQUESTS_FILE
from ..data.spreadsheet import to_csv
from ..errors import OutputError, StudyError
from ..image.files import write_folder_atomically
from ..metrics.statistics import estimate_mean
from .database import (
    CollectedRequest,
    Output,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    Review,
    Study,
    StudyDatabase,
    StudyKind,
    StudySample,
)
from .pages import MIN_CHECKS, passes_check

MIN_ATTENTION = 0.7
"""Share of known pictures that a rater must have rated as expected to be counted."""
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


def krippendorff_alpha(values: Iterable[tuple[Hashable, float]]) -> float | None:
    """Krippendorff's ordinal alpha of (unit, value) pairs, a judgement each; units may lack any rater.

    1 is perfect agreement, 0 that of chance; None if no two judgements can be compared or all are equal.

    K. Krippendorff, "Content Analysis", chapter 11.
    """
    counts = _count_values(values)
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 1], sizes[sizes > 1]
    totals = counts.sum(axis=0)
    distance = _squared_rank_differences(totals)
    pairs = np.einsum("uc,uk,u->ck", counts, counts, 1 / (sizes - 1)) - np.diag(
        (counts / (sizes - 1)[:, None]).sum(axis=0)
    )
    by_chance = (np.outer(totals, totals) - np.diag(totals)) / max(totals.sum() - 1, 1)
    expected = float((by_chance * distance).sum())
    return None if expected == 0 else 1 - float((pairs * distance).sum()) / expected


def _count_values(values: Iterable[tuple[Hashable, float]]) -> Floats:
    """Counts (units, values) of each value for each unit, the values in ascending order."""
    units: dict[Hashable, int] = {}
    cells = [(units.setdefault(unit, len(units)), float(value)) for unit, value in values]
    domain = sorted({value for _, value in cells})
    counts = np.zeros((len(units), len(domain)))
    for row, value in cells:
        counts[row, domain.index(value)] += 1
    return counts


def _squared_rank_differences(totals: Floats) -> Floats:
    """Squared differences (V, V) between the ranks of values that occur `totals` times."""
    # Equal values share a rank: between two values are all others in between and half of each of the two.
    places = np.cumsum(totals) - totals / 2
    return np.square(places[:, None] - places[None, :])


RATING_COLUMNS = (
    *("study", "rater", "page", "kind", "sample", "dataset", "request", "place", "system", "known"),
    *("passed", "stars", "given", "answered"),
)
REQUEST_COLUMNS = (
    *("study", "annotator", "state", "page", "kind", "sample", "split", "request", "review", "note"),
    *("given", "answered"),
)
_UNSAFE_CHARACTERS = re.compile(r"[^\w.#-]+")


def export_ratings_csv(store: StudyDatabase, study_id: int) -> str:
    """CSV of all ratings, with those of checks, repetitions and blocked raters; pages and places from 1."""
    query = (
        select(Study.name, Person.name, Page, StudySample, Rating, Output.system)
        .join(Person, Person.study_id == Study.id)
        .join(Page, Page.person_id == Person.id)
        .join(StudySample, Page.sample_id == StudySample.id)
        .join(Rating, Rating.page_id == Page.id)
        .outerjoin(Output, Rating.output_id == Output.id)
        .where(Study.id == study_id, Rating.stars.is_not(None))
        .order_by(Person.id, Page.number, Rating.place)
    )
    with store.reading() as session:
        rows = [
            (
                *(study, person, page.number + 1, page.kind, sample.name, sample.dataset, sample.request),
                *(rating.place + 1, system or "", rating.known or "", _describe_check(rating), rating.stars),
                *(to_iso_time(page.given), to_iso_time(page.answered)),
            )
            for study, person, page, sample, rating, system in session.execute(query)
        ]
    return to_csv([RATING_COLUMNS, *rows])


def export_requests_csv(store: StudyDatabase, study_id: int) -> str:
    """CSV of all requests, with rejected ones and those of the qualification."""
    query = (
        select(Study.name, Person, Page, StudySample, CollectedRequest)
        .join(Person, Person.study_id == Study.id)
        .join(Page, Page.person_id == Person.id)
        .join(StudySample, Page.sample_id == StudySample.id)
        .join(CollectedRequest, CollectedRequest.page_id == Page.id)
        .where(Study.id == study_id)
        .order_by(Person.id, Page.number)
    )
    with store.reading() as session:
        rows = [
            (
                *(study, person.name, person.state, page.number + 1, page.kind, sample.name, sample.split),
                *(
                    request.text,
                    request.review,
                    request.note,
                    to_iso_time(page.given),
                    to_iso_time(page.answered),
                ),
            )
            for study, person, page, sample, request in session.execute(query)
        ]
    return to_csv([REQUEST_COLUMNS, *rows])


def _describe_check(rating: Rating) -> str:
    if rating.known is None or rating.stars is None:
        return ""
    return "yes" if passes_check(rating.known, rating.stars) else "no"


def to_iso_time(seconds: float | None) -> str:
    """A time in ISO 8601, UTC, to the second; "" for None."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class ExportedPairs:
    """Number of pairs and requests written."""

    pairs: int
    requests: int


def export_pairs(
    store: StudyDatabase, study_id: int, folder: Path, *, reviewed: bool = False
) -> ExportedPairs:
    """Copy the pairs that have requests to a new folder, with `requests.csv`.

    Exports requests of accepted people that were not rejected; with `reviewed`, only accepted requests. Of
    the qualification, where everybody writes for the same pairs, only accepted requests are exported.
    """
    if folder.exists():
        raise OutputError(f"{folder} exists already; give another name")
    requests, root = _read_requests(store, study_id, reviewed)
    if not requests:
        raise StudyError("there is no request to export yet; t2o study results shows the progress")
    names = _make_file_names([sample for sample, _ in requests])
    for sample, _ in requests:
        for file in (sample.input, sample.outputs[0].path):
            if not (root / file).is_file():
                raise StudyError(f"{root / file} does not exist any more; restore it to export the study")
    rows = []
    with write_folder_atomically(folder) as target:
        for side in ("before", "after"):
            (target / side).mkdir()
        for (sample, texts), name in zip(requests, names, strict=True):
            for side, file in (("before", sample.input), ("after", sample.outputs[0].path)):
                shutil.copyfile(root / file, target / side / f"{name}{Path(file).suffix}")
            rows += [(name, text, sample.split) for text in texts]
        (target / REQUESTS_FILE).write_text(to_csv([("name", "request", "split"), *rows]), encoding="utf-8")
    return ExportedPairs(len(requests), len(rows))


def _read_requests(
    store: StudyDatabase, study_id: int, reviewed: bool
) -> tuple[list[tuple[StudySample, list[str]]], Path]:
    """Samples with their requests, in the order of the study, and the folder of their files."""
    query = (
        select(StudySample, CollectedRequest.text)
        .join(Page, Page.sample_id == StudySample.id)
        .join(Person, Page.person_id == Person.id)
        .join(CollectedRequest, CollectedRequest.page_id == Page.id)
        .where(
            StudySample.study_id == study_id,
            Person.state == PersonState.ACCEPTED,
            CollectedRequest.review != Review.REJECTED,
        )
        .where(or_(Page.kind == PageKind.SAMPLE, CollectedRequest.review == Review.ACCEPTED))
        .order_by(StudySample.id, CollectedRequest.id)
    )
    if reviewed:
        query = query.where(CollectedRequest.review == Review.ACCEPTED)
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        if study.kind != StudyKind.ANNOTATION:
            raise StudyError(f"{study.name} is a rating study: it has no requests")
        requests: dict[int, tuple[StudySample, list[str]]] = {}
        for sample, text in session.execute(query.options(selectinload(StudySample.outputs))):
            requests.setdefault(sample.id, (sample, []))[1].append(text)
        return list(requests.values()), Path(study.root)


def _make_file_names(samples: list[StudySample]) -> list[str]:
    """A file name for each sample, unique also where file names ignore case."""
    names: dict[str, str] = {}
    for sample in samples:
        stem = _UNSAFE_CHARACTERS.sub("-", sample.name).strip("-.")[:100] or "pair"
        name = make_unique(stem, names, separator="-", key=str.casefold)
        names[name.casefold()] = name
    return list(names.values())
