"""The distance between crowds, against what is known about Gaussians."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from t2onet.metrics.distances import frechet_distance


def crowd(mean: np.ndarray, root: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Rows with exactly this mean and this covariance, root' root."""
    size = len(mean)
    free = np.random.default_rng(seed).normal(size=(count, size))
    basis, _ = np.linalg.qr(np.column_stack([np.ones(count), free]))
    return mean + (count - 1) ** 0.5 * basis[:, 1 : size + 1] @ root


sizes = st.lists(st.floats(0, 4), min_size=3, max_size=3).map(np.array)


@given(m=sizes, n=sizes, s=sizes, t=sizes, seed=st.integers(0, 99))
def test_gaussians_along_the_axes(
    m: np.ndarray, n: np.ndarray, s: np.ndarray, t: np.ndarray, seed: int
) -> None:
    one, other = crowd(m, np.diag(s), 20, seed), crowd(n, np.diag(t), 30, seed + 1)
    expected = ((m - n) ** 2).sum() + ((s - t) ** 2).sum()
    assert frechet_distance(one, other) == pytest.approx(expected, abs=1e-9)


def test_gaussians_that_lean_in_different_ways() -> None:
    """In two dimensions tr (S T)^(1/2) is the root of tr S T + 2 (det S T)^(1/2)."""
    a, b = np.array([[2.0, 0.5], [0.0, 1.0]]), np.array([[1.0, -1.5], [0.0, 0.5]])
    s, t = a.T @ a, b.T @ b
    root = math.sqrt(np.trace(s @ t) + 2 * math.sqrt(np.linalg.det(s @ t)))
    expected = 9 + np.trace(s + t) - 2 * root
    found = frechet_distance(crowd(np.zeros(2), a, 50, 0), crowd(np.array([0.0, 3.0]), b, 50, 1))
    assert found == pytest.approx(expected, abs=1e-9)


def test_it_is_what_a_matrix_root_gives() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8)), rng.normal(1, 2, (40, 8))
    covariances = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    root = sqrtm(covariances[0] @ covariances[1]).real
    expected = ((one.mean(0) - other.mean(0)) ** 2).sum() + np.trace(sum(covariances) - 2 * root)
    assert frechet_distance(one, other) == pytest.approx(expected)


def test_fewer_pictures_than_features() -> None:
    """Features that never vary change nothing."""
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=(6, 3)), rng.normal(2, 1, (5, 3))
    wide = [np.column_stack([rows, np.full((len(rows), 40), 7.0)]) for rows in (one, other)]
    assert frechet_distance(*wide) == pytest.approx(frechet_distance(one, other))
    assert frechet_distance(wide[0], wide[0]) == pytest.approx(0, abs=1e-9)


def test_it_is_the_formula_of_fid_with_fewer_pictures_than_features() -> None:
    """By NumPy: tr (S1 S2)^(1/2) is the sum of the roots of the eigenvalues of S1 S2."""
    rng = np.random.default_rng(5)
    one, other = rng.random((40, 64)), rng.random((40, 64)) ** 2
    covariances = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    values = np.linalg.eigvals(covariances[0] @ covariances[1]).real.clip(0)
    expected = (
        ((one.mean(0) - other.mean(0)) ** 2).sum() + np.trace(sum(covariances)) - 2 * np.sqrt(values).sum()
    )
    assert frechet_distance(one, other) == pytest.approx(expected, rel=1e-5)
    assert frechet_distance(one, one) == pytest.approx(0, abs=1e-9)


def test_one_picture_is_no_crowd() -> None:
    assert math.isnan(frechet_distance(np.zeros((1, 3)), np.zeros((5, 3))))
