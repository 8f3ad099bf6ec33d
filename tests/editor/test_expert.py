"""An expert's tones, and the curves that lead there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet import Editor, Recipe, operations
from t2onet.editor import Mode
from t2onet.editor.expert import (
    MAX_STEPS,
    TONE_LEVELS,
    TONE_SHARE,
    ExpertTones,
    fit_tone_curves,
    load_expert_tones,
    make_retouch,
    measure_tones,
    to_attribute_vector,
)
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.language import Attribute
from t2onet.language.wishes import Amount, Direction, Role, Wish
from t2onet.metrics.attributes import ATTRIBUTE_INDEX
from tests.planning.scenes import scene

COLOR = operations.get_operation("color")


def apply_color(picture: np.ndarray, parameters: tuple[float, ...]) -> np.ndarray:
    return np.asarray(COLOR.run(picture, np.array(parameters, np.float32)))


BRIGHTER, LESS_CONTRAST = Wish("lightness", Direction.UP), Wish("contrast", Direction.DOWN)


def test_what_is_wanted_has_a_place_for_each_attribute() -> None:
    assert not to_attribute_vector(()).any()
    a_bit = Wish("lightness", Direction.UP, Amount.LITTLE)
    plain, little, less = (to_attribute_vector([wish]) for wish in (BRIGHTER, a_bit, LESS_CONTRAST))
    assert plain[ATTRIBUTE_INDEX[Attribute.LIGHTNESS]] == 1
    assert 0 < little[ATTRIBUTE_INDEX[Attribute.LIGHTNESS]] < 1
    assert less[ATTRIBUTE_INDEX[Attribute.CONTRAST]] == -1
    assert not to_attribute_vector([Wish("lightness", Direction.UP, role=Role.LIMIT)]).any()


class FixedTones:
    """A session that predicts the same tones for every photo, and keeps what it was given."""

    def __init__(self, tones: np.ndarray) -> None:
        self.predicted = tones
        self.given: dict[str, np.ndarray] = {}

    def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.given = inputs
        return [self.predicted[None]]


def test_an_expert_is_given_the_picture_and_what_is_wanted() -> None:
    falling = np.tile(np.linspace(1.2, -0.2, TONE_LEVELS), (3, 1))
    session = FixedTones(falling)
    wanted = to_attribute_vector([BRIGHTER])
    found = ExpertTones(session).tones(scene(), wanted)
    assert {name: value.shape[0] for name, value in session.given.items()} == {"image": 1, "wanted": 1}
    np.testing.assert_array_equal(session.given["wanted"][0], wanted)
    assert found.shape == (3, TONE_LEVELS)
    assert found.min() >= 0
    assert found.max() <= 1
    assert (np.diff(found) >= 0).all()


def test_an_expert_takes_a_picture_towards_their_tones() -> None:
    picture, aim = scene(), measure_tones(scene() ** 0.6)
    expert = ExpertTones(FixedTones(aim))
    after = apply_color(picture, expert.parameters(picture, picture, to_attribute_vector(())))
    assert np.abs(measure_tones(after) - aim).mean() < 0.5 * np.abs(measure_tones(picture) - aim).mean()


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


# ---- the expert in the package


def test_a_retouch_is_a_few_named_steps_towards_the_tones() -> None:
    picture = 0.5 * scene(128)
    recipe = make_retouch(picture, Recipe(), ())
    assert 1 <= len(recipe.steps) <= MAX_STEPS
    assert {step.operation for step in recipe.steps} <= {
        *("exposure", "contrast", "highlights", "shadows", "whites", "blacks", "white_balance", "vibrance"),
        "tone",
    }
    aim = load_expert_tones().tones(picture, to_attribute_vector(()))
    before, after = (measure_tones(one) for one in (picture, apply_to_thumbnail(recipe, picture)))
    assert np.abs(after - aim).mean() < np.abs(before - aim).mean()


def test_a_retouch_goes_the_way_of_the_wishes() -> None:
    picture = scene(128)
    darker = Wish("lightness", Direction.DOWN)
    dark, bright = (
        apply_to_thumbnail(make_retouch(picture, Recipe(), [wish]), picture) for wish in (darker, BRIGHTER)
    )
    assert bright.mean() > dark.mean()


@pytest.mark.parametrize("own", [("exposure", -0.5), ("exposure", 1.0), ("white_balance", (20, 0))])
def test_a_retouch_of_an_edited_photo_keeps_the_edit(own: tuple[str, object]) -> None:
    picture, begun = scene(128), Recipe.from_steps([own])
    target = apply_to_thumbnail(make_retouch(picture, Recipe(), ()), picture)
    recipe = make_retouch(picture, begun, ())
    assert set(begun.steps) <= set(recipe.steps)
    before, after = (np.abs(apply_to_thumbnail(one, picture) - target).mean() for one in (begun, recipe))
    assert before > 0.08
    assert after < 0.015
    again = apply_to_thumbnail(make_retouch(picture, recipe, ()), picture)
    assert np.abs(again - target).mean() < 0.025


def test_a_retouch_of_one_place_is_added_there_alone() -> None:
    picture, begun = scene(128), Recipe.from_steps([("exposure", -0.5), ("exposure", -0.5, "left")])
    recipe = make_retouch(picture, begun, (), "left")
    assert set(begun.steps[:1]) < set(recipe.steps)
    assert {step.where is None for step in recipe.steps if step not in begun.steps} == {False}
    right = np.s_[:, :, 100:]
    before, after = (apply_to_thumbnail(one, picture) for one in (begun, recipe))
    np.testing.assert_allclose(after[right], before[right], atol=0.02)
    assert np.abs(after - before)[:, :, :20].mean() > 0.05


def ask(request: str, mode: Mode) -> list[str]:
    photo = (127 * scene(96).transpose(1, 2, 0)).astype(np.uint8)
    return [step.operation for step in Editor(photo).ask(request, mode=mode).recipe.steps]


def test_only_an_expert_does_more_than_was_said() -> None:
    literal, expert = ask("sharper", "literal"), ask("sharper", "expert")
    assert literal == ["sharpness"]
    assert "sharpness" in expert
    assert len(expert) > 1
    assert "color" not in expert


def test_who_asks_for_an_automatic_retouch_gets_one_in_every_mode() -> None:
    assert ask("auto enhance", "literal") == ask("auto enhance", "expert") != []


@pytest.mark.parametrize("request_", ["remove the people", "add a hat"])
def test_an_expert_retouches_and_says_what_was_not_done(request_: str) -> None:
    photo = (127 * scene(96).transpose(1, 2, 0)).astype(np.uint8)
    assert Editor(photo).ask(request_).recipe == Recipe()
    edit = Editor(photo).ask(request_, mode="expert")
    assert edit.recipe.steps
    assert len(edit.declined) == 1
    assert edit.explain().splitlines()[-1].startswith("Not done, ")
