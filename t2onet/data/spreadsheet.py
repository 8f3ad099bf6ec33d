"""CSV that is safe to open in a spreadsheet and can be read back without loss, and CSV written by people.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula. `neutralize_cell` puts an
apostrophe, which spreadsheets take for "this is text", before such a text, and before each part of it that
follows a semicolon, tab or line end, where some spreadsheets begin a new cell. Numbers stay as they are.
`restore_cell` removes these apostrophes and no others.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

_SEPARATORS = re.compile("([;\t\r\n])")
_OPERATORS = frozenset("=+-@＝＋－＠")
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn blank."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def neutralize_cell(cell: object) -> object:
    """The cell as it is written: with an apostrophe before each part that a spreadsheet would run."""
    return _map_parts(cell, lambda part: f"'{part}") if isinstance(cell, str) else cell


def restore_cell(cell: str) -> str:
    """The cell as it was before `neutralize_cell`.

    Cells of other CSV files stay as they are, except that an apostrophe before `=`, `+`, `-` or `@` is always
    removed: in such a file, write `''-ish' look` for `'-ish' look`.
    """
    return _map_parts(cell, lambda part: part.removeprefix("'"), prefix="'")


def _map_parts(text: str, change: Callable[[str], str], prefix: str = "") -> str:
    """Apply `change` to each part that begins with `prefix` and is a formula without it; numbers stay.

    A text that begins with a tab or line end counts as a formula as well, since spreadsheets skip these.
    """
    if _NUMBER.fullmatch(text):
        return text
    parts = _SEPARATORS.split(text)
    begins_blank = len(parts) > 1 and parts[1] != ";" and not parts[0].strip("'")
    for at in range(0, len(parts), 2):
        runs = (begins_blank and at == 0) or _is_formula(parts[at].removeprefix(prefix))
        if runs and parts[at].startswith(prefix):
            parts[at] = change(parts[at])
    return "".join(parts)


def _is_formula(part: str) -> bool:
    """Whether a spreadsheet runs the part, leading apostrophes and invisible characters aside."""
    for character in part.lstrip("'"):
        if character in _OPERATORS:
            return True
        if character != '"' and not _is_invisible(character):
            return False
    return False


def _is_invisible(character: str) -> bool:
    """Blanks, control and format characters (U+FEFF, U+200B), combining marks, fillers."""
    return unicodedata.category(character)[0] in "CMZ" or character in _FILLERS


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV with commas and a line feed after each row; cells are neutralized."""
    return "".join(map(_to_line, rows))


def _to_line(row: Sequence[object]) -> str:
    """One row. Written with CR LF first, so that cells with either of them are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(map(neutralize_cell, row))
    return text.getvalue().removesuffix("\r\n") + "\n"


def from_csv(text: str) -> list[dict[str, str]]:
    """Parse the output of `to_csv`: a dict by column name for each row, cells restored."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns = next(rows, [])
    return [dict(zip(columns, map(restore_cell, row), strict=True)) for row in rows]


def parse_rows(text: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Parse CSV written by people: the line in which each row begins, and its cells, restored and stripped.

    Cells are separated by commas, semicolons or tabs, whichever the first line has most of. A row that is not
    CSV gives the error in its place, and parsing goes on in the next line.
    """
    lines = io.StringIO(text, newline="").readlines()
    delimiter = max(",;\t", key=lines[0].count) if lines else ","
    start = 0
    while start < len(lines):
        reader = csv.reader(
            map(lines.__getitem__, range(start, len(lines))), delimiter=delimiter, strict=True
        )
        try:
            yield start + 1, [restore_cell(cell).strip() for cell in next(reader)]
            start += reader.line_num
        except csv.Error as error:
            yield start + 1, error
            start += 1
