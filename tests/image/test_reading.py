"""What is in a file: every mode Pillow knows, and the parts that cannot be kept."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from PIL import ImageCms

from t2onet.image import open_image, reading
from tests.image.made import encoded, exif_block, photo, pillow, png_chunk, profile, tiff_file


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
    (tmp_path / "a.heic").write_bytes(encoded(photo(), "JPEG"))
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
    data = encoded(photo(), "PNG")
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
    data = encoded(photo(24, 36), "PNG")
    (tmp_path / "a.png").write_bytes(data[:-12] + png_chunk(b"eXIf", exif_block(6)) + data[-12:])
    image = open_image(tmp_path / "a.png")
    assert (image.width, image.height) == (24, 36)


def test_exif_hidden_in_the_text_of_a_png_is_found(tmp_path: Path) -> None:
    block = b"Exif\0\0" + exif_block(8)
    text = b"Raw profile type exif\0\nexif\n%8d\n" % len(block) + block.hex().encode()
    data = encoded(photo(24, 36), "PNG")
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
