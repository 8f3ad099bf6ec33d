"""Requests that were collected, as a dataset: a folder of pairs with `requests.csv`."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import or_, select

from ..data.folders import made_whole
from ..data.pairs import REQUESTS
from ..data.spreadsheet import to_csv
from ..errors import OutputError, StudyError
from .models import Kind, Page, PageKind, Person, Request, Review, Sample, State, Study
from .storage import Store

_ODD = re.compile(r"[^\w.#-]+")


@dataclass(frozen=True)
class Exported:
    """How much was written."""

    pairs: int
    requests: int


def export_pairs(store: Store, study_id: int, folder: Path, *, reviewed: bool = False) -> Exported:
    """Copy the pairs that have requests to a new folder, with those requests.

    What counts was written by someone who is accepted and was not rejected; with `reviewed`, what the owner
    has accepted. Of the qualification, where everybody writes for the same pairs, only that counts anyhow.
    """
    if folder.exists():
        raise OutputError(f"{folder} exists already; give another name")
    found, root = _collected(store, study_id, reviewed)
    if not found:
        raise StudyError("there is no request to export yet; see t2o study results for how far the study is")
    names = _names([sample for sample, _ in found])
    for sample, _ in found:
        for file in (sample.input, sample.outputs[0].path):
            if not (root / file).is_file():
                raise StudyError(f"{root / file} is gone; put it back to export the study")
    rows = []
    with made_whole(folder) as place:
        for side in ("before", "after"):
            (place / side).mkdir()
        for (sample, texts), name in zip(found, names, strict=True):
            for side, file in (("before", sample.input), ("after", sample.outputs[0].path)):
                shutil.copyfile(root / file, place / side / f"{name}{Path(file).suffix}")
            rows += [(name, text, sample.split) for text in texts]
        (place / REQUESTS).write_text(to_csv([("name", "request", "split"), *rows]), encoding="utf-8")
    return Exported(len(found), len(rows))


def _collected(store: Store, study_id: int, reviewed: bool) -> tuple[list[tuple[Sample, list[str]]], Path]:
    """Samples with their requests, in the order of the study, and where their files are."""
    wanted = (
        select(Sample, Request.text)
        .join(Page, Page.sample_id == Sample.id)
        .join(Person, Page.person_id == Person.id)
        .join(Request, Request.page_id == Page.id)
        .where(Sample.study_id == study_id, Person.state == State.ACCEPTED, Request.review != Review.REJECTED)
        .where(or_(Page.kind == PageKind.SAMPLE, Request.review == Review.ACCEPTED))
        .order_by(Sample.id, Request.id)
    )
    if reviewed:
        wanted = wanted.where(Request.review == Review.ACCEPTED)
    with store.reading() as session:
        study = session.get_one(Study, study_id)
        if study.kind != Kind.ANNOTATION:
            raise StudyError(f"{study.name} is a study of another kind: it has no requests")
        found: dict[int, tuple[Sample, list[str]]] = {}
        for sample, text in session.execute(wanted):
            _ = sample.outputs  # read while the session is open
            found.setdefault(sample.id, (sample, []))[1].append(text)
        return list(found.values()), Path(study.root)


def _names(samples: list[Sample]) -> list[str]:
    """Names for files, one for each sample whatever the capitals."""
    names: dict[str, str] = {}
    for sample in samples:
        stem = _ODD.sub("-", sample.name).strip("-.")[:100] or "pair"
        name, number = stem, 1
        while name.casefold() in names:
            number += 1
            name = f"{stem}-{number}"
        names[name.casefold()] = name
    return list(names.values())
