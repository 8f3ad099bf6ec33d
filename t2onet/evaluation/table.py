"""Tables of figures as Markdown, CSV or terminal text, and the code version they come from."""

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

# A table of figures, written as Markdown, CSV or on the terminal.

Cell = float | IntervalEstimate | PairedDifference | str | None
"""A figure, alone or with its interval, or why there is none; None is a figure that nobody has."""


@dataclass(frozen=True)
class ResultTable:
    """Rows of a name and figures, one for each column.

    `notes` say where the figures come from and what differs between rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    notes: tuple[str, ...] = field(default=())

    def cells(self) -> list[list[str]]:
        """Header and rows as text."""
        return [["", *self.columns], *([name, *map(_format_cell, row)] for name, row in self.rows.items())]

    def markdown(self) -> str:
        header, *rows = ["| " + " | ".join(line) + " |" for line in self.cells()]
        rule = "|---" + "|---:" * len(self.columns) + "|"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"## {self.title}", "", header, rule, *rows, "", *notes]).rstrip() + "\n"

    def without_intervals(self) -> ResultTable:
        """The figures alone, which fit on a screen."""
        rows = {name: tuple(map(_drop_interval, row)) for name, row in self.rows.items()}
        return replace(self, rows=rows)

    def csv(self) -> str:
        return to_csv(self.cells())


def _drop_interval(cell: Cell) -> Cell:
    return cell.value if isinstance(cell, IntervalEstimate | PairedDifference) else cell


def _format_cell(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    if not isinstance(cell, IntervalEstimate | PairedDifference):
        return f"{cell:.4f}"
    interval = "" if math.isnan(cell.low) else f" ({cell.low:.4f} to {cell.high:.4f})"
    chance = f", p {cell.p:.2g}" if isinstance(cell, PairedDifference) and cell.p is not None else ""
    return f"{cell.value:.4f}{interval}{chance}"


# Where figures come from: the code they were made by.

_HERE = Path(__file__)


def get_code_version() -> str:
    """The commit of this checkout, `+` if files have changed since; the release where it is installed."""
    tracked = _run_git("ls-files", _HERE.name)
    commit = _run_git("rev-parse", "--short=12", "HEAD")
    if not tracked or not commit:
        return f"release {__version__}"
    return commit + ("+" if _run_git("status", "--porcelain", "--untracked-files=no", ":/") else "")


def encode_provenance(command: str, **facts: object) -> bytes:
    """What stands beside results: how they were made, as JSON."""
    return (json.dumps({**facts, "code": get_code_version(), "command": command}, indent=2) + "\n").encode()


def _run_git(*arguments: str) -> str:
    command = ["git", "-C", str(_HERE.parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
