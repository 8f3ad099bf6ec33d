"""The facade: one photo, many requests. What answers them here is a fake that says what it is told to."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import t2onet
from t2onet import Editor, Recipe, RequestError, apply
from t2onet.editor import make_thumbnail
from t2onet.editor.policy import FOREIGN, PolicyAnswer
from t2onet.recipe import Step
from tests.planning.scenes import scene

PHOTO = np.uint8(255 * scene(96).transpose(1, 2, 0))


@dataclass
class Told:
    """A policy that brightens by as many tenths as the request has words, or says that it cannot."""

    side: int = 32
    asked: list[tuple[str, str]] = field(default_factory=list)

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        assert picture.shape == (3, self.side, self.side)
        self.asked.append((request, mode))
        words = tuple(request.split())
        if verdict := {"crop": "crop", "hello": "chat", "heller": FOREIGN}.get(words[0]):
            return PolicyAnswer(verdict, words)
        weights = (0.9, *[0.05] * (len(words) - 1))
        invisible = Step(operation="contrast", parameters=(1e-4,))
        brighter = Step(operation="brightness", parameters=(len(words) / 10,))
        return PolicyAnswer("edit", words, (invisible, brighter), (weights, weights))


def test_an_edit_is_a_recipe_and_a_picture() -> None:
    edit = t2onet.edit(PHOTO, "lighter please", policy=Told())
    assert [(step.operation, step.parameters) for step in edit.recipe.steps] == [("brightness", (0.2,))]
    again = np.asarray(apply(Recipe.from_steps([("brightness", 0.2)]), PHOTO))
    assert np.array_equal(np.asarray(edit.image), again)
    assert edit.explain().splitlines() == [
        "20 % brighter.",
        "- brightness +0.20: 20 % brighter because of “lighter”",
    ]


def test_strength_scales_the_answer() -> None:
    edit = t2onet.edit(PHOTO, "lighter please", strength=0.5, policy=Told())
    assert edit.recipe.steps[0].parameters == pytest.approx((0.1,))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("crop it", "I cannot crop, I only change photos as a whole; nothing was changed."),
        ("heller", "I only read English so far, please ask in English; nothing was changed."),
        ("hello there", "I do not see what to change in the photo; nothing was changed."),
    ],
)
def test_what_cannot_be_done_changes_nothing_and_is_said(request_: str, said: str) -> None:
    edit = t2onet.edit(PHOTO, request_, policy=Told())
    assert not edit.answered
    assert edit.explain() == said
    assert np.array_equal(np.asarray(edit.image), PHOTO)


@dataclass
class Attentive:
    """A policy that brightens because of all words alike, and leaves `remove the dog` undone."""

    side: int = 32

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        words = tuple(request.split())
        step = Step(operation="brightness", parameters=(0.2,))
        attention = ((1 / len(words),) * len(words),)
        declined = (("remove the dog", "remove_object"),) if "dog" in words else ()
        return PolicyAnswer("edit", words, (step,), attention, declined)


@pytest.mark.parametrize(
    ("request_", "reasons"),
    [
        ("make it brighter", ("brighter",)),
        ("make the photo a bit brighter please", ("bit", "brighter")),
        ("make it brighter and remove the dog", ("brighter",)),
        ("please make this", ()),
    ],
)
def test_only_telling_words_of_what_was_done_are_reasons(request_: str, reasons: tuple[str, ...]) -> None:
    assert t2onet.edit(PHOTO, request_, policy=Attentive()).reasons == (reasons,)


def test_of_a_mixed_request_it_is_said_what_was_not_done() -> None:
    edit = t2onet.edit(PHOTO, "make it brighter and remove the dog", policy=Attentive())
    left = "I cannot remove things or people, I only change photos as a whole; I did the rest."
    assert edit.explain().splitlines() == [
        f"20 % brighter. {left}",
        "- brightness +0.20: 20 % brighter because of “brighter”",
    ]


def test_undo_and_redo() -> None:
    editor = Editor(PHOTO, Told())
    first, second = editor.ask("lighter"), editor.ask("much much lighter")
    assert editor.undo() is first
    assert editor.undo() is None
    assert editor.redo() is first
    assert editor.redo() is second
    assert editor.redo() is second
    editor.undo()
    third = editor.ask("darker")
    assert editor.redo() is third


def test_variants_differ_and_begin_with_the_answer() -> None:
    editor = Editor(PHOTO, Told())
    found = editor.variants("lighter please now", 4, seed=3)
    assert found[0].recipe == editor.ask("lighter please now").recipe
    pictures = [np.asarray(edit.image).astype(int) for edit in found]
    assert len(found) == 4
    for at, one in enumerate(pictures):
        assert all(np.abs(one - other).mean() > 1 for other in pictures[:at])
    again = editor.variants("lighter please now", 4, seed=3)
    assert [edit.recipe for edit in again] == [edit.recipe for edit in found]


def test_the_policy_sees_srgb_squeezed_to_a_square() -> None:
    picture = make_thumbnail(t2onet.open_image(PHOTO[:48]), 16)
    assert picture.shape == (3, 16, 16)
    assert picture.mean() == pytest.approx(PHOTO[:48].mean() / 255, abs=0.01)


@pytest.mark.parametrize("request_", ["", "   ", "!!! ...", "\x00\n"])
def test_a_request_without_words_is_refused(request_: str) -> None:
    with pytest.raises(RequestError, match=r"^the request has no words; say what you want"):
        t2onet.edit(PHOTO, request_, policy=Told())


def test_other_refusals() -> None:
    with pytest.raises(RequestError, match="there is no mode 'wild'; there are literal, expert"):
        t2onet.edit(PHOTO, "lighter", mode="wild", policy=Told())  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="0 variants were asked for"):
        Editor(PHOTO, Told()).variants("lighter", 0)


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
    assert names[4:10] == ["verdict", "reasons", "turn", "aside", "remarks", "move"]
