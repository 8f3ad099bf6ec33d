"""A folder of your own pairs: `before/` and `after/`, in which files of the same name belong together.

An optional `requests.csv` has the columns `name,request` or `name,request,split`, and any number of lines
for a pair.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError
from ..image import has_readable_suffix, read_regular_file
from .dataset import (
    SPLITS,
    Dataset,
    Problem,
    Sample,
    UnusableError,
    describe_duplicates,
    is_text,
    list_file_names,
)
from .spreadsheet import parse_rows

NAME = "pairs"
LOOKS_FOR = "before/ and after/ with photos of the same names"
REQUESTS_FILE = "requests.csv"
_COLUMNS = ("name", "request", "split")


@dataclass
class _PairRequests:
    """Split and requests of one pair."""

    split: str = ""
    requests: list[str] = field(default_factory=list)


def recognises(root: Path) -> bool:
    return (root / "before").is_dir() and (root / "after").is_dir()


def read(root: Path, splits: Collection[str] | None = None, *, photos: bool = True) -> Dataset:
    """One sample for each pair, sorted by name; pairs without a split belong to "train".

    `photos` has no effect, since a pair is defined by its photos.
    """
    problems: list[Problem] = []
    before, after = (_list_photos(root / side, problems) for side in ("before", "after"))
    missing = {key: "after" for key in before if key not in after} | {
        key: "before" for key in after if key not in before
    }
    for key, side in sorted(missing.items()):
        name = (before.get(key) or after[key]).stem
        problems.append(Problem(name, f"the photo {side} the edit is missing", f"no {side}/{name}.*"))
    pairs = {key: _PairRequests() for key in sorted(before) if key in after}
    problems.extend(_read_requests(root / REQUESTS_FILE, pairs))
    samples = [
        Sample(before[key].stem, pair.split or SPLITS[0], before[key], after[key], tuple(pair.requests))
        for key, pair in pairs.items()
    ]
    existing = {sample.split for sample in samples}
    absent = [split for split in splits or () if split not in existing]
    if absent and existing:
        raise DataError(
            f"{root} has no pair of the split {absent[0]}; there is {', '.join(sorted(existing))}."
        )
    chosen = tuple(sample for sample in samples if splits is None or sample.split in splits)
    return Dataset(root, NAME, chosen, tuple(problems))


def _list_photos(folder: Path, problems: list[Problem]) -> dict[str, Path]:
    """Photos of a folder by lower-case stem; adds other files and duplicates to `problems`."""
    names_by_stem: dict[str, list[str]] = {}
    for name in list_file_names(folder):
        if has_readable_suffix(name):
            names_by_stem.setdefault(Path(name).stem.casefold(), []).append(name)
        else:
            problems.append(Problem(f"{folder.name}/{name}", "not a kind of photo that can be read"))
    duplicates = [names for names in names_by_stem.values() if len(names) > 1]
    problems.extend(
        describe_duplicates(f"{folder.name}/{Path(names[0]).stem}", names) for names in duplicates
    )
    return {key: folder / names[0] for key, names in names_by_stem.items()}


def _read_requests(path: Path, pairs: dict[str, _PairRequests]) -> Iterator[Problem]:
    """Add the requests of a file to the pairs; yields a problem for each line that cannot be used."""
    if not path.is_file():
        return
    try:
        text = read_regular_file(path).decode("utf-8-sig", errors="surrogateescape")
    except OSError as error:
        yield Problem(path.name, "the file cannot be read", error.strerror or str(error))
        return
    columns: list[str] | None = None
    for line, row in parse_rows(text):
        try:
            if isinstance(row, csv.Error):
                raise UnusableError("a line that is not CSV", str(row))
            if columns is None:
                columns = _parse_header(row)
            elif row:
                _check_width(row, columns)
                _add_request(dict(zip(columns, row, strict=True)), pairs)
        except UnusableError as error:
            yield error.to_problem(f"{path.name}, line {line}")
        if columns is None:
            return


def _parse_header(row: list[str]) -> list[str]:
    columns = [column.lower() for column in row]
    if tuple(columns) not in (_COLUMNS, _COLUMNS[:2]):
        raise UnusableError("no header", "the first line must be name,request or name,request,split")
    return columns


def _check_width(row: list[str], columns: list[str]) -> None:
    if len(row) != len(columns):
        detail = f'{len(row)} where {len(columns)} are expected; put a request with commas in "quotes"'
        raise UnusableError("a wrong number of columns", detail)


def _add_request(cells: dict[str, str], pairs: dict[str, _PairRequests]) -> None:
    name, request, split = (cells.get(column, "") for column in _COLUMNS)
    if not (is_text(name) and is_text(request)):
        raise UnusableError("a name or a request is empty or not UTF-8", f"{name!r:.60}, {request!r:.60}")
    if split.lower() not in ("", *SPLITS):
        raise UnusableError("not the name of a split", f"{split!r:.60}; known are {', '.join(SPLITS)}")
    pair = pairs.get(name.casefold()) or pairs.get(Path(name).stem.casefold())
    if pair is None:
        raise UnusableError("no pair of that name", repr(name))
    if pair.split and split and pair.split != split.lower():
        raise UnusableError("a second split for the same pair", f"{name!r} is in {pair.split} already")
    pair.split = pair.split or split.lower()
    pair.requests.append(request)
