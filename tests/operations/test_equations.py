"""The paper's equations, worked by hand or by an independent library, in float64."""

from __future__ import annotations

import colorsys
import math

import numpy as np
import pytest

from t2onet.operations import Frame, get_operation, pixel_scale
from t2onet.operations.paper import laplacian_neighbourhood

TOLERANCE = 1e-6


def picture(*colours: tuple[float, float, float]) -> np.ndarray:
    """Colours side by side as one row: (3, 1, N)."""
    return np.array(colours, dtype=np.float64).T[:, None, :]


def colours(image: np.ndarray) -> list[tuple[float, ...]]:
    return [tuple(colour) for colour in image[:, 0, :].T]


@pytest.mark.parametrize("p", [-1.0, -0.4, 0.0, 0.2, 0.75, 2.0])
@pytest.mark.parametrize(("name", "channel"), [("saturation", 1), ("brightness", 2)])
def test_hsv_operations_scale_one_channel_and_clip_it(name: str, channel: int, p: float) -> None:
    given = [
        (0.2, 0.4, 0.6),
        (0.9, 0.1, 0.5),
        (0.3, 0.3, 0.3),
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.2),
        (0.05, 0.9, 0.0),
    ]

    def expected(colour: tuple[float, float, float]) -> tuple[float, float, float]:
        hsv = list(colorsys.rgb_to_hsv(*colour))
        hsv[channel] = min(max((1 + p) * hsv[channel], 0.0), 1.0)
        return colorsys.hsv_to_rgb(*hsv)

    result = get_operation(name)(picture(*given), p)
    assert colours(result) == pytest.approx([pytest.approx(expected(c), abs=TOLERANCE) for c in given])


def test_brightness_by_hand() -> None:
    # V = 0.6, 1.5 V = 0.9: everything times 1.5. V = 0.8, 1.5 V clips to 1: everything times 1.25.
    result = get_operation("brightness")(picture((0.2, 0.4, 0.6), (0.8, 0.4, 0.0)), 0.5)
    assert colours(result)[0] == pytest.approx((0.3, 0.6, 0.9), abs=TOLERANCE)
    assert colours(result)[1] == pytest.approx((1.0, 0.5, 0.0), abs=TOLERANCE)


def test_saturation_by_hand() -> None:
    # V = 0.8, S = 0.5; 1.5 S = 0.75, so the least channel falls to 0.8 * 0.25 = 0.2.
    result = get_operation("saturation")(picture((0.8, 0.6, 0.4)), 0.5)
    assert colours(result)[0] == pytest.approx((0.8, 0.5, 0.2), abs=TOLERANCE)


@pytest.mark.parametrize("p", [-1.0, -0.3, 0.0, 0.5, 1.0])
def test_contrast_is_the_papers_lerp(p: float) -> None:
    given = [(0.2, 0.4, 0.6), (0.9, 0.1, 0.5), (1.0, 1.0, 1.0), (0.01, 0.0, 0.0)]

    def expected(colour: tuple[float, float, float]) -> tuple[float, ...]:
        lum = 0.27 * colour[0] + 0.67 * colour[1] + 0.06 * colour[2]
        enhanced = 0.5 * (1 - math.cos(math.pi * lum))
        return tuple(min(max((1 - p) * c + p * c * enhanced / lum, 0.0), 1.0) for c in colour)

    result = get_operation("contrast")(picture(*given), p)
    for got, colour in zip(colours(result), given, strict=True):
        assert got == pytest.approx(expected(colour), abs=TOLERANCE)


def test_contrast_leaves_black_black() -> None:
    assert colours(get_operation("contrast")(picture((0, 0, 0)), 1.0)) == [(0, 0, 0)]


def test_sharpness_adds_the_centre_positive_laplacian() -> None:
    image = np.zeros((3, 3, 3))
    image[:, 1, 1] = 0.5
    image[:, 0, 1] = 0.2
    result = get_operation("sharpness")(image, 0.25)
    assert result[0, 1, 1] == pytest.approx(0.5 + 0.25 * (4 * 0.5 - 0.2), abs=TOLERANCE)
    # At the border the missing neighbour is the border pixel itself: 4 * .2 - (.2 + .5 + 0 + 0).
    assert result[0, 0, 1] == pytest.approx(0.2 + 0.25 * (0.8 - 0.7), abs=TOLERANCE)
    assert result[0, 1, 0] == pytest.approx(max(0.0, 0.25 * (0 - 0.5)), abs=TOLERANCE)


def test_softest_is_the_mean_of_the_neighbours() -> None:
    image = np.random.default_rng(1).random((3, 5, 5))
    result = get_operation("sharpness")(image, -0.25)
    mean = (image[:, 1, 2] + image[:, 3, 2] + image[:, 2, 1] + image[:, 2, 3]) / 4
    assert result[:, 2, 2] == pytest.approx(mean, abs=TOLERANCE)


@pytest.mark.parametrize("scale", [1.0, 1.3, 2.0, 4.0])
def test_a_flat_image_stays_flat_to_the_border(scale: float) -> None:
    flat = np.full((3, 20, 30), 0.4)
    result = get_operation("sharpness").run(flat, np.array([1.5]), Frame(20, 30, scale))
    assert result == pytest.approx(flat, abs=1e-12)


def test_sharpness_widens_in_proportion_above_a_short_side_of_1000() -> None:
    assert pixel_scale(1000, 3000) == 1.0
    assert pixel_scale(200, 100) == 1.0
    assert pixel_scale(3000, 4000) == 3.0
    assert pixel_scale(3000, 4000, "pixel") == 1.0


@pytest.mark.parametrize("scale", [1.0, 1.01, 1.5, 2.0, 3.7, 8.0])
def test_the_neighbours_spread_in_proportion(scale: float) -> None:
    # Mean squared distance along one axis: half of it from the neighbours on that axis, the rest smoothing.
    where = laplacian_neighbourhood(scale)
    half = len(where.weights) // 2
    smoothing = sum(w * (i - half) ** 2 for i, w in enumerate(where.weights))
    distance = (1 - where.fraction) * where.near**2 + where.fraction * (where.near + 1) ** 2
    assert sum(where.weights) == pytest.approx(1)
    assert distance / 2 + smoothing == pytest.approx(scale**2 / 2, abs=0.15 * scale)


def test_pixel_radius_keeps_the_papers_laplacian_at_any_size() -> None:
    image = np.random.default_rng(2).random((3, 1200, 1300))
    small = image[:, 600:620, 600:620]
    whole = get_operation("sharpness")(image, 0.3, radius="pixel")
    assert whole[:, 605:615, 605:615] == pytest.approx(
        get_operation("sharpness")(small, 0.3)[:, 5:15, 5:15], abs=1e-12
    )


RISES = (1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.5)


def by_hand(x: float, rises: tuple[float, ...]) -> float:
    return sum(min(max(8 * x - i, 0), 1) * p for i, p in enumerate(rises)) / sum(rises)


def test_tone_is_one_curve_for_all_channels() -> None:
    result = get_operation("tone")(picture((0.0, 0.0625, 0.125), (0.3, 0.55, 1.0)), RISES)
    # Half of the first rise, then all of it, of a total of 10.
    assert colours(result)[0] == pytest.approx((0.0, 0.05, 0.1), abs=TOLERANCE)
    assert colours(result)[1] == pytest.approx([by_hand(x, RISES) for x in (0.3, 0.55, 1.0)], abs=TOLERANCE)


def test_color_is_a_curve_for_each_channel() -> None:
    rows = (RISES, tuple(reversed(RISES)), (1.0,) * 8)
    for given in (rows, [value for row in rows for value in row]):
        result = colours(get_operation("color")(picture((0.3, 0.3, 0.3)), given))[0]
        assert result == pytest.approx([by_hand(0.3, row) for row in rows], abs=TOLERANCE)
