"""A table of figures, written as Markdown, CSV or on the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..data.spreadsheet import to_csv
from ..metrics.intervals import Difference, Estimate

Cell = float | Estimate | Difference | str | None
"""A figure, alone or with its interval, or why there is none; None is a figure that nobody has."""


@dataclass(frozen=True)
class Table:
    """Rows of a name and figures, one for each column.

    `notes` say where the figures come from and what differs between rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    notes: tuple[str, ...] = field(default=())

    def cells(self) -> list[list[str]]:
        """Header and rows as text."""
        return [["", *self.columns], *([name, *map(_shown, row)] for name, row in self.rows.items())]

    def markdown(self) -> str:
        header, *rows = ["| " + " | ".join(line) + " |" for line in self.cells()]
        rule = "|---" + "|---:" * len(self.columns) + "|"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"## {self.title}", "", header, rule, *rows, "", *notes]).rstrip() + "\n"

    def without_intervals(self) -> Table:
        """The figures alone, which fit on a screen."""
        rows = {name: tuple(map(_alone, row)) for name, row in self.rows.items()}
        return replace(self, rows=rows)

    def csv(self) -> str:
        return to_csv(self.cells())


def _alone(cell: Cell) -> Cell:
    return cell.value if isinstance(cell, Estimate | Difference) else cell


def _shown(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    if not isinstance(cell, Estimate | Difference):
        return f"{cell:.4f}"
    interval = "" if math.isnan(cell.low) else f" ({cell.low:.4f} to {cell.high:.4f})"
    chance = f", p {cell.p:.2g}" if isinstance(cell, Difference) and cell.p is not None else ""
    return f"{cell.value:.4f}{interval}{chance}"
