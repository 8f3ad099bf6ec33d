"""Write `table.md` and `table.csv` of folders of results again, from the figures stored beside them.

`python scripts/rewrite_tables.py results/main results/history`: after a change to verdicts and notes of
tables. Nothing is measured; costs of planning stay as they are.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from t2onet.data.spreadsheet import from_csv
from t2onet.errors import DataError
from t2onet.evaluation.compare import ABOUT_JSON, FIGURES_CSV, RunSpread
from t2onet.evaluation.measure import REQUEST_CLASSES
from t2onet.evaluation.paper_results import DATASET_NAMES, TableBlock, create_unavailable_block
from t2onet.evaluation.paper_tables import PaperRow, PaperTable, find_paper_table
from t2onet.evaluation.reproduce import TABLE_CSV, TABLE_PAGE, ReproducedTable
from t2onet.image import write_atomically
from t2onet.metrics.statistics import IntervalEstimate, PairedDifference

Line = dict[str, Any] | None


@dataclass(frozen=True)
class StoredFigures:
    """The figures of a comparison, to six digits, without its samples."""

    names: tuple[str, ...]
    facts: Mapping[str, object]
    estimates: Mapping[str, tuple[IntervalEstimate | None, ...]]
    classes: Mapping[str, tuple[IntervalEstimate | None, ...]]
    differences: Mapping[str, tuple[PairedDifference | None, ...]]
    spreads: Mapping[str, tuple[RunSpread | None, ...]]

    @property
    def lacks_labels(self) -> bool:
        return self.facts.get("labelled requests") == 0


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        rewrite(folder)
        print(f"-> {folder}")


def rewrite(folder: Path) -> None:
    """Write the page and the CSV of one table."""
    table, (stored, command) = find_paper_table(folder.name), read_stored(folder)
    lines = from_csv((folder / TABLE_CSV).read_text(encoding="utf-8"))
    blocks = _build_blocks(table, stored, lines)
    results = ReproducedTable(table, blocks, folder, bfloat16="--narrow" in command)
    old_page = (folder / TABLE_PAGE).read_text(encoding="utf-8")
    page = _keep_planning_sections(results.to_markdown(command), old_page)
    for name, text in ((TABLE_PAGE, page), (TABLE_CSV, results.to_csv())):
        write_atomically(folder / name, text.encode(), overwrite=True)


def read_stored(folder: Path) -> tuple[StoredFigures, str]:
    """The figures in a folder of `t2o evaluate` or `t2o reproduce`, and the command that made them."""
    try:
        about = json.loads((folder / ABOUT_JSON).read_text(encoding="utf-8"))
        names, command = tuple(about.pop("systems")), str(about.pop("command"))
        lines = from_csv((folder / FIGURES_CSV).read_text(encoding="utf-8"))
        by_cell = {(line["figure"], line["system"]): line for line in lines}
        return _parse_figures(names, about, by_cell), command
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"{folder} cannot be read as results of `t2o reproduce`: {error}") from None


def _parse_figures(
    names: tuple[str, ...], facts: dict[str, object], lines: Mapping[tuple[str, str], Line]
) -> StoredFigures:
    figures = dict.fromkeys(figure for figure, _ in lines)
    rows = {figure: [lines.get((figure, name)) for name in names] for figure in figures}
    estimates = {figure: tuple(map(_parse_estimate, row)) for figure, row in rows.items()}
    classes = {figure for figure in rows if figure.partition(": ")[2] in REQUEST_CLASSES.values()}
    others = {figure: row for figure, row in rows.items() if figure not in classes}
    return StoredFigures(
        names,
        facts,
        {figure: estimates[figure] for figure in others},
        {figure: row for figure, row in estimates.items() if figure in classes},
        {figure: tuple(map(_parse_difference, row[1:])) for figure, row in others.items() if any(row[1:])},
        {figure: tuple(map(_parse_spread, row)) for figure, row in others.items()},
    )


def _parse_estimate(line: Line) -> IntervalEstimate | None:
    return None if line is None else IntervalEstimate(*_parse_numbers(line, "", IntervalEstimate._fields))


def _parse_difference(line: Line) -> PairedDifference | None:
    if line is None or not line["difference value"]:
        return None
    value, low, high, p = _parse_numbers(line, "difference ", PairedDifference._fields)
    return PairedDifference(value, low, high, None if math.isnan(p) else p)


def _parse_spread(line: Line) -> RunSpread | None:
    """Files of older releases have no such column."""
    if line is None or not line.get("runs"):
        return None
    return RunSpread(int(line["runs"]), float(line["spread"]))


def _parse_numbers(line: dict[str, Any], prefix: str, names: tuple[str, ...]) -> Iterator[float]:
    return (float(line[prefix + name] or "nan") for name in names)


def _build_blocks(table: PaperTable, stored: StoredFigures, lines: list[dict[str, str]]) -> list[TableBlock]:
    """The block that was measured, and GIER's if the table has one without figures."""
    titles = {row.title for row in table.rows}
    rows = (*table.rows, *(PaperRow(name) for name in stored.names if name not in titles))
    measured = TableBlock(lines[0]["dataset"], rows, stored, _find_absent(table, stored, lines))
    with_gier = any(line["dataset"] == DATASET_NAMES["gier"] for line in lines)
    return [measured, *([create_unavailable_block(table)] if with_gier else [])]


def _find_absent(table: PaperTable, stored: StoredFigures, lines: list[dict[str, str]]) -> Mapping[str, str]:
    """Why rows were not run, by the notes in the CSV."""
    notes = {line["system"]: line["note"] for line in lines if line["dataset"] == lines[0]["dataset"]}
    rows = [row for row in table.rows if row.title not in stored.names and (row.run or row.system)]
    return {row.title: notes.get(row.title, "") for row in rows}


def _keep_planning_sections(page: str, old_page: str) -> str:
    """Insert the old sections about planning before the last section of the new page."""
    new, old = (
        {part.partition("\n")[0]: part for part in re.split(r"(?m)^(?=## )", text)}
        for text in (page, old_page)
    )
    planning = [text for title, text in old.items() if title.startswith("## Planning")]
    *first, last = new.values()
    return "".join([*first, *planning, last])


if __name__ == "__main__":
    main()
