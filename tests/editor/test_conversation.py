"""Talking about an edit: only what is mentioned changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t2onet import Editor, Recipe
from t2onet.editor import apply_to_thumbnail
from t2onet.editor.conversation import (
    flip_wishes,
    insists_on,
    interpolate_recipes,
    join_limits,
    repeat_wishes,
    replaces_last,
    restate_amount,
    take_out_turn,
)
from t2onet.language import Attribute
from t2onet.language.quantities import Quantity, Unit
from t2onet.language.wishes import Direction, Outcome, Role, Verb, Wish
from t2onet.looks import looks
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from tests.conftest import open_example
from tests.editor.helpers import PHOTO, SENTENCES, KnownSentences
from tests.recipe.strategies import recipes

FULL = {"white_balance": 20.0, "exposure": 1.0, "sharpness": 0.3}
"""The first parameter of the step that each wish of the fake reader leads to."""
UP, DOWN = Direction.UP, Direction.DOWN


def make_editor(previous: Recipe | None = None) -> Editor:
    return Editor(PHOTO, reader=KnownSentences(), previous=previous)


@pytest.fixture
def editor() -> Editor:
    """After `one stop brighter and warmer`."""
    editor = make_editor()
    editor.follow("one stop brighter and warmer")
    return editor


def get_strengths(editor: Editor) -> dict[str, float]:
    """How strong each step is against the one that the plain wish leads to."""
    steps = editor.current.recipe.steps if editor.current else ()
    return {step.operation: round(step.parameters[0] / FULL[step.operation], 3) for step in steps}


def test_the_first_thing_said_is_a_request(editor: Editor) -> None:
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1}
    assert editor.current is not None
    assert editor.current.recipe == make_editor().ask("one stop brighter and warmer").recipe


@pytest.mark.parametrize(
    ("said", "factor"),
    [
        (["a bit more"], 1.25),
        (["more"], 1.5),
        (["a lot more"], 2.2),
        (["a bit less"], 0.75),
        (["too much"], 0.55),
        (["half that"], 0.5),
        (["twice as much"], 2),
        (["20 % more"], 1.2),
        (["more", "more"], 2.25),
        (["more", "too much"], 1.25),
        (["a bit less", "more"], 0.875),
        (["more", "half that"], 0.75),
        (["more", "too much", "too much"], 0.688),
    ],
)
def test_the_last_change_is_scaled_and_too_much_goes_half_the_way_back(
    editor: Editor, said: list[str], factor: float
) -> None:
    for sentence in said:
        assert editor.follow(sentence).answered
    assert get_strengths(editor) == {"white_balance": factor, "exposure": factor}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["sharper", "half that"], {"white_balance": 1, "exposure": 1, "sharpness": 0.5}),
        (["sharper", "half that", "twice as much"], {"white_balance": 1, "exposure": 1, "sharpness": 1}),
        (["brighter", "half that"], {"white_balance": 1, "exposure": 1.5}),
        (["brighter", "undo", "half that"], {"white_balance": 0.5, "exposure": 0.5}),
    ],
)
def test_only_the_last_change_is_scaled(editor: Editor, said: list[str], expected: dict[str, float]) -> None:
    for sentence in said:
        editor.follow(sentence)
    assert get_strengths(editor) == expected


def test_steps_of_one_operation_become_one(editor: Editor) -> None:
    edit = editor.follow("brighter")
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 2}
    assert edit.changes == ["changed, step 2: exposure +1.00 EV -> exposure +2.00 EV"]
    assert editor.follow("sharper").reasons == (("warmer",), ("brighter",), ("sharper",))


def test_a_wish_that_cancels_a_step_leaves_no_empty_one(editor: Editor) -> None:
    edit = editor.follow("less warm")
    less = measure_noticeable(edit.recipe, editor) - measure_noticeable(
        Recipe.from_steps([("white_balance", [20, 0]), ("exposure", 1)]), editor
    )
    assert less[ATTRIBUTE_INDEX[Attribute.WARMTH]] < -1
    assert not any(step.is_identity for step in edit.recipe.steps)


def measure_noticeable(recipe: Recipe, editor: Editor) -> np.ndarray:
    """The attributes of the photo after a recipe, in noticeable amounts."""
    after = measure_attributes(apply_to_thumbnail(recipe, editor.picture))
    return np.asarray(after / np.array(JUST_NOTICEABLE))


# ---- the other way


@pytest.mark.parametrize("scaled", [[], ["a bit less"], ["more", "too much"], ["undo", "redo"], ["thanks"]])
def test_the_other_way_is_the_opposite_of_the_last_wishes(editor: Editor, scaled: list[str]) -> None:
    for sentence in scaled:
        editor.follow(sentence)
    edit = editor.follow("no, the other way")
    assert edit.answered
    assert get_strengths(editor) == {"white_balance": -1, "exposure": -1}
    assert edit.reply == "Cooler and a stop darker."
    assert edit.reasons == (("no", "other", "way"),) * 2
    editor.follow("no, the other way")
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1}


def test_the_other_way_leaves_earlier_changes_alone(editor: Editor) -> None:
    editor.follow("brighter")
    editor.follow("a bit less")
    editor.follow("no, the other way")
    assert get_strengths(editor) == {"white_balance": 1}, "a stop up, and a stop down from there"


def test_other_wishes_say_which_way_it_is(editor: Editor) -> None:
    editor.follow("no, the other way, sharper")
    assert get_strengths(editor) == {"sharpness": 1}


def test_a_look_has_no_opposite() -> None:
    editor = make_editor()
    editor.follow("moody")
    assert editor.follow("no, the other way").explain() == (
        "The last change has no opposite; nothing was changed."
    )


def test_numbers_are_flipped_and_what_was_declined_is_not() -> None:
    wishes = (
        Wish("lightness", UP, quantity=Quantity(0.5, Unit.STOPS, sign=1), outcome=Outcome.DONE, reason="so"),
        Wish("contrast", DOWN, quantity=Quantity(0.5, Unit.FACTOR), outcome=Outcome.DONE),
        Wish("warmth", UP, outcome=Outcome.DECLINED),
        Wish("colour", UP, role=Role.LIMIT, outcome=Outcome.KEPT),
        Wish("black_and_white", outcome=Outcome.DONE),
    )
    assert flip_wishes(wishes, ("no",)) == (
        Wish("lightness", DOWN, quantity=Quantity(0.5, Unit.STOPS, sign=-1), words=("no",)),
        Wish("contrast", UP, quantity=Quantity(2.0, Unit.FACTOR), words=("no",)),
    )


# ---- undo, redo, starting over


def test_undo_redo_and_starting_over(editor: Editor) -> None:
    first = editor.current
    second = editor.follow("sharper")
    editor.follow("undo")
    assert editor.current is first
    editor.follow("redo")
    assert editor.current is second
    fresh = editor.follow("start over")
    assert (fresh.recipe.steps, fresh.explain()) == ((), "The photo is as it was opened.")
    assert editor.undo() is second


def test_other_wishes_are_met_on_what_undo_and_starting_over_leave(editor: Editor) -> None:
    editor.follow("brighter")
    editor.follow("undo that and make it sharper")
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1, "sharpness": 1}
    assert not editor.can_redo
    before = editor.current
    edit = editor.follow("start over, sharper")
    assert (get_strengths(editor), edit.reply) == ({"sharpness": 1}, "Sharper.")
    assert editor.undo() is before, "one sentence is one turn"


def test_what_is_said_about_the_file_does_not_hide_a_wish(editor: Editor) -> None:
    edit = editor.follow("brighter, and save it")
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 2}
    assert edit.explain().splitlines()[-1] == "“save”: save it with the button or the command."


def test_back_at_the_beginning() -> None:
    editor = make_editor()
    editor.follow("brighter")
    back = editor.follow("undo")
    assert back.recipe == Recipe()
    assert back.explain() == "Undone: a stop brighter. The photo is as it was opened."
    assert (editor.can_undo, editor.can_redo) == (False, True)


def test_steps_switched_off_are_part_of_the_history(editor: Editor) -> None:
    assert editor.current is not None
    warm, bright = editor.current.recipe.steps
    edit = editor.put(Recipe(steps=(bright,)), aside=[(0, warm)])
    assert edit.reasons == (("brighter",),)
    assert editor.follow("brighter").aside == ((0, warm),)
    assert editor.follow("undo").aside == ((0, warm),)
    assert editor.follow("start over").aside == ()
    assert editor.follow("undo").aside == ((0, warm),)
    assert editor.follow("undo").aside == ()
    assert editor.follow("redo").aside == ((0, warm),)


def test_starting_over_also_forgets_steps_that_are_all_switched_off(editor: Editor) -> None:
    assert editor.current is not None
    off = tuple(enumerate(editor.current.recipe.steps))
    hidden = editor.put(Recipe(), aside=off)
    assert editor.follow("start over").aside == ()
    assert editor.undo() is hidden


def test_undoing_what_changed_no_step_is_said_too(editor: Editor) -> None:
    assert editor.current is not None
    editor.put(editor.current.recipe)
    assert editor.follow("undo").explain() == "Undone."


def test_copying_takes_the_recipe_of_the_photo_before() -> None:
    previous = Recipe.from_steps([("exposure", 0.5), ("sharpness", 0.3)])
    editor = make_editor(previous)
    for edit in (editor.follow("like the last one"), editor.ask("like the last one")):
        assert (edit.answered, edit.recipe) == (True, previous)
        assert edit.reply == "Half a stop brighter and sharper."
    editor.follow("brighter")
    assert editor.follow("like the last one").recipe == previous
    assert len(editor.history) == 4


# ---- questions and talk change nothing


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("what did you do?", "Warmer and a stop brighter."),
        ("why is it brighter?", "Exposure +1.00 EV did that, because of “brighter”."),
        ("why is it darker?", "No step made it “darker”."),
        ("thanks", "I found no wish about the photo in that; nothing was changed."),
        ("save it", "Save it with the button or the command."),
        ("show me the original", "The original is unchanged; undo or start over to return to it."),
        ("remove the dog", "Things cannot be removed from a photo; nothing was changed."),
    ],
)
def test_questions_and_talk_change_nothing(editor: Editor, question: str, reply: str) -> None:
    before = editor.current
    edit = editor.follow(question)
    assert edit.explain() == edit.reply == reply
    assert (edit.changes, editor.current, len(editor.history)) == ([], before, 1)
    assert before is not None
    assert edit.recipe == before.recipe
    editor.follow("half that")
    assert get_strengths(editor) == {"white_balance": 0.5, "exposure": 0.5}, "it is still the last change"


@pytest.mark.parametrize(
    "sentence",
    ["a bit more", "too much", "half that", "undo", "redo", "no, the other way", "like the last one"],
)
def test_where_there_is_nothing_to_speak_of_that_is_said(sentence: str) -> None:
    editor = make_editor()
    edit = editor.follow(sentence)
    assert not edit.answered
    assert edit.explain() == "There is nothing yet that this could be about; nothing was changed."
    assert editor.current is None


def test_starting_over_at_the_beginning_is_no_turn() -> None:
    editor = make_editor()
    assert editor.follow("start over").explain() == "The photo is as it was opened."
    assert editor.history == []


# ---- replies


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["half that"], "A little warmer and half a stop brighter (both less than before)."),
        (["more"], "Warmer and 1.5 stops brighter (both more than before)."),
        (["brighter"], "2 stops brighter (more than before); the rest stays as it was."),
        (["sharper"], "Sharper; the rest stays as it was."),
        (["sharper", "undo"], "Undone: sharper; the rest stays as it was."),
        (["sharper", "undo", "redo"], "Done again: sharper; the rest stays as it was."),
        (["sharper", "half that", "undo"], "Undone: sharper (less than before); the rest stays as it was."),
        (["start over", "undo"], "As before: warmer and a stop brighter."),
        (["undo that and make it sharper"], "No longer warmer, no longer a stop brighter and sharper."),
    ],
)
def test_a_follow_up_is_answered_with_what_it_changed(editor: Editor, said: list[str], told: str) -> None:
    for sentence in said:
        edit = editor.follow(sentence)
    assert edit.explain().splitlines()[0] == told


def test_a_scaled_look_is_told_by_its_name() -> None:
    editor = make_editor()
    editor.follow("moody")
    less = editor.follow("a bit less")
    assert less.recipe.name == "moody"
    assert less.reply.startswith("Less moody: 0.38 stops darker, ")
    editor.follow("start over, sharper")
    editor.follow("moody")
    assert editor.follow("more").reply.startswith("More moody: 0.75 stops darker, ")
    assert max(len(edit.reply.split()) for edit in editor.history) <= 12


def test_what_was_left_undone_is_said_of_the_turn_it_belongs_to(editor: Editor) -> None:
    left = "Not done, “remove dog”: things cannot be removed from a photo."
    assert left in editor.follow("brighter, remove the dog").explain()
    assert left not in editor.follow("more").explain()
    assert left not in editor.follow("undo").explain()


# ---- by hand


def test_adjusting_by_hand_changes_the_step_there_is(editor: Editor) -> None:
    edit = editor.adjust("exposure", 0.5)
    assert [step.operation for step in edit.recipe.steps] == ["white_balance", "exposure"]
    assert (edit.recipe.steps[1].parameters, edit.reasons[1]) == ((0.5,), ("brighter",))
    assert editor.adjust("dehaze", 9).recipe.find_step("dehaze") is not None
    assert editor.undo() is edit


def test_what_was_set_by_hand_is_the_last_change(editor: Editor) -> None:
    editor.adjust("exposure", 2.0)
    editor.follow("half that")
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1.5}


def test_no_words_lead_to_a_recipe_from_elsewhere(editor: Editor) -> None:
    edit = editor.put(Recipe.from_steps([("exposure", -0.3)]), new=True)
    assert (edit.request, edit.reasons) == ("", ((),))
    assert editor.undo().reasons == (("warmer",), ("brighter",))  # type: ignore[union-attr]


def test_strength_is_about_the_edit_however_often_it_is_set(editor: Editor) -> None:
    editor.at(0.5)
    editor.at(2)
    assert get_strengths(editor) == {"white_balance": 2, "exposure": 2}
    editor.at(0.7)
    assert get_strengths(editor) == {"white_balance": 0.7, "exposure": 0.7}
    editor.undo()
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1}
    editor.at(0.5)
    editor.at(1)
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1}
    editor.at(0.5)
    editor.follow("no, the other way")
    assert get_strengths(editor) == {"white_balance": -1, "exposure": -1}


def test_history_is_long_but_not_endless(editor: Editor) -> None:
    for number in range(150):
        editor.put(Recipe.from_steps([("exposure", number / 1000)]))
    undone = 0
    while editor.can_undo:
        editor.undo()
        undone += 1
    assert undone == 100


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(sorted(SENTENCES)), max_size=8))
def test_whatever_is_said_recipes_stay_valid(said: list[str]) -> None:
    editor = make_editor()
    for sentence in said:
        edit = editor.follow(sentence)
        assert Recipe.from_json(edit.recipe.to_json()) == edit.recipe
        assert len({step.operation for step in edit.recipe.steps}) == len(edit.recipe.steps)
        assert len(edit.reasons) == len(edit.recipe.steps)
        assert edit.reply
        if len(edit.changes) in (1, 2) and edit.command not in ("undo", "redo"):
            assert len(edit.reply.split()) <= 12
        assert edit.explain()


# ---- recipes between recipes


def test_between_recipes() -> None:
    old = Recipe.from_steps([("brightness", 0.2), ("contrast", 0.4)])
    new = Recipe.from_steps([("brightness", 0.4), ("sharpness", 0.2)])
    half = Recipe.from_steps([("brightness", 0.3), ("contrast", 0.2), ("sharpness", 0.1)])
    assert interpolate_recipes(old, new, 0.5) == half
    assert interpolate_recipes(old, new, 2) == Recipe.from_steps([("brightness", 0.6), ("sharpness", 0.4)])
    assert interpolate_recipes(old, new, 0) == old
    assert interpolate_recipes(Recipe(), new, 0.5) == new.blend(0.5)


@settings(max_examples=20)
@given(recipes(), recipes(), st.floats(0, 4))
def test_whatever_lies_between_is_a_recipe(old: Recipe, new: Recipe, share: float) -> None:
    found = interpolate_recipes(old, new, share)
    assert Recipe.from_json(found.to_json()) == found


# ---- with the reader of the package


@pytest.mark.parametrize("name", ["dogs", "meadow"])
def test_follow_ups_change_what_they_mention_most(name: str) -> None:
    editor = Editor(open_example(name, 256))
    editor.follow("make it brighter and warmer")
    for sentence, attribute, sign in [
        ("less warm", Attribute.WARMTH, -1),
        ("not so bright", Attribute.LIGHTNESS, -1),
        ("also sharpen it", Attribute.SHARPNESS, 1),
        ("more contrast", Attribute.CONTRAST, 1),
        ("less sharp", Attribute.SHARPNESS, -1),
    ]:
        assert editor.current is not None
        before = measure_noticeable(editor.current.recipe, editor)
        change = measure_noticeable(editor.follow(sentence).recipe, editor) - before
        assert sign * change[ATTRIBUTE_INDEX[attribute]] > 1.5, sentence
        assert max(abs(change), key=float) == abs(change[ATTRIBUTE_INDEX[attribute]]), sentence


def test_the_reader_of_the_package_knows_what_is_said_about_an_edit() -> None:
    editor = Editor(open_example("dogs", 256))
    first = editor.follow("make it brighter and warmer").recipe
    assert editor.follow("half as much").recipe == first.blend(0.5)
    darker = measure_noticeable(editor.follow("no, the other way").recipe, editor)
    assert (darker - measure_noticeable(Recipe(), editor))[ATTRIBUTE_INDEX[Attribute.LIGHTNESS]] < -1
    assert editor.follow("why is it darker?").reply.startswith("Exposure -")
    assert editor.follow("start over").recipe == Recipe()
    assert [edit.command for edit in (editor.follow("undo"), editor.follow("hello there"))] == ["undo", ""]
    assert len(editor.history) == 4


def test_the_last_wishes_are_repeated_elsewhere_or_with_another_number() -> None:
    muted = Wish("colour", Direction.DOWN, where="greens", outcome=Outcome.DONE)
    (blues,) = repeat_wishes([muted], Wish("more", where="blues", words=("blues",)))
    assert (blues.where, blues.direction, blues.words, blues.outcome) == (
        "blues",
        Direction.DOWN,
        ("blues",),
        None,
    )
    stated = Wish("contrast", Direction.UP, quantity=Quantity(20.0), outcome=Outcome.DONE)
    (ten,) = repeat_wishes([stated], Wish("more", quantity=Quantity(10.0)))
    assert ten.quantity == Quantity(10.0)


def test_a_share_of_the_last_change_is_no_number_of_its_own() -> None:
    stated = Wish("contrast", Direction.UP, quantity=Quantity(20.0), outcome=Outcome.DONE)
    for quantity in (Quantity(0.5, Unit.FACTOR), Quantity(20.0, Unit.PERCENT)):
        assert repeat_wishes([stated], Wish("more", quantity=quantity)) == ()
    unstated = Wish("contrast", Direction.UP, outcome=Outcome.DONE)
    (ten,) = repeat_wishes([unstated], Wish("more", quantity=Quantity(10.0)))
    assert ten.quantity == Quantity(10.0), "a number in place of an amount that was found"


def test_several_changes_are_undone_at_once() -> None:
    editor = Editor(PHOTO)
    brighter = editor.ask("brighter").recipe
    editor.follow("warmer")
    editor.follow("sharper")
    assert editor.follow("undo the last two").recipe == brighter
    assert editor.can_redo


def test_a_bare_number_replaces_the_last_one() -> None:
    last = Wish("lightness", DOWN, quantity=Quantity(1.0, Unit.STOPS), outcome=Outcome.DONE)
    half = Quantity(0.5, Unit.STOPS, start=12, end=23)
    bare = Wish("lightness", UP, quantity=half, words=("half", "a", "stop"), start=19)
    (again,) = restate_amount([Wish("less"), bare], [last])
    assert (again.direction, again.quantity, again.outcome) == (DOWN, half, None)
    assert restate_amount([replace(bare, verb=Verb.ADD)], [last]) == ()
    assert restate_amount([replace(bare, start=0, head="shadows")], [last]) == (), "of another word"
    assert restate_amount([replace(bare, where="shadows")], [last]) == ()
    assert restate_amount([bare, Wish("warmth", UP)], [last]) == ()
    (in_sky,) = restate_amount([bare], [replace(last, where="sky")])
    assert (in_sky.where, in_sky.quantity) == ("sky", half), "of the place that was spoken of"
    (by_eye,) = restate_amount([bare], [replace(last, quantity=None)])
    assert (by_eye.direction, by_eye.quantity) == (DOWN, half), "in place of an amount that was found"


def test_another_look_takes_the_place_of_the_one_before() -> None:
    editor = make_editor()
    editor.follow("moody")
    noir = editor.follow("noir")
    assert noir.recipe.steps == looks()["noir"].recipe.steps


def test_a_look_that_later_turns_changed_is_taken_back_as_a_whole() -> None:
    editor = make_editor()
    for sentence in ("moody", "more", "warmer", "sharper"):
        editor.follow(sentence)
    noir = editor.follow("noir")
    own = {step.operation for step in looks()["noir"].recipe.steps}
    assert {step.operation for step in noir.recipe.steps} - own <= {"sharpness", "white_balance"}


def test_more_colour_takes_black_and_white_back() -> None:
    editor = make_editor()
    editor.follow("black and white")
    assert editor.follow("more colour").recipe.steps == ()


def test_a_question_about_a_photo_as_it_was_opened_is_a_complaint() -> None:
    editor = make_editor()
    darker = editor.follow("why is it brighter?")
    assert darker.recipe.steps[0].parameters[0] < 0
    assert editor.follow("why is it brighter?").recipe == darker.recipe, "now it is about the edit"


@pytest.mark.parametrize("asked", ["why is it so dark?", "how do i make it brighter?"])
def test_a_question_that_asks_how_names_what_it_wants(asked: str) -> None:
    edit = Editor(open_example("dogs", 256)).ask(asked)
    assert edit.recipe.steps[0].parameters[0] > 0


@pytest.mark.parametrize(("verb", "replaced"), [(Verb.REPLACE, True), (Verb.ADD, False)])
def test_a_part_that_was_meant_takes_the_place_of_the_whole(verb: Verb, replaced: bool) -> None:
    assert replaces_last(Wish("more", where="shadows", verb=verb)) is replaced


def test_a_number_that_no_exposure_has_is_of_the_last_change() -> None:
    last = Wish("lightness", DOWN, where="highlights", quantity=Quantity(20.0, sign=-1), outcome=Outcome.DONE)
    vague = Wish("lightness", DOWN, quantity=Quantity(50.0, sign=-1))
    (again,) = restate_amount([vague], [last])
    assert (again.where, again.quantity) == ("highlights", vague.quantity)
    assert restate_amount([replace(vague, quantity=Quantity(2.0, sign=-1))], [last]) == ()


def test_the_opposite_of_a_change_goes_as_far_as_a_first_wish() -> None:
    editor = make_editor()
    editor.ask("warmer by eye")
    assert editor.follow("no, the other way").recipe == make_editor().ask("less warm").recipe


def test_both_changes_are_undone(editor: Editor) -> None:
    editor.follow("sharper")
    assert editor.follow("undo both").recipe == Recipe()


def test_one_change_of_several_is_undone() -> None:
    editor = make_editor()
    for said in ("brighter", "warmer", "sharper"):
        editor.follow(said)
    assert get_strengths(editor) == {"white_balance": 1, "exposure": 1, "sharpness": 1}
    assert "exposure" not in {
        step.operation for step in editor.follow("forget the first change").recipe.steps
    }
    assert get_strengths(editor) == {"white_balance": 1, "sharpness": 1}


@given(recipes(), recipes())
def test_taking_out_the_only_turn_leads_back(before: Recipe, after: Recipe) -> None:
    assert take_out_turn(before, before, before) == before
    assert take_out_turn(after, Recipe(), after).steps == ()


def test_who_says_the_same_instead_wants_more_of_it() -> None:
    done = Wish("lightness", UP, outcome=Outcome.DONE)
    again = Wish("lightness", UP, verb=Verb.REPLACE)
    assert insists_on([again], [done])
    assert not insists_on([replace(again, direction=DOWN)], [done])
    assert not insists_on([replace(again, quantity=Quantity(1.0))], [done])
    assert not insists_on([again], [replace(done, outcome=Outcome.DECLINED)])
    assert not insists_on([again], [done, Wish("warmth", UP, outcome=Outcome.DONE)])


def test_what_was_taken_back_stays_so_when_something_else_is_said_instead() -> None:
    editor = Editor(open_example("stream", 256))
    for said in ("black and white", "undo the black and white", "warmer instead"):
        edit = editor.follow(said)
    assert [step.operation for step in edit.recipe.steps] == ["white_balance"]


def test_a_number_is_taken_off_the_last_one_where_both_count_the_same() -> None:
    stop = Wish("lightness", DOWN, quantity=Quantity(1.0, Unit.STOPS, -1), outcome=Outcome.DONE)
    (left,) = repeat_wishes([stop], Wish("less", quantity=Quantity(0.25), verb=Verb.ADD))
    assert left.quantity == Quantity(0.75, Unit.STOPS, -1)
    (stated,) = repeat_wishes([stop], Wish("less", quantity=Quantity(0.25, Unit.STOPS), verb=Verb.SET))
    assert stated.quantity == Quantity(0.25, Unit.STOPS, -1)


def test_a_limit_said_afterwards_holds_for_the_last_change() -> None:
    done = Wish("colour", UP, outcome=Outcome.DONE)
    kept = Wish("colour", UP, where="reds", role=Role.LIMIT)
    assert join_limits([kept], [done]) == (replace(done, outcome=None), kept)
    assert join_limits([kept, Wish("warmth", UP)], [done]) == (), "more than limits was said"
    assert join_limits([Wish("grain", UP, role=Role.LIMIT)], [done]) == (), "an effect is taken out instead"
    assert join_limits([kept], []) == ()


def test_after_a_limit_the_last_change_is_met_anew(editor: Editor) -> None:
    assert editor.current is not None
    first = editor.current.recipe
    after = editor.follow("but not sharper")
    assert after.recipe == first
    assert [wish.outcome for wish in after.wishes] == [Outcome.DONE, Outcome.DONE, Outcome.KEPT]


TURNS = [
    (("darken the sky by a stop", "less on the sky"), "Sky: exposure -0.55 EV"),
    (("one stop brighter", "more, by half a stop"), "Exposure +1.50 EV"),
    (("exposure +1, contrast +20", "undo everything except the contrast"), "Contrast +0.20"),
    (("exposure +1, contrast +20", "warmer by 10", "undo that but keep the warmth"), None),
    (("exposure +1", "undo the fourth change"), "Exposure +1.00 EV"),
    (("exposure +0.3", "same again", "once more"), "Exposure +0.90 EV"),
    (("exposure +1", "lower it by .25"), "Exposure +0.75 EV"),
    (("one stop brighter", "make that half"), "Exposure +0.50 EV"),
    (("crop to a square", "4:5 instead"), "Crop left 0.200, crop right 0.800"),
]


@pytest.mark.parametrize(("turns", "settings"), TURNS)
def test_follow_ups_about_parts_and_numbers(turns: tuple[str, ...], settings: str | None) -> None:
    editor = Editor(np.asarray(open_example("trail", 400)))
    editor.ask(turns[0])
    for turn in turns[1:]:
        edit = editor.follow(turn)
    if settings is None:
        settings = "Temperature +10, exposure +1.00 EV, contrast +0.20"
    assert edit.recipe.format_settings().startswith(settings)


def test_less_at_a_place_goes_back_there_alone() -> None:
    editor = Editor(np.asarray(open_example("trail", 400)))
    whole = editor.ask("brighter").recipe
    (sky,) = [step for step in editor.follow("less in the sky").recipe.steps if step.is_local]
    assert (sky.operation, sky.where) == ("exposure", "sky")
    assert sky.parameters[0] < 0
    assert [step for step in editor.current.recipe.steps if not step.is_local] == list(whole.steps)  # type: ignore[union-attr]


def test_what_was_done_is_told_as_it_was_done() -> None:
    editor = Editor(np.asarray(open_example("stream", 200)))
    editor.ask("brighter")
    told = editor.follow("what did you do?").reply
    assert "brighter" in told
    assert "contrast" not in told  # it only makes up for the light
