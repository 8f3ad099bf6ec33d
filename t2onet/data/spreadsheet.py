"""CSV that is safe to open in a spreadsheet and can be read back without loss.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, and what people write ends up in
cells. Such a text gets an apostrophe before it, which spreadsheets take for "this is text"; numbers stay as
they are. `restore` takes the apostrophe away again, and only there: 'tis keeps its own.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_RUNS = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])")
"""How a text begins that some spreadsheet runs, or that was neutralised: then with apostrophes."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def neutralize(cell: object) -> object:
    """A cell as it is written: a text that a spreadsheet would run gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and _is_run(cell) else cell


def restore(cell: str) -> str:
    """A cell as it was before `neutralize`; of any other CSV, as it is."""
    return cell[1:] if cell.startswith("'") and _is_run(cell[1:]) else cell


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV with commas and one line feed a row; its cells neutralised."""
    return "".join(map(_line, rows))


def _line(row: Sequence[object]) -> str:
    """Written with both ends of line, so that a cell with either of them is quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(map(neutralize, row))
    return text.getvalue().removesuffix("\r\n") + "\n"


def from_csv(text: str) -> list[dict[str, str]]:
    """What `to_csv` wrote: a dict for each row below the first, by the names in that; cells restored."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns = next(rows, [])
    return [dict(zip(columns, map(restore, row), strict=True)) for row in rows]


def _is_run(text: str) -> bool:
    return _RUNS.match(text) is not None and _NUMBER.fullmatch(text) is None
