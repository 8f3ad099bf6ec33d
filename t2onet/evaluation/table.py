"""Tables of figures as Markdown, CSV or terminal text, and the version of the code that made them."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import __version__
from ..data.spreadsheet import to_csv
from ..metrics.statistics import IntervalEstimate, PairedDifference

Cell = float | IntervalEstimate | PairedDifference | str | None
"""A figure, alone or with its interval; a text that says why there is none; or None for a blank cell."""
_HERE = Path(__file__)


@dataclass(frozen=True)
class ResultTable:
    """Named rows with a cell for each column; `notes` say where the figures come from."""

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    notes: tuple[str, ...] = field(default=())

    def cells(self) -> list[list[str]]:
        """Header and rows as text."""
        return [["", *self.columns], *([name, *map(_format_cell, row)] for name, row in self.rows.items())]

    def to_markdown(self) -> str:
        header, *rows = ["| " + " | ".join(line) + " |" for line in self.cells()]
        rule = "|---" + "|---:" * len(self.columns) + "|"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"## {self.title}", "", header, rule, *rows, "", *notes]).rstrip() + "\n"

    def to_csv(self) -> str:
        return to_csv(self.cells())

    def without_intervals(self) -> ResultTable:
        """The values alone, which fit on a screen."""
        rows = {name: tuple(map(_drop_interval, row)) for name, row in self.rows.items()}
        return replace(self, rows=rows)


def _drop_interval(cell: Cell) -> Cell:
    return cell.value if isinstance(cell, IntervalEstimate | PairedDifference) else cell


def _format_cell(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    if not isinstance(cell, IntervalEstimate | PairedDifference):
        return f"{cell:.4f}"
    interval = "" if math.isnan(cell.low) else f" ({cell.low:.4f} to {cell.high:.4f})"
    p_value = f", p {cell.p:.2g}" if isinstance(cell, PairedDifference) and cell.p is not None else ""
    return f"{cell.value:.4f}{interval}{p_value}"


def encode_provenance(command: str, **facts: object) -> bytes:
    """`about.json` beside results: facts, the version of the code, and the command."""
    return (json.dumps({**facts, "code": get_code_version(), "command": command}, indent=2) + "\n").encode()


def get_code_version() -> str:
    """The commit of this checkout, with `+` if tracked files have changed since; else the release."""
    tracked = _run_git("ls-files", _HERE.name)
    commit = _run_git("rev-parse", "--short=12", "HEAD")
    if not tracked or not commit:
        return f"release {__version__}"
    return commit + ("+" if _run_git("status", "--porcelain", "--untracked-files=no", ":/") else "")


def _run_git(*arguments: str) -> str:
    command = ["git", "-C", str(_HERE.parent), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return result.stdout.strip()
