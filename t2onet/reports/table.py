"""A table of figures, written as Markdown, CSV or on the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Rows of a name and figures, one for each column; None is a figure that nobody has.

    `notes` say where the figures come from and what differs between rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float | None, ...]]
    notes: tuple[str, ...] = field(default=())

    def cells(self) -> list[list[str]]:
        """Header and rows as text."""
        return [["", *self.columns], *([name, *map(_shown, row)] for name, row in self.rows.items())]

    def markdown(self) -> str:
        header, *rows = ["| " + " | ".join(line) + " |" for line in self.cells()]
        rule = "|---" + "|---:" * len(self.columns) + "|"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"## {self.title}", "", header, rule, *rows, "", *notes]).rstrip() + "\n"

    def csv(self) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.cells())
        return text.getvalue()


def _shown(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.4f}"
