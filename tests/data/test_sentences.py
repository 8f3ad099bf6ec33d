"""Simulated requests: their marks are true to their words."""

from __future__ import annotations

from collections import Counter

import pytest

from t2onet.data.marks import MarkedSentence
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
    Role,
)
from t2onet.looks import looks


@pytest.fixture(scope="module")
def drawn() -> list[MarkedSentence]:
    maker = SentenceMaker(1)
    return [maker.draw() for _ in range(4000)]


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
