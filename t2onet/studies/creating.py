"""Studies made from a table or a dataset, or found again in the database."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from sqlalchemy import select

from ..data import Sample as Pair
from ..data import open_dataset
from ..errors import StudyError
from .models import TARGET, Kind, Output, Sample, Study
from .refusals import NotFound
from .settings import AnnotationSettings, RatingSettings
from .storage import Store
from .table import Entry, read_table

_LONGEST = 200
"""Characters in the name of a study."""


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


def open_annotation_study(
    store: Store,
    folder: Path,
    settings: AnnotationSettings,
    *,
    name: str | None = None,
    layout: str | None = None,
    seed: int = 0,
) -> int:
    """The number of the study of these pairs, made where it is not there yet; any dataset will do."""
    dataset = open_dataset(folder, layout)
    pairs = _pairs(dataset.samples)
    first = _to_begin_with(pairs, settings.qualification, seed)
    root = dataset.root.resolve()
    samples = [
        Sample(
            name=pair.name,
            split=pair.split,
            input=_relative(pair.before, root),
            outputs=[Output(system=TARGET, path=_relative(pair.after, root))],
            qualifying=pair in first,
            said=list(pair.requests),
        )
        for pair in pairs
    ]
    facts = [[s.name, s.split, s.input, s.outputs[0].path, s.said] for s in samples]
    chosen = Study(
        name=name or root.name or "pairs", kind=Kind.ANNOTATION, seed=seed, settings=asdict(settings)
    )
    return opened(store, chosen, root, facts, samples)


def _pairs(samples: Iterable[Pair]) -> list[Pair]:
    """Each pair of photos once, with all that was said of it."""
    found: dict[tuple[Path, Path], Pair] = {}
    for sample in samples:
        photos = sample.before, sample.after
        earlier = found.get(photos)
        said = sample.requests if earlier is None else (*earlier.requests, *sample.requests)
        found[photos] = replace(earlier or sample, requests=said)
    return list(found.values())


def _to_begin_with(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """Pairs for the qualification by chance, those first of which is known what can be said."""
    if count >= len(pairs):
        raise StudyError(
            f"a qualification of {count} pairs leaves none of {len(pairs)} to annotate; ask for fewer with "
            "--qualification"
        )
    mixed = random.Random(f"{seed}/qualification").sample(pairs, len(pairs))
    return sorted(mixed, key=lambda pair: not pair.requests)[:count]


def _relative(path: Path, root: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


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
    if not 0 < len(study.name) <= _LONGEST or not study.name.isprintable():
        raise StudyError(
            f"{study.name!r:.60} is no name for a study; give one of up to {_LONGEST} characters"
        )
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
