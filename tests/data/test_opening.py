"""What is recognised, what is refused, what is checked, and what a dataset is known by."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import PIL.Image
import pytest

from t2onet.data import LAYOUTS, open_dataset
from t2onet.errors import DataError, ImageError
from tests.data.helpers import edit, gier, ma5k, pairs, photos, request, write

MAKERS: dict[str, Callable[[Path], Path]] = {
    "ma5k-req": lambda root: ma5k(root, [request("0001")]),
    "gier": lambda root: gier(root, [edit("a")]),
    "pairs": lambda root: pairs(root, ["a.png"]),
}


def test_every_layout_is_tried_here() -> None:
    assert set(MAKERS) == set(LAYOUTS)


@pytest.mark.parametrize("layout", MAKERS)
def test_a_layout_is_recognised_and_can_be_named(tmp_path: Path, layout: str) -> None:
    root = MAKERS[layout](tmp_path)
    dataset = open_dataset(str(root))
    assert dataset.layout == layout
    assert dataset == open_dataset(root, layout)
    assert len(dataset.samples) == 1
    with pytest.raises(DataError, match=r"has no (test_sess|pair of the split test)"):
        open_dataset(root, splits=["test"])


def test_what_is_no_dataset_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"looked for annotations/.*splits/.*before/ and after/"):
        open_dataset(tmp_path)
    with pytest.raises(DataError, match="is not a folder"):
        open_dataset(tmp_path / "absent")
    with pytest.raises(DataError, match=r"no layout 'giers' \(perhaps gier\?\); use ma5k-req, gier, pairs"):
        open_dataset(tmp_path, "giers")
    with pytest.raises(DataError, match=r"no split 'trian' \(perhaps train\?\); use train, val, test"):
        open_dataset(tmp_path, splits="trian")
    with pytest.raises(DataError, match="`splits` is empty"):
        open_dataset(tmp_path, splits=[])


@pytest.mark.parametrize("layout", MAKERS)
def test_a_folder_of_another_layout_has_no_usable_sample(tmp_path: Path, layout: str) -> None:
    write(tmp_path / "notes.txt", "hello")
    with pytest.raises(DataError, match=rf"no usable sample of {layout}: looked for"):
        open_dataset(tmp_path, layout)


def test_a_dataset_with_nothing_usable_says_why(tmp_path: Path) -> None:
    entries = [request("0009"), request("0008"), request("0001", "X")]
    with pytest.raises(DataError, match=r"edit is missing \(2\); unknown expert \(1\); looked for"):
        open_dataset(ma5k(tmp_path, entries))


def test_a_photo_that_cannot_be_read_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    root = pairs(tmp_path, [f"{name}.png" for name in "abcd"])
    write(root / "before" / "a.png", b"")
    write(root / "after" / "b.png", b"no photo at all")
    write(root / "before" / "d.png", b"\x89PNG\r\n\x1a\n\0\0")
    dataset = open_dataset(root)
    (root / "after" / "c.png").unlink()
    for sample in dataset.samples:
        with pytest.raises(ImageError, match=rf"{sample.name}\.png"):
            sample.open_photos()


def test_a_fingerprint_is_of_samples_not_of_places(tmp_path: Path) -> None:
    root = pairs(tmp_path / "one", ["a.png", "b.png"], "name,request\na,brighter\n")
    mark = open_dataset(root).fingerprint
    shutil.copytree(root, tmp_path / "two")
    assert open_dataset(tmp_path / "two").fingerprint == mark
    assert len(mark) == 12


@pytest.mark.parametrize(
    "change",
    [
        lambda root: write(root / "requests.csv", "name,request\na,darker\n"),
        lambda root: write(root / "requests.csv", "name,request,split\na,brighter,val\n"),
        lambda root: write(root / "after" / "b.png", b"12345"),
        lambda root: photos(root / "after", "c.png") or photos(root / "before", "c.png"),
        lambda root: (root / "after" / "b.png").unlink(),
    ],
    ids=["request", "split", "size of a file", "another pair", "a pair less"],
)
def test_a_fingerprint_changes_with_what_the_samples_are(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    root = pairs(tmp_path, ["a.png", "b.png"], "name,request\na,brighter\n")
    mark = open_dataset(root).fingerprint
    change(root)
    assert open_dataset(root).fingerprint != mark


def test_memory_does_not_grow_with_the_number_of_samples(tmp_path: Path) -> None:
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        for number in range(24):
            PIL.Image.new("RGB", (300, 300), (number, 0, 0)).save(tmp_path / side / f"{number:02}.png")

    def peak(count: int) -> int:
        tracemalloc.start()
        for sample in open_dataset(tmp_path).samples[:count]:
            sample.open_photos()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(24) < 1.2 * peak(2)


def test_readers_run_where_only_numpy_and_pillow_are(tmp_path: Path) -> None:
    pairs(tmp_path, ["a.png"])
    code = (
        "import sys; from t2onet.data import open_dataset; import t2onet.language; "
        f"open_dataset({str(tmp_path)!r}).samples[0].open_photos(); print(*sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert {"pydantic", "typer", "rich", "numba", "h5py", "torch", "scipy"} & set(found.split()) == set()
