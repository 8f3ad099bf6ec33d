"""Photos of every kind are opened as they are, or refused with a clear error."""

from __future__ import annotations

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
from PIL import ImageCms

from t2onet.errors import ImageError
from t2onet.image import image_from_array, open_image, pixels, reading
from tests.image.helpers import (
    encode,
    exif_block,
    numbers,
    photo,
    pillow,
    png_chunk,
    png_file,
    profile,
    tiff_file,
)


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".png", {}),
        (".tif", {}),
        (".bmp", {}),
        (".webp", {"lossless": True}),
        (".tif", {"compression": "tiff_lzw"}),
    ],
)
def test_a_lossless_photo_is_read_exactly(tmp_path: Path, suffix: str, options: dict) -> None:
    image = open_image(pillow(tmp_path / f"a{suffix}", photo(), **options))
    np.testing.assert_array_equal(image.pixels, photo())
    assert image.alpha is None
    assert image.notes == ()


def test_the_content_decides_not_the_name(tmp_path: Path) -> None:
    (tmp_path / "a.heic").write_bytes(encode(photo(), "JPEG"))
    assert open_image(tmp_path / "a.heic").origin.format == "JPEG"


@pytest.mark.parametrize("suffix", [".png", ".tif", ".webp"])
def test_alpha_is_read(tmp_path: Path, suffix: str) -> None:
    options = {"lossless": True, "exact": True} if suffix == ".webp" else {}
    image = open_image(pillow(tmp_path / f"a{suffix}", photo(channels=4), **options))
    np.testing.assert_array_equal(np.asarray(image), photo(channels=4))


@pytest.mark.parametrize("channels", [slice(0, 3), slice(0, 4), slice(0, 2), 1])
def test_bands_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channels: slice | int) -> None:
    path = pillow(tmp_path / "a.png", photo(channels=4)[..., channels])
    whole = np.asarray(open_image(path))
    monkeypatch.setattr(reading, "_BAND_PIXELS", 5 * 36)
    np.testing.assert_array_equal(np.asarray(open_image(path)), whole)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
def test_gray_has_three_equal_channels(tmp_path: Path, suffix: str) -> None:
    image = open_image(pillow(tmp_path / f"a{suffix}", photo()[..., 1]))
    assert image.shape == (24, 36, 3)
    assert image.origin.gray
    assert np.ptp(image.pixels, axis=-1).max() == 0


def test_black_and_white_is_gray(tmp_path: Path) -> None:
    PIL.Image.fromarray(photo()[..., 1]).convert("1").save(tmp_path / "a.png")
    image = open_image(tmp_path / "a.png")
    assert set(np.unique(image.pixels)) == {0, 255}
    assert image.origin.gray


def test_gray_with_alpha(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo()[..., :2]))
    np.testing.assert_array_equal(np.asarray(image), photo()[..., [0, 0, 0, 1]])


@pytest.mark.parametrize("suffix", [".png", ".gif"])
def test_a_palette_becomes_its_colours(tmp_path: Path, suffix: str) -> None:
    indexed = PIL.Image.fromarray(photo()).quantize(16)
    indexed.save(tmp_path / f"a{suffix}")
    image = open_image(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(image.pixels, np.asarray(indexed.convert("RGB")))


def test_a_transparent_palette_entry_is_transparent(tmp_path: Path) -> None:
    indexed = PIL.Image.fromarray(photo()).quantize(16)
    indexed.save(tmp_path / "a.png", transparency=3)
    alpha = open_image(tmp_path / "a.png").alpha
    np.testing.assert_array_equal(alpha, np.where(np.asarray(indexed) == 3, 0, 255))


@pytest.mark.parametrize("suffix", [".jpg", ".tif"])
def test_cmyk_is_converted_and_said(tmp_path: Path, suffix: str) -> None:
    PIL.Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / f"a{suffix}")
    image = open_image(tmp_path / f"a{suffix}")
    red, green, blue = image.pixels[4, 4]
    assert red > 200
    assert green < 60
    assert blue < 60
    assert "CMYK" in image.notes[0]
    assert image.origin.icc is None
    assert image.origin.jpeg is None


@pytest.mark.parametrize("mode", ["LAB", "YCbCr"])
def test_other_spaces_in_a_tiff_become_rgb(tmp_path: Path, mode: str) -> None:
    rgb = PIL.Image.new("RGB", (8, 8), (200, 100, 50))
    if mode == "LAB":
        to_lab = ImageCms.buildTransform(
            ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB"
        )
        other = ImageCms.applyTransform(rgb, to_lab)
    else:
        other = rgb.convert("YCbCr")
    other.save(tmp_path / "a.tif", compression="tiff_adobe_deflate")
    image = open_image(tmp_path / "a.tif")
    np.testing.assert_allclose(image.pixels[0, 0].astype(int), (200, 100, 50), atol=3)


def test_a_gray_float_tiff_is_taken_as_it_is(tmp_path: Path) -> None:
    gray = photo(dtype=np.float32)[..., 0]
    image = open_image(pillow(tmp_path / "a.tif", gray))
    np.testing.assert_array_equal(image.pixels[..., 2], gray)


def test_a_gray_tiff_may_count_down(tmp_path: Path) -> None:
    gray = photo(dtype=np.uint16)[..., 1]
    (tmp_path / "a.tif").write_bytes(tiff_file(gray, tags=[(262, 3, b"\0\0")]))
    np.testing.assert_array_equal(open_image(tmp_path / "a.tif").pixels[..., 0], 65535 - gray)


def test_twelve_bits_fill_the_scale(tmp_path: Path) -> None:
    packed = np.tile(np.array([0xFF, 0xF0, 0x00], np.uint8), (4, 2))
    data = tiff_file(packed, tags=[(256, 4, b"\4\0\0\0"), (258, 3, b"\x0c\0")])
    (tmp_path / "a.tif").write_bytes(data)
    assert open_image(tmp_path / "a.tif").pixels[0, :, 0].tolist() == [65535, 0, 65535, 0]


@pytest.mark.parametrize(("primaries", "notes"), [(1, 0), (12, 1)])
def test_a_space_given_by_number_is_said(tmp_path: Path, primaries: int, notes: int) -> None:
    data = encode(photo(), "PNG")
    (tmp_path / "a.png").write_bytes(data[:33] + png_chunk(b"cICP", bytes([primaries, 13, 0, 1])) + data[33:])
    assert len(open_image(tmp_path / "a.png").notes) == notes


@pytest.mark.parametrize(
    ("suffix", "kind"), [(".gif", "frame"), (".webp", "frame"), (".png", "frame"), (".tif", "page")]
)
def test_more_frames_are_said(tmp_path: Path, suffix: str, kind: str) -> None:
    frames = [PIL.Image.fromarray(np.roll(photo(), 5 * step, axis=1)) for step in range(4)]
    frames[0].save(tmp_path / f"a{suffix}", save_all=True, append_images=frames[1:])
    image = open_image(tmp_path / f"a{suffix}")
    assert f"3 more {kind}s were left out" in image.notes[0]
    if suffix in (".png", ".tif"):
        np.testing.assert_array_equal(image.pixels[..., :3], photo())


def test_a_smaller_copy_in_a_tiff_is_not_a_page(tmp_path: Path) -> None:
    full = tiff_file(photo(), tags=[(254, 4, b"\0\0\0\0")])
    small_at = len(full)
    first = int.from_bytes(full[4:8], "little")
    link = first + 2 + 12 * int.from_bytes(full[first : first + 2], "little")
    linked = full[:link] + small_at.to_bytes(4, "little") + full[link + 4 :]
    page = b"\1\0" + b"\xfe\0\4\0\1\0\0\0" + b"%c\0\0\0" + b"\0\0\0\0"
    for reduced, notes in ((1, 0), (0, 1)):
        (tmp_path / "a.tif").write_bytes(linked + page.replace(b"%c", bytes([reduced])))
        assert len(open_image(tmp_path / "a.tif").notes) == notes


def test_a_big_tiff_is_read_and_its_metadata_said_to_be_lost(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.tif", photo(), big_tiff=True))
    np.testing.assert_array_equal(image.pixels, photo())
    assert "BigTIFF" in image.notes[0]


def test_a_stereo_photo_says_that_the_other_picture_is_left_out(tmp_path: Path) -> None:
    frames = [PIL.Image.fromarray(photo()), PIL.Image.fromarray(photo()[::-1])]
    frames[0].save(tmp_path / "a.mpo", save_all=True, append_images=frames[1:])
    image = open_image(tmp_path / "a.mpo")
    assert image.origin.format == "JPEG"
    assert "1 more frame was left out" in image.notes[0]


@pytest.mark.parametrize(
    "packet", [b'<x hdrgm:Version="1.0"/>', b'<x HDRGainMap:HDRGainMapVersion="65536"/>']
)
def test_a_gain_map_is_said_once(tmp_path: Path, packet: bytes) -> None:
    frames = [PIL.Image.fromarray(photo()), PIL.Image.fromarray(photo()[::2, ::2])]
    frames[0].save(tmp_path / "a.mpo", save_all=True, append_images=frames[1:], xmp=packet)
    (note,) = open_image(tmp_path / "a.mpo").notes
    assert "gain map cannot be kept" in note
    assert open_image(tmp_path / "a.mpo").origin.xmp == b"<x/>"


def test_a_motion_photo_is_said(tmp_path: Path) -> None:
    pillow(tmp_path / "a.jpg", photo(), xmp=b'<x GCamera:MotionPhoto="1" dc:a="b"/>')
    image = open_image(tmp_path / "a.jpg")
    assert "film" in image.notes[0]
    assert image.origin.xmp == b'<x dc:a="b"/>'


def test_metadata_behind_the_pixels_of_a_png_is_found(tmp_path: Path) -> None:
    data = encode(photo(24, 36), "PNG")
    (tmp_path / "a.png").write_bytes(data[:-12] + png_chunk(b"eXIf", exif_block(6)) + data[-12:])
    image = open_image(tmp_path / "a.png")
    assert (image.width, image.height) == (24, 36)


def test_exif_hidden_in_the_text_of_a_png_is_found(tmp_path: Path) -> None:
    block = b"Exif\0\0" + exif_block(8)
    text = b"Raw profile type exif\0\nexif\n%8d\n" % len(block) + block.hex().encode()
    data = encode(photo(24, 36), "PNG")
    (tmp_path / "a.png").write_bytes(data[:33] + png_chunk(b"tEXt", text) + data[33:])
    image = open_image(tmp_path / "a.png")
    assert (image.width, image.height) == (24, 36)
    assert image.origin.exif is not None
    assert image.origin.text == ()


@pytest.mark.parametrize("lossless", [True, False])
def test_the_kind_of_a_webp_is_known(tmp_path: Path, lossless: bool) -> None:
    path = pillow(tmp_path / "a.webp", photo(), lossless=lossless, icc_profile=profile())
    assert open_image(path).origin.lossless is lossless


def test_resolution_is_read(tmp_path: Path) -> None:
    for suffix in (".jpg", ".png", ".tif"):
        dpi = open_image(pillow(tmp_path / f"a{suffix}", photo(), dpi=(300, 300))).origin.dpi
        assert dpi == pytest.approx((300, 300), abs=0.01)
    assert open_image(pillow(tmp_path / "b.tif", photo())).origin.dpi is None


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
    data = encode(noise, name)
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
    (tmp_path / "a").write_bytes(encode(photo(40, 60), name))
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 1000)
    words = refusal(tmp_path / "a")
    assert "60 x 40 pixels" in words or (name == "WEBP" and "2400 pixels" in words)
    assert "more than the 0.002 megapixels allowed" in words
    assert "--max-megapixels 0.003" in words


@pytest.mark.parametrize("name", ["PNG", "WEBP", "TIFF", "JPEG", "GIF", "BMP", "AVIF"])
def test_a_large_photo_within_the_limit_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "a").write_bytes(encode(photo(40, 60), name))
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
    "jpeg": encode(photo(), "JPEG", exif=EXIF, icc_profile=profile(), xmp=b"<x/>", comment=b"hello"),
    "progressive": encode(photo(), "JPEG", progressive=True),
    "png": encode(photo(channels=4), "PNG", exif=EXIF, icc_profile=profile()),
    "deep png": png_file(photo(dtype=np.uint16)),
    "tiff": encode(photo(), "TIFF", compression="tiff_lzw", icc_profile=profile()),
    "deep tiff": tiff_file(photo(dtype=np.uint16), compression=8, tags=[(271, 2, b"Maker\0")]),
    "webp": encode(photo(), "WEBP", exif=EXIF, icc_profile=profile()),
    "avif": encode(photo(), "AVIF"),
    "gif": encode(photo()[..., 0], "GIF"),
    "bmp": encode(photo(), "BMP"),
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


pytest.importorskip("rawpy", reason="camera RAW needs the extra 'files'")


def dng(height: int = 64, width: int = 96, *, orientation: int = 1, colour: bool = True) -> bytes:
    """A sensor whose left half is bright, under a Bayer pattern (red, green, green, blue) or under none."""
    sensor = np.full((height, width), 3000, np.uint16)
    sensor[:, : width // 2] = 40000
    matrix = (3.2405, -1.5371, -0.4985, -0.9693, 1.8760, 0.0416, 0.0556, -0.2040, 1.0572)
    tags = [
        (254, 4, numbers(4, [0], "<")),
        (262, 3, numbers(3, [32803 if colour else 34892], "<")),
        (271, 2, b"Maker\0"),
        (272, 2, b"Model\0"),
        (274, 3, numbers(3, [orientation], "<")),
        (33421, 3, numbers(3, [2, 2], "<")),
        (33422, 1, b"\0\1\1\2"),
        (50706, 1, b"\1\4\0\0"),
        (50708, 2, b"Maker Model\0"),
        (50714, 3, numbers(3, [0], "<")),
        (50717, 4, numbers(4, [65535], "<")),
        (50721, 10, b"".join(struct.pack("<ll", round(value * 10000), 10000) for value in matrix)),
        (50728, 5, struct.pack("<6L", 1, 1, 1, 1, 1, 1)),
        (50778, 3, numbers(3, [21], "<")),
    ]
    return tiff_file(sensor, tags=tags)


def test_a_raw_is_developed_at_sixteen_bits(tmp_path: Path) -> None:
    (tmp_path / "a.dng").write_bytes(dng())
    image = open_image(tmp_path / "a.dng")
    assert image.dtype == np.uint16
    assert image.shape == (64, 96, 3)
    assert image.pixels[:, :40].mean() > 3 * image.pixels[:, 56:].mean()
    assert image.notes == ()


def test_a_camera_without_colours_gives_a_gray_photo(tmp_path: Path) -> None:
    (tmp_path / "a.dng").write_bytes(dng(colour=False))
    image = open_image(tmp_path / "a.dng")
    assert image.shape == (64, 96, 3)
    assert image.origin.gray


def test_its_metadata_travels_but_does_not_make_the_result_a_dng(tmp_path: Path) -> None:
    (tmp_path / "a.dng").write_bytes(dng())
    open_image(tmp_path / "a.dng").save(tmp_path / "b.tif")
    with PIL.Image.open(tmp_path / "b.tif") as file:
        assert file.getexif()[271] == "Maker"
        assert 50706 not in file.getexif()
    assert open_image(tmp_path / "b.tif").dtype == np.uint16


def test_a_turned_raw_is_turned_once(tmp_path: Path) -> None:
    (tmp_path / "a.dng").write_bytes(dng(orientation=6))
    image = open_image(tmp_path / "a.dng")
    assert image.shape == (96, 64, 3)
    assert image.pixels[:40].mean() > image.pixels[56:].mean()
    image.save(tmp_path / "b.tif")
    assert open_image(tmp_path / "b.tif").shape == (96, 64, 3)


@pytest.mark.parametrize("data", [b"not a raw file at all", dng()[:3000]])
def test_a_damaged_raw(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.dng").write_bytes(data)
    with pytest.raises(ImageError):
        open_image(tmp_path / "a.dng")


def test_the_limit_on_pixels_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.dng").write_bytes(dng())
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(ImageError, match="96 x 64 pixels"):
        open_image(tmp_path / "a.dng")


def test_a_jpeg_is_decoded_and_encoded_without_a_copy_and_as_pillow_does(tmp_path: Path) -> None:
    source = pillow(tmp_path / "a.jpg", photo(), quality=80)
    image = open_image(source)
    assert pixels.find_padded(image.pixels) is not None
    np.testing.assert_array_equal(image.pixels, np.asarray(PIL.Image.open(source)))
    image.with_pixels(image.pixels.view()).save(tmp_path / "b.jpg")
    pillow(tmp_path / "c.jpg", np.array(image), quality=80)
    assert (tmp_path / "b.jpg").read_bytes() == (tmp_path / "c.jpg").read_bytes()
