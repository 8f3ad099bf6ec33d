"""Tables of what is to be rated: CSV, one column or one line for each system's output.

    input,request,target,ours,theirs            or        input,request,system,output
    a.jpg,warmer,a-c.jpg,ours/a.jpg,gan/a.png             a.jpg,warmer,ours,ours/a.jpg

Columns `sample` (a name) and `dataset` may come along. Files are named relative to the table's folder.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..data.spreadsheet import restore
from ..errors import StudyError
from ..image import READABLE, read_regular

_NEEDED = ("input", "request")
_OPTIONAL = ("sample", "dataset")
_LONG = ("system", "output")
_LONGEST = 200
"""Characters in the name of a sample, a data set or a system."""
_TOLD = 3
"""The most missing files that are named."""


@dataclass(frozen=True)
class Entry:
    """A sample of the table, its outputs by system; files as the table names them."""

    name: str
    input: str
    request: str
    dataset: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def read_table(path: Path) -> list[Entry]:
    """The samples in the table's order; every file is there, and each sample has all outputs."""
    entries: dict[str, Entry] = {}
    seen: dict[tuple[str, str], str] = {}
    for line, cells in _lines(path):
        try:
            _take(cells, entries, seen)
        except ValueError as error:
            raise StudyError(f"{path}, line {line}: {error}") from None
    if not entries:
        raise StudyError(f"{path} has no sample; give a line for each below the first")
    found = list(entries.values())
    _complete(path, found)
    _there(path, found)
    return found


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The number of each line and its cells by column: unescaped, without surrounding blanks."""
    try:
        text = read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text ({error.reason}); save the table as CSV UTF-8") from error
    if "\0" in text:
        raise StudyError(f"{path} is not text (it has zero bytes); save the table as CSV UTF-8")
    first = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        columns = _columns(path, [restore(cell).strip() for cell in next(rows, [])])
        for row in rows:
            if any(cell.strip() for cell in row):
                if len(row) != len(columns):
                    told = f'{len(row)} cells where there are {len(columns)} columns; put texts in "quotes"'
                    raise StudyError(f"{path}, line {rows.line_num}: {told}")
                yield rows.line_num, dict(zip(columns, (restore(cell).strip() for cell in row), strict=True))
    except csv.Error as error:
        raise StudyError(f"{path}, line {rows.line_num}: not CSV ({error})") from error


def _columns(path: Path, given: list[str]) -> list[str]:
    """Names of the columns, ours in small letters; systems keep theirs."""
    ours = {*_NEEDED, *_OPTIONAL, *_LONG}
    columns = [column.lower() if column.lower() in ours else column for column in given]
    lacking = [name for name in _NEEDED if name not in columns]
    if lacking:
        raise StudyError(
            f"{path} has no column {lacking[0]!r}; its first line names input, request and each system"
        )
    if len(set(columns)) < len(columns) or "" in columns or max(map(len, columns)) > _LONGEST:
        raise StudyError(f"{path}: a column has no name, another one's or a very long one; give each its own")
    if not set(_LONG) <= set(columns) and not set(columns) - ours:
        raise StudyError(f"{path} has no output to rate; add a column for each system")
    return columns


def _take(cells: dict[str, str], entries: dict[str, Entry], seen: dict[tuple[str, str], str]) -> None:
    for column in _NEEDED:
        if not cells[column]:
            raise ValueError(f"the {column} is empty")
    what = (cells["input"], cells["request"])
    long = set(_LONG) <= set(cells)
    name = cells.get("sample") or (seen.get(what) if long else None) or _free(Path(what[0]).stem, entries)
    if not long and name in entries:
        raise ValueError(f"the sample {name!r} is there already")
    for named in (name, cells.get("dataset", ""), cells.get("system", "")):
        if len(named) > _LONGEST:
            raise ValueError(f"{named[:20]}... is too long a name; use up to {_LONGEST} characters")
    entry = entries.setdefault(name, Entry(name, *what, cells.get("dataset", "")))
    if (entry.input, entry.request) != what:
        raise ValueError(f"the sample {name!r} has another input or request in a line before")
    seen[what] = name
    apart = {*_NEEDED, *_OPTIONAL, *_LONG}
    outputs = (
        {cells["system"]: cells["output"]} if long else {k: v for k, v in cells.items() if k not in apart}
    )
    for system, output in outputs.items():
        if not system or not output:
            raise ValueError(f"the output of {system or 'a system without a name'} is empty")
        if system in entry.outputs:
            raise ValueError(f"a second output of {system} for the sample {name!r}")
        entry.outputs[system] = output


def _free(stem: str, taken: dict[str, Entry]) -> str:
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}#{number}"
    return name


def _complete(path: Path, entries: list[Entry]) -> None:
    systems = {system for entry in entries for system in entry.outputs}
    for entry in entries:
        if lacking := sorted(systems - set(entry.outputs)):
            raise StudyError(f"{path}: the sample {entry.name!r} has no output of {lacking[0]}; add it")


def _there(path: Path, entries: list[Entry]) -> None:
    files = dict.fromkeys(file for entry in entries for file in (entry.input, *entry.outputs.values()))
    absent = [file for file in files if not (path.parent / file).is_file()]
    if absent:
        more = f" and {len(absent) - _TOLD} more" if len(absent) > _TOLD else ""
        named = ", ".join(absent[:_TOLD])
        raise StudyError(
            f"{path} names files that are not there: {named}{more}; they are looked for beside it"
        )
    for file in files:
        if Path(file).suffix.lower() not in READABLE:
            raise StudyError(f"{path} names {file}, which is no kind of photo that can be read")
