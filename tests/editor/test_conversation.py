"""Talking about an edit: only what is mentioned changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t2onet import Editor, Recipe
from t2onet.editor import NOTHING_YET, apply_to_thumbnail
from t2onet.language import Attribute
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from tests.conftest import open_example
from tests.editor.helpers import PHOTO, WARM, Scripted


@pytest.fixture
def editor() -> Editor:
    """After `brighter and warmer`."""
    editor = Editor(PHOTO, Scripted())
    editor.follow("brighter and warmer")
    return editor


def strengths(editor: Editor) -> dict[str, float]:
    """How strong each step is against what the policy answers: the rise of the first piece for curves."""
    assert editor.current is not None
    full = {"color": WARM[0] - 1, "brightness": 0.2, "sharpness": 0.3, "contrast": 0.3}
    return {
        step.operation: round((step.parameters[0] - (step.operation == "color")) / full[step.operation], 3)
        for step in editor.current.recipe.steps
    }


def test_the_first_thing_said_is_a_request(editor: Editor) -> None:
    assert strengths(editor) == {"brightness": 1, "color": 1}
    assert editor.current is not None
    assert editor.current.recipe == Editor(PHOTO, Scripted()).ask("brighter and warmer").recipe


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["more"], {"brightness": 1.5, "color": 1.5}),
        (["half of that"], {"brightness": 0.5, "color": 0.5}),
        (["too much"], {"brightness": 0.6, "color": 0.6}),
        (["less warm"], {"brightness": 1, "color": 0.6}),
        (["not so bright"], {"brightness": 0.6, "color": 1}),
        (["warmer"], {"brightness": 1, "color": 1.5}),
        (["a lot brighter"], {"brightness": 2.25, "color": 1}),
        (["less warm but brighter"], {"brightness": 1.5, "color": 0.6}),
        (["undo the warmth"], {"brightness": 1}),
        (["twice as warm"], {"brightness": 1, "color": 2}),
    ],
)
def test_what_is_mentioned_is_scaled_and_nothing_else(
    editor: Editor, said: list[str], expected: dict[str, float]
) -> None:
    for sentence in said:
        assert editor.follow(sentence).answered
    assert strengths(editor) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["more", "more"], {"brightness": 2.25, "color": 2.25}),
        (["more", "too much"], {"brightness": 1.25, "color": 1.25}),
        (["more", "too much", "less"], {"brightness": 0.75, "color": 0.75}),
        (["warmer", "less warm"], {"brightness": 1, "color": 1.25}),
        (["less warm", "too much"], {"brightness": 1, "color": 0.76}),
        (["less warm", "half of that"], {"brightness": 1, "color": 0.8}),
        (["less warm", "more"], {"brightness": 1, "color": 0.4}),
        (["also sharpen it", "half of that"], {"brightness": 1, "color": 1, "sharpness": 0.5}),
        (["also sharpen it", "less warm"], {"brightness": 1, "color": 0.6, "sharpness": 1}),
    ],
)
def test_more_speaks_of_the_last_change_and_too_much_goes_half_the_way_back(
    editor: Editor, said: list[str], expected: dict[str, float]
) -> None:
    for sentence in said:
        editor.follow(sentence)
    assert strengths(editor) == expected


def test_what_no_step_carries_is_asked_for_and_added(editor: Editor) -> None:
    edit = editor.follow("also sharpen it")
    assert [step.operation for step in edit.recipe.steps] == ["brightness", "color", "sharpness"]
    assert edit.reasons == (("brighter",), ("warmer",), ("sharpen",))
    assert edit.changes == ["added as step 3: sharper"]
    policy = editor.policy
    assert isinstance(policy, Scripted)
    seen = apply_to_thumbnail(Recipe(steps=edit.recipe.steps[:2]), editor.picture)
    assert np.array_equal(policy.pictures[-1], seen), "the policy looks at the photo as it is by now"


def test_a_step_of_the_same_operation_is_changed_where_the_picture_is_the_same(editor: Editor) -> None:
    editor.put(Recipe.from_steps([("sharpness", 0.001)]))
    edit = editor.follow("also sharpen it")
    assert edit.recipe == Recipe.from_steps([("sharpness", 0.301)])
    assert edit.reasons == (("sharpen",),)
    editor.put(Recipe.from_steps([("sharpness", 1.5)]))
    assert len(editor.follow("also sharpen it").recipe.steps) == 2, "one step cannot be that sharp"


def test_adjusting_by_hand_changes_the_step_there_is(editor: Editor) -> None:
    edit = editor.adjust("brightness", 0.5)
    assert [step.operation for step in edit.recipe.steps] == ["brightness", "color"]
    assert (edit.recipe.steps[0].parameters, edit.reasons[0]) == ((0.5,), ("brighter",))
    assert editor.adjust("white_balance", 9).recipe.steps[0].operation == "white_balance"
    assert editor.undo() is edit


def test_of_two_things_one_may_be_there_already(editor: Editor) -> None:
    edit = editor.follow("less warm and sharper")
    assert strengths(editor) == {"brightness": 1, "color": 0.6, "sharpness": 1}
    assert [step.operation for step in edit.recipe.steps] == ["brightness", "color", "sharpness"]


def test_less_and_less_ends_in_the_opposite(editor: Editor) -> None:
    for _ in range(8):
        edit = editor.follow("cooler")
    assert editor.current is edit
    effect = measure_attributes(apply_to_thumbnail(edit.recipe, editor.picture)) - measure_attributes(
        editor.picture
    )
    assert effect[ATTRIBUTE_INDEX[Attribute.WARMTH]] < -2


def test_undo_redo_and_starting_over(editor: Editor) -> None:
    first = editor.current
    second = editor.follow("less warm")
    editor.follow("undo that")
    assert editor.current is first
    editor.follow("redo")
    assert editor.current is second
    assert editor.follow("undo that and sharpen it").recipe.steps[:2] == first.recipe.steps  # type: ignore[union-attr]
    fresh = editor.follow("start over")
    assert (fresh.recipe.steps, fresh.explain()) == ((), "The photo is as it was opened.")
    assert len(editor.undo().recipe.steps) == 3  # type: ignore[union-attr]
    editor.follow("start over, sharpen it")
    assert strengths(editor) == {"sharpness": 1}


def test_back_at_the_beginning() -> None:
    editor = Editor(PHOTO, Scripted())
    editor.follow("brighter")
    back = editor.follow("undo")
    assert back.recipe == Recipe()
    assert back.explain() == "Undone: 20 % brighter. The photo is as it was opened."
    assert not editor.can_undo
    assert editor.can_redo


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["less warm"], "A little warmer (less than before); the rest stays as it was."),
        (["more"], "30 % brighter (more than before) and warmer (more than before)."),
        (["brighter"], "30 % brighter (more than before); the rest stays as it was."),
        (["undo the warmth"], "No longer warmer; the rest stays as it was."),
        (["also sharpen it"], "Sharper; the rest stays as it was."),
        (["also sharpen it", "undo that"], "Undone: sharper; the rest stays as it was."),
        (["also sharpen it", "undo", "redo"], "Done again: sharper; the rest stays as it was."),
        (
            ["less warm", "undo that"],
            "Undone: a little warmer (less than before); the rest stays as it was.",
        ),
        (
            ["undo that and sharpen it"],
            "No longer 20 % brighter, no longer warmer and sharper.",
        ),
    ],
)
def test_a_follow_up_is_answered_with_what_it_changed(editor: Editor, said: list[str], told: str) -> None:
    for sentence in said:
        edit = editor.follow(sentence)
    assert edit.explain().splitlines()[0] == told


def test_what_was_left_undone_is_said_of_the_turn_it_belongs_to(editor: Editor) -> None:
    left = "I cannot crop, I only change photos as a whole; I did the rest."
    assert left in editor.follow("sharper, and trim the edges").explain()
    assert left not in editor.follow("more").explain()
    assert left not in editor.follow("undo that").explain()


@pytest.mark.parametrize("sentence", ["a bit more", "too much", "undo that", "redo", "undo the warmth"])
def test_where_there_is_nothing_to_speak_of_that_is_said(sentence: str) -> None:
    editor = Editor(PHOTO, Scripted())
    edit = editor.follow(sentence)
    assert edit.verdict == NOTHING_YET
    assert edit.explain() == "There is nothing yet that this could be about; nothing was changed."
    assert editor.current is None


def test_what_cannot_be_done_leaves_the_edit_as_it_is(editor: Editor) -> None:
    before = editor.current
    declined = editor.follow("crop it")
    assert declined.explain() == "I cannot crop, I only change photos as a whole; nothing was changed."
    assert before is not None
    assert declined.recipe == before.recipe
    assert editor.current is before


def test_a_recipe_by_hand_joins_the_conversation(editor: Editor) -> None:
    assert editor.current is not None
    bright, warm = editor.current.recipe.steps
    edit = editor.put(Recipe(steps=(warm, bright.blend(0.5))), aside=[(0, bright)])
    assert edit.reasons == (("warmer",), ("brighter",))
    assert edit.aside == ((0, bright),)
    assert editor.follow("less warm").aside == ((0, bright),)
    assert editor.undo() is edit
    assert editor.undo().aside == ()  # type: ignore[union-attr]


def test_no_words_lead_to_a_recipe_from_elsewhere(editor: Editor) -> None:
    edit = editor.put(Recipe.from_steps([("brightness", -0.3)]), new=True)
    assert (edit.request, edit.reasons) == ("", ((),))
    assert editor.undo().reasons == (("brighter",), ("warmer",))  # type: ignore[union-attr]


def test_strength_is_about_the_edit_however_often_it_is_set(editor: Editor) -> None:
    editor.at(0.5)
    editor.at(2)
    assert strengths(editor) == {"brightness": 2, "color": 2}
    editor.at(0.7)
    assert strengths(editor) == {"brightness": 0.7, "color": 0.7}
    editor.undo()
    assert strengths(editor) == {"brightness": 1, "color": 1}
    editor.at(0.5)
    editor.at(1)
    assert strengths(editor) == {"brightness": 1, "color": 1}
    assert editor.undo() is None


def test_history_is_long_but_not_endless(editor: Editor) -> None:
    for number in range(150):
        editor.put(Recipe.from_steps([("brightness", number / 1000)]))
    undone = 0
    while editor.can_undo:
        editor.undo()
        undone += 1
    assert undone == 100


SAID = (
    *(
        "more",
        "too much",
        "a lot more",
        "less warm",
        "warmer",
        "way brighter",
        "also sharpen it",
        "undo that",
    ),
    *("redo", "richer", "twice as much", "half the contrast", "more contrast", "start over", "crop it"),
)


@settings(max_examples=15)
@given(st.lists(st.sampled_from(SAID), max_size=12))
def test_whatever_is_said_recipes_stay_valid(said: list[str]) -> None:
    editor = Editor(PHOTO, Scripted())
    for sentence in said:
        edit = editor.follow(sentence)
        assert Recipe.from_json(edit.recipe.to_json()) == edit.recipe
        assert len(edit.reasons) == len(edit.recipe.steps)
        assert edit.explain()


@pytest.mark.parametrize("name", ["dogs", "meadow"])
def test_the_network_and_follow_ups_change_only_what_they_mention(name: str) -> None:
    editor = Editor(open_example(name, 256))
    editor.follow("make it brighter and warmer")
    for sentence, attribute, sign in [
        ("less warm", Attribute.WARMTH, -1),
        ("not so bright", Attribute.LIGHTNESS, -1),
        ("also sharpen it", Attribute.SHARPNESS, 1),
        ("more contrast", Attribute.CONTRAST, 1),
        ("less sharp", Attribute.SHARPNESS, -1),
    ]:
        change = measure_noticeable_change(editor, sentence)
        assert sign * change[ATTRIBUTE_INDEX[attribute]] > 1.5, sentence
        assert max(abs(change), key=float) == abs(change[ATTRIBUTE_INDEX[attribute]]), sentence


def measure_noticeable_change(editor: Editor, sentence: str) -> np.ndarray:
    """By how many noticeable amounts the attributes change."""
    assert editor.current is not None
    before = measure_attributes(apply_to_thumbnail(editor.current.recipe, editor.picture))
    after = measure_attributes(apply_to_thumbnail(editor.follow(sentence).recipe, editor.picture))
    return (after - before) / np.array(JUST_NOTICEABLE)
