"""Photos are written with what their format can hold, and notes say what it cannot."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from PIL import JpegImagePlugin, PngImagePlugin

from t2onet.errors import OutputError
from t2onet.image import Image, SavedFile, image_from_array, open_image
from tests.image.helpers import encode, exif_block, photo, pillow, png_file, profile, tiff_file

PHOTOSHOP = b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x08\x1c\x02\x05\0\x03abc"


def copy_pixels(image: Image) -> Image:
    return image.with_pixels(image.pixels.copy())


def jpeg(path: Path) -> Any:
    with PIL.Image.open(path) as file:
        return file


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("quality", [40, 92])
def test_a_jpeg_is_compressed_as_its_source(tmp_path: Path, quality: int, subsampling: int) -> None:
    options = {"quality": quality, "subsampling": subsampling, "progressive": quality == 40}
    path = pillow(tmp_path / "a.jpg", photo(64, 96), **options)
    copy_pixels(open_image(path)).save(tmp_path / "b.jpg")
    source, result = jpeg(path), jpeg(tmp_path / "b.jpg")
    assert result.quantization == source.quantization
    assert JpegImagePlugin.get_sampling(result) == subsampling
    assert result.info.get("progressive") == source.info.get("progressive")


def test_a_quality_overrides_the_source_but_not_its_subsampling(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.jpg", photo(), quality=40, subsampling=2))
    copy_pixels(image).save(tmp_path / "b.jpg", quality=98)
    pillow(tmp_path / "c.jpg", photo(), quality=98)
    assert jpeg(tmp_path / "b.jpg").quantization == jpeg(tmp_path / "c.jpg").quantization
    assert JpegImagePlugin.get_sampling(jpeg(tmp_path / "b.jpg")) == 2


def test_a_jpeg_without_a_jpeg_source_is_fine(tmp_path: Path) -> None:
    image_from_array(photo(64, 96)).save(tmp_path / "b.jpg")
    assert JpegImagePlugin.get_sampling(jpeg(tmp_path / "b.jpg")) == 0
    np.testing.assert_allclose(open_image(tmp_path / "b.jpg").pixels.astype(int), photo(64, 96), atol=4)


def test_a_progressive_jpeg_of_pure_noise_is_still_written(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    image = open_image(pillow(tmp_path / "a.jpg", photo(), quality=100, subsampling=0, progressive=True))
    image.with_pixels(noise).save(tmp_path / "b.jpg")
    np.testing.assert_allclose(open_image(tmp_path / "b.jpg").pixels.astype(int), noise, atol=4)


@pytest.mark.parametrize("error", [AttributeError, PermissionError])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_a_system_without_files_in_memory_gets_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, error: type[Exception]
) -> None:
    image = image_from_array(photo(64, 96))
    image.save(tmp_path / f"a{suffix}")

    def refuse(name: str) -> int:
        raise error(name)

    monkeypatch.setattr(os, "memfd_create", refuse, raising=False)
    image.save(tmp_path / f"b{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_everything_a_jpeg_says_is_kept(tmp_path: Path) -> None:
    extended = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 50
    extra = b"".join(
        bytes([0xFF, marker]) + (len(data) + 2).to_bytes(2, "big") + data
        for marker, data in ((0xED, PHOTOSHOP), (0xE1, extended))
    )
    parts = {
        "comment": b"a lake",
        "dpi": (240, 240),
        "icc_profile": profile(),
        "xmp": b"<x/>",
        "extra": extra,
    }
    path = pillow(tmp_path / "a.jpg", photo(), exif=b"Exif\0\0" + exif_block(), **parts)
    copy_pixels(open_image(path)).save(tmp_path / "b.jpg")
    source, result = jpeg(path), jpeg(tmp_path / "b.jpg")
    for name in ("comment", "dpi", "icc_profile", "xmp", "photoshop"):
        assert result.info[name] == source.info[name]
    assert ("APP1", extended) in result.applist


def test_iptc_travels_between_jpeg_and_tiff(tmp_path: Path) -> None:
    extra = b"\xff\xed" + (len(PHOTOSHOP) + 2).to_bytes(2, "big") + PHOTOSHOP
    image = open_image(pillow(tmp_path / "a.jpg", photo(), extra=extra))
    image.save(tmp_path / "b.tif")
    open_image(tmp_path / "b.tif").save(tmp_path / "c.jpg")
    assert jpeg(tmp_path / "c.jpg").info["photoshop"] == jpeg(tmp_path / "a.jpg").info["photoshop"]
    assert "IPTC" in image.save(tmp_path / "d.png").notes[0]


def test_the_text_of_a_png_is_kept(tmp_path: Path) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Title", "A lake")
    text.add_itxt("Place", "Plitviče")
    path = pillow(tmp_path / "a.png", photo(), pnginfo=text, dpi=(144, 144))
    image = open_image(path)
    copy_pixels(image).save(tmp_path / "b.png")
    with PIL.Image.open(tmp_path / "b.png") as file:
        assert file.text == {"Title": "A lake", "Place": "Plitviče"}
        assert file.info["dpi"] == pytest.approx((144, 144), abs=0.01)
    assert "text entries cannot be kept" in image.save(tmp_path / "b.jpg").notes[0]


@pytest.mark.parametrize("deep", [False, True])
def test_a_png_keeps_exif_profile_and_xmp_at_both_depths(tmp_path: Path, deep: bool) -> None:
    parts = {"icc_profile": profile(), "xmp": b"<x/>", "exif": b"Exif\0\0" + exif_block()}
    image = open_image(pillow(tmp_path / "a.jpg", photo(), **parts))
    image.with_pixels(photo(dtype=np.uint16) if deep else photo()).save(tmp_path / "b.png")
    result = open_image(tmp_path / "b.png")
    assert result.dtype == (np.uint16 if deep else np.uint8)
    assert result.origin.icc == profile()
    assert result.origin.xmp == b"<x/>"
    assert result.origin.exif == image.origin.exif


@pytest.mark.parametrize("suffix", [".jpg", ".webp", ".avif"])
def test_lost_depth_is_said_where_the_source_had_it(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.png").write_bytes(png_file(photo(dtype=np.uint16)))
    deep = open_image(tmp_path / "a.png")
    assert "rounded to the 8 bits" in deep.save(tmp_path / f"b{suffix}").notes[0]
    plain = open_image(pillow(tmp_path / "c.png", photo())).with_pixels(photo(dtype=np.float32))
    assert plain.save(tmp_path / f"d{suffix}").notes == ()


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_floats_are_written_with_sixteen_bits(tmp_path: Path, suffix: str) -> None:
    image_from_array(np.full((4, 4, 3), (0.5, 1.2, -0.1))).save(tmp_path / f"a{suffix}")
    assert open_image(tmp_path / f"a{suffix}").pixels[0, 0].tolist() == [32768, 65535, 0]


def test_transparent_parts_become_white_in_a_jpeg(tmp_path: Path) -> None:
    array = np.zeros((16, 16, 4), np.uint8)
    array[:, 8:, 3] = 255
    saved = image_from_array(array).save(tmp_path / "a.jpg")
    pixels = open_image(tmp_path / "a.jpg").pixels
    assert pixels[8, 0].min() > 250
    assert pixels[8, 15].max() < 5
    assert "filled with white" in saved.notes[0]
    array[..., 3] = 255
    assert image_from_array(array).save(tmp_path / "b.jpg").notes == ()


@pytest.mark.parametrize("suffix", [".png", ".tif", ".webp"])
def test_alpha_is_written(tmp_path: Path, suffix: str) -> None:
    image_from_array(photo(channels=4)).save(tmp_path / f"a{suffix}")
    alpha = open_image(tmp_path / f"a{suffix}").alpha
    np.testing.assert_array_equal(alpha, photo(channels=4)[..., 3])


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif"])
def test_gray_stays_gray_with_its_profile(tmp_path: Path, suffix: str) -> None:
    path = pillow(tmp_path / f"a{suffix}", photo()[..., 1], icc_profile=profile("GRAY"))
    image = open_image(path)
    image.with_pixels(255 - image.pixels).save(tmp_path / f"b{suffix}")
    with PIL.Image.open(tmp_path / f"b{suffix}") as file:
        assert file.mode == "L"
        assert file.info["icc_profile"] == profile("GRAY")


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif"])
def test_tinted_gray_becomes_colour_without_the_gray_profile(tmp_path: Path, suffix: str) -> None:
    image = open_image(pillow(tmp_path / f"a{suffix}", photo()[..., 1], icc_profile=profile("GRAY")))
    tinted = image.pixels.copy()
    tinted[..., 0] //= 2
    saved = image.with_pixels(tinted).save(tmp_path / f"b{suffix}")
    with PIL.Image.open(tmp_path / f"b{suffix}") as file:
        assert file.mode == "RGB"
        assert "icc_profile" not in file.info
    assert "gray profile was left out" in saved.notes[0]


def test_a_deep_gray_stays_deep_and_gray(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(tiff_file(photo(dtype=np.uint16)[..., 1]))
    for suffix in (".tif", ".png"):
        copy_pixels(open_image(tmp_path / "a.tif")).save(tmp_path / f"b{suffix}")
        with PIL.Image.open(tmp_path / f"b{suffix}") as file:
            assert file.mode == "I;16"
            np.testing.assert_array_equal(np.asarray(file), photo(dtype=np.uint16)[..., 1])


@pytest.mark.parametrize("lossless", [True, False])
def test_a_webp_stays_of_its_kind(tmp_path: Path, lossless: bool) -> None:
    image = open_image(pillow(tmp_path / "a.webp", photo(), lossless=lossless))
    copy_pixels(image).save(tmp_path / "b.webp")
    assert open_image(tmp_path / "b.webp").origin.lossless is lossless
    if lossless:
        np.testing.assert_array_equal(open_image(tmp_path / "b.webp").pixels, photo())


@pytest.mark.parametrize(("compression", "compressed"), [(None, False), ("tiff_lzw", True)])
def test_a_tiff_is_compressed_if_its_source_was(
    tmp_path: Path, compression: str | None, compressed: bool
) -> None:
    path = pillow(tmp_path / "a.tif", photo(), compression=compression)
    copy_pixels(open_image(path)).save(tmp_path / "b.tif")
    with PIL.Image.open(tmp_path / "b.tif") as file:
        assert (file.info["compression"] != "raw") is compressed
        np.testing.assert_array_equal(np.asarray(file), photo())


def test_a_tiff_keeps_profile_xmp_and_resolution(tmp_path: Path) -> None:
    parts = {"icc_profile": profile(), "xmp": b"<x/>", "dpi": (300, 300)}
    open_image(pillow(tmp_path / "a.jpg", photo(), **parts)).save(tmp_path / "b.tif")
    with PIL.Image.open(tmp_path / "b.tif") as file:
        assert file.info["icc_profile"] == profile()
        assert file.info["xmp"] == b"<x/>"
        assert file.info["dpi"] == (300, 300)


def test_metadata_too_large_for_a_jpeg_is_said(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.webp", photo(), xmp=b"<x>" + b"y" * 70000 + b"</x>"))
    saved = image.save(tmp_path / "b.jpg")
    assert "XMP data was left out" in saved.notes[0]
    assert open_image(tmp_path / "b.jpg").shape == (24, 36, 3)


def test_pixel_sizes_in_exif_follow_a_smaller_copy(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.jpg", photo(), exif=b"Exif\0\0" + exif_block()))
    image.resize(12).save(tmp_path / "b.jpg")
    details = jpeg(tmp_path / "b.jpg").getexif().get_ifd(0x8769)
    assert (details[0xA002], details[0xA003]) == (18, 12)


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
    assert copy_pixels(image).save(tmp_path / "c.jpg").notes == image.notes
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


@pytest.mark.parametrize("change", [copy_pixels, lambda image: image], ids=["edited", "untouched"])
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
        copy_pixels(open_image(path)).save(path, overwrite=True)
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
    (tmp_path / "a.png").write_bytes(encode(photo(), "JPEG"))
    open_image(tmp_path / "a.png").save(tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
