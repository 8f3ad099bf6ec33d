"""Sixteen bits in are sixteen bits out, in every order and compression."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from PIL import ImageFile

from t2onet.image import codecs, image_from_array, open_image
from tests.image.made import photo, png_chunk, png_file, tiff_file


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
