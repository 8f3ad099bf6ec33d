"""A table says the same in every form."""

from __future__ import annotations

import csv

from t2onet.reports import Table

TABLE = Table("Costs", ("one", "two"), {"ours": (0.5, None), "a, b": (0.12345, 1.0)}, ("measured",))


def test_markdown() -> None:
    assert TABLE.markdown() == (
        "## Costs\n\n|  | one | two |\n|---|---:|---:|\n"
        "| ours | 0.5000 |  |\n| a, b | 0.1235 | 1.0000 |\n\n- measured\n"
    )


def test_csv_keeps_commas_inside_cells() -> None:
    rows = list(csv.reader(TABLE.csv().splitlines()))
    assert rows == [["", "one", "two"], ["ours", "0.5000", ""], ["a, b", "0.1235", "1.0000"]]
