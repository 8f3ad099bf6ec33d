"""Export collected ratings and requests as tables, or as a dataset of pairs."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import or_, select

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

# What was collected, as tables that others can read.

RATING_COLUMNS = (
    *("study", "rater", "page", "kind", "sample", "dataset", "request", "place", "system", "known"),
    *("passed", "stars", "given", "answered"),
)
REQUEST_COLUMNS = (
    *("study", "annotator", "state", "page", "kind", "sample", "split", "request", "review", "note"),
    *("given", "answered"),
)


def export_ratings_csv(store: StudyDatabase, study_id: int) -> str:
    """Every rating, also of checks, repetitions and blocked raters; pages and places count from 1."""
    wanted = (
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
            for study, person, page, sample, rating, system in session.execute(wanted)
        ]
    return to_csv([RATING_COLUMNS, *rows])


def export_requests_csv(store: StudyDatabase, study_id: int) -> str:
    """Every request, also rejected ones and those of the qualification."""
    wanted = (
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
            for study, person, page, sample, request in session.execute(wanted)
        ]
    return to_csv([REQUEST_COLUMNS, *rows])


def _describe_check(rating: Rating) -> str:
    if rating.known is None or rating.stars is None:
        return ""
    return "yes" if passes_check(rating.known, rating.stars) else "no"


def to_iso_time(seconds: float | None) -> str:
    """In ISO 8601, UTC, to the second; "" for never."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


# Requests that were collected, as a dataset: a folder of pairs with `requests.csv`.

_UNSAFE_CHARACTERS = re.compile(r"[^\w.#-]+")


@dataclass(frozen=True)
class ExportedPairs:
    """How much was written."""

    pairs: int
    requests: int


def export_pairs(
    store: StudyDatabase, study_id: int, folder: Path, *, reviewed: bool = False
) -> ExportedPairs:
    """Copy the pairs that have requests to a new folder, with those requests.

    What counts was written by someone who is accepted and was not rejected; with `reviewed`, what the owner
    has accepted. Of the qualification, where everybody writes for the same pairs, only that counts anyhow.
    """
    if folder.exists():
        raise OutputError(f"{folder} exists already; give another name")
    found, root = _read_requests(store, study_id, reviewed)
    if not found:
        raise StudyError("there is no request to export yet; see t2o study results for how far the study is")
    names = _make_file_names([sample for sample, _ in found])
    for sample, _ in found:
        for file in (sample.input, sample.outputs[0].path):
            if not (root / file).is_file():
                raise StudyError(f"{root / file} is gone; put it back to export the study")
    rows = []
    with write_folder_atomically(folder) as place:
        for side in ("before", "after"):
            (place / side).mkdir()
        for (sample, texts), name in zip(found, names, strict=True):
            for side, file in (("before", sample.input), ("after", sample.outputs[0].path)):
                shutil.copyfile(root / file, place / side / f"{name}{Path(file).suffix}")
            rows += [(name, text, sample.split) for text in texts]
        (place / REQUESTS_FILE).write_text(to_csv([("name", "request", "split"), *rows]), encoding="utf-8")
    return ExportedPairs(len(found), len(rows))


def _read_requests(
    store: StudyDatabase, study_id: int, reviewed: bool
) -> tuple[list[tuple[StudySample, list[str]]], Path]:
    """Samples with their requests, in the order of the study, and where their files are."""
    wanted = (
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
        wanted = wanted.where(CollectedRequest.review == Review.ACCEPTED)
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        if study.kind != StudyKind.ANNOTATION:
            raise StudyError(f"{study.name} is a study of another kind: it has no requests")
        found: dict[int, tuple[StudySample, list[str]]] = {}
        for sample, text in session.execute(wanted):
            _ = sample.outputs  # read while the session is open
            found.setdefault(sample.id, (sample, []))[1].append(text)
        return list(found.values()), Path(study.root)


def _make_file_names(samples: list[StudySample]) -> list[str]:
    """Names for files, one for each sample whatever the capitals."""
    names: dict[str, str] = {}
    for sample in samples:
        stem = _UNSAFE_CHARACTERS.sub("-", sample.name).strip("-.")[:100] or "pair"
        name, number = stem, 1
        while name.casefold() in names:
            number += 1
            name = f"{stem}-{number}"
        names[name.casefold()] = name
    return list(names.values())
