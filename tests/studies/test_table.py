"""Tables of what is to be rated: both forms, and every way to get one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from t2onet.errors import StudyError
from t2onet.studies.creating import TableSample, read_rating_table
from tests.studies.helpers import picture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With pictures a.png and b.png, and outputs of two systems."""
    for number, name in enumerate(("a.png", "b.png", "x/a.png", "x/b.png", "y/a.png", "y/b.png")):
        picture(tmp_path / name, number)
    return tmp_path


def read(folder: Path, text: str) -> list[TableSample]:
    path = folder / "table.csv"
    path.write_bytes(text.encode())
    return read_rating_table(path)


def test_a_column_for_each_system(folder: Path) -> None:
    text = 'input,request,dataset,Ours,target\na.png,"warmer, please",ma5k,x/a.png,y/a.png\n'
    outputs = {"Ours": "x/a.png", "target": "y/a.png"}
    assert read(folder, text) == [TableSample("a", "a.png", "warmer, please", "ma5k", outputs)]


def test_a_line_for_each_output(folder: Path) -> None:
    text = "system,output,input,request\nx,x/a.png,a.png,warmer\nx,x/b.png,b.png,colder\n"
    text += "y,y/a.png,a.png,warmer\ny,y/b.png,b.png,colder\n"
    assert read(folder, text) == [
        TableSample("a", "a.png", "warmer", "", {"x": "x/a.png", "y": "y/a.png"}),
        TableSample("b", "b.png", "colder", "", {"x": "x/b.png", "y": "y/b.png"}),
    ]


def test_one_photo_with_two_requests_is_two_samples(folder: Path) -> None:
    text = "input,request,x\na.png,warmer,x/a.png\na.png,colder,y/a.png\n"
    assert [entry.name for entry in read(folder, text)] == ["a", "a#2"]


def test_spreadsheets_write_marks_semicolons_and_empty_lines(folder: Path) -> None:
    text = "\ufeffInput;Request;x\r\na.png ; warmer ;x/a.png\r\n;;\r\n"
    assert read(folder, text) == [TableSample("a", "a.png", "warmer", "", {"x": "x/a.png"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column 'input'; its first line must name input, request and each system"),
        ("input,request\na.png,warmer\n", "has no output to rate; add a column for each system"),
        ("input,x\na.png,x/a.png\n", "has no column 'request'"),
        ("input,request,x,x\n", "column names must be unique"),
        ("input,request,x\n", "has no sample; give a line for each"),
        ("input,request,x\na.png,warmer\n", "line 2: 2 cells where there are 3 columns"),
        ("input,request,x\na.png,,x/a.png\n", "line 2: the request is empty"),
        ("input,request,x\na.png,warmer,\n", "line 2: the output of x is empty"),
        ('input,request,x\na.png,"warmer,x/a.png\n', "line 2: not CSV"),
        (
            "sample,input,request,x\ns,a.png,r,x/a.png\ns,a.png,r,y/a.png\n",
            "line 3: the sample 's' is in",
        ),
        ("input,request,system,output\na.png,r,x,x/a.png\nb.png,r,y,y/b.png\n", "'a' has no output of y"),
        ("input,request,system,output\na.png,r,x,x/a.png\na.png,r,x,y/a.png\n", "a second output of x"),
        (
            "sample,input,request,system,output\ns,a.png,r,x,x/a.png\ns,b.png,r,y,y/a.png\n",
            "has another input",
        ),
        (
            "input,request,x\nc.png,warmer,x/c.png\n",
            "do not exist: c.png, x/c.png; paths are relative to its folder",
        ),
        (f"sample,input,request,x\n{'s' * 201},a.png,r,x/a.png\n", "is too long; use up to 200"),
        ("input,request,x\na.png,r\0,x/a.png\n", "is not text .it has zero bytes"),
        ("input,request,x\na.png,warmer,table.csv\n", "table.csv, which is not a kind of photo"),
    ],
)
def test_refusals(folder: Path, text: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        read(folder, text)


def test_a_table_that_is_no_text(folder: Path) -> None:
    (folder / "table.csv").write_bytes(b"input,request,x\n\xff\xfe")
    with pytest.raises(StudyError, match="is not UTF-8 text"):
        read_rating_table(folder / "table.csv")
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        read_rating_table(folder / "absent.csv")
