"""What is said after an edit: about the edit itself, about an attribute of the photo, or something new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.language import Attribute
from t2onet.language.followup import LESS, MORE, Move, factor, followups


@pytest.mark.parametrize(
    ("move", "sentences"),
    [
        (
            Move.UNDO,
            "undo|undo that|Undo that, please.|no, undo it|go back|take that back|revert|never mind|"
            "undo the last change|go back one step|put it back how it was|forget it|cancel that",
        ),
        (
            Move.RESTART,
            "start over|start from scratch|reset|undo everything|undo all the changes|remove all edits|"
            "back to the original|the original please|revert to the original photo",
        ),
        (Move.REDO, "redo|redo that|please redo it"),
        (
            Move.ASK,
            "make it pop|fix this|crop it|make it black and white|no|hello|perfect, thanks|go wild|change it|"
            "make the sky bluer|put the sun back|mach es heller|make it moody|more pop",
        ),
    ],
)
def test_moves(move: Move, sentences: str) -> None:
    for sentence in sentences.split("|"):
        assert [part.move for part in followups(sentence)] == [move], sentence


@pytest.mark.parametrize(
    ("sign", "amount", "sentences"),
    [
        (1, 0.5, "a bit more|slightly stronger|a touch more please|could you make it a bit stronger?"),
        (1, 1.0, "more|stronger|even more|again|once more|not enough|too little|hardly visible|turn it up"),
        (1, 2.0, "a lot more|much more|way stronger"),
        (-1, 0.5, "a bit less|a bit too much|a little too strong|that's a bit much|dial it back a bit"),
        (-1, 1.0, "less|too much|that's too much!|not so strong|not that much|tone it down|more subtle"),
        (-1, 2.0, "way too much|a lot less|much less of that"),
    ],
)
def test_more_or_less_of_the_last_change(sign: int, amount: float, sentences: str) -> None:
    for sentence in sentences.split("|"):
        (part,) = followups(sentence)
        assert (part.move, part.sign, part.amount, part.intents) == (Move.SCALE, sign, amount, ()), sentence


@pytest.mark.parametrize(
    ("share", "sentences"),
    [
        (0.5, "half of that|half as much|only half|by half|50% less|at 50 %"),
        (2.0, "twice as much|double it|twice as strong"),
        (1.5, "50 percent more"),
        (4.0, "900% more"),
    ],
)
def test_figures(share: float, sentences: str) -> None:
    for sentence in sentences.split("|"):
        (part,) = followups(sentence)
        assert (part.move, part.share) == (Move.SCALE, share), sentence


@pytest.mark.parametrize(
    ("attribute", "sign", "amount", "sentences"),
    [
        (Attribute.WARMTH, -1, 1.0, "less warm|not so warm|too warm|it's too warm now|too yellow"),
        (Attribute.WARMTH, 1, 0.5, "a bit warmer|slightly less blue"),
        (Attribute.LIGHTNESS, -1, 1.0, "not so bright|less bright|too bright|not quite as bright"),
        (Attribute.LIGHTNESS, 1, 1.0, "even brighter|still too dark|brighter"),
        (Attribute.CONTRAST, -1, 1.0, "too much contrast|less contrast"),
        (Attribute.CONTRAST, 1, 1.0, "bring back the contrast|more contrast"),
        (Attribute.SHARPNESS, 1, 1.0, "also sharpen it|sharper"),
    ],
)
def test_more_or_less_of_an_attribute(attribute: Attribute, sign: int, amount: float, sentences: str) -> None:
    for sentence in sentences.split("|"):
        (part,) = followups(sentence)
        assert [(one.attribute, one.sign, one.amount) for one in part.intents] == [
            (attribute, sign, amount)
        ], sentence


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        ("undo the warmth", 0.0),
        ("take back the warming", 0.0),
        ("half the warmth", 0.5),
        ("twice as warm", 2),
    ],
)
def test_a_share_of_an_attribute(sentence: str, share: float) -> None:
    (part,) = followups(sentence)
    assert part.share == share
    assert {one.attribute for one in part.intents} == {Attribute.WARMTH}


def test_parts_about_the_edit_come_first_and_the_rest_is_one_request() -> None:
    said = followups("too much, and sharpen it")
    assert [(part.move, part.text) for part in said] == [
        (Move.SCALE, "too much"),
        (Move.SCALE, "and sharpen it"),
    ]
    assert [part.move for part in followups("undo that and make it moody")] == [Move.UNDO, Move.ASK]
    assert [part.move for part in followups("start over, make it pop")] == [Move.RESTART, Move.ASK]
    assert [part.move for part in followups("less warm and sharper")] == [Move.SCALE]


def test_what_says_what_must_stay_is_a_request_of_its_own() -> None:
    assert [part.move for part in followups("sharper but keep the colours")] == [Move.ASK]


def test_not_too_much_is_half_as_much() -> None:
    (plain,), (gentle,) = followups("warmer"), followups("warmer, but not too much")
    assert [2 * one.amount for one in gentle.intents] == [one.amount for one in plain.intents]


def test_amounts_are_powers() -> None:
    assert factor(1, 1.0) == MORE
    assert factor(-1, 1.0) == LESS
    assert factor(1, 0.5) * factor(1, 0.5) == pytest.approx(MORE)


@given(st.text(max_size=600))
def test_whatever_is_said_means_something_unless_it_has_no_words(sentence: str) -> None:
    said = followups(sentence)
    assert bool(said) == (len(sentence) > 400 or any(letter.isalnum() for letter in sentence))
    assert all(part.share is None or 0 <= part.share <= 4 for part in said)
