"""`t2o edit`: photos and a sentence -> edited photos with their recipes, or one line that says why not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Recipe
from tests.conftest import EXAMPLES

from .made import T2O, contents, pixels


@pytest.fixture
def photo(folder: Path) -> Path:
    """The folder with `dogs.png`, small."""
    PIL.Image.fromarray(np.asarray(t2onet.open_image(EXAMPLES / "dogs.jpg").resized(120))).save("dogs.png")
    return folder


def test_a_sentence_edits_a_photo(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "make it a bit brighter")
    assert (answer.code, answer.err) == (0, "")
    first, *told = answer.out.splitlines()
    assert first == "dogs.png -> dogs-edited.png"
    assert any("brighter" in line for line in told)
    assert pixels("dogs-edited.png").mean() > pixels("dogs.png").mean() + 3
    again = np.asarray(t2onet.apply(Recipe.load("dogs-edited.json"), "dogs.png"))
    assert np.array_equal(again, pixels("dogs-edited.png"))


def test_several_photos_and_a_folder(t2o: T2O, photo: Path) -> None:
    PIL.Image.open("dogs.png").rotate(180).save("turned.png")
    answer = t2o("edit", "dogs.png", "turned.png", "warmer", "-o", "out", "--no-sidecar")
    assert answer.code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["dogs.png", "turned.png"]


def test_variants_are_numbered_and_differ(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "more contrast and warmer", "--variants", "3", "--seed", "1")
    assert answer.code == 0
    one, two, three = (pixels(f"dogs-edited-{number}.png").astype(int) for number in (1, 2, 3))
    assert min(np.abs(one - two).mean(), np.abs(one - three).mean(), np.abs(two - three).mean()) > 0.5


def test_strength_zero_changes_nothing(t2o: T2O, photo: Path) -> None:
    t2o("edit", "dogs.png", "brighter", "--strength", "0")
    assert np.array_equal(pixels("dogs-edited.png"), pixels("dogs.png"))


def test_as_json(t2o: T2O, photo: Path) -> None:
    (told,) = json.loads(t2o("edit", "dogs.png", "brighter", "--json").out)
    assert told["target"] == "dogs-edited.png"
    assert told["told"]


def test_what_cannot_be_done_is_one_line(t2o: T2O, photo: Path) -> None:
    before = contents(photo)
    answer = t2o("edit", "dogs.png", "crop it to a square")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("t2o: dogs.png: I cannot ")
    assert answer.err.endswith("nothing was changed.\n")
    assert contents(photo) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dogs.png"], "a photo and a request are needed"),
        (["dogs.png", "dogs.png"], "dogs.png is a file, and the request comes last"),
        (["dogs.png", "   "], "the request has no words"),
        (["nowhere.png", "brighter"], "nowhere.png"),
        (["dogs.png", "brighter", "--manner", "wild"], "wild"),
    ],
)
def test_refusals(t2o: T2O, photo: Path, arguments: list[str], said: str) -> None:
    before = contents(photo)
    answer = t2o("edit", *arguments)
    assert answer.code == 2
    assert said in answer.err
    assert contents(photo) == before


def test_existing_results_stay(t2o: T2O, photo: Path) -> None:
    t2o("edit", "dogs.png", "brighter")
    before = contents(photo)
    answer = t2o("edit", "dogs.png", "darker")
    assert answer.code == 2
    assert "dogs-edited.png exists already" in answer.err
    assert contents(photo) == before
