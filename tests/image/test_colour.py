"""Profiles: kept with the photo, used only for its view in sRGB."""

from pathlib import Path

import numpy as np
import pytest
from PIL import ImageCms

from t2onet.image import open_image
from t2onet.image.colour import is_srgb, read_profile_space
from tests.image.helpers import photo, pillow, profile

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg", ".webp", ".avif"])
def test_a_wide_photo_stays_in_its_own_space(tmp_path: Path, suffix: str) -> None:
    plain = open_image(pillow(tmp_path / f"plain{suffix}", photo()))
    wide = open_image(pillow(tmp_path / f"wide{suffix}", photo(), icc_profile=profile()))
    np.testing.assert_array_equal(wide.pixels, plain.pixels)
    wide.with_pixels(wide.pixels.copy()).save(tmp_path / f"out{suffix}")
    assert open_image(tmp_path / f"out{suffix}").origin.icc == profile()


def test_the_view_of_a_wide_photo_is_converted(tmp_path: Path) -> None:
    patch = np.full((4, 4, 3), (200, 120, 100), np.uint8)
    image = open_image(pillow(tmp_path / "a.png", patch, icc_profile=profile(gamma=2.2)))
    view = image.to_srgb()
    red, green, blue = view.pixels[0, 0].astype(int)
    # The same numbers are a more saturated colour in Display P3.
    assert red > 205
    assert green < 120
    assert blue < 100
    assert view.origin.icc is None


def test_the_view_of_an_srgb_photo_is_itself(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo(), icc_profile=SRGB))
    assert image.to_srgb() is image


def test_the_view_has_eight_bits(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo())).with_pixels(photo(dtype=np.uint16))
    assert image.to_srgb().dtype == np.uint8


def test_srgb_is_what_acts_like_srgb() -> None:
    assert is_srgb(SRGB)
    assert not is_srgb(profile(primaries="p3"))
    assert not is_srgb(profile(primaries="srgb", gamma=1.8))
    assert not is_srgb(profile("GRAY"))
    assert [read_profile_space(profile()), read_profile_space(profile("GRAY")), read_profile_space(None)] == [
        "RGB",
        "GRAY",
        None,
    ]


@pytest.mark.parametrize("damage", [b"not a profile at all", profile()[:150], b"\0" * 300])
def test_a_damaged_profile_leaves_the_numbers_and_a_note(tmp_path: Path, damage: bytes) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo(), icc_profile=damage))
    view = image.to_srgb()
    np.testing.assert_array_equal(view.pixels, image.pixels)
    assert "profile is damaged" in view.notes[-1]


def test_the_view_of_a_tinted_gray_photo_is_what_will_be_saved(tmp_path: Path) -> None:
    image = open_image(pillow(tmp_path / "a.png", photo()[..., 1], icc_profile=profile("GRAY", gamma=1.0)))
    np.testing.assert_array_equal(image.with_pixels(photo()).to_srgb().pixels, photo())


def test_the_view_of_a_gray_profile(tmp_path: Path) -> None:
    gray = photo()[..., 1]
    image = open_image(pillow(tmp_path / "a.png", gray, icc_profile=profile("GRAY", gamma=1.0)))
    view = image.to_srgb()
    assert view.pixels[5, 18, 0] > image.pixels[5, 18, 0] + 30
    np.testing.assert_array_equal(view.pixels[..., 0], view.pixels[..., 2])
