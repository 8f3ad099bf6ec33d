"""Pictures of a study: pixels only, at screen size, wrecked where that is wanted."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.studies.database import NotFound, RatingSettings, StudyDatabase
from t2onet.studies.pages import (
    LONG_SIDE,
    StudyPicture,
    find_page_picture,
    find_rated_picture,
    next_rating_page,
    wreck,
)
from tests.studies.helpers import picture, raters, rating_study, what, work_through


def decode(data: bytes) -> np.ndarray:
    with PIL.Image.open(io.BytesIO(data)) as file:
        assert file.format == "JPEG"
        return np.asarray(file.convert("RGB"))


def test_nothing_but_pixels_leaves_the_file(tmp_path: Path) -> None:
    exif = PIL.Image.Exif()
    exif[0x0131] = "SuperGAN 3000"
    path = tmp_path / "supergan.jpg"
    PIL.Image.new("RGB", (30, 20), (90, 60, 30)).save(path, exif=exif, comment=b"SuperGAN")
    shown = StudyPicture(path).to_jpeg()
    assert b"SuperGAN" in path.read_bytes()
    assert b"SuperGAN" not in shown
    assert np.abs(decode(shown).astype(int) - (90, 60, 30)).max() <= 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1000, 4000), (4000, 1000), (20, 30)])
def test_large_pictures_come_at_screen_size(tmp_path: Path, size: tuple[int, int]) -> None:
    path = picture(tmp_path / "a.png", size=size)
    height, width = decode(StudyPicture(path).to_jpeg()).shape[:2]
    assert max(height, width) == min(max(size), LONG_SIDE)
    assert width / height == pytest.approx(size[1] / size[0], rel=0.01)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png", seed=1)
    before = StudyPicture(path).to_jpeg()
    assert StudyPicture(path).to_jpeg() is before
    picture(path, seed=2)
    assert StudyPicture(path).to_jpeg() != before


@pytest.mark.parametrize("size", [(2, 2), (23, 47), (100, 61), (300, 400)])
def test_a_wrecked_picture_is_another_of_the_same_size(size: tuple[int, int]) -> None:
    rows, columns = np.mgrid[0 : size[0], 0 : size[1]]
    pixels = np.stack([rows % 256, columns % 256, (rows + columns) % 256], axis=-1).astype(np.uint8)
    wrecked = wreck(pixels)
    assert wrecked.shape == pixels.shape
    assert np.abs(wrecked.astype(int) - pixels).mean() > 60


def test_each_place_shows_its_own_picture(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 2, RatingSettings(checks=0.5, repeats=0))
    (rater,) = raters(store, study, 1)
    for page in work_through(store, rater):
        name = page.request.split()[1]
        assert find_page_picture(store, page.page, "input").path == tmp_path / "in" / f"{name}.png"
        for token in page.pictures:
            system, known = what(store, token)
            shown = find_rated_picture(store, token)
            assert shown.path == tmp_path / (system or "in") / f"{name}.png"
            assert shown.wrecked == (known == "wrecked")


def test_a_rater_cannot_ask_for_the_target(store: StudyDatabase, tmp_path: Path) -> None:
    study = rating_study(store, tmp_path, 1)
    page = next_rating_page(store, *raters(store, study, 1))
    assert page is not None
    with pytest.raises(NotFound):
        find_page_picture(store, page.page, "target")
    for token in ("", "x", page.page):
        with pytest.raises(NotFound):
            find_rated_picture(store, token)
