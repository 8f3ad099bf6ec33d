"""A simulated dataset on disk: its layout, its labels, and that it is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from t2onet.data.marks import MarkedSentence, MarkedWish
from t2onet.data.sentences import SentenceMaker
from t2onet.data.simulation import PER_PHOTO, SimulatedCounts, draw_edit, read_marked, simulate
from t2onet.errors import DataError, OutputError
from t2onet.language import Attribute, Intent
from t2onet.language.wishes import Direction, Wish
from t2onet.metrics.attributes import check_followed, measure_changes
from tests.cli.helpers import contents
from tests.conftest import open_example


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Five small photos."""
    places = [tmp_path / f"{name}.png" for name in ("dogs", "drum", "fig", "meadow", "stream")]
    for place in places:
        open_example(place.stem, 48).save(place)
    return places


def entries(folder: Path, split: str) -> list[dict[str, Any]]:
    return json.loads((folder / "annotations" / f"{split}_sess_1.json").read_text())


def picture(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as file:
        return np.asarray(file, np.float64).transpose(2, 0, 1) / 255


@pytest.mark.slow
def test_the_layout_is_that_of_ma5k_req(tmp_path: Path, sources: list[Path]) -> None:
    made = simulate(sources, tmp_path / "out", count=23, val=0.2)
    assert made == SimulatedCounts(
        {split: len(entries(tmp_path / "out", split)) for split in made.counts}, ()
    )
    assert sum(made.counts.values()) == 23
    both = entries(tmp_path / "out", "train") + entries(tmp_path / "out", "val")
    named = {entry[role] for entry in both for role in ("input", "output")}
    assert named == {path.name for path in (tmp_path / "out" / "images").iterdir()}
    assert all(isinstance(entry["request"], str) and entry["request"] for entry in both)


def test_no_photo_is_in_both_splits(tmp_path: Path, sources: list[Path]) -> None:
    simulate(sources, tmp_path / "out", val=0.4)
    train, val = ({entry["source"] for entry in entries(tmp_path / "out", s)} for s in ("train", "val"))
    assert (len(train), len(val)) == (3, 2)
    assert not train & val


def test_without_validation_there_is_no_such_split(tmp_path: Path, sources: list[Path]) -> None:
    assert simulate(sources, tmp_path / "out", val=0).counts == {"train": PER_PHOTO * len(sources)}


def test_what_is_written_bears_out_its_intents(tmp_path: Path, sources: list[Path]) -> None:
    simulate(sources, tmp_path / "out", count=60, val=0, seed=3)
    shown = []
    for entry in entries(tmp_path / "out", "train"):
        before, after = (picture(tmp_path / "out" / "images" / entry[role]) for role in ("input", "output"))
        intents = [Intent(Attribute(i["attribute"]), i["sign"], i["amount"]) for i in entry["intents"]]
        shown += check_followed(measure_changes(before, after), intents)
        if "unanswerable" in entry and not intents and "mood" not in entry:
            np.testing.assert_array_equal(before, after)
    assert np.mean(shown) >= 0.97


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, sources: list[Path]) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulate(sources, tmp_path / name, count=12, seed=seed)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") != contents(tmp_path / "c")


def test_pictures_have_the_size_asked_for(tmp_path: Path, sources: list[Path]) -> None:
    simulate(sources, tmp_path / "out", count=5, size=32)
    shapes = {picture(path).shape for path in (tmp_path / "out" / "images").iterdir()}
    assert {min(height, width) for _, height, width in shapes} == {32}


def test_a_broken_photo_is_named_and_others_take_its_share(tmp_path: Path, sources: list[Path]) -> None:
    sources[4].write_bytes(b"\xff\xd8 not a photo")
    made = simulate(sources, tmp_path / "out", count=10, val=0)
    assert made.counts == {"train": 10}
    (problem,) = made.problems
    assert problem.name == str(sources[4])


def test_progress_tells_what_is_written(tmp_path: Path, sources: list[Path]) -> None:
    told: list[int] = []
    simulate(sources, tmp_path / "out", count=40, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 40


def test_nothing_is_left_of_a_run_that_was_stopped(tmp_path: Path, sources: list[Path]) -> None:
    def stop(written: int) -> None:
        raise KeyboardInterrupt

    before = contents(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        simulate(sources, tmp_path / "out", progress=stop)
    assert contents(tmp_path) == before


def test_refusals_say_what_to_do(tmp_path: Path, sources: list[Path]) -> None:
    with pytest.raises(OutputError, match="exists already; give another folder"):
        simulate(sources, tmp_path)
    with pytest.raises(OutputError, match="create it first"):
        simulate(sources, tmp_path / "no" / "out")
    for options, message in [
        ({"val": 1.0}, "0 to less than 1"),
        ({"size": 4}, "at least 16"),
        ({"count": 0}, "at least 1"),
    ]:
        with pytest.raises(DataError, match=message):
            simulate(sources, tmp_path / "out", **options)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no photos"):
        simulate([], tmp_path / "out")
    with pytest.raises(DataError, match="given twice"):
        simulate([sources[0], sources[0]], tmp_path / "out")
    sources[0].write_bytes(b"")
    with pytest.raises(DataError, match=r"the photo cannot be read: .*is empty"):
        simulate(sources[:1], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sentence_is_read_as_it_was_marked() -> None:
    text = "half a stop brighter, please, in a noir look"
    brighter = MarkedWish(Wish("lightness", Direction.UP), head=(12, 20), spans=[(0, 4), (7, 11)])
    look = MarkedWish(Wish("look"), "noir", head=(35, 39), spans=[(40, 44)])
    first, second = read_marked(MarkedSentence(text, [brighter, look])).wishes
    assert first.quantity is not None
    assert (first.quantity.value, first.words) == (0.5, ("half", "a", "stop", "brighter"))
    assert (second.looks, second.words) == ((("noir", 1.0),), ("noir", "look"))


def test_every_kind_of_label_is_drawn() -> None:
    maker, photo = SentenceMaker(1), open_example("fig", 64)
    edits = [draw_edit(maker, photo) for _ in range(40)]
    assert any(edit.intents for edit in edits)
    assert any(edit.mood for edit in edits)
    refused = [edit for edit in edits if edit.unanswerable and not edit.intents and not edit.mood]
    assert refused
    assert all(edit.picture is photo for edit in refused)
