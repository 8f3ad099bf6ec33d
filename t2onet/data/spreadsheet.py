"""CSV that is safe to open in a spreadsheet and can be read back without loss.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, and what people write ends up in
cells. Such a text gets an apostrophe before it, which spreadsheets take for "this is text", and so does the
part of a text after a semicolon, tab or line end: a spreadsheet that takes these for separators begins a cell
there. Numbers stay as they are. `restore` takes these apostrophes away again; 'tis keeps its own.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

_SEPARATORS = re.compile("([;\t\r\n])")
_OPERATORS = frozenset("=+-@＝＋－＠")
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that show nothing."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def neutralize_cell(cell: object) -> object:
    """A cell as it is written: where a spreadsheet would run a text, an apostrophe stands before it."""
    return _map_parts(cell, lambda part: f"'{part}") if isinstance(cell, str) else cell


def restore_cell(cell: str) -> str:
    """A cell as it was before `neutralize`.

    A cell of any other CSV stays as it is, unless an apostrophe stands before `=`, `+`, `-` or `@`: that is
    taken for one of ours, since nothing tells them apart. There, `''-ish' look` means `'-ish' look`.
    """
    return _map_parts(cell, lambda part: part.removeprefix("'"), prefix="'")


def _map_parts(text: str, change: Callable[[str], str], prefix: str = "") -> str:
    """Change each part that begins with the prefix and would be run without it; a number stays as it is.

    A tab or line end at the beginning of the text counts as run, too: spreadsheets skip it.
    """
    if _NUMBER.fullmatch(text):
        return text
    parts = _SEPARATORS.split(text)
    skipped = len(parts) > 1 and parts[1] != ";" and not parts[0].strip("'")
    for at in range(0, len(parts), 2):
        runs = (skipped and at == 0) or _is_formula(parts[at].removeprefix(prefix))
        if runs and parts[at].startswith(prefix):
            parts[at] = change(parts[at])
    return "".join(parts)


def _is_formula(part: str) -> bool:
    """Whether a spreadsheet runs a part, or would without its apostrophes; what is invisible is skipped."""
    for character in part.lstrip("'"):
        if character in _OPERATORS:
            return True
        if character != '"' and not _is_invisible(character):
            return False
    return False


def _is_invisible(character: str) -> bool:
    """Blanks, control and format characters (U+FEFF, U+200B), combining marks without a letter, fillers."""
    return unicodedata.category(character)[0] in "CMZ" or character in _FILLERS


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV with commas and one line feed a row; its cells neutralised."""
    return "".join(map(_to_line, rows))


def _to_line(row: Sequence[object]) -> str:
    """Written with both ends of line, so that a cell with either of them is quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(map(neutralize_cell, row))
    return text.getvalue().removesuffix("\r\n") + "\n"


def from_csv(text: str) -> list[dict[str, str]]:
    """What `to_csv` wrote: a dict for each row below the first, by the names in that; cells restored."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns = next(rows, [])
    return [dict(zip(columns, map(restore_cell, row), strict=True)) for row in rows]
