"""Simulated requests: their marks are true to their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest

from t2onet.data.marks import MarkedSentence, MarkedWish
from t2onet.data.phrasing import load_phrases, split_phrase
from t2onet.data.sentences import SentenceMaker
from t2onet.language.wishes import (
    CHANGES,
    COMMANDS,
    GEOMETRY,
    HUES,
    IMPOSSIBLE,
    PLACES,
    RANGES,
    WHATS,
    WHERES,
    ZONES,
    Direction,
    Role,
)
from t2onet.looks import looks


@pytest.fixture(scope="module")
def drawn() -> list[MarkedSentence]:
    maker = SentenceMaker(1)
    return [maker.draw() for _ in range(10000)]


def test_the_same_seed_draws_the_same_sentences() -> None:
    one, other = SentenceMaker(3), SentenceMaker(3)
    assert [one.draw() for _ in range(20)] == [other.draw() for _ in range(20)]


def test_marks_lie_on_words(drawn: list[MarkedSentence]) -> None:
    for sentence in drawn:
        for wish in sentence.wishes:
            assert wish.head is not None
            for start, end in (wish.head, *wish.spans):
                assert 0 <= start < end <= len(sentence.text)
                assert not sentence.text[start:end].isspace()


def test_every_kind_of_wish_is_drawn(drawn: list[MarkedSentence]) -> None:
    whats = Counter(wish.wish.what for sentence in drawn for wish in sentence.wishes)
    assert set(WHATS) == set(whats)
    wheres = {wish.wish.where for sentence in drawn for wish in sentence.wishes}
    assert set(WHERES) == wheres
    assert {wish.wish.role for sentence in drawn for wish in sentence.wishes} == set(Role)


def test_every_place_in_a_phrase_is_filled(drawn: list[MarkedSentence]) -> None:
    for sentence in drawn:
        assert not set("{}*") & set(sentence.text), sentence.text


def test_no_phrase_has_two_heads() -> None:
    def walk(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            for one in value.values() if isinstance(value, dict) else value:
                yield from walk(one)

    for name in ("changes", "parts", "frames", "talk", "looks"):
        for phrase in walk(load_phrases(name)):
            assert phrase.count("*") <= 1, phrase


def test_a_number_before_a_list_belongs_to_its_first_wish(drawn: list[MarkedSentence]) -> None:
    """Of "half a stop brighter and warmer" the warmth is not in stops."""

    def find_units(sentence: MarkedSentence, wish: MarkedWish) -> set[tuple[int, int]]:
        units = {"stop", "stops", "ev"}
        return {(start, end) for start, end in wish.spans if sentence.text[start:end].lower() in units}

    shared = [
        sentence.text
        for sentence in drawn
        for one, other in pairwise(sentence.wishes)
        if find_units(sentence, one) & find_units(sentence, other)
    ]
    assert shared == []


def test_hues_are_turned_towards_others(drawn: list[MarkedSentence]) -> None:
    """The slider of a hue goes towards the next one; nothing turns a range towards its own hue."""
    turned = [
        (sentence.text, one.wish)
        for sentence in drawn
        for one in sentence.wishes
        if one.wish.what == "cast" and one.wish.where in RANGES
    ]
    assert len(turned) > 30
    for text, wish in turned:
        own = RANGES.index(wish.where)
        assert wish.hue != HUES[own], text
        if "hue" in text.lower().split() and f"{HUES[own]} hue" in text.lower():
            assert wish.hue == HUES[(own + 1) % len(HUES)], text


def test_a_question_says_what_the_photo_is(drawn: list[MarkedSentence]) -> None:
    """ "Why is it so dark?" is about a dark photo, unlike "it is too dark", which asks for light."""
    changes, right, wrong = load_phrases("changes"), 0, 0
    for sentence in drawn:
        for one in sentence.wishes:
            if one.wish.role is Role.QUESTION and one.wish.what != "cast" and one.head:
                word, found = sentence.text[slice(*one.head)].lower(), changes[one.wish.what]
                if f"it so {word}" in sentence.text.lower():
                    opposite = "down" if one.wish.direction is Direction.UP else "up"
                    right += word in found[opposite].get("complaints", [])
                    wrong += word in found[one.wish.direction.value].get("complaints", [])
    assert right > 5
    assert wrong == 0


def test_what_is_said_of_other_parts_repeats_the_last_change(drawn: list[MarkedSentence]) -> None:
    """ "And the blues too" is more of the last change, in the blues."""
    parts = [
        sentence.wishes[0].wish
        for sentence in drawn
        if sentence.text.lower().startswith(("and the ", "same for ", "also the "))
        and len(sentence.wishes) == 1
    ]
    repeated = [wish for wish in parts if wish.what == "more"]
    assert len(repeated) > 5
    assert {wish.where for wish in repeated} <= {*ZONES, *RANGES}


def test_phrases_name_everything_the_reader_knows() -> None:
    assert set(load_phrases("changes")) == set(CHANGES)
    parts, talk = load_phrases("parts"), load_phrases("talk")
    for table, names in (("zones", ZONES), ("ranges", RANGES), ("places", PLACES), ("hues", HUES)):
        assert set(parts[table]) == set(names)
    for table, names in (("commands", COMMANDS), ("declined", IMPOSSIBLE), ("geometry", GEOMETRY)):
        assert set(talk[table]) == set(names)


def test_every_look_has_its_phrases() -> None:
    assert set(load_phrases("looks")["looks"]) == set(looks())


def test_the_head_of_a_phrase() -> None:
    assert split_phrase("poorly lit*") == [("poorly", False), ("lit", True)]
    assert split_phrase("golden hour", last=True) == [("golden", False), ("hour", True)]
