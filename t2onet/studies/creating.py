"""Create a study from a rating table or a dataset, or find it again in the database.

A rating table is CSV with a column, or a line, for each system's output:

    input,request,target,ours,theirs            or        input,request,system,output
    a.jpg,warmer,a-c.jpg,ours/a.jpg,gan/a.png             a.jpg,warmer,ours,ours/a.jpg

The columns `sample` (a name) and `dataset` are optional. Files are relative to the table's folder.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sqlalchemy import select

from ..data import Sample, open_dataset
from ..data.dataset import make_unique
from ..data.spreadsheet import parse_rows
from ..errors import StudyError
from ..image import has_readable_suffix, read_regular_file
from .database import (
    MAX_NAME_LENGTH,
    TARGET,
    AnnotationSettings,
    NotFound,
    Output,
    RatingSettings,
    Study,
    StudyDatabase,
    StudyKind,
    StudySample,
)

_REQUIRED_COLUMNS = ("input", "request")
_OPTIONAL_COLUMNS = ("sample", "dataset")
_LONG_FORM_COLUMNS = ("system", "output")
_MAX_FILES_NAMED = 3
"""Missing files named in an error message."""


def open_rating_study(
    store: StudyDatabase, table: Path, settings: RatingSettings, *, name: str | None = None, seed: int = 0
) -> int:
    """Id of the study of this table, which is created unless it exists."""
    chosen = draw_table_samples(read_rating_table(table), settings.samples, seed)
    samples = [
        StudySample(
            name=sample.name,
            dataset=sample.dataset,
            request=sample.request,
            input=sample.input,
            outputs=[Output(system=system, path=path) for system, path in sample.outputs.items()],
        )
        for sample in chosen
    ]
    study = Study(name=name or table.stem, kind=StudyKind.RATING, seed=seed, settings=asdict(settings))
    return find_or_create_study(store, study, table.parent, [asdict(sample) for sample in chosen], samples)


def open_annotation_study(
    store: StudyDatabase,
    folder: Path,
    settings: AnnotationSettings,
    *,
    name: str | None = None,
    layout: str | None = None,
    seed: int = 0,
) -> int:
    """Id of the study of the pairs of a dataset, which is created unless it exists."""
    dataset = open_dataset(folder, layout)
    pairs = _merge_pairs(dataset.samples)
    qualification = _choose_qualification_pairs(pairs, settings.qualification, seed)
    root = dataset.root.resolve()
    samples = [
        StudySample(
            name=pair.name,
            split=pair.split,
            input=_to_relative(pair.before, root),
            outputs=[Output(system=TARGET, path=_to_relative(pair.after, root))],
            qualifying=pair in qualification,
            said=list(pair.requests),
        )
        for pair in pairs
    ]
    facts = [[s.name, s.split, s.input, s.outputs[0].path, s.said] for s in samples]
    study = Study(
        name=name or root.name or "pairs", kind=StudyKind.ANNOTATION, seed=seed, settings=asdict(settings)
    )
    return find_or_create_study(store, study, root, facts, samples)


def _merge_pairs(samples: Iterable[Sample]) -> list[Sample]:
    """Each pair of photos once, with the requests of all its samples."""
    pairs: dict[tuple[Path, Path], Sample] = {}
    for sample in samples:
        photos = sample.before, sample.after
        earlier = pairs.get(photos)
        requests = sample.requests if earlier is None else (*earlier.requests, *sample.requests)
        pairs[photos] = replace(earlier or sample, requests=requests)
    return list(pairs.values())


def _choose_qualification_pairs(pairs: Sequence[Sample], count: int, seed: int) -> list[Sample]:
    """Random pairs for the qualification, preferably ones that have requests to compare with."""
    if count >= len(pairs):
        raise StudyError(
            f"a qualification of {count} pairs leaves none of {len(pairs)} to annotate; ask for fewer with "
            "--qualification"
        )
    shuffled = random.Random(f"{seed}/qualification").sample(pairs, len(pairs))
    return sorted(shuffled, key=lambda pair: not pair.requests)[:count]


def _to_relative(path: Path, root: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def draw_table_samples(samples: Sequence[TableSample], count: int | None, seed: int) -> list[TableSample]:
    """Up to `count` random samples of each data set, in the order of the table; None for all."""
    if count is None:
        return list(samples)
    groups: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        groups.setdefault(sample.dataset, []).append(index)
    indices = [
        index
        for dataset, group in groups.items()
        for index in random.Random(f"{seed}/{dataset}").sample(group, min(count, len(group)))
    ]
    return [samples[index] for index in sorted(indices)]


def find_or_create_study(
    store: StudyDatabase, study: Study, root: Path, facts: object, samples: Iterable[StudySample]
) -> int:
    """Id of the study of that name, which is created unless it exists; `facts` identify its samples.

    Raises StudyError if the existing study has other samples or settings.
    """
    if not 0 < len(study.name) <= MAX_NAME_LENGTH or not study.name.isprintable():
        raise StudyError(
            f"{study.name!r:.60} cannot be the name of a study; use 1 to "
            f"{MAX_NAME_LENGTH} printable characters"
        )
    text = json.dumps([study.kind, study.settings, study.seed, facts], sort_keys=True)
    study.digest, study.root = hashlib.sha256(text.encode()).hexdigest(), str(root.resolve())
    with store.writing() as session:
        existing = session.scalars(select(Study).where(Study.name == study.name)).first()
        if existing is None:
            session.add(study)
            session.flush()
            for sample in samples:
                sample.study_id = study.id
                session.add(sample)
            return study.id
        if existing.digest != study.digest:
            raise StudyError(
                f"{store} has a study {study.name!r} with other samples or settings; "
                "use those, or another --name"
            )
        existing.root = study.root  # the files may have moved
        return existing.id


def find_study(store: StudyDatabase, name: str | None = None) -> int:
    """Id of the study of that name, or of the only study if `name` is None."""
    with store.reading() as session:
        ids = {study.name: study.id for study in session.scalars(select(Study).order_by(Study.id))}
    if not ids:
        raise NotFound(f"{store} has no study; begin one with t2o study rate or t2o study annotate")
    if name is None and len(ids) > 1:
        raise NotFound(f"{store} has several studies; choose one with --name: {', '.join(ids)}")
    if name is not None and name not in ids:
        raise NotFound(f"{store} has no study {name!r}; there is {', '.join(ids)}")
    return ids[name] if name is not None else next(iter(ids.values()))


@dataclass(frozen=True)
class TableSample:
    """A sample of a rating table with its outputs by system; files as named in the table."""

    name: str
    input: str
    request: str
    dataset: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def read_rating_table(path: Path) -> list[TableSample]:
    """Samples of a table, in its order; checks that every file exists and every sample has all outputs."""
    samples: dict[str, TableSample] = {}
    names: dict[tuple[str, str], str] = {}
    for line, cells in _read_rows(path):
        try:
            _add_row(cells, samples, names)
        except ValueError as error:
            raise StudyError(f"{path}, line {line}: {error}") from None
    if not samples:
        raise StudyError(f"{path} has no sample; give a line for each below the first")
    _check_complete(path, samples.values())
    _check_files(path, samples.values())
    return list(samples.values())


def _read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells by column of each row that is not blank."""
    columns: list[str] | None = None
    for line, row in parse_rows(_read_text(path)):
        if isinstance(row, csv.Error):
            raise StudyError(f"{path}, line {line}: not CSV ({row})") from row
        if columns is None:
            columns = _check_columns(path, row)
        elif any(row):
            if len(row) != len(columns):
                counts = f"{len(row)} cells where there are {len(columns)} columns"
                raise StudyError(f'{path}, line {line}: {counts}; put texts in "quotes"')
            yield line, dict(zip(columns, row, strict=True))
    if columns is None:
        _check_columns(path, [])


def _read_text(path: Path) -> str:
    try:
        text = read_regular_file(path).decode("utf-8-sig")
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text ({error.reason}); save the table as CSV UTF-8") from error
    if "\0" in text:
        raise StudyError(f"{path} is not text (it has zero bytes); save the table as CSV UTF-8")
    return text


def _check_columns(path: Path, header: list[str]) -> list[str]:
    """Column names: those of this format in lower case, those of systems unchanged."""
    known = {*_REQUIRED_COLUMNS, *_OPTIONAL_COLUMNS, *_LONG_FORM_COLUMNS}
    columns = [column.lower() if column.lower() in known else column for column in header]
    missing = [name for name in _REQUIRED_COLUMNS if name not in columns]
    if missing:
        raise StudyError(
            f"{path} has no column {missing[0]!r}; its first line must name input, request and each system"
        )
    if len(set(columns)) < len(columns) or "" in columns or max(map(len, columns)) > MAX_NAME_LENGTH:
        raise StudyError(
            f"{path}: column names must be unique, not empty and at most {MAX_NAME_LENGTH} characters long"
        )
    if not set(_LONG_FORM_COLUMNS) <= set(columns) and not set(columns) - known:
        raise StudyError(f"{path} has no output to rate; add a column for each system")
    return columns


def _add_row(
    cells: dict[str, str], samples: dict[str, TableSample], names: dict[tuple[str, str], str]
) -> None:
    """Add a row to `samples`, which are by name; `names` are those of samples by input and request."""
    for column in _REQUIRED_COLUMNS:
        if not cells[column]:
            raise ValueError(f"the {column} is empty")
    task = (cells["input"], cells["request"])
    is_long_form = set(_LONG_FORM_COLUMNS) <= set(cells)
    name = (
        cells.get("sample")
        or (names.get(task) if is_long_form else None)
        or make_unique(Path(task[0]).stem, samples)
    )
    if not is_long_form and name in samples:
        raise ValueError(f"the sample {name!r} is in the table already")
    for label in (name, cells.get("dataset", ""), cells.get("system", "")):
        if len(label) > MAX_NAME_LENGTH:
            raise ValueError(f"the name {label[:20]}... is too long; use up to {MAX_NAME_LENGTH} characters")
    sample = samples.setdefault(name, TableSample(name, *task, cells.get("dataset", "")))
    if (sample.input, sample.request) != task:
        raise ValueError(f"the sample {name!r} has another input or request in an earlier line")
    names[task] = name
    if is_long_form:
        outputs = {cells["system"]: cells["output"]}
    else:
        known = {*_REQUIRED_COLUMNS, *_OPTIONAL_COLUMNS, *_LONG_FORM_COLUMNS}
        outputs = {column: cell for column, cell in cells.items() if column not in known}
    for system, output in outputs.items():
        if not system or not output:
            raise ValueError(f"the output of {system or 'a system without a name'} is empty")
        if system in sample.outputs:
            raise ValueError(f"a second output of {system} for the sample {name!r}")
        sample.outputs[system] = output


def _check_complete(path: Path, samples: Collection[TableSample]) -> None:
    systems = {system for sample in samples for system in sample.outputs}
    for sample in samples:
        if missing := sorted(systems - set(sample.outputs)):
            raise StudyError(f"{path}: the sample {sample.name!r} has no output of {missing[0]}; add it")


def _check_files(path: Path, samples: Collection[TableSample]) -> None:
    files = dict.fromkeys(file for sample in samples for file in (sample.input, *sample.outputs.values()))
    missing = [file for file in files if not (path.parent / file).is_file()]
    if missing:
        more = f" and {len(missing) - _MAX_FILES_NAMED} more" if len(missing) > _MAX_FILES_NAMED else ""
        names = ", ".join(missing[:_MAX_FILES_NAMED])
        raise StudyError(
            f"{path} names files that do not exist: {names}{more}; paths are relative to its folder"
        )
    for file in files:
        if not has_readable_suffix(file):
            raise StudyError(f"{path} names {file}, which is not a kind of photo that can be read")
