"""`t2o reproduce`: a folder of pairs -> one of the paper's tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.planning.scenes import scene

from .made import T2O, contents


@pytest.fixture
def pairs(folder: Path) -> Path:
    """The folder with two pairs of one's own under `mine`."""
    for side in ("before", "after"):
        Path("mine", side).mkdir(parents=True)
    for number in range(2):
        before = scene(40, number).transpose(1, 2, 0)
        for side, picture in (("before", before), ("after", before**1.4)):
            PIL.Image.fromarray(np.uint8(255 * picture + 0.5)).save(f"mine/{side}/{number}.png")
    return folder


def test_the_table_is_printed_and_written(t2o: T2O, pairs: Path) -> None:
    answer = t2o("reproduce", "single-operations", "mine", "-o", "table.md")
    assert (answer.code, answer.err) == (0, "-> table.md\n")
    assert "paper (its train split)  0.1202      0.0521" in answer.out
    assert "over 2 pairs" in answer.out
    assert Path("table.md").read_text().startswith("## Planning with a single operation\n")


def test_as_json_and_csv(t2o: T2O, pairs: Path) -> None:
    answer = t2o("reproduce", "maximum-steps", "mine", "--json", "--count", "1", "-o", "table.csv")
    rows = json.loads(answer.out)["rows"]
    assert Path("table.csv").read_text().splitlines()[1] == ",".join(
        ["forward search", *(f"{figure:.4f}" for figure in rows["forward search"])]
    )


def test_a_broken_pair_is_named_and_the_rest_goes_on(t2o: T2O, pairs: Path) -> None:
    Path("mine/after/1.png").write_bytes(b"no picture")
    answer = t2o("reproduce", "single-operations", "mine")
    assert answer.code == 0
    assert answer.err.startswith("left out: 1.png: ")
    assert "over one pair;" in answer.out


def test_what_the_dataset_leaves_out_is_told_too(t2o: T2O, pairs: Path) -> None:
    Path("mine/after/1.png").unlink()
    answer = t2o("reproduce", "single-operations", "mine")
    assert answer.err == "left out: 1 (no after/1.*): the photo after the edit is missing\n"


def test_where_no_pair_is_usable_the_first_reason_is_the_answer(t2o: T2O, pairs: Path) -> None:
    for number in range(2):
        Path(f"mine/after/{number}.png").write_bytes(b"no picture")
    answer = t2o("reproduce", "single-operations", "mine")
    assert answer.err.startswith("t2o: mine: none of the 2 pairs can be used; of the first: mine/after/")
    assert answer.err.count("\n") == 1
    one = t2o("reproduce", "single-operations", "mine", "--count", "1")
    assert one.err.startswith("t2o: mine: its pair cannot be used: mine/after/")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["steps", "mine"], "t2o: there is no table 'steps'; there are operation-sets"),
        (["maximum-steps", "mine", "--solver", "magic"], "magic"),
        (["maximum-steps", "mine", "-o", "table.txt"], "table.txt: a table is written as .md or .csv"),
        (["maximum-steps", "mine", "-o", "no/table.md"], "no/table.md: there is no folder no"),
        (["maximum-steps", "nowhere"], "nowhere"),
        (["maximum-steps", "mine", "--split", "summer"], "summer"),
    ],
)
def test_refusals_are_one_line(t2o: T2O, pairs: Path, arguments: list[str], said: str) -> None:
    before = contents(pairs)
    answer = t2o("reproduce", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert contents(pairs) == before
