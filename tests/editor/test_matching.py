"""A photo is matched to the tones and colours of a reference picture, within limits."""

from __future__ import annotations

import numpy as np
import pytest

import t2onet
from t2onet import Recipe
from t2onet.editor.matching import ALREADY_ALIKE, make_target, match_look, measure_look
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.image.colour import srgb_to_lab
from tests.planning.scenes import scene


def to_array(picture: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.uint8(255 * picture.transpose(1, 2, 0) + 0.5))


def apply_steps(picture: np.ndarray, *steps: tuple[str, object]) -> np.ndarray:
    return apply_to_thumbnail(Recipe.from_steps(steps), picture)


def measure(picture: np.ndarray) -> np.ndarray:
    """Mean L*, a*, b*."""
    means: np.ndarray = srgb_to_lab(picture.astype(float)).mean((1, 2))
    return means


PICTURE = scene(128)
OTHER = scene(128, 3)


def aim(*steps: tuple[str, object], picture: np.ndarray = PICTURE) -> np.ndarray:
    """The target for a picture with a reference of another scene after some steps."""
    return make_target(picture, measure_look(to_array(apply_steps(OTHER, *steps))))


def test_a_photo_that_looks_like_the_reference_stays_as_it_is() -> None:
    np.testing.assert_allclose(make_target(PICTURE, measure_look(to_array(PICTURE))), PICTURE, atol=0.01)
    edit = t2onet.match(to_array(PICTURE), to_array(PICTURE))
    assert (edit.recipe, edit.explain()) == (Recipe(), ALREADY_ALIKE)


@pytest.mark.parametrize("ev", [-1.0, 0.8])
def test_light_follows_the_reference(ev: float) -> None:
    plain, other = aim(("exposure", 0.0)), aim(("exposure", ev))
    assert np.sign(ev) * (measure(other)[0] - measure(plain)[0]) > 5


def test_contrast_follows_the_reference() -> None:
    spreads = [srgb_to_lab(aim(("contrast", (amount, 0.5))))[0].std() for amount in (-0.5, 0.5)]
    assert spreads[1] > 1.2 * spreads[0]


@pytest.mark.parametrize(("warmth", "sign"), [(40, 1), (-40, -1)])
def test_a_tint_of_greys_is_taken_over(warmth: float, sign: int) -> None:
    grey = np.repeat(PICTURE.mean(0, keepdims=True), 3, 0)
    grey[:, :, ::8] = PICTURE[:, :, ::8]  # some colours, so that it is not monochrome
    plain, tinted = (
        make_target(grey, measure_look(to_array(apply_steps(grey, ("white_balance", (value, 0))))))
        for value in (0, warmth)
    )
    assert sign * (measure(tinted)[2] - measure(plain)[2]) > 2


def test_a_monochrome_reference_makes_photos_monochrome() -> None:
    toned = aim(("black_and_white", {"amount": 100}))
    assert np.hypot(*srgb_to_lab(toned.astype(float))[1:]).max() < 1
    recipe = match_look(
        measure_look(to_array(apply_steps(OTHER, ("black_and_white", {"amount": 100})))), to_array(PICTURE)
    ).recipe
    assert "black_and_white" in {step.operation for step in recipe.steps}


def test_the_change_is_bounded() -> None:
    black, white = np.zeros((16, 16, 3), np.uint8), np.full((16, 16, 3), 255, np.uint8)
    before = srgb_to_lab(PICTURE.astype(float))
    for reference in (black, white, to_array(np.float32([[[0.9]], [[0.1]], [[0.1]]]) + np.zeros((3, 9, 9)))):
        after = srgb_to_lab(make_target(PICTURE, measure_look(reference)).astype(float))
        assert abs(after[0].mean() - before[0].mean()) < 27
        assert after[0].std() > 0.5 * before[0].std()
    for picture in (np.zeros_like(PICTURE), np.ones_like(PICTURE)):
        assert np.isfinite(make_target(picture, measure_look(to_array(OTHER)))).all()


def test_greys_stay_plausible() -> None:
    red = np.float32([[[0.9]], [[0.1]], [[0.1]]]) * scene(32)
    grey = np.repeat(PICTURE.mean(0, keepdims=True), 3, 0)
    lab = srgb_to_lab(make_target(grey, measure_look(to_array(red))).astype(float))
    assert np.hypot(*lab[1:]).mean() < 11


@pytest.mark.slow
def test_a_match_is_named_steps_that_do_not_clip() -> None:
    bright = apply_steps(OTHER, ("exposure", 1.5))
    edit = t2onet.match(to_array(bright), to_array(PICTURE))
    assert edit.recipe.steps
    result = np.asarray(edit.image)
    assert result.mean() > to_array(PICTURE).mean() + 20
    assert (result.max(-1) == 255).mean() < 0.05
    whole, *reasons = edit.explain().splitlines()
    assert whole
    assert len(reasons) == len(edit.recipe.steps)
    assert all(line.startswith("- ") for line in reasons)
    none = t2onet.match(to_array(bright), to_array(PICTURE), strength=0)
    assert none.recipe.is_identity
    np.testing.assert_array_equal(np.asarray(none.image), to_array(PICTURE))
    half = np.asarray(t2onet.match(to_array(bright), to_array(PICTURE), strength=0.5).image)
    assert to_array(PICTURE).mean() < half.mean() < result.mean()
