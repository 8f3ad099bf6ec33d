"""The door for results: what is replaced, what is refused, and what comes out untouched."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.errors import OutputError
from t2onet.image import Image, SavedFile, image_from_array, open_image
from tests.image.made import encoded, photo, pillow, png_file


def edited(image: Image) -> Image:
    return image.with_pixels(image.pixels.copy())


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp", ".avif"])
def test_an_untouched_photo_comes_out_untouched(tmp_path: Path, suffix: str) -> None:
    path = pillow(tmp_path / f"a{suffix}", photo())
    image = open_image(path)
    saved = image.with_pixels(image.pixels).save(tmp_path / f"b{suffix}")
    assert (tmp_path / f"b{suffix}").read_bytes() == path.read_bytes()
    assert saved == SavedFile(tmp_path / f"b{suffix}", ())


def test_untouched_keeps_even_what_an_edit_would_lose(tmp_path: Path) -> None:
    frames = [PIL.Image.fromarray(photo()), PIL.Image.fromarray(photo()[::-1])]
    frames[0].save(
        tmp_path / "a.jpg", "MPO", save_all=True, append_images=frames[1:], xmp=b'<x hdrgm:Version="1"/>'
    )
    image = open_image(tmp_path / "a.jpg")
    assert image.save(tmp_path / "b.jpg").notes == ()
    assert (tmp_path / "b.jpg").read_bytes() == (tmp_path / "a.jpg").read_bytes()
    assert edited(image).save(tmp_path / "c.jpg").notes == image.notes
    with PIL.Image.open(tmp_path / "c.jpg") as plain:
        assert plain.format == "JPEG"


def test_another_format_or_quality_is_not_untouched(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.jpg", photo(), quality=90))
    image.save(tmp_path / "b.jpg", quality=20)
    image.save(tmp_path / "c.png")
    assert (tmp_path / "b.jpg").stat().st_size < (tmp_path / "a.jpg").stat().st_size
    np.testing.assert_array_equal(open_image(tmp_path / "c.png").pixels, image.pixels)


def test_the_photo_itself_is_replaced_only_on_request(tmp_path: Path) -> None:
    path = pillow(tmp_path / "a.png", photo())
    before = path.read_bytes()
    image = open_image(path)
    turned = image.with_pixels(255 - image.pixels)
    (tmp_path / "symbolic.png").symlink_to(path)
    os.link(path, tmp_path / "hard.png")
    relative = Path(os.path.relpath(path))
    for alias in (path, relative, tmp_path / "symbolic.png", tmp_path / "hard.png", tmp_path / "." / "a.png"):
        with pytest.raises(OutputError, match="the photo itself"):
            turned.save(alias)
    assert path.read_bytes() == before
    turned.save(path, overwrite=True)
    np.testing.assert_array_equal(open_image(path).pixels, 255 - photo())


@pytest.mark.parametrize("change", [edited, lambda image: image], ids=["edited", "untouched"])
def test_another_file_is_replaced_only_on_request(tmp_path: Path, change: Callable[[Image], Image]) -> None:
    image = change(open_image(pillow(tmp_path / "a.png", photo())))
    path = tmp_path / "b.png"
    path.write_bytes(b"old")
    text = f"{path} already exists; give another name or ask to overwrite it."
    for refused in ({}, {"overwrite": False}):
        with pytest.raises(OutputError, match=f"^{re.escape(text)}$"):
            image.save(path, **refused)
    assert path.read_bytes() == b"old"
    image.save(path, overwrite=True)
    np.testing.assert_array_equal(open_image(path).pixels, photo())


def test_a_photo_from_an_array_replaces_only_on_request(tmp_path: Path) -> None:
    path = pillow(tmp_path / "a.png", photo())
    before = path.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        image_from_array(255 - photo()).save(path)
    assert path.read_bytes() == before
    image_from_array(255 - photo()).save(path, overwrite=True)
    np.testing.assert_array_equal(open_image(path).pixels, 255 - photo())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.jpgg", "did you mean a.jpg"),
        ("a", "no suffix"),
        ("none/a.png", "no folder"),
        ("folder.png", "is a folder"),
    ],
)
def test_places_where_no_photo_can_be_written(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(OutputError, match=words) as refusal:
        image_from_array(photo()).save(tmp_path / name)
    assert "\n" not in str(refusal.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.png"]


def test_a_read_only_photo_is_not_replaced(tmp_path: Path) -> None:
    path = pillow(tmp_path / "a.png", photo())
    path.chmod(0o444)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="read-only"):
        edited(open_image(path)).save(path, overwrite=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("quality", [0, 101, -5])
def test_a_quality_out_of_range(tmp_path: Path, quality: int) -> None:
    with pytest.raises(OutputError, match="1 to 100"):
        image_from_array(photo()).save(tmp_path / "a.jpg", quality=quality)


@pytest.mark.parametrize(("suffix", "side"), [(".jpg", 65501), (".webp", 16384)])
def test_a_side_beyond_the_format_is_refused_with_another_format(
    tmp_path: Path, suffix: str, side: int
) -> None:
    with pytest.raises(OutputError, match=r"holds at most .* a side; use .png"):
        image_from_array(np.zeros((2, side, 3), np.uint8)).save(tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []
    image_from_array(np.zeros((2, side, 3), np.uint8)).save(tmp_path / "a.png")


def test_an_encoder_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("codec")

    monkeypatch.setattr(PIL.Image.Image, "save", fail)
    with pytest.raises(OutputError, match="cannot be written as JPEG"):
        image_from_array(photo()).save(tmp_path / "a.jpg")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(OutputError, match=r"needs an extra: pip install 't2onet\[files\]'"):
        image_from_array(photo()).save(tmp_path / "a.heic")


def test_a_path_may_be_text(tmp_path: Path) -> None:
    assert image_from_array(photo()).save(str(tmp_path / "a.png")).path == tmp_path / "a.png"


def test_a_deep_photo_is_untouched_too(tmp_path: Path) -> None:
    data = png_file(photo(dtype=np.uint16))
    (tmp_path / "a.png").write_bytes(data)
    open_image(tmp_path / "a.png").save(tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes() == data


def test_a_photo_under_a_wrong_name_is_written_in_the_format_of_the_new_name(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encoded(photo(), "JPEG"))
    open_image(tmp_path / "a.png").save(tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
