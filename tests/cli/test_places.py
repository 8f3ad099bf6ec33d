"""`t2o places`, `t2o apply --where` and `t2o describe` of steps at a place: arguments -> files and lines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet import Recipe
from t2onet.recipe.where import list_words
from tests.cli.helpers import T2O, apply_recipe, contents, photo, pixels
from tests.places.helpers import resolve

HORIZON = '{"linear": {"from": [0.5, 0.2], "to": [0.5, 0.8]}}'


def test_all_names_are_listed_with_their_share(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    answer = t2o("places", "sea.png")
    assert (answer.code, answer.err) == (0, "")
    head, *rows = answer.out.splitlines()
    assert head.split() == ["place", "of", "the", "photo"]
    assert [row.split()[0] for row in rows] == list(list_words())
    assert "top 50 %" in [" ".join(row.split()) for row in rows]
    listed = json.loads(t2o("places", "sea.png", "--json").out)
    assert [one["name"] for one in listed] == list(list_words())
    assert {one["name"]: one["share"] for one in listed}["left"] == pytest.approx(0.5, abs=0.01)


def test_the_share_of_one_place(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    (place,) = json.loads(t2o("places", "sea.png", "--where", "top and left", "--json").out)
    assert place["name"] == "top and left"
    assert place["share"] == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("where", ["shadows except reds", HORIZON])
def test_a_mask_is_written_as_a_grey_picture(t2o: T2O, folder: Path, where: str) -> None:
    source = photo("sea.png")
    answer = t2o("places", "sea.png", "--where", where, "-o", "mask.png")
    place = json.loads(where) if where.startswith("{") else where
    expected = np.rint(255 * resolve(place, pixels(source))).astype(np.uint8)
    assert answer == (0, f"sea.png -> mask.png, {expected.mean() / 2.55:.0f} % of the photo\n", "")
    with PIL.Image.open("mask.png") as file:
        assert file.mode == "L"
        np.testing.assert_array_equal(file, expected)


def test_an_overlay_is_the_photo_with_the_place_in_red(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    assert t2o("places", "sea.png", "--where", "top", "-o", "top.png", "--overlay").code == 0
    before, after = pixels(source).astype(int), pixels("top.png").astype(int)
    np.testing.assert_array_equal(after[-4:], before[-4:])
    assert (after[:4, :, 0] >= 0.6 * 255 - 1).all()
    assert after[:4, :, 1:].mean() < before[:4, :, 1:].mean()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--where", "shadow"], "where is 'shadow': 'shadow' is not known; did you mean 'shadows'?"),
        (["--where", "{"], "--where { is not JSON (Expecting property name"),
        (["-o", "mask.png"], "a mask is written with both --where PLACE and -o OUT.png; give both"),
        (
            ["--where", "top", "--overlay"],
            "a mask is written with both --where PLACE and -o OUT.png; give both",
        ),
        (["--where", "top", "-o", "mask.jpg"], "mask.jpg: the picture is written as .png; give that ending"),
        (["--where", "top", "-o", "sea.png"], "sea.png exists already; give another name or --overwrite"),
    ],
)
def test_refusals(t2o: T2O, folder: Path, arguments: list[str], reason: str) -> None:
    photo("sea.png")
    before = contents(folder)
    answer = t2o("places", "sea.png", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"t2o: {reason}")
    assert contents(folder) == before


@pytest.mark.parametrize("where", ["shadows", HORIZON])
def test_a_look_is_applied_in_one_place(t2o: T2O, folder: Path, where: str) -> None:
    source = photo("sea.png")
    assert t2o("apply", "look.json", "sea.png", "-o", "out.png", "--where", where).code == 0
    place = json.loads(where) if where.startswith("{") else where
    np.testing.assert_array_equal(
        pixels("out.png"), apply_recipe(source, Recipe.load("look.json").restrict(place))
    )


def test_what_cannot_be_applied_in_one_place_is_refused(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    Recipe.from_steps([("rotate", 90)]).save("turn.json")
    answer = t2o("apply", "turn.json", "sea.png", "--where", "top")
    assert answer == (
        2,
        "",
        "t2o: step 1: rotate moves the whole picture; it cannot be applied in one place\n",
    )


def test_a_description_says_where(t2o: T2O, folder: Path) -> None:
    Recipe.from_steps([("exposure", 0.5, "shadows"), ("contrast", 0.1)]).save("local.json")
    assert t2o("describe", "local.json").out == (
        "local: Half a stop brighter shadows and 10 % more contrast.\n"
        "  1. shadows: exposure +0.50 EV  half a stop brighter shadows\n"
        "  2. contrast +0.10              10 % more contrast\n"
    )
    first, second = json.loads(t2o("describe", "local.json", "--json").out)["steps"]
    assert (first["where"], first["masked"]) == ("shadows", True)
    assert "where" not in second
