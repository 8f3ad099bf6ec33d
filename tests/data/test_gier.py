"""GIER as published, whole and damaged, its masks and its selections."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from t2onet.data import Dataset, open_dataset
from t2onet.data.gier import GierOperator, read_masks, read_operator_mask, select_samples
from t2onet.errors import DataError
from tests.data.helpers import DATA, edit, gier, pairs, write


def list_problems(dataset: Dataset) -> list[str]:
    return [str(problem) for problem in dataset.problems]


def test_an_entry_is_a_sample_of_several_requests_and_labels(tmp_path: Path) -> None:
    operators = {"hue": {"local": True, "ids": [2, 0]}, "tint": {"local": False, "ids": []}}
    (sample,) = open_dataset(gier(tmp_path, [edit("a", operator=operators)])).samples
    assert sample.name == "a_out"
    assert sample.requests == ("brighten", "more light", "lighter please")
    assert sample.labels == {
        "operators": (GierOperator("hue", True, (2, 0)), GierOperator("tint", False)),
        "experts": 1,
        "web_request": "Please fix",
        "web_detail": None,
        "source": "reddit",
        "global": True,
        "aligned": None,
    }
    assert [photo.height for photo in sample.open_photos()] == [4, 4]


def test_without_photos_there_is_language_only_where_asked_for(tmp_path: Path) -> None:
    root = gier(tmp_path, [edit("a")], names=())
    with pytest.raises(DataError, match=r"before the edit is missing \(1\).*photos=False"):
        open_dataset(root)
    (sample,) = open_dataset(root, photos=False).samples
    assert len(sample.requests) == 3


def test_edits_are_selected_by_alignment(tmp_path: Path) -> None:
    inpainted = {"inpaint_obj": {"local": True, "ids": [1]}}
    entries = [edit("a"), edit("b", operator=inpainted), edit("c"), edit("d", operator=inpainted)]
    root = gier(tmp_path, entries, names="abcd")
    write(root / "splits" / "train_shapeAlign_sess_3.json", [0, 1])
    dataset = open_dataset(root)

    def names(aligned: bool) -> str:
        return "".join(sample.name[0] for sample in select_samples(dataset, aligned=aligned).samples)

    assert (names(aligned=True), names(aligned=False)) == ("ab", "cd")
    assert [sample.labels["global"] for sample in dataset.samples] == [True, False, True, False]


def test_other_datasets_have_no_such_selections(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has the layout pairs; only gier has these labels"):
        select_samples(open_dataset(pairs(tmp_path, ["a.png"])), aligned=True)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"output": float("nan")}, "entry 1: a field is missing or not a text ('output' is nan)"),
        ({"operator": float("nan")}, "operations that are not understood ('operator' is nan)"),
        (
            {"operator": {"hue": {"local": True}}},
            "are not understood ('hue' is {'local': True})",
        ),
        ({"operator": {"hue": {"local": True, "ids": [-1]}}}, "operations that are not understood"),
        ({"expert_summary": "brighten"}, "requests that are not a list ('expert_summary' is 'brighten')"),
        ({"expert_summary": [], "amateur_summary": []}, "b_out: no request"),
        ({"input": "z_z.jpg"}, "b_out: the photo before the edit is missing (images/z_z.jpg)"),
    ],
)
def test_a_bad_entry_is_named_and_the_rest_goes_on(
    tmp_path: Path, fields: dict[str, Any], problem: str
) -> None:
    dataset = open_dataset(gier(tmp_path, [edit("b", **fields), edit("a")], names="ab"))
    assert [sample.name for sample in dataset.samples] == ["a_out"]
    (only,) = list_problems(dataset)
    assert problem in only


def test_a_request_that_is_none_costs_only_itself(tmp_path: Path) -> None:
    dataset = open_dataset(gier(tmp_path, [edit("a", amateur_summary=[float("nan"), "", "lighter"])]))
    assert dataset.samples[0].requests == ("brighten", "lighter")
    assert list_problems(dataset) == [
        "splits/train_sess_3.json, entry 1: a request that is not a text (nan)",
        "splits/train_sess_3.json, entry 1: a request that is not a text ('')",
    ]


def test_places_are_not_gone_by_in_a_broken_list(tmp_path: Path) -> None:
    root = gier(tmp_path, "[{, " + json.dumps(edit("a")) + "]")
    write(root / "splits" / "train_shapeAlign_sess_3.json", [0])
    (sample,) = open_dataset(root).samples
    assert sample.labels["aligned"] is None


def make_masked_set(root: Path, masks: Any, **operators: Any) -> Dataset:
    gier(root, [edit("a", operator=operators)])
    write(root / "masks" / "a_a_mask.json", masks)
    return open_dataset(root)


TWO = [{"size": [2, 2], "counts": [0, 1, 3]}, {"size": [2, 2], "counts": "31"}]


def test_an_operation_works_in_the_union_of_its_masks(tmp_path: Path) -> None:
    hue, tint = {"local": True, "ids": [0, 1]}, {"local": False, "ids": []}
    dataset = make_masked_set(tmp_path, TWO, hue=hue, tint=tint)
    (sample,) = dataset.samples
    assert [mask.tolist() for mask in read_masks(dataset, sample)] == [
        [[True, False], [False, False]],
        [[False, False], [False, True]],
    ]
    union = read_operator_mask(dataset, sample, "hue")
    assert union is not None
    assert np.array_equal(union, np.eye(2, dtype=bool))
    assert read_operator_mask(dataset, sample, "tint") is None
    with pytest.raises(DataError, match="a_out has no operation 'crop'"):
        read_operator_mask(dataset, sample, "crop")


@pytest.mark.parametrize(
    ("masks", "why"),
    [
        ("[", "cannot be read as masks"),
        ("{}", "is not a list of masks"),
        ([{"size": [2, 2], "counts": [3]}], r"a_a_mask\.json: a mask of 2 x 2 has runs for 3 pixels"),
        ([TWO[0], {"size": [1, 1], "counts": [1]}], "masks of different sizes"),
        ([TWO[0]], r"a_out has 1 masks, and hue refers to \(1,\)"),
    ],
)
def test_masks_that_cannot_be_read_are_refused_by_file(tmp_path: Path, masks: Any, why: str) -> None:
    dataset = make_masked_set(tmp_path, masks, hue={"local": True, "ids": [1]})
    with pytest.raises(DataError, match=why):
        read_operator_mask(dataset, dataset.samples[0], "hue")


REAL = DATA / "gier"


@pytest.mark.needs_data
@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is absent")
def test_the_data_at_hand_is_read_whole() -> None:
    dataset = open_dataset(REAL, photos=False)
    assert dataset.problems == ()
    assert (len(dataset.split("train")), len(dataset.split("val"))) == (4_943, 618)
    counts = Counter(sample.split for sample in dataset.samples if sample.labels["global"])
    assert counts == {"train": 2_997, "val": 380}
    aligned = select_samples(dataset, aligned=True)
    assert (len(aligned.split("train")), len(aligned.split("val"))) == (3_779, 488)
    assert sum(len(sample.requests) for sample in aligned.split("val")) == 2_404  # as in the paper


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is absent")
@pytest.mark.parametrize("split", ["train", "val"])
def test_global_is_what_the_publisher_lists_as_global(split: str) -> None:
    listed = json.loads((REAL / "splits" / f"{split}_global_sess_3.json").read_text())
    samples = open_dataset(REAL, splits=[split], photos=False).samples
    assert [place for place, sample in enumerate(samples) if sample.labels["global"]] == listed
