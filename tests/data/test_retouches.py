"""Photos and their edits are found by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from t2onet import DataError
from t2onet.data.retouches import find_retouches


def make(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def list_pairs(*folders: Path) -> list[tuple[str, str]]:
    found, _ = find_retouches(*folders)
    root = folders[0]
    return [(str(pair.before.relative_to(root)), pair.after.name) for pair in found]


@pytest.mark.parametrize(
    ("photo", "edit"),
    [
        ("a.jpg", "a-edited.jpg"),
        ("a.jpg", "a_edit.tif"),
        ("a.jpg", "A (edited).jpg"),
        ("a.cr2", "a.jpg"),
        ("a.NEF", "a-final.jpg"),
        ("a_orig.png", "a.png"),
        ("a-before.png", "a-after.png"),
        ("0001_O.webp", "0001_C.webp"),
    ],
)
def test_a_photo_lies_beside_its_edit(tmp_path: Path, photo: str, edit: str) -> None:
    assert list_pairs(make(tmp_path, photo, edit, "notes.txt", ".hidden.jpg")) == [(photo, edit)]


@pytest.mark.parametrize(
    ("before", "after"), [("before", "after"), ("Originals", "edited"), ("raw", "exports")]
)
def test_two_subfolders_hold_photos_and_edits(tmp_path: Path, before: str, after: str) -> None:
    names = (f"{before}/B.CR2", f"{after}/b.jpg", f"{before}/a.jpg", f"{after}/a-edited.jpg", "c.jpg")
    folder = make(tmp_path, *names)
    assert list_pairs(folder) == [(f"{before}/a.jpg", "a-edited.jpg"), (f"{before}/B.CR2", "b.jpg")]


def test_two_folders_may_be_given(tmp_path: Path) -> None:
    folder = make(tmp_path, "one/a.jpg", "two/a.jpg", "one/b_O.jpg", "two/b_C.jpg")
    pairs = list_pairs(folder / "one", folder / "two")
    assert pairs == [("a.jpg", "a.jpg"), ("b_O.jpg", "b_C.jpg")]


@pytest.mark.parametrize("letters", ["ab", "AB", "AO"])
def test_letters_that_names_end_with_are_not_marks(tmp_path: Path, letters: str) -> None:
    names = [f"x_{letter}.jpg" for letter in letters]
    folder = make(tmp_path, *(f"{side}/{name}" for side in ("before", "after") for name in names))
    found, problems = find_retouches(folder)
    assert [(pair.before.name, pair.after.name) for pair in found] == [(name, name) for name in names]
    assert problems == []


def test_equal_names_come_before_marks(tmp_path: Path) -> None:
    names = ("before/y.jpg", "before/y_a.jpg", "before/z.jpg", "before/z-edit.jpg")
    found, problems = find_retouches(make(tmp_path, *names, "after/y_a.jpg", "after/z-edit.jpg"))
    assert [(pair.before.name, pair.after.name) for pair in found] == [
        ("y_a.jpg", "y_a.jpg"),
        ("z-edit.jpg", "z-edit.jpg"),
    ]
    assert [str(problem) for problem in problems] == [
        "y.jpg: no edit of that name",
        "z.jpg: no edit of that name",
    ]


@pytest.mark.parametrize("name", ["party_a", "party_A", "party_O", "Party"])
def test_a_name_may_end_with_a_letter_beside_its_edit(tmp_path: Path, name: str) -> None:
    make(tmp_path, f"{name}.jpg", f"{name}-edited.jpg")
    assert list_pairs(tmp_path) == [(f"{name}.jpg", f"{name}-edited.jpg")]


def test_letters_of_experts_are_marks_beside_an_original_alone(tmp_path: Path) -> None:
    names = ("1_O.jpg", "1_C.jpg", "2_O.jpg", "2_A.jpg", "2_B.jpg", "3_C.jpg", "4_o.jpg", "4_c.jpg")
    found, problems = find_retouches(make(tmp_path, *names))
    assert [(pair.before.name, pair.after.name) for pair in found] == [("1_O.jpg", "1_C.jpg")]
    assert {problem.name: problem.reason for problem in problems} == {
        "2_O.jpg": "several photos or edits of one name",
        **dict.fromkeys(("3_C.jpg", "4_c.jpg", "4_o.jpg"), "no edit of that name"),
    }


def test_photos_without_a_partner_are_named(tmp_path: Path) -> None:
    names = ("a.jpg", "a-edited.jpg", "b.jpg", "c-edited.jpg", "d.jpg", "d-edit.jpg", "d-final.jpg")
    found, problems = find_retouches(make(tmp_path, *names))
    assert [pair.name for pair in found] == ["a"]
    assert {problem.name: problem.reason for problem in problems} == {
        "b.jpg": "no edit of that name",
        "c-edited.jpg": "no original of that name",
        "d.jpg": "several photos or edits of one name",
    }


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path, "a.jpg", "b.jpg", "text.txt")
    with pytest.raises(
        DataError, match="has no pair of a photo and its edit; expected are before/ and after/"
    ):
        find_retouches(folder)
    with pytest.raises(DataError, match="is not a folder; give a folder of pairs"):
        find_retouches(folder / "a.jpg")
    with pytest.raises(DataError, match="is not a folder"):
        find_retouches(folder, folder / "absent")
