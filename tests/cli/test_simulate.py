"""`t2o data simulate`: photos -> a dataset, or one line that says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import T2O, contents, photo


@pytest.fixture
def photos(folder: Path) -> Path:
    for number in range(4):
        photo(f"trip/{number}.png", seed=number)
    return folder


def test_a_dataset_is_written_and_told(t2o: T2O, photos: Path) -> None:
    answer = t2o("data", "simulate", "trip", "-o", "made", "--count", "9", "--size", "18", "--val", "0.25")
    train, val = (
        json.loads(Path(f"made/annotations/{split}_sess_1.json").read_text()) for split in ("train", "val")
    )
    assert (answer.code, answer.err) == (0, "")
    assert len(train) + len(val) == 9
    assert "9 samples" in answer.out
    assert f"{len(train)} for train" in answer.out
    assert f"{len(val)} for val" in answer.out


def test_the_same_seed_gives_the_same_files(t2o: T2O, photos: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        t2o("data", "simulate", "trip", "-o", name, "--count", "6", "--seed", seed)
    assert contents(photos / "a") == contents(photos / "b")
    assert contents(photos / "a") != contents(photos / "c")


def test_a_photo_that_cannot_be_read_is_named(t2o: T2O, photos: Path) -> None:
    Path("trip/broken.jpg").write_bytes(b"")
    answer = t2o("data", "simulate", "trip", "-o", "made", "--json")
    assert answer.code == 0
    assert "broken.jpg is empty" in answer.err
    told = json.loads(answer.out)
    assert sum(told["counts"].values()) == 25
    assert told["left_out"] == ["trip/broken.jpg"]


def test_the_only_photo_cannot_be_read(t2o: T2O, photos: Path) -> None:
    Path("broken.jpg").write_bytes(b"")
    answer = t2o("data", "simulate", "broken.jpg", "-o", "made")
    assert answer.err.startswith("t2o: the photo cannot be read: broken.jpg is empty")
    assert not Path("made").exists()


def test_without_a_terminal_a_line_now_and_then(
    t2o: T2O, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("t2onet.cli.common.TICK_SECONDS", 0.0)
    lines = t2o("data", "simulate", "trip", "-o", "made", "--count", "8").err.splitlines()
    assert [line.rpartition(",")[0] for line in lines] == [f"samples, {n} of 8" for n in range(1, 9)]
    assert all(line.endswith(" a second") for line in lines)


def test_an_existing_folder_is_refused_and_stays(t2o: T2O, photos: Path) -> None:
    before = contents(photos)
    answer = t2o("data", "simulate", "trip", "-o", "trip")
    assert answer.code == 2
    assert answer.err == "t2o: trip exists already; give another folder\n"
    assert contents(photos) == before
