"""Zones and hues of single pixels, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.metrics.regions import HUES, ZONES, View
from tests.metrics.helpers import lab_to_srgb


def pixel(*colour: float) -> View:
    return View(np.array(colour, np.float64).reshape(3, 1, 1))


@pytest.mark.parametrize(
    ("lightness", "zones"),
    [
        (5, {"blacks", "shadows", "darks"}),
        (30, {"shadows", "darks"}),
        (45, {"midtones", "darks"}),
        (60, {"midtones", "lights"}),
        (75, {"highlights", "lights"}),
        (90, {"whites", "highlights", "lights"}),
        (99, set()),
    ],
)
def test_a_grey_lies_in_its_zones(lightness: float, zones: set[str]) -> None:
    grey = View(np.asarray(lab_to_srgb(np.array([lightness, 0.0, 0.0]).reshape(3, 1, 1))))
    assert {zone for zone in ZONES if grey.select(zone).all()} == zones
    assert not any(grey.select(hue).any() for hue in HUES)


@pytest.mark.parametrize(
    ("colour", "hues"),
    [
        ((0.8, 0.1, 0.1), {"reds"}),
        ((0.8, 0.1, 0.15), {"reds"}),
        ((0.9, 0.5, 0.1), {"oranges"}),
        ((0.8, 0.6, 0.5), {"oranges", "skin"}),
        ((0.8, 0.8, 0.1), {"yellows"}),
        ((0.2, 0.6, 0.2), {"greens"}),
        ((0.1, 0.6, 0.6), {"aquas"}),
        ((0.3, 0.5, 0.8), {"blues"}),
        ((0.5, 0.2, 0.8), {"purples"}),
        ((0.8, 0.2, 0.7), {"magentas"}),
    ],
)
def test_a_colour_has_its_hue(colour: tuple[float, ...], hues: set[str]) -> None:
    assert {hue for hue in HUES if pixel(*colour).select(hue).all()} == hues


def test_a_margin_reaches_the_next_hue() -> None:
    orange = pixel(0.9, 0.4, 0.1)
    assert not orange.select("reds").any()
    assert orange.select("reds", margin=30).all()
