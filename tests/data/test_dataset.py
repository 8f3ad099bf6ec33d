"""Broken JSON lists, salvaged entry by entry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.data.dataset import read_entries, read_entry_indices
from tests.data.helpers import request, write

GOOD = [request("0001"), request("0002", operator={"hue": {"local": True}}), request("0003")]


def numbers(path: Path) -> list[str]:
    return [str(entry.fields["input"])[:4] for entry in read_entries(path, "input").entries if entry]


def problems(path: Path) -> list[str]:
    return [str(problem) for problem in read_entries(path, "input").problems]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"input": "0002_O.jpg"', '"input": "0002_O.jpg'),
        ('"request": "brighter", "operator"', '"request": brighter, "operator"'),
        ('{"hue": {"local": true}}}', '{"hue": {"local": true}}'),
        ('{"hue": {"local": true}}}', '{"hue": {"local": tr'),
        ('"output": "0002_C.jpg"', '"output" "0002_C.jpg"'),
    ],
    ids=["open quote", "no quotes", "open brace", "cut off", "no colon"],
)
def test_a_broken_entry_is_named_by_its_line_and_the_others_are_read(
    tmp_path: Path, old: str, new: str
) -> None:
    text = ",\n".join(json.dumps(entry) for entry in GOOD)
    assert text.count(old) == 1
    path = write(tmp_path / "splits" / "train.json", f"[{text.replace(old, new)}]")
    assert numbers(path) == ["0001", "0003"]
    (only,) = problems(path)
    assert only.startswith("splits/train.json, line 2, column 1: broken JSON (")


def test_a_list_in_one_line_is_named_by_its_column(tmp_path: Path) -> None:
    path = write(tmp_path / "splits" / "train.json", '[{"input": "0001"}, {"input": }, {"input": "0003"}]')
    assert numbers(path) == ["0001", "0003"]
    assert problems(path)[0].startswith("splits/train.json, line 1, column 21: broken JSON")


def test_a_list_that_was_cut_off_keeps_what_was_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "splits" / "train.json", json.dumps(GOOD)[:-20])
    assert numbers(path) == ["0001", "0002"]
    assert len(problems(path)) == 1
    assert not read_entries(path, "input").complete


def test_bytes_that_are_not_utf8_cost_only_their_field(tmp_path: Path) -> None:
    path = write(tmp_path / "train.json", json.dumps(GOOD).encode().replace(b"0002_C", b"\xff\xfe_C"))
    assert numbers(path) == ["0001", "0002", "0003"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"{}", "the file is not a JSON list (dict)"),
        (b"null", "the file is not a JSON list (NoneType)"),
        (b"[1, 2", "broken JSON"),
        ("[{}]".encode("utf-16"), "broken JSON"),
        (b'{"a":' * 3000, "broken JSON"),
    ],
)
def test_a_file_without_entries_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    path = write(tmp_path / "splits" / "train.json", content)
    assert numbers(path) == []
    assert problem in problems(path)[0]
    assert problems(path)[0].startswith("splits/train.json")


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    assert "the file cannot be read" in problems(tmp_path / "absent.json")[0]


@given(st.data())
def test_whatever_one_entry_is_cut_to_the_others_survive(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    texts = [json.dumps(entry) for entry in GOOD]
    texts[1] = texts[1][: data.draw(st.integers(1, len(texts[1]) - 1))]
    path = write(tmp_path_factory.mktemp("list") / "train.json", f"[{','.join(texts)}]")
    assert numbers(path) == ["0001", "0003"]
    assert len(problems(path)) == 1


def test_places_outside_the_list_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "splits" / "global.json", "[0, 2, 3, -1, 1.0, true, [1]]")
    places, told = read_entry_indices(path, 3)
    assert places == {0, 2}
    assert [problem.detail for problem in told] == ["3", "-1", "1.0", "True", "[1]"]


@pytest.mark.parametrize("content", ["[0,", "{}"])
def test_a_broken_list_of_places_is_not_gone_by(tmp_path: Path, content: str) -> None:
    places, told = read_entry_indices(write(tmp_path / "global.json", content), 3)
    assert places is None
    assert len(told) == 1
    assert read_entry_indices(tmp_path / "absent.json", 3) == (None, ())
