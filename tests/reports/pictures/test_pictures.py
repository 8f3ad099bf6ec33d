"""The paper's pictures, drawn from small networks and small photos."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import torch

from t2onet.data import open_dataset
from t2onet.errors import DataError
from t2onet.reports.pictures import PICTURES, Wish, picture_of, resolution
from t2onet.reports.pictures.once import done_once, edit_by
from t2onet.reports.sheets import CELL, GAP, MARGIN
from t2onet.reports.tables.runs import Place, trained
from tests.conftest import EXAMPLES
from tests.reports.tables.made import GAN, NAMES, T2ONET, small_pairs
from tests.training.made import packed_folder


@pytest.fixture(scope="module")
def wish(tmp_path_factory: pytest.TempPathFactory) -> Wish:
    """Of four pairs and two runs."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("pictures")
    place = Place(folder / "runs", packed_folder(folder), cpu=True, stream=StringIO())
    trained([T2ONET, GAN], place, str)
    return Wish(open_dataset(small_pairs(folder)), place.runs, folder / "results", count=2)


@pytest.fixture
def photos(wish: Wish) -> Wish:
    return replace(wish, photos=[EXAMPLES / "dogs.jpg"])


def size(data: bytes) -> tuple[int, int]:
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return picture.size


def rows_wide(count: int) -> int:
    """Of a sheet with so many pictures in a row."""
    return count * (CELL + GAP) - GAP + 2 * MARGIN


@pytest.mark.slow
def test_a_trajectory_ends_near_its_target(wish: Wish) -> None:
    files = picture_of("planning-trajectories").draw(wish)
    rows = list(csv.DictReader(files["figures.csv"].decode().splitlines()))
    assert len({row["pair"] for row in rows}) == 2
    for pair in {row["pair"] for row in rows}:
        costs = [float(row["L1"]) for row in rows if row["pair"] == pair]
        assert costs == sorted(costs, reverse=True)
        assert costs[-1] < costs[0] / 3
    assert size(files["pairs.png"])[0] >= rows_wide(3)


def test_ten_requests_for_each_width_that_has_weights(wish: Wish, photos: Wish) -> None:
    (sheet,) = picture_of("requests-by-width").draw(wish).values()
    (own,) = picture_of("requests-by-width").draw(photos).values()
    assert size(sheet)[0] == size(own)[0] == rows_wide(11)
    assert size(sheet)[1] > 1.5 * size(own)[1]
    with pytest.raises(DataError, match="no model of any width has weights"):
        picture_of("requests-by-width").draw(replace(wish, runs=Path("nowhere")))


def test_several_answers_to_one_request(photos: Wish) -> None:
    files = picture_of("several-answers").draw(replace(photos, request="brighter"))
    assert list(files) == ["photos.png"]
    assert size(files["photos.png"])[0] >= rows_wide(4)
    with pytest.raises(DataError, match="there are no weights in nowhere/paper; train that run"):
        picture_of("several-answers").draw(replace(photos, runs=Path("nowhere")))


def test_systems_side_by_side(wish: Wish) -> None:
    """Input and target, and of the main table: inputs again, Pix2pixAug, T2ONet, default twice."""
    (sheet,) = picture_of("side-by-side").draw(wish).values()
    assert size(sheet)[0] == rows_wide(7)


def test_a_request_of_ones_own_has_no_target(wish: Wish) -> None:
    assert [one.target is None for one in wish.asked] == [False, False]
    asked = replace(wish, request="darker").asked
    assert [(one.request, one.target) for one in asked] == [("darker", None)] * 2
    assert len({one.name for one in wish.cases} & {*NAMES}) == 2


LINES = """dataset,system,figure,value,low,high,paper,note
MA5k-Req,Input,L1,0.12,,,0.119,
MA5k-Req,h = 0,L1,0.08,,,0.0784,
MA5k-Req,h = 0,sigma x 100,0.5,,,0.719,
MA5k-Req,h = 0.1,L1,0.1,,,0.0979,
MA5k-Req,h = 0.1,sigma x 100,1.5,,,2.1482,
"""


def test_the_trade_off_is_drawn_from_its_table(wish: Wish, tmp_path: Path) -> None:
    wish = replace(wish, results=tmp_path)
    with pytest.raises(DataError, match="`t2o reproduce sampling-width DATASET` makes it"):
        picture_of("trade-off").draw(wish)
    (tmp_path / "sampling-width").mkdir()
    table = tmp_path / "sampling-width" / "table.csv"
    table.write_text(LINES)
    data = picture_of("trade-off").draw(wish)["chart.png"]
    blue, green = (coloured(data, ink) for ink in ((0x79, 0xB4, 0xFF), (0x63, 0xD4, 0x89)))
    assert min(blue) > 100
    assert max(green) > max(blue)
    table.write_text(LINES.splitlines()[0] + "\n")
    with pytest.raises(DataError, match="has no row with both L1 and sigma"):
        picture_of("trade-off").draw(wish)


def coloured(data: bytes, ink: tuple[int, int, int]) -> np.ndarray:
    """How far from the left the pixels of a colour are."""
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return np.nonzero((np.asarray(picture) == ink).all(-1))[1]


@pytest.mark.slow
def test_both_sizes_are_edited_and_measured(photos: Wish, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolution, "LARGE", 400_000)
    monkeypatch.setattr(resolution, "SYSTEMS", {"T2ONet": "paper"})
    files = picture_of("resolution").draw(photos)
    rows = list(csv.DictReader(files["figures.csv"].decode().splitlines()))
    assert [(row["system"], row["size"]) for row in rows] == [
        ("T2ONet", "256 px"),
        ("T2ONet", "0.4 MP"),
    ]
    assert all(float(row["seconds"]) > 0 and float(row["memory (GB)"]) > 0.05 for row in rows)
    assert float(rows[1]["apart"]) < 3
    assert int(rows[1]["width"]) * int(rows[1]["height"]) == pytest.approx(400_000, rel=0.01)
    assert size(files["photos.png"])[0] > 900


@pytest.mark.parametrize("run", ["paper", "pix2pixaug"])
def test_an_edit_keeps_the_size_of_a_photo(wish: Wish, run: str) -> None:
    photo = np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8)
    made = edit_by(wish.weights(run), "brighter")(photo)
    assert (made.shape, made.dtype) == (photo.shape, np.uint8)


@pytest.mark.slow
def test_an_edit_that_does_not_fit_is_told(wish: Wish, tmp_path: Path) -> None:
    np.save(tmp_path / "photo.npy", np.zeros((4000, 4000, 3), np.uint8))
    out = tmp_path / "made.npy"
    assert done_once(wish.weights("pix2pixaug"), tmp_path / "photo.npy", "x", out, limit=1.5) is None
    assert not out.exists()


def test_a_picture_that_is_none() -> None:
    with pytest.raises(DataError, match=r"there is no picture 'portrait'; there are planning-trajectories, "):
        picture_of("portrait")
    assert all(picture.title for picture in PICTURES.values())
