"""16-bit samples, separate planes and HEIC are read and written exactly."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from PIL import ImageFile

from t2onet.errors import ImageError
from t2onet.image import codecs, image_from_array, open_image
from tests.image.helpers import exif_block, numbers, photo, png_chunk, png_file, profile, tiff_file


def noise(channels: int, seed: int = 0) -> np.ndarray:
    samples = np.random.default_rng(seed).integers(0, 65536, (19, 23, channels), dtype=np.uint16)
    return samples[..., 0] if channels == 1 else samples


def as_photo(samples: np.ndarray) -> np.ndarray:
    """Gray samples spread over three channels, alpha last."""
    if samples.ndim == 2:
        return np.stack([samples] * 3, axis=-1)
    if samples.shape[2] == 2:
        return samples[..., [0, 0, 0, 1]]
    return samples


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("filter_type", [0, 2])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png(tmp_path: Path, channels: int, filter_type: int, interlaced: bool) -> None:
    data = png_file(noise(channels), filter_type=filter_type, interlaced=interlaced)
    (tmp_path / "a.png").write_bytes(data)
    image = open_image(tmp_path / "a.png")
    np.testing.assert_array_equal(np.asarray(image), as_photo(noise(channels)))
    assert image.origin.gray == (channels < 3)
    assert image.notes == ()


@pytest.mark.parametrize("compression", [1, 8])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_tiff(tmp_path: Path, channels: int, order: str, compression: int) -> None:
    (tmp_path / "a.tif").write_bytes(tiff_file(noise(channels), order=order, compression=compression))
    image = open_image(tmp_path / "a.tif")
    np.testing.assert_array_equal(np.asarray(image), as_photo(noise(channels)))
    assert image.notes == ()


@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("channels", [3, 4])
def test_what_is_written_is_read_and_pillow_sees_its_high_bytes(
    tmp_path: Path, channels: int, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    samples = np.random.default_rng(1).integers(0, 65536, (300, 700, channels), dtype=np.uint16)
    image_from_array(samples).save(path)
    np.testing.assert_array_equal(np.asarray(open_image(path)), samples)
    with PIL.Image.open(path) as seen:
        np.testing.assert_array_equal(np.asarray(seen), samples >> 8)


@pytest.mark.parametrize(
    ("source", "channels"),
    [("png", 1), ("png", 2), ("png", 3), ("png", 4), ("tif", 1), ("tif", 3), ("tif", 4)],
)
@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_a_deep_photo_survives_an_edit(tmp_path: Path, source: str, channels: int, suffix: str) -> None:
    data = png_file(noise(channels)) if source == "png" else tiff_file(noise(channels))
    (tmp_path / f"a.{source}").write_bytes(data)
    image = open_image(tmp_path / f"a.{source}")
    edited = image.with_pixels(65535 - image.pixels)
    edited.save(tmp_path / f"b{suffix}")
    np.testing.assert_array_equal(np.asarray(open_image(tmp_path / f"b{suffix}")), np.asarray(edited))


def test_premultiplied_colours_are_divided_at_full_depth(tmp_path: Path) -> None:
    samples = np.full((4, 4, 4), 32768, np.uint16)
    samples[..., 0] = 16384
    data = tiff_file(samples, tags=[(338, 3, b"\1\0")])
    (tmp_path / "a.tif").write_bytes(data)
    image = open_image(tmp_path / "a.tif")
    assert image.pixels[0, 0].tolist() == [32768, 65535, 65535]


def test_a_colour_declared_transparent_is(tmp_path: Path) -> None:
    samples = noise(3)
    samples[3, 4] = (1, 2, 3)
    data = png_file(samples)
    key = png_chunk(b"tRNS", b"\0\1\0\2\0\3")
    (tmp_path / "a.png").write_bytes(data[:33] + key + data[33:])
    alpha = open_image(tmp_path / "a.png").alpha
    assert alpha is not None
    assert alpha[3, 4] == 0
    assert np.count_nonzero(alpha == 0) == 1


def test_an_unknown_raw_mode_falls_back_to_eight_bits_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(file: ImageFile.ImageFile, again: object) -> None:
        raise ValueError("unrecognized raw mode")

    monkeypatch.setattr(codecs, "decode_sixteen_bit", unknown)
    (tmp_path / "a.png").write_bytes(png_file(photo(dtype=np.uint16)))
    image = open_image(tmp_path / "a.png")
    np.testing.assert_array_equal(image.pixels, photo(dtype=np.uint16) >> 8)
    assert "8 bits" in image.notes[0]


def planar(samples: np.ndarray, order: str, extra: int | None = None, photometric: int = 2) -> bytes:
    planes = np.ascontiguousarray(np.moveaxis(samples, -1, 0))
    size, count = planes[0].nbytes, len(planes)
    tags = [
        (262, 3, numbers(3, [photometric], order)),
        (273, 4, numbers(4, [8 + size * index for index in range(count)], order)),
        (279, 4, numbers(4, [size] * count, order)),
        (284, 3, numbers(3, [2], order)),
        *([] if extra is None else [(338, 3, numbers(3, [extra], order))]),
    ]
    return tiff_file(planes.reshape(samples.shape), order=order, tags=tags, alpha=photometric == 2)


def plane_noise(channels: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 65536, (19, 23, channels), dtype=np.uint16)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("channels", [3, 4])
def test_every_plane_finds_its_place(tmp_path: Path, channels: int, order: str) -> None:
    extra = 2 if channels == 4 else None
    (tmp_path / "a.tif").write_bytes(planar(plane_noise(channels), order, extra))
    image = open_image(tmp_path / "a.tif")
    np.testing.assert_array_equal(np.asarray(image), plane_noise(channels))
    assert image.notes == ()


def test_an_unused_fourth_plane_is_not_alpha(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(planar(plane_noise(4), "<", extra=0))
    np.testing.assert_array_equal(np.asarray(open_image(tmp_path / "a.tif")), plane_noise(4)[..., :3])


def test_premultiplied_planes_are_divided(tmp_path: Path) -> None:
    samples = np.full((4, 4, 4), 32768, np.uint16)
    (tmp_path / "a.tif").write_bytes(planar(samples, "<", extra=1))
    assert open_image(tmp_path / "a.tif").pixels[0, 0].tolist() == [65535] * 3


def test_eight_bits_are_left_to_pillow(tmp_path: Path) -> None:
    samples = (plane_noise(3) >> 8).astype(np.uint8)
    (tmp_path / "a.tif").write_bytes(planar(samples, "<"))
    np.testing.assert_array_equal(open_image(tmp_path / "a.tif").pixels, samples)
    with PIL.Image.open(tmp_path / "a.tif") as seen:
        np.testing.assert_array_equal(np.asarray(seen), samples)


def test_other_spaces_are_refused_rather_than_mixed_up(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(planar(plane_noise(4), "<", photometric=5))
    with pytest.raises(ImageError, match="save it as RGB"):
        open_image(tmp_path / "a.tif")


pillow_heif = pytest.importorskip("pillow_heif", reason="HEIC needs the extra 'files'")


def heic(array: np.ndarray, **parts: object) -> bytes:
    output = io.BytesIO()
    if array.dtype == np.uint16:
        file = pillow_heif.from_bytes("RGB;16", (array.shape[1], array.shape[0]), array.tobytes())
    else:
        file = pillow_heif.from_pillow(PIL.Image.fromarray(array))
    file.save(output, quality=-1, chroma=444, **parts)
    return output.getvalue()


def test_a_photo_comes_back_and_untouched_is_untouched(tmp_path: Path) -> None:
    (tmp_path / "a.heic").write_bytes(heic(photo(64, 96)))
    image = open_image(tmp_path / "a.heic")
    np.testing.assert_allclose(image.pixels.astype(int), photo(64, 96), atol=4)
    image.save(tmp_path / "b.heic")
    assert (tmp_path / "b.heic").read_bytes() == (tmp_path / "a.heic").read_bytes()


def test_ten_bits_are_kept_and_white_is_white(tmp_path: Path) -> None:
    white = np.full((64, 64, 3), 65535, np.uint16)
    (tmp_path / "a.heic").write_bytes(heic(white))
    image = open_image(tmp_path / "a.heic")
    assert image.dtype == np.uint16
    assert image.pixels.min() == 65535
    assert "rounded" in image.with_pixels(image.pixels.copy()).save(tmp_path / "b.heic").notes[0]


def test_a_turned_photo_is_turned_once(tmp_path: Path) -> None:
    (tmp_path / "a.heic").write_bytes(heic(photo(64, 96), exif=b"Exif\0\0" + exif_block(6)))
    image = open_image(tmp_path / "a.heic")
    stored = pillow_heif.open_heif(tmp_path / "a.heic")
    assert (image.width, image.height) == stored.size
    image.save(tmp_path / "b.jpg")
    again = open_image(tmp_path / "b.jpg")
    assert again.shape == image.shape


def test_what_travels_along(tmp_path: Path) -> None:
    pillow_parts = {"exif": b"Exif\0\0" + exif_block(), "icc_profile": profile(), "xmp": b"<x/>"}
    PIL.Image.fromarray(photo(64, 96)).save(tmp_path / "a.jpg", **pillow_parts)
    open_image(tmp_path / "a.jpg").save(tmp_path / "b.heic")
    image = open_image(tmp_path / "b.heic")
    assert image.origin.icc == profile()
    assert image.origin.exif is not None
    assert image.origin.xmp == b"<x/>"


@pytest.mark.parametrize("channels", [3, 4])
def test_alpha_and_colour(tmp_path: Path, channels: int) -> None:
    image_from_array(photo(64, 96, channels=channels)).save(tmp_path / "a.heic")
    assert open_image(tmp_path / "a.heic").shape == (64, 96, channels)


def test_gray_is_read_as_gray(tmp_path: Path) -> None:
    (tmp_path / "a.heic").write_bytes(heic(photo(64, 96)[..., 1]))
    image = open_image(tmp_path / "a.heic")
    assert image.shape == (64, 96, 3)
    image.with_pixels(image.pixels.copy()).save(tmp_path / "b.heic")


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
def test_a_damaged_file(tmp_path: Path, part: float) -> None:
    data = heic(photo(64, 96))
    (tmp_path / "a.heic").write_bytes(data[: int(part * len(data))])
    with pytest.raises(ImageError, match="copy it again"):
        open_image(tmp_path / "a.heic")


def test_the_limit_on_pixels_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.heic").write_bytes(heic(photo(64, 96)))
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(ImageError, match="96 x 64 pixels"):
        open_image(tmp_path / "a.heic")
