"""`t2o match`: a reference picture and photos -> matched photos, each with its recipe."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Recipe
from tests.cli.helpers import T2O, contents, files, pixels
from tests.planning.scenes import scene


@pytest.fixture
def photos(folder: Path) -> Path:
    """A bright reference, and two photos in `trip`."""
    Path("trip").mkdir()
    pictures = {"ref.png": scene(96, 3) ** 0.6, "trip/a.png": scene(96), "trip/b.png": scene(96, 5)}
    for name, picture in pictures.items():
        PIL.Image.fromarray(np.uint8(255 * picture.transpose(1, 2, 0) + 0.5)).save(name)
    return folder


def test_a_photo_is_matched(t2o: T2O, photos: Path) -> None:
    done = t2o("match", "ref.png", "trip/a.png", "-o", "out.png")
    assert (done.code, done.err) == (0, "")
    edit = t2onet.match("ref.png", "trip/a.png")
    assert done.out.splitlines() == [
        "trip/a.png -> out.png",
        f"  {edit.recipe.describe()}",
        f"  {edit.recipe.format_settings()}",
    ]
    assert Recipe.load("out.png.t2o.json") == edit.recipe
    np.testing.assert_array_equal(pixels("out.png"), np.asarray(edit.image))
    assert pixels("out.png").mean() > pixels("trip/a.png").mean() + 10


def test_a_folder_is_matched_beside_it(t2o: T2O, photos: Path) -> None:
    assert t2o("match", "ref.png", "trip", "--no-sidecar", "-q") == (0, "", "")
    assert files(photos / "trip-matched") == ["a.png", "b.png"]
    again = t2o("match", "ref.png", "trip", "--skip-existing", "--json")
    assert {entry["outcome"] for entry in json.loads(again.out)} == {"skipped"}


def test_the_answer_as_json(t2o: T2O, photos: Path) -> None:
    entry = json.loads(t2o("match", "ref.png", "trip/a.png", "--strength", "0.5", "--json").out)[0]
    assert (entry["source"], entry["target"], entry["outcome"]) == (
        "trip/a.png",
        "trip/a-matched.png",
        "done",
    )
    whole = t2onet.match("ref.png", "trip/a.png").recipe
    assert Recipe.model_validate(entry["recipe"]) == whole.blend(0.5)


def test_files_are_kept_unless_they_may_be_replaced(t2o: T2O, photos: Path) -> None:
    Path("out.png.t2o.json").write_text("mine")
    before = contents(photos)
    kept = t2o("match", "ref.png", "trip/a.png", "-o", "out.png")
    assert (kept.code, kept.err.count("\n")) == (2, 1)
    assert "out.png.t2o.json exists already" in kept.err
    assert contents(photos) == before
    assert t2o("match", "ref.png", "trip/a.png", "-o", "out.png", "--overwrite").code == 0
    assert Recipe.load("out.png.t2o.json").steps
    assert t2o("match", "ref.png", "trip/a.png", "-o", "out.png").code == 2


def test_a_recipe_that_no_longer_fits_is_said(t2o: T2O, photos: Path) -> None:
    options = ("-o", "out.png", "--overwrite", "--no-sidecar")
    assert t2o("match", "ref.png", "trip/a.png", *options).err == ""
    Path("out.png.t2o.json").write_text("mine")
    done = t2o("match", "ref.png", "trip/b.png", *options)
    note = "out.png.t2o.json is there from an earlier edit and does not belong to the new one"
    assert done.err == f"note: trip/b.png: {note}\n"
    assert Path("out.png.t2o.json").read_text() == "mine"


def test_what_cannot_be_matched_is_refused_in_one_line(t2o: T2O, photos: Path) -> None:
    Path("junk.jpg").write_bytes(b"junk")
    before = contents(photos)
    for arguments in (
        ("absent.png", "trip/a.png"),
        ("junk.jpg", "trip/a.png"),
        ("ref.png", "junk.jpg"),
        ("ref.png", "trip/a.png", "--strength", "-1"),
        ("ref.png", "trip/a.png", "--overwrite", "--skip-existing"),
    ):
        done = t2o("match", *arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), arguments
        assert done.err.startswith("t2o: ")
    assert contents(photos) == before
