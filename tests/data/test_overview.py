"""Counting a dataset, and drawing the counts."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import PIL.Image
import pytest

from t2onet import DataError, Recipe
from t2onet.data import Dataset
from t2onet.data.overview import (
    Distribution,
    choose_samples,
    compute_distributions,
    draw_distributions,
    draw_pairs_sheet,
    draw_plans_sheet,
)
from t2onet.data.plans import PlanSettings, PlanTotals, StoredPlan
from t2onet.data.plans.store import DatasetPlans, PlanKeyBuilder, PlanStore
from tests.data.small_set import small_set


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    found = small_set(tmp_path / "photos", 4)
    lost = replace(found.samples[0], requests=("crop",), unanswerable="crop", intents=())
    return replace(found, samples=(lost, *found.samples[1:]))


@pytest.fixture
def plans(dataset: Dataset, tmp_path: Path) -> DatasetPlans:
    """Of the first three samples, with one, two and three steps."""
    store, keys = PlanStore.open_for_writing(tmp_path / "plans"), PlanKeyBuilder(PlanSettings())
    steps = [("brightness", 0.1), ("contrast", 0.2), ("saturation", 0.3)]
    for number, sample in enumerate(dataset.samples[:3], start=1):
        cost = 0.005 * number
        store.add(
            keys.build(sample).plan, StoredPlan(Recipe.from_steps(steps[:number]), 0.4, cost, (0.4, cost))
        )
    store.close()
    return DatasetPlans(tmp_path / "plans", dataset.samples)


def find_distribution(found: list[Distribution], title: str) -> dict[str, tuple[int, ...]]:
    (one,) = [distribution for distribution in found if distribution.title == title]
    rows = zip(one.labels, *(counts for _, counts in one.series), strict=True)
    return {label: tuple(counts) for label, *counts in rows if any(counts)}


def test_counts(dataset: Dataset, plans: DatasetPlans) -> None:
    found = compute_distributions(dataset.samples, plans)
    assert find_distribution(found, "Words in a request") == {"1": (1,), "4": (3,)}
    assert find_distribution(found, "Samples in a split") == {"train": (3,), "val": (1,)}
    assert find_distribution(found, "What is asked for") == {"more lightness": (2,), "unanswerable": (1,)}
    assert find_distribution(found, "Plans that use an operation") == {
        "brightness": (3,),
        "contrast": (2,),
        "saturation": (1,),
    }
    assert find_distribution(found, "Steps of a plan") == {"1": (1,), "2": (1,), "3": (1,)}
    costs = find_distribution(found, "Mean difference from the target")
    assert costs == {"0.00": (0, 1), "0.01": (0, 2), "0.30+": (3, 0)}


def test_what_is_not_known_is_not_drawn(dataset: Dataset) -> None:
    silent = [replace(sample, requests=(), intents=None, unanswerable=None) for sample in dataset.samples]
    assert [found.title for found in compute_distributions(silent)] == ["Samples in a split"]


def test_long_requests_are_counted_together(dataset: Dataset) -> None:
    long = replace(dataset.samples[0], requests=("so " * 31, "so " * 500))
    assert find_distribution(compute_distributions([long]), "Words in a request") == {"31+": (2,)}


def decode_png(png: bytes) -> np.ndarray:
    with PIL.Image.open(io.BytesIO(png)) as file:
        assert file.format == "PNG"
        return np.asarray(file.convert("RGB"))


def test_charts_show_every_series(dataset: Dataset, plans: DatasetPlans) -> None:
    pixels = decode_png(draw_distributions("a title", compute_distributions(dataset.samples, plans)))
    for colour in ((0x79, 0xB4, 0xFF), (0x63, 0xD4, 0x89)):
        assert (pixels == colour).all(axis=-1).sum() > 1000


def test_a_longer_bar_for_more() -> None:
    one = Distribution("names", ("many", "few"), (("", (40, 10)),), 50)
    blue = (decode_png(draw_distributions("a title", [one])) == (0x79, 0xB4, 0xFF)).all(axis=-1).sum(axis=1)
    lengths = blue[blue > 0]
    assert lengths.max() / lengths.min() == pytest.approx(4, rel=0.02)


def test_charts_without_matplotlib_name_the_extra(dataset: Dataset) -> None:
    absent = patch.dict("sys.modules", {"matplotlib": None, "matplotlib.figure": None})
    with absent, pytest.raises(DataError, match=r"charts need matplotlib: pip install 't2onet\[train\]'"):
        draw_distributions("a title", compute_distributions(dataset.samples))


def test_a_title_is_not_read_as_a_formula(dataset: Dataset) -> None:
    assert decode_png(draw_distributions("$\\frac$ 照片", compute_distributions(dataset.samples))).size


def test_a_sheet_of_pairs_shows_them(dataset: Dataset) -> None:
    one, two = (decode_png(draw_pairs_sheet(dataset, dataset.samples[:count], 4)) for count in (1, 4))
    assert two.shape[0] > one.shape[0] + 250  # a second row
    target = np.asarray(dataset.samples[0].open_photos()[1], float)
    cell = one[-400:, 24 + 256 : 24 + 506]
    assert np.abs(cell.reshape(-1, 3).mean(axis=0) - target.mean(axis=(0, 1))).max() < 120
    dataset.samples[0].after.write_bytes(b"no photo")
    assert decode_png(draw_pairs_sheet(dataset, dataset.samples, 4)).size


def test_the_choice_is_by_chance_and_repeatable(dataset: Dataset) -> None:
    names = [[sample.name for sample in choose_samples(dataset.samples, 2, seed)] for seed in (*range(8), 0)]
    assert names[0] == names[-1]
    assert len({tuple(pair) for pair in names}) > 1
    assert all(pair == sorted(set(pair)) for pair in names)
    assert choose_samples(dataset.samples, 99, 0) == list(dataset.samples)
    with pytest.raises(DataError, match="no sample"):
        choose_samples([], 1, 0)


def test_a_sheet_of_plans_has_a_row_for_each(dataset: Dataset, plans: DatasetPlans) -> None:
    tally = PlanTotals()
    heights = []
    for sample in plans:
        tally.add(sample, plans[sample])
        heights.append(decode_png(draw_plans_sheet(tally)).shape[0])
    assert np.diff(heights).min() > 250  # among the best or among the worst
