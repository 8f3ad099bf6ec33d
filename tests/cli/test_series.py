"""`t2o edit --consistent`: photos of one scene get one look."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Recipe
from tests.cli.helpers import T2O, pixels
from tests.conftest import open_example

LIGHTS = {"a": 0.0, "b": 0.9, "c": -0.8}


@pytest.fixture
def photos(folder: Path) -> Path:
    """The folder with `in`: three exposures of a trail and one photo of dogs."""
    Path("in").mkdir()
    trail = np.asarray(open_example("trail", 150))
    for name, ev in LIGHTS.items():
        taken = np.asarray(t2onet.apply(Recipe.from_steps([("exposure", ev)]), trail))
        PIL.Image.fromarray(taken).save(f"in/{name}.png")
    PIL.Image.fromarray(np.asarray(open_example("dogs", 150))).save("in/d.png")
    return folder


def test_exposures_of_a_scene_come_out_alike(t2o: T2O, photos: Path) -> None:
    answer = t2o("edit", "in", "a bit warmer", "--consistent", "-o", "out")
    assert (answer.code, answer.err) == (0, "")
    means = [pixels(f"out/{name}.png").mean() for name in LIGHTS]
    assert max(means) - min(means) < 3
    assert "Made to look like in/a.png, of the same scene." in answer.out
    steps = Recipe.load("out/b.png.t2o.json").steps
    assert {step.operation for step in steps} == {"white_balance", "exposure"}


def test_the_json_names_the_guide_of_each_photo(t2o: T2O, photos: Path) -> None:
    answer = t2o("edit", "in", "a bit warmer", "--consistent", "-o", "out", "--json")
    guides = {Path(one["source"]).stem: one["guide"] for one in json.loads(answer.out)}
    assert guides == {"a": "in/a.png", "b": "in/a.png", "c": "in/a.png", "d": "in/d.png"}
    alone = t2o("edit", "in/d.png", "a bit warmer", "-o", "alone.png", "--json")
    (entry,) = json.loads(alone.out)
    assert entry["guide"] is None
    assert np.array_equal(pixels("out/d.png"), pixels("alone.png"))


def test_all_photos_follow_the_one_that_is_named(t2o: T2O, photos: Path) -> None:
    answer = t2o("edit", "in/a.png", "in/c.png", "a bit warmer", "--like", "in/b.png", "-o", "out")
    assert (answer.code, answer.err) == (0, "")
    assert t2o("edit", "in/b.png", "a bit warmer", "-o", "b.png").code == 0
    for name in ("a", "c"):
        assert abs(pixels(f"out/{name}.png").mean() - pixels("b.png").mean()) < 3
    assert not Path("out/b.png").exists()


def test_a_photo_that_cannot_be_read_is_refused_and_the_others_are_done(t2o: T2O, photos: Path) -> None:
    Path("in/b.png").write_bytes(b"no picture")
    answer = t2o("edit", "in", "a bit warmer", "--consistent", "-o", "out")
    assert answer.code == 2
    assert "in/b.png" in answer.err
    assert sorted(path.name for path in Path("out").glob("*.png")) == ["a.png", "c.png", "d.png"]


def test_a_run_that_goes_on_makes_the_same_pictures(t2o: T2O, photos: Path) -> None:
    assert t2o("edit", "in", "a bit warmer", "--consistent", "-o", "out").code == 0
    whole = pixels("out/c.png")
    Path("out/c.png").unlink()
    Path("out/c.png.t2o.json").unlink()
    answer = t2o("edit", "in", "a bit warmer", "--consistent", "-o", "out", "--skip-existing")
    assert answer.code == 0
    assert np.array_equal(pixels("out/c.png"), whole)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--variants", "3"], "--consistent gives each photo one answer of the editor; leave out --variants"),
        (["--network", "net"], "--consistent gives each photo one answer of the editor; leave out --network"),
        (["--like", "in/none.png"], "in/none.png"),
    ],
)
def test_what_does_not_go_together_is_refused(
    t2o: T2O, photos: Path, options: list[str], reason: str
) -> None:
    answer = t2o("edit", "in", "warmer", "--consistent", "-o", "out", *options)
    assert answer.code == 2
    assert reason in answer.err
    assert not Path("out").exists()
