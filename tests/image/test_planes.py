"""Deep channels that lie one after the other are read as exactly as any."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.errors import ImageError
from t2onet.image import open_image
from tests.image.made import numbers, tiff_file


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


def noise(channels: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 65536, (19, 23, channels), dtype=np.uint16)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("channels", [3, 4])
def test_every_plane_finds_its_place(tmp_path: Path, channels: int, order: str) -> None:
    extra = 2 if channels == 4 else None
    (tmp_path / "a.tif").write_bytes(planar(noise(channels), order, extra))
    image = open_image(tmp_path / "a.tif")
    np.testing.assert_array_equal(np.asarray(image), noise(channels))
    assert image.notes == ()


def test_an_unused_fourth_plane_is_not_alpha(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(planar(noise(4), "<", extra=0))
    np.testing.assert_array_equal(np.asarray(open_image(tmp_path / "a.tif")), noise(4)[..., :3])


def test_premultiplied_planes_are_divided(tmp_path: Path) -> None:
    samples = np.full((4, 4, 4), 32768, np.uint16)
    (tmp_path / "a.tif").write_bytes(planar(samples, "<", extra=1))
    assert open_image(tmp_path / "a.tif").pixels[0, 0].tolist() == [65535] * 3


def test_eight_bits_are_left_to_pillow(tmp_path: Path) -> None:
    samples = (noise(3) >> 8).astype(np.uint8)
    (tmp_path / "a.tif").write_bytes(planar(samples, "<"))
    np.testing.assert_array_equal(open_image(tmp_path / "a.tif").pixels, samples)
    with PIL.Image.open(tmp_path / "a.tif") as seen:
        np.testing.assert_array_equal(np.asarray(seen), samples)


def test_other_spaces_are_refused_rather_than_mixed_up(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(planar(noise(4), "<", photometric=5))
    with pytest.raises(ImageError, match="save it as RGB"):
        open_image(tmp_path / "a.tif")
