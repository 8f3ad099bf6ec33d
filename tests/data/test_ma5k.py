"""MA5k-Req as published, whole and damaged, and simulated datasets in its form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from t2onet.data import Dataset, open_dataset
from t2onet.language import Attribute, Intent
from tests.data.helpers import DATA, ma5k, photos, request, write


def list_problems(dataset: Dataset) -> list[str]:
    return [str(problem) for problem in dataset.problems]


def test_an_entry_is_a_sample(tmp_path: Path) -> None:
    (sample,) = open_dataset(ma5k(tmp_path, [request("0001", text="a bit brighter")])).samples
    assert sample.name == "0001_C"
    assert sample.split == "train"
    assert sample.requests == ("a bit brighter",)
    assert sample.before == tmp_path / "images" / "0001_O.jpg"
    assert sample.labels == {"expert": "C"}
    assert sample.intents is None
    assert [photo.width for photo in sample.open_photos()] == [6, 6]


def test_photos_of_another_suffix_are_found_by_stem(tmp_path: Path) -> None:
    root = ma5k(tmp_path, [request("0002")], names=["0002_O.webp", "0002_C.PNG"])
    (sample,) = open_dataset(root).samples
    assert [sample.before.name, sample.after.name] == ["0002_O.webp", "0002_C.PNG"]


def test_a_stem_of_two_photos_is_told_once_and_the_first_is_used(tmp_path: Path) -> None:
    names = ["0002_O.webp", "0002_O.png", "0002_C.png", "0002_D.png", "0002_E.png"]
    exact = request("0002", "E") | {"input": "0002_O.webp"}
    dataset = open_dataset(ma5k(tmp_path, [request("0002"), request("0002", "D"), exact], names=names))
    assert [sample.before.suffix for sample in dataset.samples] == [".png", ".png", ".webp"]
    assert list_problems(dataset) == [
        "images/0002_O: several photos of one name (0002_O.png, 0002_O.webp; the first is used)"
    ]


def test_requests_without_their_target_are_counted_and_listed(tmp_path: Path) -> None:
    entries = [request("0001", expert) for expert in "ABCDE"] + [request("0009")]
    dataset = open_dataset(ma5k(tmp_path, entries))
    assert [sample.name for sample in dataset.samples] == ["0001_C"]
    assert {reason: [problem.name for problem in found] for reason, found in dataset.left_out.items()} == {
        "the photo after the edit is missing": ["0001_A", "0001_B", "0001_D", "0001_E"],
        "the photo before the edit is missing": ["0009_C"],
    }


def test_requests_alone_need_no_photos(tmp_path: Path) -> None:
    dataset = open_dataset(ma5k(tmp_path, [request("0009", "A")]), photos=False)
    assert [sample.requests for sample in dataset.samples] == [("brighter",)]
    assert dataset.problems == ()


def test_a_name_that_no_file_can_have_is_a_missing_photo(tmp_path: Path) -> None:
    root = ma5k(tmp_path, [request("0001") | {"input": "0001_\0.jpg", "intents": []}, request("0001")])
    assert open_dataset(root).problems[0].reason == "the photo before the edit is missing"
    assert len(open_dataset(root, photos=False).fingerprint) == 12


def test_splits_are_kept_and_can_be_chosen(tmp_path: Path) -> None:
    ma5k(tmp_path, [request("0001")])
    ma5k(tmp_path, [request("0002")], "val", ["0002_O.jpg", "0002_C.jpg"])
    whole = open_dataset(tmp_path)
    assert [sample.split for sample in whole.samples] == ["train", "val"]
    assert [sample.name for sample in whole.split("val")] == ["0002_C"]
    assert open_dataset(tmp_path, splits=["val"]).samples == whole.split("val")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (7, "annotations/train_sess_1.json, entry 1: not an object with fields (7)"),
        ({"input": "0001_O.jpg"}, "entry 1: a field is missing or not a text ('output' is absent)"),
        (request("0001", text=float("nan")), "a field is missing or not a text ('request' is nan)"),  # type: ignore[arg-type]
        (request("0001", text="  "), "a field is missing or not a text ('request' is '  ')"),
        (request("0001", text="\ud800"), "a field is missing or not a text ('request' is '\\ud800')"),
        (request("0001", "F"), "unknown expert ('output' is '0001_F.jpg'; experts are A to E)"),
        (request("0001") | {"output": "../0001_C/x"}, "unknown expert"),
        (request("0001") | {"input": "0002_O.jpg"}, "the photos are of different names"),
        (request("0001", intents=[{"attribute": "speed", "sign": 1}]), "intents that are not understood"),
        (request("0001", intents=[{"attribute": "warmth", "sign": 0}]), "intents that are not understood"),
        (request("0001", intents=7), "intents that are not understood"),
        (request("0001", intents=[7]), "intents that are not understood"),
        (
            request("0001", intents=[], unanswerable=3),
            "a field is missing or not a text ('unanswerable' is 3)",
        ),
    ],
)
def test_a_bad_entry_is_named_and_the_rest_goes_on(tmp_path: Path, bad: Any, problem: str) -> None:
    dataset = open_dataset(ma5k(tmp_path, [bad, request("0001", text="warmer")]))
    assert [sample.requests for sample in dataset.samples] == [("warmer",)]
    (only,) = list_problems(dataset)
    assert problem in only


def test_names_are_unique_and_the_same_entry_counts_once(tmp_path: Path) -> None:
    entries = [request("0001", text=text) for text in ("brighter", "more light", "brighter")]
    dataset = open_dataset(ma5k(tmp_path, entries))
    assert [sample.name for sample in dataset.samples] == ["0001_C", "0001_C#2"]
    assert list_problems(dataset) == ["0001_C: the same entry again"]


def test_a_file_named_after_no_split_is_told(tmp_path: Path) -> None:
    ma5k(tmp_path, [request("0001")])
    write(tmp_path / "annotations" / "trian_sess_1.json", [])
    (only,) = list_problems(open_dataset(tmp_path))
    assert only == "annotations/trian_sess_1.json: not the name of a split (known are train, val, test)"


def test_a_simulated_entry_says_what_it_asks_for(tmp_path: Path) -> None:
    asks = [{"attribute": "lightness", "sign": 1, "amount": 2.0}, {"attribute": "warmth", "sign": -1}]
    photos(tmp_path / "images", "s1_in.png", "s1_out.png")
    both = {"input": "s1_in.png", "output": "s1_out.png"}
    answerable = {**both, "request": "lighter, cooler", "intents": asks}
    hopeless = {**both, "output": "s1_in.png", "request": "crop it", "intents": [], "unanswerable": "crop"}
    dataset = open_dataset(ma5k(tmp_path, [answerable, hopeless]))
    first, second = dataset.samples
    assert first.intents == (Intent(Attribute.LIGHTNESS, 1, 2.0), Intent(Attribute.WARMTH, -1, 1.0))
    assert first.unanswerable is None
    assert second.intents == ()
    assert second.unanswerable == "crop"
    assert second.before == second.after


REAL = DATA / "ma5k-req"


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is absent")
def test_the_data_at_hand_is_read_whole() -> None:
    dataset = open_dataset(REAL)
    assert (len(dataset.split("train")), len(dataset.split("val"))) == (3_465, 495)
    assert {reason: len(found) for reason, found in dataset.left_out.items()} == {
        "the photo after the edit is missing": 15_840
    }
    assert dataset.samples[0].open_photos()[1].pixels.shape == (256, 256, 3)


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is absent")
def test_the_requests_at_hand_are_read_without_their_photos() -> None:
    dataset = open_dataset(REAL, photos=False)
    assert (len(dataset.split("train")), len(dataset.split("val"))) == (17_325, 2_475)
    assert dataset.problems == ()
    published = json.loads((REAL / "annotations" / "train_sess_1.json").read_text())
    assert [sample.requests for sample in dataset.split("train")] == [(e["request"],) for e in published]
