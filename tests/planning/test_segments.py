"""Mask candidates: from the picture, from the change, from files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.errors import PlanError
from t2onet.planning import segments
from tests.conftest import ROOT

PANOPTIC = ROOT.parent / "shared" / "data" / "coco-panoptic"


def flags() -> tuple[np.ndarray, np.ndarray]:
    """A picture (3, 60, 80) with a red disc on blue, and the disc."""
    rows, columns = np.mgrid[:60, :80]
    disc = (rows - 30) ** 2 + (columns - 50) ** 2 < 15**2
    picture = np.empty((3, 60, 80), np.float32)
    picture[:] = np.array([0.1, 0.2, 0.6], np.float32)[:, None, None]
    picture[:, disc] = np.array([0.8, 0.2, 0.1], np.float32)[:, None]
    return picture, disc


def test_regions_of_like_colour_are_found() -> None:
    pytest.importorskip("skimage")
    picture, disc = flags()
    found = segments.segment_by_colour(picture)
    assert max(segments.intersection_over_union(region, disc) for region in found) > 0.9
    assert all(region.dtype == bool for region in found)


def test_what_changed_is_a_candidate_with_its_pinholes_filled() -> None:
    pytest.importorskip("skimage")
    before, disc = flags()
    after = np.where(disc, before * np.float32(0.5), before)
    after[:, 30, 50] = before[:, 30, 50]
    (region,) = segments.find_changed_regions(before, after)
    assert region[30, 50]
    assert segments.intersection_over_union(region, disc) > 0.95
    assert segments.find_changed_regions(before, before) == []


def test_two_changes_are_two_candidates_and_both_together() -> None:
    pytest.importorskip("skimage")
    before = np.full((3, 60, 80), 0.5, np.float32)
    after = before.copy()
    after[:, 5:15, 5:15] += 0.2
    after[:, 40:55, 50:70] -= 0.2
    assert [int(region.sum()) for region in segments.find_changed_regions(before, after)] == [300, 100, 400]


def test_a_change_at_the_border_reaches_it() -> None:
    pytest.importorskip("skimage")
    before = np.full((3, 60, 80), 0.5, np.float32)
    after = before.copy()
    after[:, :20] += 0.2
    (region,) = segments.find_changed_regions(before, after)
    assert region[:20].all()
    assert not region[20:].any()


def test_overlap_is_intersection_over_union() -> None:
    one, other = np.array([[True, True, False]]), np.array([[False, True, True]])
    assert segments.intersection_over_union(one, other) == pytest.approx(1 / 3)
    assert segments.intersection_over_union(one, one) == 1
    assert segments.intersection_over_union(~one & one, ~one & one) == 0


def test_masks_that_are_nearly_another_are_dropped() -> None:
    one = np.zeros((10, 10), bool)
    one[:5] = True
    same = one.copy()
    same[0, 0] = False
    assert len(segments.drop_duplicate_regions([one, same, ~one])) == 2


def test_a_mask_is_stretched_over_another_size() -> None:
    half = np.zeros((4, 4), bool)
    half[:, 2:] = True
    assert np.array_equal(segments.resize_region(half, 8, 8), np.kron(half, np.ones((2, 2), bool)))
    assert segments.resize_region(half, 4, 4) is half


def panoptic(folder: Path) -> tuple[Path, Path]:
    """Two segments, with ids that need all three channels, and one pixel of nothing."""
    ids = np.array([[1 + 256 * 2 + 65536 * 3, 7], [7, 0]])
    pixels = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=-1).astype(np.uint8)
    PIL.Image.fromarray(pixels).save(folder / "one.png")
    entry = {"file_name": "one.png", "segments_info": [{"id": 197121}, {"id": 7}, {"id": 99}]}
    (folder / "panoptic.json").write_text(json.dumps({"annotations": [entry]}), encoding="utf-8")
    return folder / "one.png", folder / "panoptic.json"


def test_panoptic_ids_are_red_256_green_65536_blue(tmp_path: Path) -> None:
    png, annotations = panoptic(tmp_path)
    found = [region.tolist() for region in segments.masks_from_panoptic(png, annotations)]
    assert found == [[[True, False], [False, False]], [[False, True], [True, False]]]


def test_panoptic_refusals(tmp_path: Path) -> None:
    png, annotations = panoptic(tmp_path)
    with pytest.raises(PlanError, match=r"do not list two\.png"):
        segments.masks_from_panoptic(tmp_path / "two.png", annotations)
    with pytest.raises(PlanError, match="cannot be read as panoptic annotations"):
        segments.masks_from_panoptic(png, png.with_suffix(".txt"))
    with pytest.raises(PlanError, match="cannot be read as a panoptic PNG"):
        segments.read_panoptic_ids(annotations)


def test_a_folder_of_masks(tmp_path: Path) -> None:
    PIL.Image.fromarray(np.array([[0, 255], [100, 200]], np.uint8)).save(tmp_path / "b.png")
    PIL.Image.fromarray(np.array([[255, 0], [0, 0]], np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "notes.txt").write_text("not a mask", encoding="utf-8")
    found = [region.tolist() for region in segments.masks_from_folder(tmp_path)]
    assert found == [[[True, False], [False, False]], [[False, True], [False, True]]]


def test_folder_refusals(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="has no masks"):
        segments.masks_from_folder(tmp_path)
    with pytest.raises(PlanError, match="is not a folder"):
        segments.masks_from_folder(tmp_path / "absent")


def test_without_scikit_image_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(PlanError, match=r"pip install 't2onet\[local\]'"):
        segments.segment_by_colour(flags()[0])


@pytest.mark.needs_data
@pytest.mark.skipif(not PANOPTIC.is_dir(), reason=f"{PANOPTIC} is absent")
def test_coco_segments_are_disjoint_and_cover_most_of_a_photo() -> None:
    png = min((PANOPTIC / "panoptic_train2017").glob("*.png"))
    found = segments.masks_from_panoptic(png, PANOPTIC / "panoptic_train2017.json")
    times = np.sum(found, axis=0)
    assert times.max() == 1
    assert times.mean() > 0.5
