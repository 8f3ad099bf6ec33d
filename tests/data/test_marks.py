"""Marks of the words of requests."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

import pytest

from bench.words import WORDS_FILE
from t2onet.data.marks import (
    HELD,
    MarkedSentence,
    MarkedWish,
    digest,
    judgements,
    parse_marks,
    parse_written,
    read_marks,
    read_written,
)
from t2onet.language import Attribute
from t2onet.language.wishes import Amount, Direction, Role, Wish

TEXT = "make the  sky much bluer, keep skin"


def test_a_mark_says_what_is_asked_for_and_by_which_words() -> None:
    cast, limit = parse_marks(
        TEXT, "cast + much where=sky hue=blue @4,2,3 ; other = where=skin role=limit @6,5"
    ).wishes
    assert cast.wish == Wish("cast", Direction.UP, Amount.MUCH, "sky", "blue")
    assert cast.head is not None
    assert [TEXT[start:end] for start, end in (cast.head, *cast.spans)] == ["bluer,", "sky", "much"]
    assert limit.wish == Wish("other", Direction.FIX, where="skin", role=Role.LIMIT)


def test_a_dash_means_that_nothing_is_asked_for() -> None:
    assert parse_marks(TEXT, "-") == MarkedSentence(TEXT)


def test_less_of_an_old_look_is_less_brown() -> None:
    (marked,) = parse_marks("no sepia", "look - @1,0").wishes
    assert marked.wish == Wish("cast", Direction.DOWN, hue="orange")


@pytest.mark.parametrize("mark", ["glow + @0", "lightness + where=moon @0", "cast + hue=beige @0"])
def test_what_the_reader_does_not_know_is_refused(mark: str) -> None:
    with pytest.raises(ValueError, match="the reader does not know"):
        parse_marks(TEXT, mark)


@pytest.mark.parametrize("mark", ["lightness + huge @0", "lightness up @0", "lightness + role=wish @0"])
def test_other_amounts_directions_and_roles_are_refused(mark: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        parse_marks(TEXT, mark)


def test_all_marks_of_judged_requests_can_be_read() -> None:
    marks = read_marks()
    assert len(marks) > 1000
    for mark in marks.values():
        numbers = [int(number) for number in re.findall(r"\b\d+\b", mark)]
        sentence = parse_marks("word " * (max(numbers, default=0) + 1), mark)
        assert len(sentence.wishes) == mark.count("@")


def test_words_are_joined_with_their_spans() -> None:
    wish = MarkedWish(Wish("lightness"))
    sentence = MarkedSentence(wishes=[wish])
    sentence.add("much", [wish])
    sentence.add("brighter,", [wish], head=True)
    sentence.add("please")
    sentence.add("!", [wish])
    assert sentence.text == "much brighter, please!"
    assert (wish.spans, wish.head) == ([(0, 4)], (5, 13))


def test_case_spaces_and_the_end_do_not_matter() -> None:
    assert digest("Make it  brighter.") == digest("make it brighter!") != digest("make it bright")


def test_judgements_are_sound() -> None:
    for meaning in judgements().values():
        assert not (meaning.vague and (meaning.intents or meaning.matter))
        attributes = [intent.attribute for intent in meaning.intents]
        assert len(set(attributes)) == len(attributes)


def test_every_class_is_judged_and_among_those_held_back() -> None:
    for held in (True, False):
        counts = Counter(
            (intent.attribute, intent.sign)
            for key, meaning in judgements().items()
            for intent in meaning.intents
            if key.startswith(HELD) == held
        )
        assert min(counts[attribute, sign] for attribute in Attribute for sign in (1, -1)) >= 3


def test_a_written_sentence_carries_the_numbers_of_its_wishes() -> None:
    marks = "1 lightness + little where=shadows | 2 look . look=noir"
    sentence = parse_written(f"lift/1 the shadows/1* a/1 touch/1, like noir/2* | {marks}")
    assert sentence.text == "lift the shadows a touch, like noir"
    light, look = sentence.wishes
    assert light.wish == Wish("lightness", Direction.UP, Amount.LITTLE, "shadows")
    assert light.head is not None
    words = [sentence.text[slice(*span)] for span in (light.head, *light.spans)]
    assert words == ["shadows", "lift", "a", "touch"]
    assert (look.wish.what, look.look) == ("look", "noir")


def test_a_wish_needs_a_head() -> None:
    with pytest.raises(ValueError, match="wish 1 has no head"):
        parse_written("lift/1 it | 1 lightness +")


def test_written_sentences_are_none_of_those_that_measure_the_reader() -> None:
    lists = [WORDS_FILE, *map(WORDS_FILE.with_name, ("blind_words.toml", "fresh_words.toml"))]
    measured = [tomllib.loads(path.read_text(encoding="utf-8")) for path in lists]
    says = [entry["say"] for one in measured for entries in one.values() for entry in entries]
    turns = {digest(turn) for say in says for turn in ([say] if isinstance(say, str) else say)}
    sentences = read_written()
    assert len(sentences) > 3500
    assert not [sentence.text for sentence in sentences if digest(sentence.text) in turns]
    assert all(marked.wish.hue for one in sentences for marked in one.wishes if marked.wish.what == "cast")
