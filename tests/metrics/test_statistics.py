"""Intervals hold what they promise, and pairing sees what a plain comparison does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t2onet.errors import DataError
from t2onet.metrics.distances import frechet_distance
from t2onet.metrics.statistics import (
    FrechetStatistic,
    MeanStatistic,
    compare_statistics,
    estimate_interval,
    estimate_mean,
)


def means(values: np.ndarray, counts: np.ndarray | None = None) -> MeanStatistic:
    """Of (samples, classes) or (samples,)."""
    rows = (values if values.ndim == 2 else values[:, None]).astype(float)
    names = tuple(f"s{number}" for number in range(len(rows)))
    return MeanStatistic(names, rows, np.ones_like(rows) if counts is None else counts)


@settings(max_examples=20)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20), st.integers(0, 9))
def test_the_interval_is_around_the_mean_and_within_the_samples(values: list[float], seed: int) -> None:
    found = estimate_interval(means(np.array(values)), seed)
    assert found.value == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= max(values) + 1e-9


def test_the_same_seed_gives_the_same_interval() -> None:
    figure = means(np.random.default_rng(0).normal(size=50))
    assert estimate_interval(figure, 3) == estimate_interval(figure, 3)
    assert estimate_interval(figure, 3) != estimate_interval(figure, 4)


def test_intervals_of_a_normal_mean_are_as_wide_as_known() -> None:
    values = np.random.default_rng(1).normal(size=400)
    found = estimate_interval(means(values))
    half = 1.96 * values.std(ddof=1) / 20
    assert found.low == pytest.approx(values.mean() - half, abs=0.01)
    assert found.high == pytest.approx(values.mean() + half, abs=0.01)


def test_nineteen_of_twenty_hold_the_truth() -> None:
    rng = np.random.default_rng(2)
    held = [_holds(estimate_interval(means(rng.exponential(size=60)), seed), 1.0) for seed in range(100)]
    assert 0.87 <= np.mean(held) <= 1


def _holds(found: tuple[float, float, float], truth: float) -> bool:
    return found[1] <= truth <= found[2]


def test_classes_count_alike_however_many_samples_they_have() -> None:
    asked = np.array([[1, 0], [1, 0], [1, 0], [1, 1.0]])
    done = np.array([[1, 0], [1, 0], [0, 0], [1, 0.0]])
    figure = means(done, asked)
    assert estimate_interval(figure).value == pytest.approx((3 / 4 + 0 / 1) / 2)
    np.testing.assert_allclose(figure.scores(), [1, 1, 0, 0.5])


def test_a_class_that_nobody_drew_is_left_out() -> None:
    figure = means(np.array([[1, 0], [0, 1.0]]), np.array([[1, 0], [0, 1.0]]))
    assert figure(np.array([0, 0])) == 1
    assert figure(np.array([[0, 1], [1, 1]])).tolist() == [1, 1]


def test_one_sample_has_no_interval_and_none_no_figure() -> None:
    alone, nothing = estimate_interval(means(np.array([3.0]))), estimate_interval(means(np.zeros((0, 1))))
    assert alone.value == 3
    assert math.isnan(alone.low)
    assert math.isnan(nothing.value)


@pytest.mark.slow
def test_pairing_finds_a_small_difference_between_hard_and_easy_samples() -> None:
    rng = np.random.default_rng(5)
    hardness = rng.normal(size=80)
    one, other = means(hardness), means(hardness + 0.1 + 0.05 * rng.normal(size=80))
    found = compare_statistics(one, other)
    assert 0.08 < found.low < found.value < found.high < 0.12
    assert found.p is not None
    assert found.p < 1e-6
    assert (
        estimate_interval(one).high > estimate_interval(other).low
    )  # which intervals of each alone do not tell


@pytest.mark.slow
def test_a_difference_turns_with_its_sides() -> None:
    rng = np.random.default_rng(6)
    one, other = means(rng.normal(size=30)), means(rng.normal(size=30))
    there, back = compare_statistics(one, other), compare_statistics(other, one)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p == back.p


def test_equal_systems_do_not_differ() -> None:
    figure = means(np.arange(5.0))
    assert compare_statistics(figure, figure) == (0, 0, 0, 1)


def test_other_samples_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="measured on different samples"):
        compare_statistics(means(np.zeros(3)), means(np.zeros(4)))


def test_crowds_have_an_interval_around_the_distance_and_no_scores() -> None:
    rng = np.random.default_rng(7)
    names = tuple(map(str, range(40)))
    wanted = rng.normal(size=(40, 60))
    near, far = (
        FrechetStatistic(names, wanted + rng.normal(shift, 0.3, (40, 60)), wanted) for shift in (0, 0.5)
    )
    found = estimate_interval(near)
    assert found.value == pytest.approx(frechet_distance(near.outputs, wanted))
    assert found.low < found.value < found.high
    apart = compare_statistics(near, far)
    assert apart.p is None
    assert 0 < apart.low < apart.value < apart.high


def test_grouped_values_are_resampled_whole() -> None:
    values = np.random.default_rng(8).normal(size=100)
    single = estimate_mean([[value] for value in values])
    doubled = estimate_mean([[value, value] for value in values])
    assert doubled == pytest.approx(single)
    assert math.isnan(estimate_mean([]).value)
