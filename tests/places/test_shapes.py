"""Positions and gradients: shares of the frame, whatever the photo shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from t2onet.recipe.where import POSITIONS
from tests.places.helpers import resolve

BLANK = np.full((100, 200, 3), 0.5, np.float32)


def at(mask: np.ndarray, x: float, y: float) -> float:
    """The mask at shares of the width and the height."""
    height, width = mask.shape
    return float(mask[min(int(y * height), height - 1), min(int(x * width), width - 1)])


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("top", [(0, 0), (0.5, 0.3), (1, 0.39)], [(0, 0.61), (0.5, 1)]),
        ("bottom", [(0, 0.61), (0.5, 1)], [(0, 0), (1, 0.39)]),
        ("left", [(0, 0), (0.39, 1)], [(0.61, 0), (1, 1)]),
        ("right", [(0.61, 0), (1, 1)], [(0, 0), (0.39, 1)]),
        ("centre", [(0.5, 0.5), (0.6, 0.6)], [(0, 0), (1, 1), (0, 1)]),
        ("edges", [(0, 0), (1, 1)], [(0.5, 0.5)]),
        ("corners", [(0, 0), (1, 0), (0, 1), (1, 1)], [(0.5, 0), (0, 0.5), (0.5, 0.5)]),
    ],
)
def test_positions(name: str, inside: list[tuple[float, float]], outside: list[tuple[float, float]]) -> None:
    mask = resolve(name, BLANK)
    assert all(at(mask, *point) > 0.95 for point in inside)
    assert all(at(mask, *point) < 0.05 for point in outside)


def test_every_position_is_known() -> None:
    assert all(0 < resolve(name, BLANK).mean() < 1 for name in POSITIONS)


@pytest.mark.parametrize(("one", "other"), [("top", "bottom"), ("left", "right"), ("centre", "edges")])
def test_opposites_are_complements(one: str, other: str) -> None:
    assert resolve(one, BLANK) + resolve(other, BLANK) == pytest.approx(1, abs=1.01 / 255)


def test_a_linear_gradient_runs_from_one_point_to_the_other() -> None:
    mask = resolve({"linear": {"from": [0.25, 0.5], "to": [0.75, 0.5]}}, BLANK)
    assert [at(mask, x, 0.2) for x in (0.1, 0.24, 0.5, 0.76, 0.9)] == pytest.approx(
        [1, 1, 0.5, 0, 0], abs=0.02
    )
    assert at(mask, 0.375, 0.5) == pytest.approx(1 - 0.15625, abs=0.02), "a smooth ramp at a quarter"
    assert (mask == mask[:1]).all(), "its lines cross its direction"


def test_the_lines_of_a_gradient_are_straight_across_in_pixels() -> None:
    mask = resolve({"linear": {"from": [0, 0], "to": [0.5, 1]}}, BLANK)  # along the diagonal of a square
    assert at(mask, 0.25, 0.5) == pytest.approx(0.5, abs=0.02)
    assert at(mask, 0.45, 0.1) == pytest.approx(0.5, abs=0.03), "on the other diagonal"


def test_a_radial_gradient_is_a_circle_in_pixels() -> None:
    circle: dict[str, Any] = {"centre": [0.5, 0.5], "radius": 0.4, "feather": 0.5}
    mask = resolve({"radial": circle}, BLANK)  # 40 pixels, whole up to 20
    assert [float(mask[50, 100 + by]) for by in (0, 19, 30, 40, 60)] == pytest.approx(
        [1, 1, 0.5, 0, 0], abs=0.06
    )
    assert [float(mask[50 + by, 100]) for by in (0, 19, 30, 40)] == pytest.approx([1, 1, 0.5, 0], abs=0.06)


@pytest.mark.parametrize("feather", [0, 1e-150])
def test_a_circle_may_have_a_hard_edge(feather: float) -> None:
    hard = resolve({"radial": {"centre": [0.5, 0.5], "radius": 0.4, "feather": feather}}, BLANK)
    assert set(np.unique(hard)) == {0, 1}
    assert hard.sum() == pytest.approx(np.pi * 40**2, rel=0.02)
