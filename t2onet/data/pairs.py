"""A folder of your own pairs: `before/` and `after/`, files of one name belonging together.

`requests.csv` may lie beside them, with a first line `name,request` or `name,request,split`; a pair may have
several lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError
from ..image import READABLE_SUFFIXES, read_regular_file
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
from .spreadsheet import restore_cell

NAME = "pairs"
LOOKS_FOR = "before/ and after/ with photos of the same names"
REQUESTS_FILE = "requests.csv"
_COLUMNS = ("name", "request", "split")


@dataclass
class _PairRequests:
    """What the lines for one pair say."""

    split: str = ""
    requests: list[str] = field(default_factory=list)


def recognises(root: Path) -> bool:
    return (root / "before").is_dir() and (root / "after").is_dir()


def read(root: Path, splits: Collection[str] | None = None, *, photos: bool = True) -> Dataset:
    """One sample for each pair, in the order of names; of the split "train" where no other is given.

    A pair is its photos, so `photos` changes nothing here.
    """
    problems: list[Problem] = []
    before, after = (_list_photos(root / side, problems) for side in ("before", "after"))
    lacking = {key: "after" for key in before if key not in after} | {
        key: "before" for key in after if key not in before
    }
    for key, side in sorted(lacking.items()):
        name = (before.get(key) or after[key]).stem
        problems.append(Problem(name, f"the photo {side} the edit is missing", f"no {side}/{name}.*"))
    said = {key: _PairRequests() for key in sorted(before) if key in after}
    problems.extend(_read_requests(root / REQUESTS_FILE, said))
    samples = [
        Sample(before[key].stem, one.split or SPLITS[0], before[key], after[key], tuple(one.requests))
        for key, one in said.items()
    ]
    there = {sample.split for sample in samples}
    absent = [split for split in splits or () if split not in there]
    if absent and there:
        raise DataError(f"{root} has no pair of the split {absent[0]}; there is {', '.join(sorted(there))}.")
    kept = tuple(sample for sample in samples if splits is None or sample.split in splits)
    return Dataset(root, NAME, kept, tuple(problems))


def _list_photos(folder: Path, problems: list[Problem]) -> dict[str, Path]:
    """By name without suffix and regardless of case."""
    found: dict[str, list[str]] = {}
    for name in list_file_names(folder):
        if Path(name).suffix.lower() in READABLE_SUFFIXES:
            found.setdefault(Path(name).stem.casefold(), []).append(name)
        else:
            problems.append(Problem(f"{folder.name}/{name}", "not a kind of photo that can be read"))
    doubled = [names for names in found.values() if len(names) > 1]
    problems.extend(describe_duplicates(f"{folder.name}/{Path(names[0]).stem}", names) for names in doubled)
    return {key: folder / names[0] for key, names in found.items()}


def _read_requests(path: Path, said: dict[str, _PairRequests]) -> Iterator[Problem]:
    """Put what the lines of the file say to the pairs they name; yields what is wrong with them."""
    if not path.is_file():
        return
    try:
        text = read_regular_file(path).decode("utf-8-sig", errors="surrogateescape")
    except OSError as error:
        yield Problem(path.name, "the file cannot be read", error.strerror or str(error))
        return
    columns: list[str] | None = None
    for line, row in _read_rows(text):
        try:
            if isinstance(row, csv.Error):
                raise UnusableError("a line that is not CSV", str(row))
            if columns is None:
                columns = _parse_header(row)
            elif row:
                _add_request(dict(zip(columns, _check_width(row, columns), strict=True)), said)
        except UnusableError as error:
            yield error.at(f"{path.name}, line {line}")
        if columns is None:
            return


def _read_rows(text: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Rows and the lines they begin in; reading goes on in the line after one that is none."""
    lines = io.StringIO(text, newline="").readlines()
    delimiter = max(",;\t", key=lines[0].count) if lines else ","
    start = 0
    while start < len(lines):
        rest = csv.reader(map(lines.__getitem__, range(start, len(lines))), delimiter=delimiter, strict=True)
        try:
            yield start + 1, next(rest)
            start += rest.line_num
        except csv.Error as error:
            yield start + 1, error
            start += 1


def _parse_header(row: list[str]) -> list[str]:
    columns = [column.strip().lower() for column in row]
    if tuple(columns) not in (_COLUMNS, _COLUMNS[:2]):
        raise UnusableError(
            "no header", f"the first line is {', '.join(_COLUMNS[:2])} and perhaps {_COLUMNS[2]}"
        )
    return columns


def _check_width(row: list[str], columns: list[str]) -> list[str]:
    if len(row) != len(columns):
        detail = f'{len(row)} where {len(columns)} are expected; put a request with commas in "quotes"'
        raise UnusableError("a wrong number of columns", detail)
    return row


def _add_request(cells: dict[str, str], said: dict[str, _PairRequests]) -> None:
    name, request, given = (restore_cell(cells.get(column, "")).strip() for column in _COLUMNS)
    split = given.lower()
    if not (is_text(name) and is_text(request)):
        raise UnusableError("a name or a request is empty or not UTF-8", f"{name!r:.60}, {request!r:.60}")
    if split not in ("", *SPLITS):
        raise UnusableError("not the name of a split", f"{given!r:.60}; known are {', '.join(SPLITS)}")
    one = said.get(name.casefold()) or said.get(Path(name).stem.casefold())
    if one is None:
        raise UnusableError("no pair of that name", repr(name))
    if one.split and split and one.split != split:
        raise UnusableError("a second split for the same pair", f"{name!r} is in {one.split} already")
    one.split = one.split or split
    one.requests.append(request)
