"""How far two pictures are apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from t2onet.metrics.distances import answer_variance, delta_e, l1_distance, psnr, ssim
from tests.metrics.helpers import lab_to_srgb


def flat(*colour: float) -> np.ndarray:
    """A picture of one colour in CIELAB."""
    return lab_to_srgb(np.broadcast_to(np.array(colour)[:, None, None], (3, 8, 8)).copy())


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((63.0109, -31.0961, -5.8663), (62.8187, -29.7946, -4.0864), 1.2630),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_delta_e_of_the_published_pairs(
    one: tuple[float, ...], other: tuple[float, ...], expected: float
) -> None:
    """Sharma, Wu and Dalal 2005, table 1."""
    assert delta_e(flat(*one), flat(*other)) == pytest.approx(expected, abs=1e-3)


def test_delta_e_is_the_mean_over_pixels() -> None:
    grey, lighter = flat(50, 0, 0), flat(55, 0, 0)
    half = grey.copy()
    half[..., :4] = lighter[..., :4]
    assert delta_e(grey, half) == pytest.approx(delta_e(grey, lighter) / 2)
    assert delta_e(grey, grey) == 0


def test_distances_by_hand() -> None:
    black, grey = np.zeros((3, 16, 16)), np.full((3, 16, 16), 0.1)
    assert l1_distance(black, grey) == pytest.approx(0.1)
    assert psnr(black, grey) == pytest.approx(20)
    assert psnr(grey, grey) == math.inf
    assert ssim(grey, grey) == pytest.approx(1)
    assert answer_variance([black, grey]) == pytest.approx(0.0025)
