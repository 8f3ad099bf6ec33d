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
    folder = make(tmp_path, "one/a.jpg", "two/a.jpg")
    assert list_pairs(folder / "one", folder / "two") == [("a.jpg", "a.jpg")]


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
    with pytest.raises(DataError, match="is no folder; give a folder of pairs"):
        find_retouches(folder / "a.jpg")
    with pytest.raises(DataError, match="is no folder"):
        find_retouches(folder, folder / "absent")
