"""Tonal ranges and hues, worked by hand on single pixels."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.places.ranges import HUES, TONES
from t2onet.recipe import where
from tests.places.helpers import grey, resolve, smooth_picture


def test_every_word_has_its_numbers() -> None:
    assert set(TONES) == set(where.TONES)
    assert set(HUES) == set(where.HUES)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        # At L* 0, 20, 40, 55, 70, 85 and 100: a border is halfway, 20 L* from it a range is whole or gone.
        ("blacks", [1, 0.5, 0, 0, 0, 0, 0]),
        ("shadows", [1, 1, 0.5, 0.04, 0, 0, 0]),
        ("midtones", [0, 0, 0.5, 0.91, 0.5, 0.04, 0]),
        ("highlights", [0, 0, 0, 0.04, 0.5, 0.96, 1]),
        ("whites", [0, 0, 0, 0, 0, 0.5, 1]),
    ],
)
def test_tones_have_soft_borders_in_lightness(name: str, weights: list[float]) -> None:
    assert resolve(name, grey(0, 20, 40, 55, 70, 85, 100))[0] == pytest.approx(weights, abs=0.01)


@pytest.mark.parametrize(
    ("colour", "hues"),
    [
        ((0.8, 0.1, 0.1), {"reds"}),
        ((0.9, 0.5, 0.1), {"oranges"}),
        ((0.8, 0.6, 0.5), {"oranges", "skin"}),
        ((0.8, 0.77, 0.1), {"yellows"}),
        ((0.2, 0.6, 0.2), {"greens"}),
        ((0.1, 0.6, 0.6), {"aquas"}),
        ((0.3, 0.5, 0.8), {"blues"}),
        ((0.5, 0.2, 0.8), {"purples"}),
        ((0.8, 0.2, 0.7), {"magentas"}),
        ((0.5, 0.5, 0.5), set()),
        ((0.5, 0.49, 0.49), set()),
    ],
)
def test_a_colour_belongs_to_its_hue(colour: tuple[float, ...], hues: set[str]) -> None:
    pixel = np.array(colour, np.float64).reshape(1, 1, 3)
    assert {hue for hue in HUES if resolve(hue, pixel) > 0.9} == hues
    assert all(resolve(hue, pixel) < 0.1 for hue in HUES if hue not in hues)


def test_pale_colours_belong_in_part() -> None:
    pale = np.array([[[0.57, 0.48, 0.48]]])  # of chroma 10
    assert 0.3 < resolve("reds", pale).item() < 0.7


def test_neighbours_add_up_to_one() -> None:
    picture = smooth_picture(40, 60)
    tones = sum(resolve(name, picture) for name in ("shadows", "midtones", "highlights"))
    assert tones == pytest.approx(1, abs=0.01)
    rich = np.ptp(picture, axis=-1) > 0.3
    hues = sum(resolve(name, picture) for name in HUES if name != "skin")
    assert np.asarray(hues)[rich] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("name", [*TONES, *HUES])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_kernels_agree_with_the_formula(name: str, dtype: str) -> None:
    picture = np.random.default_rng(0).random((30, 40, 3)).astype(np.float32)
    if dtype != "float32":
        picture = (picture * np.iinfo(dtype).max).astype(dtype)
    by_formula, by_kernel = (resolve(name, picture, compiled=compiled) for compiled in (False, True))
    assert np.abs(by_formula - by_kernel).max() <= 1.01 / 255
