"""Variations of marked sentences: the words that are marked stay marked."""

from __future__ import annotations

import random
import re
from copy import deepcopy

import pytest

from t2onet.data.marks import MarkedSentence, parse_written
from t2onet.data.variations import is_joinable, join_sentences, mistype, run_together, vary_sentence

BRIGHTER = "half/1 a/1 stop/1 brighter/1* please | 1 lightness +"
SHADOWS = "lift/1 the shadows/1* , less/2 colour/2* | 1 lightness + where=shadows | 2 colour -"


def list_marked(sentence: MarkedSentence) -> list[tuple[str, list[str]]]:
    """The words of each wish: its head, then the others."""
    return [
        (sentence.text[slice(*wish.head or ())], [sentence.text[start:end] for start, end in wish.spans])
        for wish in sentence.wishes
    ]


def test_two_requests_in_one_keep_their_words() -> None:
    first, second = parse_written(BRIGHTER), parse_written(SHADOWS)
    wanted = [*list_marked(first), *list_marked(second)]
    joined = join_sentences(first, second, random.Random(3))
    assert joined.text.startswith("half a stop brighter please")
    assert joined.text.endswith("lift the shadows , less colour")
    assert list_marked(joined) == wanted


def test_requests_of_a_list_keep_their_words() -> None:
    first, second = parse_written(BRIGHTER), parse_written(SHADOWS)
    wanted = [*list_marked(first), *list_marked(second)]
    seeds = map(random.Random, range(200))
    lists = [
        one
        for one in (join_sentences(deepcopy(first), deepcopy(second), seed) for seed in seeds)
        if one.text[0] != "h"
    ]
    assert any(re.match(r"1. half a stop brighter please\s2. lift", one.text) for one in lists)
    assert all(list_marked(one) == wanted for one in lists)


@pytest.mark.parametrize("seed", range(300))
def test_a_slip_changes_at_most_one_marked_word(seed: int) -> None:
    sentence = parse_written(SHADOWS)
    before = list_marked(sentence)
    mistype(sentence, random.Random(seed))
    changed = [
        (old, new)
        for (head, others), (new_head, new_others) in zip(before, list_marked(sentence), strict=True)
        for old, new in zip([head, *others], [new_head, *new_others], strict=True)
        if old != new
    ]
    assert len(changed) <= 1
    assert all(new[-1] == old[-1] and (new[0] == old[0] or new == old[1:]) for old, new in changed)


@pytest.mark.parametrize("seed", range(10))
def test_words_run_together_lose_one_space(seed: int) -> None:
    sentence = parse_written(BRIGHTER)
    text, words = sentence.text, list_marked(sentence)
    run_together(sentence, random.Random(seed))
    assert len(sentence.text) == len(text) - 1
    assert sentence.text.replace(" ", "") == text.replace(" ", "")
    assert list_marked(sentence) == words


def test_a_word_can_follow_without_a_space() -> None:
    sentence = parse_written("contrast/1* ~/ ~saturation/2* down | 1 contrast - | 2 colour -")
    assert sentence.text == "contrast/saturation down"
    assert list_marked(sentence) == [("contrast", []), ("saturation", [])]


def test_questions_and_later_turns_are_not_joined() -> None:
    assert is_joinable(parse_written(BRIGHTER))
    assert not is_joinable(parse_written("why is it so dark/1* | 1 lightness - role=question"))
    assert not is_joinable(parse_written("undo/1* that | 1 undo ."))
    assert not is_joinable(parse_written("lovely light there"))


def test_a_variation_leaves_the_sentences_as_they_are() -> None:
    sentences = [parse_written(BRIGHTER), parse_written(SHADOWS)]
    texts = [sentence.text for sentence in sentences]
    generator = random.Random(0)
    varied = [vary_sentence(one, sentences, generator) for one in sentences * 30]
    assert [sentence.text for sentence in sentences] == texts
    assert all(re.search(r"\w", one.text) for one in varied)
    assert any(len(one.wishes) > 2 for one in varied)
