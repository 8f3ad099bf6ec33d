"""HEIC, where pillow-heif is installed."""

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.errors import ImageError
from t2onet.image import image_from_array, open_image
from tests.image.made import exif_block, photo, profile

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
