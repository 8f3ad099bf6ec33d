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
from t2onet.evaluation import pictures
from t2onet.evaluation.pictures import (
    CELL_SIDE,
    GAP,
    MARGIN,
    PAPER_PICTURES,
    PictureOptions,
    find_paper_picture,
)
from t2onet.evaluation.runs import PaperRunOptions, train_missing_runs
from t2onet.evaluation.timing import edit_in_subprocess, open_pixel_edit
from tests.conftest import EXAMPLES
from tests.evaluation.paper_helpers import GAN, NAMES, T2ONET, small_pairs
from tests.training.helpers import make_packed_folder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> PictureOptions:
    """Of four pairs and two runs."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("pictures")
    place = PaperRunOptions(folder / "runs", make_packed_folder(folder), cpu=True, stream=StringIO())
    train_missing_runs([T2ONET, GAN], place, str)
    return PictureOptions(open_dataset(small_pairs(folder)), place.runs, folder / "results", count=2)


@pytest.fixture
def photos(options: PictureOptions) -> PictureOptions:
    return replace(options, photos=[EXAMPLES / "dogs.jpg"])


def size(data: bytes) -> tuple[int, int]:
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return picture.size


def rows_wide(count: int) -> int:
    """Of a sheet with so many pictures in a row."""
    return count * (CELL_SIDE + GAP) - GAP + 2 * MARGIN


def test_a_trajectory_ends_near_its_target(options: PictureOptions) -> None:
    files = find_paper_picture("planning-trajectories").draw(options)
    rows = list(csv.DictReader(files["figures.csv"].decode().splitlines()))
    assert len({row["pair"] for row in rows}) == 2
    for pair in {row["pair"] for row in rows}:
        costs = [float(row["L1"]) for row in rows if row["pair"] == pair]
        assert costs == sorted(costs, reverse=True)
        assert costs[-1] < costs[0] / 3
    assert size(files["pairs.png"])[0] >= rows_wide(3)


def test_ten_requests_for_each_width(options: PictureOptions, photos: PictureOptions) -> None:
    (sheet,) = find_paper_picture("requests-by-width").draw(options).values()
    (own,) = find_paper_picture("requests-by-width").draw(photos).values()
    assert size(sheet)[0] == size(own)[0] == rows_wide(11)
    assert size(sheet)[1] > 1.5 * size(own)[1]
    with pytest.raises(DataError, match="no model of any width has weights"):
        find_paper_picture("requests-by-width").draw(replace(options, runs=Path("nowhere")))


def test_several_answers_to_one_request(photos: PictureOptions) -> None:
    files = find_paper_picture("several-answers").draw(replace(photos, request="brighter"))
    assert list(files) == ["photos.png"]
    assert size(files["photos.png"])[0] >= rows_wide(4)
    with pytest.raises(DataError, match="there are no weights in nowhere/paper; train that run"):
        find_paper_picture("several-answers").draw(replace(photos, runs=Path("nowhere")))


def test_systems_side_by_side(options: PictureOptions) -> None:
    """Input and target, and of the main table: inputs again, Pix2pixAug, T2ONet, default twice."""
    (sheet,) = find_paper_picture("side-by-side").draw(options).values()
    assert size(sheet)[0] == rows_wide(7)


def test_a_request_of_ones_own_has_no_target(options: PictureOptions) -> None:
    assert [one.target is None for one in options.sheet_photos] == [False, False]
    asked = replace(options, request="darker").sheet_photos
    assert [(one.request, one.target) for one in asked] == [("darker", None)] * 2
    assert len({one.name for one in options.cases} & {*NAMES}) == 2


LINES = """dataset,system,figure,value,low,high,paper,note
MA5k-Req,Input,L1,0.12,,,0.119,
MA5k-Req,h = 0,L1,0.08,,,0.0784,
MA5k-Req,h = 0,sigma x 100,0.5,,,0.719,
MA5k-Req,h = 0.1,L1,0.1,,,0.0979,
MA5k-Req,h = 0.1,sigma x 100,1.5,,,2.1482,
"""


def test_the_trade_off_is_drawn_from_its_table(options: PictureOptions, tmp_path: Path) -> None:
    options = replace(options, results=tmp_path)
    with pytest.raises(DataError, match="`t2o reproduce sampling-width DATASET` makes it"):
        find_paper_picture("trade-off").draw(options)
    (tmp_path / "sampling-width").mkdir()
    table = tmp_path / "sampling-width" / "table.csv"
    table.write_text(LINES)
    data = find_paper_picture("trade-off").draw(options)["chart.png"]
    here, paper = (find_columns(data, colour) for colour in ((0x1F, 0x77, 0xB4), (0xFF, 0x7F, 0x0E)))
    assert max(here) < max(paper)
    table.write_text(LINES.splitlines()[0] + "\n")
    with pytest.raises(DataError, match="has no row with both L1 and sigma"):
        find_paper_picture("trade-off").draw(options)


def find_columns(data: bytes, colour: tuple[int, int, int]) -> np.ndarray:
    """Columns of the pixels of a colour, without the legend at the top left."""
    with PIL.Image.open(io.BytesIO(data)) as picture:
        columns = np.nonzero((np.asarray(picture.convert("RGB")) == colour).all(-1))[1]
    return columns[columns > 240]


def test_both_sizes_are_edited_and_measured(photos: PictureOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "LARGE_PIXELS", 400_000)
    monkeypatch.setattr(pictures, "COMPARED_RUNS", {"T2ONet": "paper"})
    files = find_paper_picture("resolution").draw(photos)
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
def test_an_edit_keeps_the_size_of_a_photo(options: PictureOptions, run: str) -> None:
    photo = np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8)
    made = open_pixel_edit(options.find_weights(run), "brighter")(photo)
    assert (made.shape, made.dtype) == (photo.shape, np.uint8)


def test_an_edit_that_does_not_fit_is_told(options: PictureOptions, tmp_path: Path) -> None:
    np.save(tmp_path / "photo.npy", np.zeros((4000, 4000, 3), np.uint8))
    out, weights = tmp_path / "made.npy", options.find_weights("pix2pixaug")
    assert edit_in_subprocess(weights, tmp_path / "photo.npy", "x", out, limit=1.5) is None
    assert not out.exists()


def test_a_picture_that_is_none() -> None:
    with pytest.raises(DataError, match=r"there is no picture 'portrait'; there are planning-trajectories, "):
        find_paper_picture("portrait")
    assert all(picture.title for picture in PAPER_PICTURES.values())
