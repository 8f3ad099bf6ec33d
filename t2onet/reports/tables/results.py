"""Everything of a table in a folder: to read, to compute with, to look at, and to follow back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...image import write_atomically
from ..comparison import ABOUT, Comparison
from ..provenance import about
from ..table import Table
from .measuring import NAMES, Block
from .model import PaperTable
from .runs import facts_of, progress_of
from .writing import as_csv, differences, directions, shown

PAGE, FIGURES, PLANNING, SYSTEMS = "table.md", "table.csv", "planning.csv", "systems.json"


@dataclass(frozen=True)
class Results:
    """A table as it was made."""

    table: PaperTable
    blocks: Sequence[Block]
    runs: Path
    planning: Table | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    """About planning: data and seed."""
    sheets: Mapping[str, bytes] = field(default_factory=dict)
    narrow: bool = False

    def tables(self) -> list[Table]:
        """What was measured on each dataset, how rows differ, and what planning costs."""
        found = [shown(self.table, block) for block in self.blocks]
        found += [moved for block in self.blocks if (moved := directions(self.table, block)) is not None]
        return [*found, *([self.planning] if self.planning else [])]

    def page(self, command: str) -> str:
        """In Markdown."""
        parts = [f"# {self.table.title}\n", f"`{command}`\n", *(table.markdown() for table in self.tables())]
        if self.blocks:
            said = differences(self.table, self.blocks, narrow=self.narrow)
            said += [told for block in self.blocks if (told := self._iterations(block))]
            parts.append("## What differs from the paper\n\n" + "".join(f"- {one}\n" for one in said))
        return "\n".join(parts)

    def _iterations(self, block: Block) -> str:
        """How far the runs behind a block were trained, as a sentence; empty where there is none."""
        runs = {row.title: row.run for row in block.rows if row.run is not None}
        found = {title: progress_of(self._runs(block) / run.name) for title, run in runs.items()}
        told = [f"{title} {progress}" for title, progress in found.items() if progress is not None]
        if block.comparison is None or not told:
            return ""
        return f"Iterations trained, of those asked for ({block.dataset}): {'; '.join(told)}."

    def csv(self) -> str:
        """A line for each figure of each row."""
        return as_csv(self.table, self.blocks)

    def systems(self) -> str:
        """What stands behind each row of each dataset, as JSON."""
        told = {
            block.dataset: {row.title: facts_of(row, self._runs(block)) for row in block.rows}
            for block in self.blocks
            if block.comparison is not None
        }
        return json.dumps(told, indent=2) + "\n"

    def _runs(self, block: Block) -> Path:
        return gier_runs(self.runs) if block.dataset == NAMES["gier"] else self.runs

    def write(self, folder: Path, command: str, *, overwrite: bool = False) -> None:
        """The table's own files beside those of `t2o evaluate`, which have every figure and sample."""
        folder.mkdir(parents=True, exist_ok=True)
        for block in self.blocks:
            if isinstance(block.comparison, Comparison):
                place = folder / "gier" if block.dataset == NAMES["gier"] else folder
                block.comparison.write(place, command, overwrite=overwrite)
        contents = {PAGE: self.page(command).encode(), **self.sheets}
        if self.blocks:
            contents |= {FIGURES: self.csv().encode(), SYSTEMS: self.systems().encode()}
        else:
            contents[ABOUT] = about(command, **self.facts)
        if self.planning is not None:
            contents[PLANNING] = self.planning.csv().encode()
        for name, data in contents.items():
            write_atomically(folder / name, data, overwrite=overwrite)


def gier_runs(runs: Path) -> Path:
    """Where runs lie that learned from GIER."""
    return runs / "gier"
