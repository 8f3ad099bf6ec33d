"""Series: scenes are told apart at any exposure, and photos of one scene come out alike."""

from __future__ import annotations

import numpy as np
import pytest

import t2onet
from t2onet import Recipe
from t2onet.editor import apply_to_thumbnail
from t2onet.editor.series import SeriesPhoto, edit_series, find_guide, group_scenes, level, measure_likeness
from t2onet.image.colour import srgb_to_lab
from tests.conftest import open_example

LIGHTS = ((0.0, 0, 0), (0.9, 25, -8), (-1.0, -30, 6), (0.4, -12, 10))
"""Stops, mired and tint that a camera may be off by."""


def take(name: str, ev: float, temperature: float, tint: float) -> np.ndarray:
    """An example photo, small, as it would be taken at another exposure and white balance."""
    recipe = Recipe.from_steps([("exposure", ev), ("white_balance", [temperature, tint])])
    return np.asarray(t2onet.apply(recipe, np.asarray(open_example(name, 160))))


def look_at(photo: np.ndarray, taken: float | None = None) -> SeriesPhoto:
    return SeriesPhoto(SeriesPhoto.of(t2onet.open_image(photo)).picture, taken)


def average(picture: np.ndarray) -> np.ndarray:
    """(3,): mean L*, a* and b*."""
    return srgb_to_lab(picture.astype(float)).reshape(3, -1).mean(1)


def test_a_photo_is_like_itself_at_any_exposure_and_unlike_others() -> None:
    trail, dogs = ([look_at(take(name, *light)) for light in LIGHTS] for name in ("trail", "dogs"))
    assert min(measure_likeness(trail[0], other) for other in trail) > 0.85
    assert max(measure_likeness(one, other) for one in trail for other in dogs) < 0.6


def test_a_little_other_framing_is_the_same_scene() -> None:
    photo = take("trail", 0, 0, 0)
    height, width = photo.shape[:2]
    cut = photo[height // 12 :, : width - width // 12]
    assert group_scenes([look_at(photo), look_at(np.ascontiguousarray(cut))]) == [[0, 1]]


def test_scenes_are_runs_of_like_photos() -> None:
    photos = [look_at(take(name, *light)) for name in ("trail", "dogs", "trail") for light in LIGHTS[:2]]
    assert group_scenes(photos) == [[0, 1], [2, 3], [4, 5]]


def test_times_order_photos_and_long_gaps_part_scenes() -> None:
    trail, dogs = take("trail", 0, 0, 0), take("dogs", 0, 0, 0)
    mixed = [look_at(trail, 10.0), look_at(dogs, 500.0), look_at(trail, 0.0)]
    assert group_scenes(mixed) == [[2, 0], [1]]
    assert group_scenes([look_at(trail, 0.0), look_at(trail, 7200.0)]) == [[0], [1]]
    assert group_scenes([]) == []


def test_the_guide_is_the_photo_in_the_middle() -> None:
    photos = [look_at(take("trail", ev, 0, 0)) for ev in (1.0, 0.1, -1.0, 0.0, -0.2)]
    assert find_guide(photos, range(5)) == 3


@pytest.mark.parametrize(
    "steps",
    [
        [("exposure", 0.3), ("white_balance", [20, 0]), ("contrast", 0.2)],
        [("black_and_white", 100), ("contrast", 0.3)],
        [("exposure", -0.7, "top"), ("vibrance", 30)],
    ],
)
def test_photos_come_out_alike(steps: list[tuple[object, ...]]) -> None:
    recipe = Recipe.from_steps(steps)
    guide, *others = (look_at(take("stream", *light)).picture for light in LIGHTS)
    moved = ("exposure", "white_balance")
    for other in others:
        own = level(recipe, guide, other)
        is_local = any(step.is_local for step in recipe.steps)
        wanted = average(apply_to_thumbnail(recipe, guide))
        got, as_guide = (average(apply_to_thumbnail(one, other)) for one in (own, recipe))
        assert np.abs(got - wanted).max() < (2.5 if is_local else 0.8)
        assert np.abs(got - wanted).max() < np.abs(as_guide - wanted).max() / 3
        kept = [step for step in own.steps if step.operation not in moved or step.is_local]
        assert kept == [step for step in recipe.steps if step.operation not in moved or step.is_local]


def test_the_guide_itself_keeps_the_recipe() -> None:
    recipe = Recipe.from_steps([("exposure", 0.3), ("contrast", 0.2)])
    guide = look_at(take("trail", 0, 0, 0)).picture
    assert level(recipe, guide, guide) == recipe


def test_a_series_is_edited_in_python_as_well() -> None:
    photos = [take("trail", *light) for light in LIGHTS]
    edits = edit_series(photos, "warmer", like=1)
    alone = t2onet.edit(photos[1], "warmer")
    assert edits[1].recipe == alone.recipe
    assert [one.photo.height for one in edits] == [photo.shape[0] for photo in photos]
    means = np.array([average(np.asarray(one.image).transpose(2, 0, 1) / 255) for one in edits])
    before = np.array([average(photo.transpose(2, 0, 1) / 255) for photo in photos])
    assert (means.std(0) < 0.2 * before.std(0)).all()


def test_what_cannot_be_done_is_declined_for_each_photo() -> None:
    edits = edit_series([take("trail", *light) for light in LIGHTS[:2]], "remove the clouds")
    assert [edit.answered for edit in edits] == [False, False]
