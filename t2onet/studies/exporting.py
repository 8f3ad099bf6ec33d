"""Export collected ratings and requests as tables, or requests as a dataset of pairs."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import or_, select
from sqlalchemy.orm import selectinload

from ..data.dataset import make_unique
from ..data.pairs import REQUESTS_FILE
from ..data.spreadsheet import to_csv
from ..errors import OutputError, StudyError
from ..image.files import write_folder_atomically
from .models import (
    CollectedRequest,
    Output,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    Review,
    Study,
    StudyKind,
    StudySample,
)
from .pages import passes_check
from .storage import StudyDatabase

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
