"""A folder of one's own pairs and its requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from t2onet.data import Dataset, open_dataset
from t2onet.errors import DataError
from tests.data.helpers import pairs, photos, write


def list_problems(dataset: Dataset) -> list[str]:
    return [str(problem) for problem in dataset.problems]


def requests(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    return {sample.name: sample.requests for sample in dataset.samples}


def test_files_of_one_name_are_a_pair_whatever_suffix_and_case(tmp_path: Path) -> None:
    photos(tmp_path / "before", "IMG_2.JPG", "img_1.png")
    photos(tmp_path / "after", "img_2.webp", "img_1.PNG")
    dataset = open_dataset(tmp_path)
    assert dataset.layout == "pairs"
    assert [(sample.before.name, sample.after.name) for sample in dataset.samples] == [
        ("img_1.png", "img_1.PNG"),
        ("IMG_2.JPG", "img_2.webp"),
    ]
    assert requests(dataset) == {"img_1": (), "IMG_2": ()}
    assert {sample.split for sample in dataset.samples} == {"train"}
    assert dataset.problems == ()


def test_requests_come_from_the_list(tmp_path: Path) -> None:
    text = '\ufeffName,Request\na,brighter\nb.png,"warmer, please"\n\nA,more\n'
    dataset = open_dataset(pairs(tmp_path, ["a.png", "b.png", "c.png"], text))
    assert requests(dataset) == {"a": ("brighter", "more"), "b": ("warmer, please",), "c": ()}
    assert dataset.problems == ()


def test_the_list_may_give_splits_and_use_semicolons(tmp_path: Path) -> None:
    text = "name;request;split\na;brighter, now;Val\na;more;\nb;less;TEST\n"
    dataset = open_dataset(pairs(tmp_path, ["a.png", "b.png", "c.png"], text))
    assert [(sample.name, sample.split) for sample in dataset.samples] == [
        ("a", "val"),
        ("b", "test"),
        ("c", "train"),
    ]
    assert [sample.name for sample in open_dataset(tmp_path, splits=["val"]).samples] == ["a"]


def test_a_split_that_no_pair_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no pair of the split val; there is train"):
        open_dataset(pairs(tmp_path, ["a.png"]), splits=["val"])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"a,brighter, please,val", "a wrong number of columns (4 where 3 are expected; put a request"),
        (b"a", "a wrong number of columns (1 where 3"),
        (b",brighter,", "a name or a request is empty or not UTF-8 ('', 'brighter')"),
        (b"a,  ,", "a name or a request is empty or not UTF-8 ('a', '')"),
        (b"a,\xff\xfebright,", "a name or a request is empty or not UTF-8 ('a', '\\udcff\\udcfebright')"),
        (b"a,brighter,trian", "not the name of a split ('trian'; known are train, val, test)"),
        (b"z,brighter,", "no pair of that name ('z')"),
        (b'a,"brighter,', "a line that is not CSV"),
        (b'a,"brighter" now,', "a line that is not CSV"),
        (b"b,again,test", "a second split for the same pair ('b' is in val already)"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_the_rest_goes_on(
    tmp_path: Path, row: bytes, problem: str
) -> None:
    text = b"name,request,split\nb,darker,val\n" + row + b"\na,warmer,\n"
    dataset = open_dataset(pairs(tmp_path, ["a.png", "b.png"], text))
    assert requests(dataset) == {"a": ("warmer",), "b": ("darker",)}
    (only,) = list_problems(dataset)
    assert only.startswith("requests.csv, line 3: ")
    assert problem in only


@pytest.mark.parametrize("text", ["a,brighter\nb,darker\n", "request,name\n", '"'])
def test_a_list_without_header_is_named_and_the_pairs_are_read(tmp_path: Path, text: str) -> None:
    dataset = open_dataset(pairs(tmp_path, ["a.png"], text))
    assert requests(dataset) == {"a": ()}
    (only,) = list_problems(dataset)
    assert only.startswith("requests.csv, line 1: ")


def test_an_empty_list_says_nothing(tmp_path: Path) -> None:
    assert requests(open_dataset(pairs(tmp_path, ["a.png"], ""))) == {"a": ()}


def test_files_that_are_no_pair_are_named(tmp_path: Path) -> None:
    pairs(tmp_path, ["a.png"])
    photos(tmp_path / "before", "b.png", "A.jpg")
    photos(tmp_path / "after", "c.png")
    write(tmp_path / "after" / "notes.txt", "hello")
    write(tmp_path / "after" / ".DS_Store", b"x")
    dataset = open_dataset(tmp_path)
    assert [sample.before.name for sample in dataset.samples] == ["A.jpg"]
    assert list_problems(dataset) == [
        "before/A: several photos of one name (A.jpg, a.png; the first is used)",
        "after/notes.txt: not a kind of photo that can be read",
        "b: the photo after the edit is missing (no after/b.*)",
        "c: the photo before the edit is missing (no before/c.*)",
    ]
