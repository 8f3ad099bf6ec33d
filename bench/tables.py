"""Writes `table.md` and `table.csv` of folders of results again, from the figures stored beside them.

`python -m bench.tables results/main results/history`: after a change to what tables say about figures, such
as verdicts and notes. Nothing is measured; what planning costs stays as it was.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from bench.stored import Stored, read_stored
from t2onet.data.spreadsheet import from_csv
from t2onet.evaluation.blocks import DATASET_NAMES, TableBlock, create_unavailable_block
from t2onet.evaluation.paper_tables import PaperRow, PaperTable, get_paper_table
from t2onet.evaluation.reproduce import TABLE_CSV, TABLE_PAGE, ReproducedTable
from t2onet.image import write_atomically


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        rewrite(folder)
        print(f"-> {folder}")


def rewrite(folder: Path) -> None:
    """The page and the CSV of one table."""
    table, (stored, command) = get_paper_table(folder.name), read_stored(folder)
    lines = from_csv((folder / TABLE_CSV).read_text(encoding="utf-8"))
    results = ReproducedTable(table, blocks_of(table, stored, lines), folder, narrow="--narrow" in command)
    page = _with_kept_sections(results.page(command), (folder / TABLE_PAGE).read_text(encoding="utf-8"))
    for name, text in ((TABLE_PAGE, page), (TABLE_CSV, results.csv())):
        write_atomically(folder / name, text.encode(), overwrite=True)


def blocks_of(table: PaperTable, stored: Stored, lines: list[dict[str, str]]) -> list[TableBlock]:
    """The block that was measured, and GIER's where the table has one without figures."""
    known = {row.title for row in table.rows}
    rows = (*table.rows, *(PaperRow(name) for name in stored.names if name not in known))
    measured = TableBlock(lines[0]["dataset"], rows, stored, _absent(table, stored, lines))
    with_gier = any(line["dataset"] == DATASET_NAMES["gier"] for line in lines)
    return [measured, *([create_unavailable_block(table)] if with_gier else [])]


def _absent(table: PaperTable, stored: Stored, lines: list[dict[str, str]]) -> Mapping[str, str]:
    """Why rows were not run, by what the CSV says of them."""
    notes = {line["system"]: line["note"] for line in lines if line["dataset"] == lines[0]["dataset"]}
    rows = [row for row in table.rows if row.title not in stored.names and (row.run or row.system)]
    return {row.title: notes.get(row.title, "") for row in rows}


def _with_kept_sections(page: str, before: str) -> str:
    """The new page with those sections of the one before that stored figures cannot make, before its last."""
    new, old = (
        {part.partition("\n")[0]: part for part in re.split(r"(?m)^(?=## )", one)} for one in (page, before)
    )
    kept = [text for title, text in old.items() if title.startswith("## Planning")]
    *first, last = new.values()
    return "".join([*first, *kept, last])


if __name__ == "__main__":
    main()
