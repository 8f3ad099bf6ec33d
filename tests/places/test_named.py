"""Named places: found on a small picture and snapped to the photo's edges."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.errors import PlaceError
from t2onet.operations import Frame
from t2onet.places import FINDERS, find_place, named
from t2onet.recipe import where
from tests.places.helpers import resolve


def test_every_declared_place_can_be_found() -> None:
    assert set(FINDERS) == set(where.PLACES)


def test_unknown_places_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FINDERS, "meadow", lambda picture: picture[0])
    with pytest.raises(PlaceError, match=r"^there is no place 'medow' to find; did you mean 'meadow'\?$"):
        find_place("medow", np.zeros((3, 4, 4), np.float32))


@pytest.fixture
def bright_half(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """A place that is found coarsely: a mask of 40 x 60 with a level edge, near that of `horizon`."""
    seen: list[tuple[int, ...]] = []

    def find(picture: np.ndarray) -> np.ndarray:
        seen.append(picture.shape)
        return np.repeat(np.arange(40)[:, None] < 20, 60, axis=1)

    monkeypatch.setattr(where, "PLACES", ("sky",))
    monkeypatch.setitem(FINDERS, "sky", find)
    return seen


def horizon(height: int, width: int) -> np.ndarray:
    """Bright above, dark below a slanted line near the middle."""
    y, x = np.mgrid[:height, :width]
    above = (y + 0.5) / height < 0.48 + 0.04 * (x + 0.5) / width
    return np.where(above[..., None], 0.85, 0.2).astype(np.float32) * np.ones(3, np.float32)


def test_a_place_is_found_on_a_small_picture_and_takes_the_edges_of_the_photo(
    bright_half: list[tuple[int, ...]],
) -> None:
    photo = horizon(800, 1200)
    mask = resolve("sky", photo)
    assert bright_half == [(3, 341, 512)]
    truth = photo[..., 0] > 0.5
    near = np.abs(np.arange(800) - 400) < 60
    assert mask[~near][truth[~near]].min() > 0.9
    assert mask[~near][~truth[~near]].max() < 0.1
    steps = mask[:-1] - mask[1:]
    edge = np.argmax(steps, axis=0)
    true_edge = truth.sum(axis=0) - 1
    assert (edge == true_edge).mean() > 0.9, "the mask drops where the photo does"


def test_a_found_place_agrees_between_preview_and_export(bright_half: list[tuple[int, ...]]) -> None:
    small, large = resolve("sky", horizon(300, 450)), resolve("sky", horizon(1200, 1800), compiled=True)
    averaged = large.reshape(300, 4, 450, 4).mean(axis=(1, 3))
    assert np.abs(small - averaged).mean() < 0.01


def test_places_are_combined_and_refined_like_ranges(bright_half: list[tuple[int, ...]]) -> None:
    photo = horizon(90, 120)
    assert resolve("not sky", photo) == pytest.approx(1 - resolve("sky", photo), abs=1.01 / 255)
    assert resolve({"of": "sky", "soften": 10}, photo).shape == (90, 120)


def test_interpolation_is_exact_at_the_same_size() -> None:
    small = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    assert np.allclose(named.interpolate(small, Frame(5, 7, 1.0), 5, 7), small)
    part = named.interpolate(small, Frame(50, 70, 1.0).at(20), 10, 70)
    assert np.allclose(part, named.interpolate(small, Frame(50, 70, 1.0), 50, 70)[20:30])


def test_the_kernel_of_masks_computes_the_formula() -> None:
    rng = np.random.default_rng(1)
    slope, level = (rng.normal(0.3, 0.4, (9, 13)).astype(np.float32) for _ in range(2))
    snapped, tile = named.SnappedMask(slope, level), rng.random((3, 20, 70)).astype(np.float32)
    frame = Frame(50, 70, 1.0).at(20)
    assert snapped.weigh(tile, frame, compiled=True) == pytest.approx(snapped.weigh(tile, frame), abs=1e-5)


def test_a_mask_has_no_faint_veil() -> None:
    flat, tile = np.zeros((2, 2), np.float32), np.full((3, 4, 4), 0.5, np.float32)
    for level, expected in ((0.07, 0), (0.5, 0.5), (0.93, 1)):
        snapped = named.SnappedMask(flat, flat + np.float32(level))
        assert snapped.weigh(tile, Frame(4, 4, 1.0)) == pytest.approx(expected)
