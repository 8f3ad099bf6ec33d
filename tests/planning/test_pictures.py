"""What is said of the difference that a plan leaves."""

from __future__ import annotations

import numpy as np

from t2onet.operations import get_operation
from t2onet.planning.pictures import describe_remainder
from tests.planning.scenes import scene


def test_an_invisible_difference_is_not_described() -> None:
    assert describe_remainder(scene(), np.clip(scene() + 0.002, 0, 1).astype(np.float32)) == ""


def test_dark_corners_look_like_a_vignette() -> None:
    start = np.full((3, 64, 64), 0.5, np.float32)
    target = get_operation("vignette")(start, -60.0)
    assert "vignette" in describe_remainder(start, target)


def test_a_patch_looks_like_a_local_edit() -> None:
    start = np.full((3, 64, 64), 0.5, np.float32)
    target = start.copy()
    target[:, 4:16, 40:56] += np.float32(0.3)
    assert "local edit" in describe_remainder(start, target)


def test_noise_looks_like_fine_detail() -> None:
    start = np.full((3, 96, 96), 0.5, np.float32)
    noise = np.random.default_rng(0).normal(0, 0.05, (1, 96, 96)).astype(np.float32)
    assert "fine detail" in describe_remainder(start, start + noise)
