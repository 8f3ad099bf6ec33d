"""Packed photos with masks of places: what is known, unknown, and overruled by what a person saw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.data.place_labels import FULL, MASK_SIDE, PHOTO_SIDE, UNKNOWN, PlaceSet, pack_places
from t2onet.errors import DataError
from t2onet.places.network import CHANNELS

SKY, SUBJECT, PERSON, FACE, VEGETATION, WATER, BUILDING, GROUND = range(len(CHANNELS))


def write(path: Path, pixels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.fromarray(pixels.astype(np.uint8)).save(path)


@pytest.fixture
def packed(tmp_path: Path) -> PlaceSet:
    """One COCO photo: sky, a potted plant and an unlabelled row; three FiveK photos with teachers' masks."""
    data, teachers = tmp_path / "data", tmp_path / "teachers"
    coco = data / "coco-panoptic"
    ids = np.zeros((8, 10, 3))
    ids[:4, :, 0] = 5
    ids[4:7, :, 1] = 1
    write(coco / "images" / "000000000001.jpg", np.zeros((8, 10, 3)))
    write(coco / "panoptic_train2017" / "000000000001.png", ids)
    segments = [{"id": 5, "category_id": 187}, {"id": 256, "category_id": 64}]
    entry = {"file_name": "000000000001.png", "segments_info": segments}
    (coco / "panoptic_train2017.json").write_text(json.dumps({"annotations": [entry]}))
    fivek = data / "ma5k-req"
    half = np.repeat(np.arange(128)[:, None] < 64, 128, axis=1) * 255
    for name in ("0001", "0002", "0003"):
        write(fivek / "images" / f"{name}_O.webp", np.zeros((16, 16, 3)))
        write(fivek / "sky" / f"{name}.png", half)
    write(teachers / "subject" / "0001.png", half)
    write(teachers / "person" / "0002.png", np.zeros((128, 128)))
    (fivek / "annotations").mkdir()
    for split, names in (("train", ("0001", "0002")), ("val", ("0003",))):
        entries = [{"input": f"{name}_O.jpg"} for name in names for _ in range(5)]
        (fivek / "annotations" / f"{split}_sess_1.json").write_text(json.dumps(entries))
    marks = {
        "sky": {"0001": True, "0002": False, "0003": None},
        "person": {"0002": True, "0003": False},
    }
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    assert pack_places(data, teachers, tmp_path / "marks.json", tmp_path / "packed") == 4
    return PlaceSet.load(tmp_path / "packed")


def test_photos_are_packed_as_squares_with_their_split(packed: PlaceSet) -> None:
    assert packed.names == ["000000000001", "0001", "0002", "0003"]
    assert packed.splits == ["coco", "train", "train", "val"]
    assert packed.photos.shape == (4, PHOTO_SIDE, PHOTO_SIDE, 3)
    assert packed.masks.shape == (4, len(CHANNELS), MASK_SIDE, MASK_SIDE)


def test_coco_labels_know_all_but_subject_and_face(packed: PlaceSet) -> None:
    masks = packed.masks[0]
    assert (masks[SKY, :60] == FULL).all()
    assert (masks[SKY, 66:110] == 0).all()
    assert (masks[SKY, 115:] == UNKNOWN).all(), "nothing is labelled there"
    assert (masks[VEGETATION, 66:110] == UNKNOWN).all(), "a potted plant may be counted or not"
    assert (masks[[SUBJECT, FACE]] == UNKNOWN).all()
    assert packed.presence[0, [SKY, PERSON, SUBJECT]].tolist() == [1, 0, -1]


def test_what_a_person_saw_overrules_the_teachers(packed: PlaceSet) -> None:
    assert packed.masks[1, SKY, 0, 0] == FULL
    assert packed.masks[2, SKY].max() == 0, "marked as without sky"
    assert (packed.masks[2, PERSON] == UNKNOWN).all(), "there, but the teacher does not see it"
    assert packed.masks[3, PERSON].max() == 0
    assert packed.presence[1:, PERSON].tolist() == [-1, 1, 0]
    assert (packed.masks[1:, GROUND] == UNKNOWN).all()


def test_a_mask_in_doubt_is_left_out(packed: PlaceSet) -> None:
    assert (packed.masks[3, SKY] == UNKNOWN).all()
    assert packed.presence[3, SKY] == -1


def test_folds_share_a_split_out(packed: PlaceSet) -> None:
    assert packed.list_rows("train") == [1, 2]
    assert [packed.list_rows("train", fold, held=True) for fold in range(3)] == [[1], [2], []]
    assert [packed.list_rows("train", fold) for fold in range(3)] == [[2], [1], [1, 2]]


def test_a_folder_that_is_no_packed_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"is not what `places pack` wrote"):
        PlaceSet.load(tmp_path)
