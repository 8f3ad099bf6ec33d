"""The facade: one photo, many requests. Fakes read and answer them here."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import t2onet
from t2onet import Editor, Recipe, RequestError, apply
from t2onet.editor import make_thumbnail
from t2onet.editor.policy import PolicyAnswer
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from t2onet.operations import Attribute
from t2onet.recipe import Step
from tests.editor.helpers import PHOTO, KnownSentences


def ask(request: str, **how: Any) -> t2onet.Edit:
    return Editor(PHOTO, reader=KnownSentences()).ask(request, **how)


def test_an_edit_is_a_recipe_and_a_picture() -> None:
    edit = ask("brighter")
    assert [(step.operation, step.parameters) for step in edit.recipe.steps] == [("exposure", (1.0,))]
    again = np.asarray(apply(Recipe.from_steps([("exposure", 1.0)]), PHOTO))
    assert np.array_equal(np.asarray(edit.image), again)
    assert edit.explain().splitlines() == [
        "A stop brighter.",
        "- exposure +1.00 EV: a stop brighter because of “brighter”",
    ]


def test_strength_scales_the_answer() -> None:
    assert ask("brighter").at(0.5).recipe == Recipe.from_steps([("exposure", 0.5)])
    edit = t2onet.edit(PHOTO, "lighter please", strength=0.5, policy=Told())
    assert edit.recipe.steps[0].parameters == pytest.approx((0.1,))


@pytest.mark.parametrize(
    ("request_", "verdict", "said"),
    [
        ("remove the dog", "remove", "Things cannot be removed from a photo; nothing was changed."),
        ("thanks", "nothing", "I found no wish about the photo in that; nothing was changed."),
        (
            "gloomish",
            "look",
            "No look is called “gloomish”; the nearest are moody or noir; nothing was changed.",
        ),
    ],
)
def test_what_cannot_be_done_changes_nothing_and_is_said_once(request_: str, verdict: str, said: str) -> None:
    editor = Editor(PHOTO, reader=KnownSentences())
    edit = editor.ask(request_)
    assert (edit.answered, edit.verdict, edit.explain()) == (False, verdict, said)
    assert np.array_equal(np.asarray(edit.image), PHOTO)
    assert editor.history == []


def test_of_a_mixed_request_it_is_said_what_was_not_done() -> None:
    edit = ask("brighter, remove the dog")
    assert edit.explain().splitlines() == [
        "A stop brighter.",
        "- exposure +1.00 EV: a stop brighter because of “brighter”",
        "Not done, “remove dog”: things cannot be removed from a photo.",
    ]
    assert [(part.words, part.verdict) for part in edit.declined] == [("remove dog", "remove")]
    assert (edit.answered, edit.verdict) == (True, "edit")


def test_it_is_said_that_a_limit_was_kept() -> None:
    edit = ask("brighter, keep the colours")
    assert [(limit.attribute, limit.kept) for limit in edit.limits] == [("colourfulness", True)]
    assert edit.explain().splitlines()[-1] == "“keep colours” is kept."


def test_a_look_gives_its_name_to_the_recipe_and_the_reply() -> None:
    edit = ask("moody")
    assert edit.recipe.name == "moody"
    assert edit.recipe.steps == t2onet.looks.looks()["moody"].recipe.steps
    assert edit.reply == edit.recipe.describe()
    assert edit.reply.startswith("Moody: half a stop darker, ")
    assert len(edit.reply.split()) <= 12
    assert edit.remarks == ()


def test_a_look_beside_other_wishes_gives_no_name() -> None:
    edit = ask("moody and sharper")
    assert edit.recipe.name == ""
    assert edit.recipe.find_step("sharpness") is not None
    editor = Editor(PHOTO, reader=KnownSentences())
    editor.follow("moody")
    assert editor.follow("sharper").recipe.name == ""
    editor.follow("start over, sharper")
    later = editor.follow("moody")
    assert later.recipe.name == ""
    assert later.reply.startswith("Moody: "), "the reply is about what was asked last"
    assert len(later.reply.split()) <= 12


def test_undo_and_redo() -> None:
    editor = Editor(PHOTO, reader=KnownSentences())
    first, second = editor.ask("brighter"), editor.ask("warmer")
    assert editor.undo() is first
    assert editor.undo() is None
    assert editor.redo() is first
    assert editor.redo() is second
    assert editor.redo() is second
    editor.undo()
    third = editor.ask("sharper")
    assert editor.redo() is third


@pytest.mark.parametrize("request_", ["undo", "redo", "more", "half that", "no, the other way", "start over"])
def test_a_first_request_that_is_about_an_edit_has_nothing_to_be_about(request_: str) -> None:
    editor = Editor(PHOTO, reader=KnownSentences())
    editor.ask("brighter")
    edit = editor.ask(request_)
    assert edit.explain() == "There is nothing yet that this could be about; nothing was changed."
    assert (edit.answered, edit.recipe, len(editor.history)) == (False, Recipe(), 1)


def test_questions_are_not_recorded() -> None:
    editor = Editor(PHOTO, reader=KnownSentences())
    edit = editor.ask("what did you do?")
    assert (edit.command, edit.reply) == ("question", "Nothing was changed so far.")
    assert editor.history == []


def test_variants_differ_and_begin_with_the_answer() -> None:
    editor = Editor(PHOTO, reader=KnownSentences())
    request = "one stop brighter and warmer"
    found = editor.variants(request, 4, seed=3)
    assert editor.history == []
    assert found[0].recipe == editor.ask(request).recipe
    pictures = [np.asarray(edit.image).astype(int) for edit in found]
    assert len(found) == 4
    for at, one in enumerate(pictures):
        assert all(np.abs(one - other).mean() > 1 for other in pictures[:at])
    again = editor.variants(request, 4, seed=3)
    assert [edit.recipe for edit in again] == [edit.recipe for edit in found]


def test_the_small_picture_is_srgb_squeezed_to_a_square() -> None:
    picture = make_thumbnail(t2onet.open_image(PHOTO[:48]), 16)
    assert picture.shape == (3, 16, 16)
    assert picture.mean() == pytest.approx(PHOTO[:48].mean() / 255, abs=0.01)


@pytest.mark.parametrize("request_", ["", "   ", "!!! ...", "\x00\n"])
def test_a_request_without_words_is_refused(request_: str) -> None:
    reader = KnownSentences()
    with pytest.raises(RequestError, match=r"^the request has no words; say what you want"):
        Editor(PHOTO, reader=reader).ask(request_)
    assert reader.asked == []


def test_the_reader_may_be_set_between_requests() -> None:
    editor = Editor(PHOTO, reader=(first := KnownSentences()))
    editor.ask("brighter")
    editor.reader = second = KnownSentences()
    editor.follow("warmer")
    assert (first.asked, second.asked) == (["brighter"], ["warmer"])
    assert [step.operation for step in editor.current.recipe.steps] == ["white_balance", "exposure"]  # type: ignore[union-attr]


def test_other_refusals() -> None:
    with pytest.raises(RequestError, match="there is no mode 'wild'; there are literal, expert"):
        ask("brighter", mode="wild")
    with pytest.raises(RequestError, match="0 variants were asked for"):
        Editor(PHOTO, reader=KnownSentences()).variants("brighter", 0)
    with pytest.raises(RequestError, match="a request is a sentence, and 'int' was given"):
        Editor(PHOTO, reader=KnownSentences()).ask(7)  # type: ignore[arg-type]


def test_an_expert_retouches_before_the_first_wish_and_then_does_what_is_said() -> None:
    editor = Editor(PHOTO, reader=KnownSentences())
    first = editor.follow("sharper", mode="expert")
    assert len(first.recipe.steps) > 1
    assert (first.mode, first.because) == ("expert", {"sharpness": ("sharper",)})
    assert [
        step
        for step in editor.follow("sharper", mode="expert").recipe.steps
        if step not in first.recipe.steps
    ] == [Step(operation="sharpness", parameters=(0.6,))]


# ---- another network answers instead


@dataclass
class Told:
    """A policy that brightens by as many tenths as the request has words."""

    side: int = 32
    asked: list[tuple[str, str]] = field(default_factory=list)

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        assert picture.shape == (3, self.side, self.side)
        self.asked.append((request, mode))
        words = tuple(request.split())
        invisible = Step(operation="contrast", parameters=(1e-4,))
        brighter = Step(operation="brightness", parameters=(len(words) / 10,))
        return PolicyAnswer(words, (invisible, brighter))


def test_the_visible_steps_of_a_network_are_the_recipe() -> None:
    edit = t2onet.edit(PHOTO, "lighter please", policy=Told())
    assert edit.recipe == Recipe.from_steps([("brightness", 0.2)])
    assert edit.explain().splitlines() == ["20 % brighter.", "- brightness +0.20: 20 % brighter"]
    assert [wish.words for wish in edit.wishes] == [("lighter", "please")]


def test_a_follow_up_adds_the_steps_of_the_network() -> None:
    editor = Editor(PHOTO, Told())
    first = editor.follow("lighter")
    assert editor.follow("lighter please").recipe == Recipe.from_steps(
        [("brightness", 0.1), ("brightness", 0.2)]
    )
    assert editor.undo() is first


def ask_everywhere(policy: Told, **how: Any) -> list[t2onet.Edit]:
    editor = Editor(PHOTO, policy)
    return [
        t2onet.edit(PHOTO, "lighter", policy=policy, **how),
        editor.ask("lighter", **how),
        editor.follow("make it moody", **how),
        *editor.variants("lighter", 1, **how),
    ]


def test_the_mode_reaches_the_policy_and_the_edit() -> None:
    policy = Told()
    assert {edit.mode for edit in ask_everywhere(policy)} == {"literal"}
    assert {edit.mode for edit in ask_everywhere(policy, mode="expert")} == {"expert"}
    assert [mode for _, mode in policy.asked] == ["literal"] * 4 + ["expert"] * 4


def test_manner_is_the_deprecated_name_of_mode() -> None:
    policy = Told()
    with pytest.warns(DeprecationWarning, match="`manner` is now called `mode`") as warned:
        edits = ask_everywhere(policy, manner="expert")
    assert [Path(one.filename) for one in warned] == [Path(__file__)] * 4
    assert {edit.mode for edit in edits} == {mode for _, mode in policy.asked} == {"expert"}
    with pytest.warns(DeprecationWarning, match="`manner` is now called `mode`"):
        assert edits[0].manner == "expert"
    with (
        pytest.warns(DeprecationWarning, match="`manner`"),
        pytest.raises(RequestError, match="mode expert and manner literal contradict each other"),
    ):
        t2onet.edit(PHOTO, "lighter", mode="expert", manner="literal", policy=policy)


@dataclass
class OneWay(Told):
    """A policy that says it has no modes."""

    modes: tuple[str, ...] = ()


def test_a_mode_that_the_policy_does_not_have_is_refused() -> None:
    policy = OneWay()
    assert t2onet.edit(PHOTO, "lighter", policy=policy).answered
    with pytest.raises(RequestError, match=r"^this network has no mode expert, "):
        t2onet.edit(PHOTO, "lighter", mode="expert", policy=policy)
    assert len(policy.asked) == 1


def test_the_positions_of_fields_that_programs_may_rely_on() -> None:
    names = [field.name for field in fields(t2onet.Edit)]
    assert names[:4] == ["photo", "request", "mode", "recipe"]
    assert names[4:9] == ["wishes", "reply", "because", "turn", "aside"]


@pytest.mark.parametrize("request_", ["too much", "a bit less"])
def test_less_of_a_photo_as_it_was_opened_is_less_contrast_and_colour(request_: str) -> None:
    edit = ask(request_)
    before, after = (make_thumbnail(image, 64) for image in (t2onet.open_image(PHOTO), edit.image))
    change = measure_attributes(after) - measure_attributes(before)
    for attribute in (Attribute.CONTRAST, Attribute.COLOURFULNESS):
        at = ATTRIBUTE_INDEX[attribute]
        assert change[at] < -JUST_NOTICEABLE[at]
