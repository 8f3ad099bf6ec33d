"""Bad input: the right error, in one line, whatever the file holds."""

import os
import struct
import sys
import threading
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from t2onet.errors import ImageError
from t2onet.image import image_from_array, open_image
from tests.image.made import encoded, exif_block, photo, pillow, png_chunk, png_file, profile, tiff_file


def refusal(source: Any) -> str:
    with pytest.raises(ImageError) as caught:
        open_image(source)
    words = str(caught.value)
    assert "\n" not in words
    assert words.endswith(".")
    return words


def png_of_size(width: int, height: int) -> bytes:
    header = png_chunk(b"IHDR", struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + png_chunk(b"IDAT", zlib.compress(b"")) + png_chunk(b"IEND", b"")


def test_an_array_and_an_image_are_photos_already() -> None:
    image = image_from_array(photo())
    assert open_image(image) is image
    assert open_image(photo()).shape == (24, 36, 3)


def test_anything_else_is_not() -> None:
    text = "'int' is not a photo; give a path or a NumPy array of shape (H, W, 3)."
    assert refusal(12) == text


def test_a_missing_file_and_its_neighbour(tmp_path: Path) -> None:
    pillow(tmp_path / "holiday.jpg", photo())
    assert "does not exist" in refusal(tmp_path / "other.png")
    assert "holiday.jpg was meant" in refusal(tmp_path / "hoilday.jpg")
    assert "no folder" in refusal(tmp_path / "none" / "a.jpg")
    assert "cannot be read" in refusal("a\0b.jpg")


def test_a_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    assert "not a regular file" in refusal(tmp_path / "pipe.jpg")


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"")
    assert "is empty" in refusal(tmp_path / "a.jpg")


def test_text_that_is_named_like_a_photo(tmp_path: Path) -> None:
    (tmp_path / "notes.jpg").write_text("buy milk\n")
    assert "does not look like a photo in a format this can read (JPEG, PNG" in refusal(
        tmp_path / "notes.jpg"
    )


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pillow(tmp_path / "a.jpg", photo())

    def refuse(*_: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert "no permission" in refusal(tmp_path / "a.jpg")


@pytest.mark.parametrize("name", ["JPEG", "PNG", "TIFF", "WEBP", "AVIF", "GIF"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_file_that_ends_early(tmp_path: Path, name: str, part: float) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    data = encoded(noise, name)
    (tmp_path / "a.jpg").write_bytes(data[: int(part * len(data))])
    words = refusal(tmp_path / "a.jpg")
    assert "copy it again" in words
    if name in ("JPEG", "PNG"):
        assert "ends early" in words


@pytest.mark.parametrize(("width", "height"), [(1, 1), (30000, 1), (1, 9)])
def test_a_photo_has_at_least_two_rows_and_columns(tmp_path: Path, width: int, height: int) -> None:
    pillow(tmp_path / "a.png", np.zeros((height, width, 3), np.uint8))
    assert f"is {width} x {height} pixels: too small" in refusal(tmp_path / "a.png")


def test_a_photo_that_claims_too_much(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png_of_size(100_000, 100_000))
    words = refusal(tmp_path / "a.png")
    assert "100000 x 100000 pixels (10000 megapixels)" in words
    assert "--max-megapixels 10000" in words
    assert "179 megapixels allowed" in words


@pytest.mark.parametrize("name", ["PNG", "WEBP", "TIFF", "JPEG", "GIF"])
def test_the_limit_holds_for_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "a").write_bytes(encoded(photo(40, 60), name))
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 1000)
    words = refusal(tmp_path / "a")
    assert "60 x 40 pixels" in words or (name == "WEBP" and "2400 pixels" in words)
    assert "more than the 0.002 megapixels allowed" in words
    assert "--max-megapixels 0.003" in words


@pytest.mark.parametrize("name", ["PNG", "WEBP", "TIFF", "JPEG", "GIF", "BMP", "AVIF"])
def test_a_large_photo_within_the_limit_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "a").write_bytes(encoded(photo(40, 60), name))
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 1500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_image(tmp_path / "a").shape == (40, 60, 3)


def test_no_limit_is_a_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", None)
    assert open_image(pillow(tmp_path / "a.png", photo())).shape == (24, 36, 3)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC photo"), ("a.NEF", b"II*\0", "camera RAW file")],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, kind: str
) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setitem(sys.modules, "rawpy", None)
    (tmp_path / name).write_bytes(data)
    assert f"is a {kind}, which needs an extra: pip install 't2onet[files]'" in refusal(tmp_path / name)


def test_memory_that_does_not_suffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(PIL.Image, "open", exhausted)
    (tmp_path / "a.png").write_bytes(png_of_size(9, 9))
    assert "memory" in refusal(tmp_path / "a.png")


def test_the_source_may_change_once_it_is_open(tmp_path: Path) -> None:
    path = pillow(tmp_path / "a.png", photo())
    image = open_image(path)
    path.unlink()
    image.save(tmp_path / "b.png")
    np.testing.assert_array_equal(open_image(tmp_path / "b.png").pixels, photo())


def test_threads_open_photos_side_by_side(tmp_path: Path) -> None:
    paths = [pillow(tmp_path / f"a{suffix}", photo(200, 300)) for suffix in (".png", ".tif", ".webp", ".jpg")]
    (tmp_path / "deep.png").write_bytes(png_file(photo(dtype=np.uint16)))
    wanted = {path: np.asarray(open_image(path)) for path in [*paths, tmp_path / "deep.png"]}
    failures: list[Exception] = []

    def work() -> None:
        try:
            for path, pixels in wanted.items():
                for _ in range(5):
                    np.testing.assert_array_equal(np.asarray(open_image(path)), pixels)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


EXIF = b"Exif\0\0" + exif_block(6)
SOURCES = {
    "jpeg": encoded(photo(), "JPEG", exif=EXIF, icc_profile=profile(), xmp=b"<x/>", comment=b"hello"),
    "progressive": encoded(photo(), "JPEG", progressive=True),
    "png": encoded(photo(channels=4), "PNG", exif=EXIF, icc_profile=profile()),
    "deep png": png_file(photo(dtype=np.uint16)),
    "tiff": encoded(photo(), "TIFF", compression="tiff_lzw", icc_profile=profile()),
    "deep tiff": tiff_file(photo(dtype=np.uint16), compression=8, tags=[(271, 2, b"Maker\0")]),
    "webp": encoded(photo(), "WEBP", exif=EXIF, icc_profile=profile()),
    "avif": encoded(photo(), "AVIF"),
    "gif": encoded(photo()[..., 0], "GIF"),
    "bmp": encoded(photo(), "BMP"),
}


@pytest.mark.parametrize("kind", SOURCES)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_damage_gives_a_photo_or_an_image_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, data: st.DataObject
) -> None:
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 1_000_000)
    damaged = bytearray(SOURCES[kind])
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(1, len(damaged))) :]
    path = tmp_path / "a.jpg"
    path.write_bytes(damaged)
    try:
        image = open_image(path)
    except ImageError:
        return
    edited = image.with_pixels(image.pixels.copy())
    for suffix in (".jpg", ".tif", ".png"):
        edited.save(tmp_path / f"out{suffix}", overwrite=True)
        assert open_image(tmp_path / f"out{suffix}").shape[:2] == image.shape[:2]


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_at_all(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.jpg").write_bytes(data)
    refusal(tmp_path / "a.jpg")


def test_the_files_of_the_fuzz_are_photos(tmp_path: Path) -> None:
    for data in SOURCES.values():
        (tmp_path / "a").write_bytes(data)
        assert min(open_image(tmp_path / "a").shape[:2]) == 24
