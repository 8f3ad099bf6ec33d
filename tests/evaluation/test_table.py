"""A table says the same in every form."""

from __future__ import annotations

import csv

from t2onet.evaluation.compare import ResultTable
from t2onet.metrics.statistics import IntervalEstimate, PairedDifference

TABLE = ResultTable("Costs", ("one", "two"), {"ours": (0.5, None), "a, b": (0.12345, 1.0)}, ("measured",))


def test_markdown() -> None:
    assert TABLE.to_markdown() == (
        "## Costs\n\n|  | one | two |\n|---|---:|---:|\n"
        "| ours | 0.5000 |  |\n| a, b | 0.1235 | 1.0000 |\n\n- measured\n"
    )


def test_csv_keeps_commas_inside_cells() -> None:
    rows = list(csv.reader(TABLE.to_csv().splitlines()))
    assert rows == [["", "one", "two"], ["ours", "0.5000", ""], ["a, b", "0.1235", "1.0000"]]


def test_a_cell_may_say_why_it_has_no_figure() -> None:
    table = ResultTable("Costs", ("one", "two"), {"theirs": ("not run: no weights", "")})
    assert table.cells()[1] == ["theirs", "not run: no weights", ""]


def test_figures_without_their_intervals() -> None:
    cells = (IntervalEstimate(0.5, 0.4, 0.6), PairedDifference(-0.1, -0.2, 0.0, 0.03))
    table = ResultTable("Costs", ("one", "two"), {"ours": cells}, ("measured",))
    assert table.cells()[1] == ["ours", "0.5000 (0.4000 to 0.6000)", "-0.1000 (-0.2000 to 0.0000), p 0.03"]
    bare = table.without_intervals()
    assert bare.cells()[1] == ["ours", "0.5000", "-0.1000"]
    assert bare.notes == table.notes
