"""Recipes that ask for far too much, and unusual or unusable masks, for the commands that take them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.cli.helpers import T2O, contents, photo, pixels
from tests.hostile import REFUSED_MASKS, USED_MASKS, long_recipe


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


@pytest.mark.parametrize("kind", USED_MASKS)
def test_an_unusual_mask_is_used_by_its_levels(t2o: T2O, folder: Path, kind: str) -> None:
    make, levels = USED_MASKS[kind]
    photo("sea.png")
    Path("mask.png").write_bytes(make())
    answer = t2o("edit", "sea.png", "a stop darker", "--mask", "mask.png")
    assert (answer.code, answer.err) == (0, "")
    change = pixels("sea-edited.png").astype(int) - pixels("sea.png")
    whole = change[:, :4].mean() / levels[0]  # of a level
    assert whole < 0
    assert change[:, -4:].mean() == pytest.approx(whole * levels[1], rel=0.2)


@pytest.mark.parametrize("kind", REFUSED_MASKS)
def test_an_unusable_mask_is_refused_in_one_line_and_nothing_is_written(
    t2o: T2O, folder: Path, kind: str
) -> None:
    make, embedded, as_file = REFUSED_MASKS[kind]
    photo("sea.png")
    Path("mask.png").write_bytes(make())
    mask = {"png": base64.b64encode(make()).decode()}
    step = {"operation": "exposure", "parameters": [-1], "mask": mask}
    Path("recipe.json").write_text(json.dumps({"schema_version": 1, "steps": [step]}))
    before = contents(folder)
    for arguments, words in (
        (("edit", "sea.png", "a stop darker", "--mask", "mask.png"), as_file),
        (("apply", "recipe.json", "sea.png", "-o", "out.png"), embedded),
    ):
        answer = t2o(*arguments)
        assert (answer.code, answer.out, contents(folder)) == (2, "", before)
        (line,) = answer.err.splitlines()
        assert words in line


def test_a_request_through_a_black_mask_is_refused(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    PIL.Image.fromarray(np.zeros((8, 8), np.uint8)).save("mask.png")
    before = contents(folder)
    answer = t2o("edit", "sea.png", "a stop darker", "--mask", "mask.png")
    assert (answer.code, contents(folder)) == (2, before)
    assert "the mask is black everywhere, so nothing would be edited" in answer.err
