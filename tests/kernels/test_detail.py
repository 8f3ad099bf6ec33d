"""Kernels of detail and effects on tiles of large photos, where windows are wide."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import kernels
from t2onet.kernels.detail import DETAIL_KERNELS
from t2onet.operations import Frame, get_operation
from tests.strategies import moderate

FRAMES = (
    Frame(1000, 1500, 1.0),
    Frame(2000, 3000, 2.0, top=301, left=77),
    Frame(4000, 6000, 4.0, top=3930, left=40),
    Frame(7, 5, 1.0),
)


@pytest.mark.parametrize("name", sorted(DETAIL_KERNELS))
@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"{frame.width}x{frame.height}")
def test_kernel_equals_formula_in_wide_windows(name: str, frame: Frame) -> None:
    operation, rng = get_operation(name), np.random.default_rng(9)
    tile = rng.random((3, min(70, frame.height), min(130, frame.width))).astype(np.float32)
    tile[:, :30] *= 0.3
    for _ in range(5):
        values = np.array(moderate(operation, rng)) * np.resize([4, 1, 1], operation.size)
        values = np.array(operation.clip(values))
        expected = np.clip(operation.formula(tile.astype(np.float64), values, frame), 0, 1)
        result = kernels.KERNELS[name](values)(tile.copy(), frame)
        assert np.abs(result - expected).max() <= 1e-5
