"""The six attributes, worked by hand, and what counts as following."""

from __future__ import annotations

import math

import numpy as np
import pytest

from t2onet.language import Attribute, Intent
from t2onet.metrics.attributes import (
    JUST_NOTICEABLE,
    check_followed,
    measure_attributes,
    measure_changes,
    measure_unrequested_change,
)
from tests.metrics.helpers import lab_to_srgb

LAB = np.array([[40.0, 60.0], [1.0, -3.0], [5.0, 4.0]])[:, None, :]
"""Two pixels side by side: L* 40 and 60, a* 1 and -3, b* 5 and 4."""


def test_two_pixels_by_hand() -> None:
    found = measure_attributes(lab_to_srgb(LAB))
    chroma = (math.hypot(1, 5) + math.hypot(-3, 4)) / 2
    # Beyond the border stands the border pixel, so each Laplacian is the one difference, 20.
    np.testing.assert_allclose(found, [50, 10, chroma, 4.5, -1, math.log(20 / 10)], atol=1e-3)


def test_a_batch_is_measured_one_by_one() -> None:
    images = np.random.default_rng(0).random((2, 4, 3, 6, 5))
    found = measure_attributes(images)
    assert found.shape == (2, 4, 6)
    np.testing.assert_allclose(found[1, 2], measure_attributes(images[1, 2]))


def test_a_picture_without_detail_has_a_finite_sharpness() -> None:
    assert np.isfinite(measure_attributes(np.full((3, 4, 4), 0.5))).all()


def test_torch_measures_the_same_and_has_a_gradient_even_on_grey() -> None:
    torch = pytest.importorskip("torch")
    images = np.random.default_rng(1).random((3, 3, 8, 8))
    images[0] = 0.5
    tensor = torch.tensor(images, requires_grad=True)
    found = measure_attributes(tensor)
    np.testing.assert_allclose(found.detach().numpy(), measure_attributes(images), atol=1e-9)
    found.sum().backward()
    assert torch.isfinite(tensor.grad).all()


def test_following_is_a_noticeable_change_in_the_asked_direction() -> None:
    lighter, darker = (Intent(Attribute.LIGHTNESS, sign) for sign in (1, -1))
    duller = Intent(Attribute.COLOURFULNESS, -1)
    change = np.array([0.6, 0, -0.4, 0, 0, 0])
    assert check_followed(change, [lighter, darker, duller]) == (True, False, False)


def test_unrequested_change_is_in_noticeable_amounts() -> None:
    change = np.array([3.0, 0.3, -1.0, 0, 0, 0])
    assert measure_unrequested_change(change, [Intent(Attribute.LIGHTNESS, 1)]) == pytest.approx((1 + 2) / 5)
    assert measure_unrequested_change(change, [Intent(attribute, 1) for attribute in Attribute]) == 0


def test_changes_are_after_minus_before() -> None:
    grey = np.full((3, 4, 4), 0.5)
    change = measure_changes(grey, grey * 0.9)
    assert change[0] < -JUST_NOTICEABLE[0]
    np.testing.assert_allclose(change[1:], 0, atol=1e-6)
