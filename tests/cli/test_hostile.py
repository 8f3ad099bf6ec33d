"""Recipes that ask for far too much are refused by every command that takes one, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import T2O, contents, photo
from tests.hostile import long_recipe


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["describe", "long.json"],
        ["apply", "long.json", "sea.png", "-o", "out.png"],
        ["export", "long.json", "out.cube"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_recipe_of_200_000_steps_is_refused_before_they_are_read(
    t2o: T2O, folder: Path, arguments: list[str]
) -> None:
    photo("sea.png")
    Path("long.json").write_bytes(long_recipe())
    before = contents(folder)
    answer = t2o(*arguments)
    assert answer.code == 2
    assert answer.err.splitlines() == [
        "t2o: long.json: a recipe has at most 256 steps, and this one has 200000; split it"
    ]
    assert contents(folder) == before
