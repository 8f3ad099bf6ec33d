"""Vignette and grain: symmetry, light, noise and place."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.image.colour import decode_srgb
from t2onet.operations import Frame, get_operation
from t2onet.operations.effects import draw_lattice, make_grain

VIGNETTE, GRAIN = get_operation("vignette"), get_operation("grain")


def make_grey(height: int, width: int, tone: float = 0.5) -> np.ndarray:
    return np.full((3, height, width), tone)


@pytest.mark.parametrize("amount", [-80, 60])
def test_a_vignette_is_symmetric(amount: float) -> None:
    result = VIGNETTE(make_grey(60, 91), amount)
    assert result == pytest.approx(result[:, ::-1])
    assert result == pytest.approx(result[:, :, ::-1])
    square = VIGNETTE(make_grey(61, 61), amount)
    assert square == pytest.approx(square.swapaxes(1, 2))


def test_a_vignette_grows_with_the_distance_alone() -> None:
    result = VIGNETTE(make_grey(301, 401), -100)[0]
    assert result[150, 200] == 0.5, "the centre stays"
    rows, columns = np.indices(result.shape)
    distance = np.hypot((rows - 150) / 150.5, (columns - 200) / 200.5).ravel()
    order = np.argsort(distance)
    assert (np.diff(result.ravel()[order]) <= 1e-6).all()


def test_a_vignette_multiplies_light() -> None:
    """At the corner a full vignette takes away three stops, whatever the tone."""
    for tone in (0.2, 0.5, 0.9):
        corner = VIGNETTE(make_grey(400, 600, tone), (-100, 0, 0))[0, 0, 0]
        assert decode_srgb(np.array(corner)) == pytest.approx(decode_srgb(np.array(tone)) / 8)


def test_lightened_corners_do_not_burn_out() -> None:
    corners = [VIGNETTE(make_grey(40, 60, tone), (100, 0, 0))[0, 0, 0] for tone in (0.5, 0.7, 0.9)]
    assert corners == sorted(corners)
    assert corners[-1] < 1


def test_midpoint_and_feather_say_where_and_how_softly() -> None:
    diagonal = np.arange(200)
    near, far = (VIGNETTE(make_grey(200, 200), (-100, m, 30))[0, diagonal, diagonal] for m in (20, 80))
    assert near.mean() < far.mean()
    hard, soft = (VIGNETTE(make_grey(200, 200), (-100, 50, f))[0, diagonal, diagonal] for f in (0, 100))
    assert np.abs(np.diff(hard)).max() > 3 * np.abs(np.diff(soft)).max()


def test_grain_is_the_same_each_time_and_differs_from_place_to_place() -> None:
    grey = make_grey(120, 160)
    first, second = GRAIN(grey, (50, 50)), GRAIN(grey, (50, 50))
    assert np.array_equal(first, second)
    noise = first[0] - 0.5
    assert np.abs(np.corrcoef(noise[:60].ravel(), noise[60:].ravel())[0, 1]) < 0.05
    assert np.abs(np.corrcoef(noise[:, :80].ravel(), noise[:, 80:].ravel())[0, 1]) < 0.05


def test_the_lattice_is_even_noise() -> None:
    points = draw_lattice(np.arange(-50, 450), np.arange(-7, 493))
    assert points.mean() == pytest.approx(0, abs=0.005)
    assert points.std() == pytest.approx(1 / np.sqrt(3), abs=0.005)
    for shifted in (points[1:], points[:, 1:], points[1:, 1:], points[2:]):
        same = points[: shifted.shape[0], : shifted.shape[1]]
        assert np.abs(np.corrcoef(same.ravel(), shifted.ravel())[0, 1]) < 0.01
    assert draw_lattice(np.array([3]), np.array([5])) == pytest.approx(GOLDEN, abs=1e-8), "recipes stay"


GOLDEN = -0.05507358
"""The lattice at row 3, column 5."""


@pytest.mark.parametrize("size", [0, 25, 100])
def test_grain_has_no_mean_and_the_stated_strength(size: float) -> None:
    frame = Frame(4000, 6000, 4.0, top=1000, left=2000)
    noise = GRAIN.run(make_grey(400, 500), np.array([50.0, size]), frame)[0] - 0.5
    assert noise.mean() == pytest.approx(0, abs=0.003)
    assert noise.std() == pytest.approx(0.04, rel=0.25)


def test_grain_spares_black_and_white() -> None:
    for tone in (0.0, 1.0):
        assert GRAIN(make_grey(50, 50, tone), (100, 50)) == pytest.approx(tone)
    middle, dark = (GRAIN(make_grey(50, 50, tone), (30, 50)).std() for tone in (0.5, 0.05))
    assert dark < 0.5 * middle


def test_coarser_grain_has_larger_cells() -> None:
    frame = Frame(4000, 6000, 4.0)
    likeness = []
    for size in (0, 30, 100):
        noise = GRAIN.run(make_grey(200, 200), np.array([50.0, size]), frame)[0] - 0.5
        likeness.append(np.corrcoef(noise[:, 1:].ravel(), noise[:, :-1].ravel())[0, 1])
    assert likeness == sorted(likeness)


@pytest.mark.parametrize("cell", [0.2, 0.7, 1.0, 3.3])
def test_a_pixel_of_grain_is_the_average_of_smaller_ones(cell: float) -> None:
    coarse = make_grain(np.array([cell]), Frame(30, 40, 1.0, top=5, left=3), 10, 12)
    fine = make_grain(np.array([4 * cell]), Frame(120, 160, 1.0, top=20, left=12), 40, 48)
    assert fine.reshape(10, 4, 12, 4).mean(axis=(1, 3)) == pytest.approx(coarse)


@pytest.mark.slow
def test_grain_finer_than_a_thumbnail_can_show_vanishes() -> None:
    small, large = (GRAIN(make_grey(side, side), (100, 25)).std() for side in (60, 1500))
    assert 0 < small < 0.15 * large
