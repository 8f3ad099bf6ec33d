"""Create a study from a table or a dataset, or find it again in the database."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sqlalchemy import select

from ..data import Sample as Pair
from ..data import open_dataset
from ..data.spreadsheet import restore_cell
from ..errors import StudyError
from ..image import READABLE_SUFFIXES, read_regular_file
from .models import (
    TARGET,
    AnnotationSettings,
    NotFound,
    Output,
    RatingSettings,
    Study,
    StudyKind,
    StudySample,
)
from .storage import StudyDatabase

# Tables of what is to be rated: CSV, one column or one line for each system's output.
#
#     input,request,target,ours,theirs            or        input,request,system,output
#     a.jpg,warmer,a-c.jpg,ours/a.jpg,gan/a.png             a.jpg,warmer,ours,ours/a.jpg
#
# Columns `sample` (a name) and `dataset` may come along. Files are named relative to the table's folder.

_REQUIRED_COLUMNS = ("input", "request")
_OPTIONAL_COLUMNS = ("sample", "dataset")
_LONG_FORM_COLUMNS = ("system", "output")
_MAX_NAME_LENGTH = 200
"""Characters in the name of a sample, a data set or a system."""
_MAX_FILES_NAMED = 3
"""The most missing files that are named."""


@dataclass(frozen=True)
class TableSample:
    """A sample of the table, its outputs by system; files as the table names them."""

    name: str
    input: str
    request: str
    dataset: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def read_rating_table(path: Path) -> list[TableSample]:
    """The samples in the table's order; every file is there, and each sample has all outputs."""
    entries: dict[str, TableSample] = {}
    seen: dict[tuple[str, str], str] = {}
    for line, cells in _read_rows(path):
        try:
            _add_row(cells, entries, seen)
        except ValueError as error:
            raise StudyError(f"{path}, line {line}: {error}") from None
    if not entries:
        raise StudyError(f"{path} has no sample; give a line for each below the first")
    found = list(entries.values())
    _check_complete(path, found)
    _check_files(path, found)
    return found


def _read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The number of each line and its cells by column: unescaped, without surrounding blanks."""
    try:
        text = read_regular_file(path).decode("utf-8-sig")
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text ({error.reason}); save the table as CSV UTF-8") from error
    if "\0" in text:
        raise StudyError(f"{path} is not text (it has zero bytes); save the table as CSV UTF-8")
    first = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        columns = _check_columns(path, [restore_cell(cell).strip() for cell in next(rows, [])])
        for row in rows:
            if any(cell.strip() for cell in row):
                if len(row) != len(columns):
                    told = f'{len(row)} cells where there are {len(columns)} columns; put texts in "quotes"'
                    raise StudyError(f"{path}, line {rows.line_num}: {told}")
                yield (
                    rows.line_num,
                    dict(zip(columns, (restore_cell(cell).strip() for cell in row), strict=True)),
                )
    except csv.Error as error:
        raise StudyError(f"{path}, line {rows.line_num}: not CSV ({error})") from error


def _check_columns(path: Path, given: list[str]) -> list[str]:
    """Names of the columns, ours in small letters; systems keep theirs."""
    ours = {*_REQUIRED_COLUMNS, *_OPTIONAL_COLUMNS, *_LONG_FORM_COLUMNS}
    columns = [column.lower() if column.lower() in ours else column for column in given]
    lacking = [name for name in _REQUIRED_COLUMNS if name not in columns]
    if lacking:
        raise StudyError(
            f"{path} has no column {lacking[0]!r}; its first line names input, request and each system"
        )
    if len(set(columns)) < len(columns) or "" in columns or max(map(len, columns)) > _MAX_NAME_LENGTH:
        raise StudyError(f"{path}: a column has no name, another one's or a very long one; give each its own")
    if not set(_LONG_FORM_COLUMNS) <= set(columns) and not set(columns) - ours:
        raise StudyError(f"{path} has no output to rate; add a column for each system")
    return columns


def _add_row(
    cells: dict[str, str], entries: dict[str, TableSample], seen: dict[tuple[str, str], str]
) -> None:
    for column in _REQUIRED_COLUMNS:
        if not cells[column]:
            raise ValueError(f"the {column} is empty")
    what = (cells["input"], cells["request"])
    long = set(_LONG_FORM_COLUMNS) <= set(cells)
    name = (
        cells.get("sample")
        or (seen.get(what) if long else None)
        or _find_free_name(Path(what[0]).stem, entries)
    )
    if not long and name in entries:
        raise ValueError(f"the sample {name!r} is there already")
    for named in (name, cells.get("dataset", ""), cells.get("system", "")):
        if len(named) > _MAX_NAME_LENGTH:
            raise ValueError(f"{named[:20]}... is too long a name; use up to {_MAX_NAME_LENGTH} characters")
    entry = entries.setdefault(name, TableSample(name, *what, cells.get("dataset", "")))
    if (entry.input, entry.request) != what:
        raise ValueError(f"the sample {name!r} has another input or request in a line before")
    seen[what] = name
    apart = {*_REQUIRED_COLUMNS, *_OPTIONAL_COLUMNS, *_LONG_FORM_COLUMNS}
    outputs = (
        {cells["system"]: cells["output"]} if long else {k: v for k, v in cells.items() if k not in apart}
    )
    for system, output in outputs.items():
        if not system or not output:
            raise ValueError(f"the output of {system or 'a system without a name'} is empty")
        if system in entry.outputs:
            raise ValueError(f"a second output of {system} for the sample {name!r}")
        entry.outputs[system] = output


def _find_free_name(stem: str, taken: dict[str, TableSample]) -> str:
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}#{number}"
    return name


def _check_complete(path: Path, entries: list[TableSample]) -> None:
    systems = {system for entry in entries for system in entry.outputs}
    for entry in entries:
        if lacking := sorted(systems - set(entry.outputs)):
            raise StudyError(f"{path}: the sample {entry.name!r} has no output of {lacking[0]}; add it")


def _check_files(path: Path, entries: list[TableSample]) -> None:
    files = dict.fromkeys(file for entry in entries for file in (entry.input, *entry.outputs.values()))
    absent = [file for file in files if not (path.parent / file).is_file()]
    if absent:
        more = f" and {len(absent) - _MAX_FILES_NAMED} more" if len(absent) > _MAX_FILES_NAMED else ""
        named = ", ".join(absent[:_MAX_FILES_NAMED])
        raise StudyError(
            f"{path} names files that are not there: {named}{more}; they are looked for beside it"
        )
    for file in files:
        if Path(file).suffix.lower() not in READABLE_SUFFIXES:
            raise StudyError(f"{path} names {file}, which is no kind of photo that can be read")


# Studies made from a table or a dataset, or found again in the database.

_MAX_STUDY_NAME_LENGTH = 200
"""Characters in the name of a study."""


def open_rating_study(
    store: StudyDatabase, table: Path, settings: RatingSettings, *, name: str | None = None, seed: int = 0
) -> int:
    """The number of the study of this table, made where it is not there yet."""
    entries = draw_table_samples(read_rating_table(table), settings.samples, seed)
    samples = [
        StudySample(
            name=entry.name,
            dataset=entry.dataset,
            request=entry.request,
            input=entry.input,
            outputs=[Output(system=system, path=path) for system, path in entry.outputs.items()],
        )
        for entry in entries
    ]
    study = Study(name=name or table.stem, kind=StudyKind.RATING, seed=seed, settings=asdict(settings))
    return find_or_create_study(store, study, table.parent, [asdict(entry) for entry in entries], samples)


def open_annotation_study(
    store: StudyDatabase,
    folder: Path,
    settings: AnnotationSettings,
    *,
    name: str | None = None,
    layout: str | None = None,
    seed: int = 0,
) -> int:
    """The number of the study of these pairs, made where it is not there yet; any dataset will do."""
    dataset = open_dataset(folder, layout)
    pairs = _merge_pairs(dataset.samples)
    first = _choose_qualification_pairs(pairs, settings.qualification, seed)
    root = dataset.root.resolve()
    samples = [
        StudySample(
            name=pair.name,
            split=pair.split,
            input=_to_relative(pair.before, root),
            outputs=[Output(system=TARGET, path=_to_relative(pair.after, root))],
            qualifying=pair in first,
            said=list(pair.requests),
        )
        for pair in pairs
    ]
    facts = [[s.name, s.split, s.input, s.outputs[0].path, s.said] for s in samples]
    chosen = Study(
        name=name or root.name or "pairs", kind=StudyKind.ANNOTATION, seed=seed, settings=asdict(settings)
    )
    return find_or_create_study(store, chosen, root, facts, samples)


def _merge_pairs(samples: Iterable[Pair]) -> list[Pair]:
    """Each pair of photos once, with all that was said of it."""
    found: dict[tuple[Path, Path], Pair] = {}
    for sample in samples:
        photos = sample.before, sample.after
        earlier = found.get(photos)
        said = sample.requests if earlier is None else (*earlier.requests, *sample.requests)
        found[photos] = replace(earlier or sample, requests=said)
    return list(found.values())


def _choose_qualification_pairs(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """Pairs for the qualification by chance, those first of which is known what can be said."""
    if count >= len(pairs):
        raise StudyError(
            f"a qualification of {count} pairs leaves none of {len(pairs)} to annotate; ask for fewer with "
            "--qualification"
        )
    mixed = random.Random(f"{seed}/qualification").sample(pairs, len(pairs))
    return sorted(mixed, key=lambda pair: not pair.requests)[:count]


def _to_relative(path: Path, root: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def draw_table_samples(entries: Sequence[TableSample], count: int | None, seed: int) -> list[TableSample]:
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


def find_or_create_study(
    store: StudyDatabase, study: Study, root: Path, facts: object, samples: Iterable[StudySample]
) -> int:
    """The study as it is in the database, put there if need be; `facts` say which samples these are.

    Refused where a study of that name has other samples or settings.
    """
    if not 0 < len(study.name) <= _MAX_STUDY_NAME_LENGTH or not study.name.isprintable():
        raise StudyError(
            f"{study.name!r:.60} is no name for a study; give one of up to "
            f"{_MAX_STUDY_NAME_LENGTH} characters"
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


def find_study(store: StudyDatabase, name: str | None = None) -> int:
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
