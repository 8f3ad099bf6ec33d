"""What must stay as it is does, and the answer says so."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import Editor, Recipe
from t2onet.editor import apply_to_thumbnail
from t2onet.editor.holding import enforce_limits
from t2onet.language import Attribute
from t2onet.language.limits import Limit, Limited
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from tests.conftest import open_example
from tests.editor.helpers import PHOTO, WARM, Scripted
from tests.planning.scenes import scene

L, C, S, W, R, X = Attribute
COLOURS = ((S, 0), (W, 0), (R, 0))
PICTURE = scene(48)
SAID = ("not that",)


def measure_noticeable_change(recipe: Recipe, picture: np.ndarray, attribute: Attribute) -> float:
    """By how many noticeable amounts."""
    at = ATTRIBUTE_INDEX[attribute]
    return (
        float((measure_attributes(apply_to_thumbnail(recipe, picture)) - measure_attributes(picture))[at])
        / JUST_NOTICEABLE[at]
    )


def test_a_step_about_what_must_stay_is_left_out() -> None:
    both = Recipe.from_steps([("sharpness", 0.3), ("color", WARM)])
    said = Limited("sharper", (Limit(W), Limit(R)), SAID)
    found = enforce_limits(both, (("sharper",), ()), said, PICTURE)
    assert [step.operation for step in found.recipe.steps] == ["sharpness"]
    assert found.reasons == (("sharper",),)


def test_what_a_step_moves_along_is_moved_back() -> None:
    bright = Recipe.from_steps([("brightness", 0.3)])
    assert measure_noticeable_change(bright, PICTURE, C) > 4
    found = enforce_limits(bright, (("brighter",),), Limited("brighter", (Limit(C),), SAID), PICTURE)
    assert [step.operation for step in found.recipe.steps] == ["brightness", "contrast"]
    assert found.reasons == (("brighter",), SAID)
    assert abs(measure_noticeable_change(found.recipe, PICTURE, C)) < 2


def test_a_limit_to_one_side_leaves_the_other_free() -> None:
    bright = Recipe.from_steps([("brightness", 0.3)])
    assert enforce_limits(bright, ((),), Limited("", (Limit(L, -1),), SAID), PICTURE).recipe == bright
    assert enforce_limits(bright, ((),), Limited("", (Limit(L, 1),), SAID), PICTURE).recipe == Recipe()


def test_not_too_much_is_half() -> None:
    bright = Recipe.from_steps([("brightness", 0.3)])
    assert enforce_limits(bright, ((),), Limited("", gentle=True), PICTURE).recipe == bright.blend(0.5)


def test_what_cannot_be_kept_is_said() -> None:
    grey = np.full((3, 48, 48), 0.5, np.float32)
    grey[:, :24] = 0.45
    blown = Recipe.from_steps([("brightness", 1.9)])
    found = enforce_limits(blown, ((),), Limited("brighter", (Limit(C),), SAID), grey)
    assert (found.recipe, found.violated) == (blown, {Limit(C)})


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ("brighter but keep the colours", "As asked, I left the colours alone."),
        ("sharper but not darker", "As asked, I made it no darker."),
        ("brighter, but not too much", "As asked, I did only a little of it."),
        (
            "sharper, not too much, and keep the contrast and brightness, but not warmer",
            "I left the contrast and the brightness alone, made it no warmer and did only a little of it.",
        ),
    ],
)
def test_the_answer_says_what_was_held_back(request_: str, told: str) -> None:
    edit = Editor(PHOTO, Scripted()).ask(request_)
    assert edit.explain().splitlines()[0].endswith(told)


def test_the_policy_reads_only_what_is_asked() -> None:
    policy = Scripted()
    Editor(PHOTO, policy).ask("sharper but not darker")
    assert policy.asked == ["sharper"]


LIMITED: list[tuple[str, tuple[Attribute, int], tuple[tuple[Attribute, int], ...]]] = [
    ("brighter without changing the colours", (L, 1), COLOURS),
    ("more contrast but not darker", (C, 1), ((L, -1),)),
    ("sharper but keep the colours", (X, 1), COLOURS),
    ("make it warmer but don't make it brighter", (W, 1), ((L, 1),)),
    ("keep the colours but make it sharper", (X, 1), COLOURS),
    ("Without touching the contrast, make it brighter.", (L, 1), ((C, 0),)),
    ("brighten it and leave the colours alone", (L, 1), COLOURS),
    ("increase the saturation without making it too bright", (S, 1), ((L, 1),)),
    ("make it darker without losing contrast", (L, -1), ((C, -1),)),
    ("darker while keeping the colours the same", (L, -1), COLOURS),
    ("increase contrast. Keep the brightness as is.", (C, 1), ((L, 0),)),
    ("more vivid, the brightness should stay the same", (S, 1), ((L, 0),)),
    ("lighter without washing out the colours", (L, 1), ((S, -1),)),
    ("make it brighter, but don’t touch the saturation", (L, 1), ((S, 0),)),
    ("brighter but not warmer", (L, 1), ((W, 1),)),
    ("more contrast without making it darker or colder", (C, 1), ((L, -1), (W, -1))),
    ("brighter with the same contrast", (L, 1), ((C, 0),)),
    ("more contrast, but keep it bright", (C, 1), ((L, -1),)),
    ("sharpen it but don't touch the brightness", (X, 1), ((L, 0),)),
    ("cooler without making it darker", (W, -1), ((L, -1),)),
    ("less saturated but keep the contrast", (S, -1), ((C, 0),)),
    ("warmer but leave the exposure alone", (W, 1), ((L, 0),)),
    ("softer but keep the colours as they are", (X, -1), COLOURS),
    ("more contrast without oversaturating it", (C, 1), ((S, 1),)),
    ("brighter, but don't make it flat", (L, 1), ((C, -1),)),
    ("darker but not colder", (L, -1), ((W, -1),)),
    ("less contrast but not brighter", (C, -1), ((L, 1),)),
    ("more colourful without changing the brightness", (S, 1), ((L, 0),)),
    ("warm it up without losing sharpness", (W, 1), ((X, -1),)),
    ("add contrast but no changes to the saturation", (C, 1), ((S, 0),)),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dogs", "stream", "sunset"])
def test_the_network_does_what_is_asked_within_the_limits(name: str) -> None:
    editor = Editor(open_example(name, 256))
    for request, (asked, sign), limits in LIMITED:
        recipe = editor.ask(request).recipe
        assert sign * measure_noticeable_change(recipe, editor.picture, asked) > 1, request
        for attribute, way in limits:
            moved = measure_noticeable_change(recipe, editor.picture, attribute)
            assert (way * moved if way else abs(moved)) < 3, (request, attribute)


@pytest.mark.parametrize(
    ("plain", "gentle", "attribute"),
    [
        ("brighter", "brighter, but not too much", L),
        ("warmer", "warmer, but not too yellow", W),
        ("more saturated", "more saturated but don't overdo it", S),
    ],
)
def test_the_network_does_less_where_it_must_not_be_too_much(
    plain: str, gentle: str, attribute: Attribute
) -> None:
    editor = Editor(open_example("dogs", 256))
    much, little = (
        measure_noticeable_change(editor.ask(said).recipe, editor.picture, attribute)
        for said in (plain, gentle)
    )
    assert 0.3 * much < little < 0.7 * much
