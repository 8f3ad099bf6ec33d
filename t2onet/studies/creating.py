"""Studies made from a table or a dataset, or found again in the database."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from sqlalchemy import select

from ..errors import StudyError
from .models import Kind, Output, Sample, Study
from .refusals import NotFound
from .settings import RatingSettings
from .storage import Store
from .table import Entry, read_table


def open_rating_study(
    store: Store, table: Path, settings: RatingSettings, *, name: str | None = None, seed: int = 0
) -> int:
    """The number of the study of this table, made where it is not there yet."""
    entries = drawn(read_table(table), settings.samples, seed)
    samples = [
        Sample(
            name=entry.name,
            dataset=entry.dataset,
            request=entry.request,
            input=entry.input,
            outputs=[Output(system=system, path=path) for system, path in entry.outputs.items()],
        )
        for entry in entries
    ]
    study = Study(name=name or table.stem, kind=Kind.RATING, seed=seed, settings=asdict(settings))
    return opened(store, study, table.parent, [asdict(entry) for entry in entries], samples)


def drawn(entries: Sequence[Entry], count: int | None, seed: int) -> list[Entry]:
    """That many of each data set by chance, in their own order; all of a smaller one."""
    if count is None:
        return list(entries)
    groups: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(entry.dataset, []).append(place)
    places = [
        place
        for dataset, group in groups.items()
        for place in random.Random(f"{seed}/{dataset}").sample(group, min(count, len(group)))
    ]
    return [entries[place] for place in sorted(places)]


def opened(store: Store, study: Study, root: Path, facts: object, samples: Iterable[Sample]) -> int:
    """The study as it is in the database, put there if need be; `facts` say which samples these are.

    Refused where a study of that name has other samples or settings.
    """
    text = json.dumps([study.kind, study.settings, study.seed, facts], sort_keys=True)
    study.digest, study.root = hashlib.sha256(text.encode()).hexdigest(), str(root.resolve())
    with store.writing() as session:
        there = session.scalars(select(Study).where(Study.name == study.name)).first()
        if there is None:
            session.add(study)
            session.flush()
            for sample in samples:
                sample.study_id = study.id
                session.add(sample)
            return study.id
        if there.digest != study.digest:
            raise StudyError(
                f"{store} has a study {study.name!r} already, of other samples or settings; "
                "give those again, or another --name"
            )
        there.root = study.root
        return there.id


def find_study(store: Store, name: str | None = None) -> int:
    """The number of the study of that name, or of the only one there is."""
    with store.reading() as session:
        found = {study.name: study.id for study in session.scalars(select(Study).order_by(Study.id))}
    if not found:
        raise NotFound(f"{store} has no study; begin one with t2o study rate or t2o study annotate")
    if name is None and len(found) > 1:
        raise NotFound(f"{store} has several studies; say which with --name: {', '.join(found)}")
    if name is not None and name not in found:
        raise NotFound(f"{store} has no study {name!r}; there is {', '.join(found)}")
    return found[name] if name is not None else next(iter(found.values()))
