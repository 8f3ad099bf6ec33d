"""An expert's tones, and the curves that lead there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet import operations
from t2onet.editor.policy import EDIT, load_shipped_policy
from t2onet.editor.styles import TONE_LEVELS, TONE_SHARE, fit_tone_curves, measure_tones, to_attribute_vector
from t2onet.language import Attribute
from t2onet.metrics.attributes import ATTRIBUTE_INDEX
from tests.planning.scenes import scene

COLOR = operations.get_operation("color")


def apply_color(picture: np.ndarray, parameters: tuple[float, ...]) -> np.ndarray:
    return np.asarray(COLOR.run(picture, np.array(parameters, np.float32)))


def test_what_is_wanted_has_a_place_for_each_attribute() -> None:
    assert not to_attribute_vector("").any()
    plain, little, less = (
        to_attribute_vector(request) for request in ("brighter", "a bit brighter", "less contrast")
    )
    assert plain[ATTRIBUTE_INDEX[Attribute.LIGHTNESS]] == 1
    assert 0 < little[ATTRIBUTE_INDEX[Attribute.LIGHTNESS]] < 1
    assert less[ATTRIBUTE_INDEX[Attribute.CONTRAST]] == -1


def test_tones_run_from_the_darkest_to_the_lightest() -> None:
    picture = scene()
    found = measure_tones(picture)
    assert found.shape == (3, TONE_LEVELS)
    np.testing.assert_allclose(found[:, 0], picture.min((1, 2)))
    np.testing.assert_allclose(found[:, -1], picture.max((1, 2)))


def test_a_picture_that_has_its_tones_stays_as_it_is() -> None:
    picture = scene()
    np.testing.assert_allclose(
        apply_color(picture, fit_tone_curves(picture, measure_tones(picture), 1.0)), picture, atol=1e-3
    )


@given(st.floats(0.6, 1.6), st.integers(0, 50))
def test_tones_are_reached(power: float, seed: int) -> None:
    picture = scene(seed=seed)
    aim = picture**power
    reached = apply_color(picture, fit_tone_curves(picture, measure_tones(aim), 1.0))
    assert np.abs(reached - aim).mean() < 0.1 * np.abs(picture - aim).mean() + 2e-3


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=3 * TONE_LEVELS, max_size=3 * TONE_LEVELS), st.floats(0, 1))
def test_any_tones_give_parameters_in_range(levels: list[float], share: float) -> None:
    aim = np.sort(np.reshape(levels, (3, TONE_LEVELS)), axis=1)
    assert COLOR.check(list(fit_tone_curves(scene(), aim, share)))


def test_half_the_way_is_nearer_than_none() -> None:
    picture, aim = scene(), measure_tones(scene() ** 0.7)
    apart = [
        np.abs(measure_tones(apply_color(picture, fit_tone_curves(picture, aim, share))) - aim).mean()
        for share in (0, TONE_SHARE, 1)
    ]
    assert apart == sorted(apart, reverse=True)


def test_only_an_expert_remembers() -> None:
    picture = scene(load_shipped_policy().side)
    literal, expert = (
        load_shipped_policy().answer(picture, "brighter", manner) for manner in ("literal", "expert")
    )
    assert all(literal.attention)
    assert (expert.steps[-1].operation, expert.attention[-1]) == ("color", ())


@pytest.mark.parametrize("request_", ["crop it", "remove the people"])
def test_an_expert_retouches_and_says_what_was_not_done(request_: str) -> None:
    picture = scene(load_shipped_policy().side)
    assert load_shipped_policy().answer(picture, request_, "literal").verdict != EDIT
    answer = load_shipped_policy().answer(picture, request_, "expert")
    assert answer.verdict == EDIT
    assert answer.steps
    assert [part for part, _ in answer.declined] == [request_]
