"""Combinations and refinements; masks of any size, in bands, that previews and exports share."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from t2onet import Cancelled, bands
from t2onet.errors import PlaceError
from t2onet.image.photo import resize_array
from t2onet.places.resolve import grow
from t2onet.recipe.where import Area, Refined
from tests.places.helpers import resolve, smooth_picture
from tests.recipe.strategies import areas

PICTURE = smooth_picture(60, 90)
LEVEL = 1.01 / 255
HORIZON = {"linear": {"from": [0.4, 0.1], "to": [0.6, 0.8]}}
SPOT = {"radial": {"centre": [0.4, 0.6], "radius": 0.5}}

PLACES: list[Any] = [
    *("shadows", "highlights except reds", "(shadows or blues) and top", "not skin", "edges"),
    *(HORIZON, SPOT, {"and": ["midtones", HORIZON]}),
    *({"of": "shadows", "soften": 20}, {"of": "blues", "grow": 15}, {"of": SPOT, "grow": -20, "soften": 5}),
    {"except": ["highlights", {"of": "top", "soften": 30, "invert": True}]},
]


def test_combinations_of_soft_masks() -> None:
    shadows, top, blues = (resolve(name, PICTURE) for name in ("shadows", "top", "blues"))
    assert resolve("shadows and top", PICTURE) == pytest.approx(shadows * top, abs=2 * LEVEL)
    assert resolve("shadows except top", PICTURE) == pytest.approx(shadows * (1 - top), abs=2 * LEVEL)
    assert resolve("shadows or blues", PICTURE) == pytest.approx(
        np.minimum(shadows + blues, 1), abs=2 * LEVEL
    )
    assert resolve("not shadows", PICTURE) == pytest.approx(1 - shadows, abs=LEVEL)
    assert resolve("shadows except top except blues", PICTURE) == pytest.approx(
        shadows * (1 - top) * (1 - blues), abs=3 * LEVEL
    )


@pytest.mark.parametrize("where", ["top or bottom", "shadows or midtones or highlights"])
def test_neighbours_join_without_a_seam(where: str) -> None:
    assert resolve(where, PICTURE).min() == 1


@given(areas)
def test_any_place_is_a_mask_and_has_a_complement(area: Area) -> None:
    picture = PICTURE[::4, ::4]

    def weigh(one: Area) -> np.ndarray:
        try:
            return resolve(one, picture)
        except PlaceError:  # nothing of it is in the picture
            return np.zeros(picture.shape[:2])

    mask = weigh(area)
    assert mask.shape == picture.shape[:2]
    assert weigh(Refined(area, invert=True)) == pytest.approx(1 - mask, abs=LEVEL)


@pytest.mark.parametrize("where", PLACES, ids=str)
@pytest.mark.parametrize("compiled", [False, True])
def test_bands_and_threads_make_no_difference(
    where: Any, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = resolve(where, PICTURE, compiled=compiled)
    monkeypatch.setattr(bands, "BAND_PIXELS", 7 * 90)
    assert np.array_equal(resolve(where, PICTURE, compiled=compiled, threads=2), whole)


@pytest.mark.parametrize("where", PLACES, ids=str)
def test_a_preview_has_the_mask_of_the_export(where: Any) -> None:
    large, small = smooth_picture(1200, 1800), smooth_picture(300, 450)
    exported = resize_array(resolve(where, large, compiled=True).astype(np.float32), (450, 300))
    difference = np.abs(resolve(where, small) - exported)
    assert difference.mean() < 0.004
    assert difference.max() < 0.15


def test_growing_takes_the_highest_level_around() -> None:
    levels = np.zeros((9, 11), np.uint8)
    levels[4, 5] = 200
    grown = grow(levels, 2)
    assert (grown[2:7, 3:8] == 200).all()
    assert grown.sum() == 25 * 200
    assert np.array_equal(grow(grown, -2), levels)
    assert np.array_equal(grow(levels, 0), levels)


def test_growing_is_in_proportion_to_the_photo() -> None:
    disc = {"radial": {"centre": [0.5, 0.5], "radius": 0.2, "feather": 0}}
    for side in (100, 400):
        blank = np.zeros((side, side, 3), np.uint8)
        before, after = (
            np.flatnonzero(resolve(one, blank)[side // 2]) for one in (disc, {**disc, "grow": 50})
        )
        assert (before[0] - after[0]) / side == pytest.approx(0.05, abs=0.011)


def test_softening_blurs_an_edge() -> None:
    disc = {"radial": {"centre": [0.5, 0.5], "radius": 0.2, "feather": 0}}
    blank = np.zeros((200, 200, 3), np.uint8)
    soft = resolve({**disc, "soften": 25}, blank)[100]
    assert len(np.unique(soft)) > 10
    assert soft[100] > 0.95
    assert soft[60] == pytest.approx(0.45, abs=0.1), "the edge itself is about halfway"


def test_resolving_stops_on_request() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        resolve("shadows", PICTURE, cancel=stop)
