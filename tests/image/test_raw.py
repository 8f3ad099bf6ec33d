"""Camera RAW, where rawpy is installed: a small DNG, written by hand."""

import struct
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.errors import ImageError
from t2onet.image import open_image
from tests.image.made import numbers, tiff_file

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
