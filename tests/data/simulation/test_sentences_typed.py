"""The notation of the tables, and how sentences are typed."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.data.simulation.grammar.engine import Speaker, phrases
from t2onet.data.simulation.surface import typed
from t2onet.data.simulation.typos import ASKING, is_safe, slip


def draw_texts(text: str, count: int = 300) -> set[str]:
    speaker = Speaker(Random(0), {"it": phrases("it|this")})
    return {speaker.say(phrases(text)) for _ in range(count)}


def test_alternatives_options_and_slots() -> None:
    assert draw_texts("warm[ up] <it>|cool <it>[ down| off]") == {
        *("warm it", "warm this", "warm up it", "warm up this"),
        *("cool it down", "cool this down", "cool it off", "cool this off"),
    }


def test_a_weight_makes_an_alternative_more_likely() -> None:
    speaker = Speaker(Random(0), {})
    draws = [speaker.say(phrases("a^9|b")) for _ in range(1000)]
    assert 850 < draws.count("a") < 950


def test_a_line_break_is_not_part_of_a_phrase() -> None:
    assert draw_texts("can you |\n        could you ") == {"can you ", "could you "}


@pytest.mark.parametrize("text", ["brighten [up", "brighten up]", "brighten <IT>"])
def test_broken_notation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="brighten"):
        phrases(text)


@pytest.mark.parametrize("word", sorted(word for word in ASKING if len(word) > 3))
def test_a_slip_leaves_words_that_ask_distinct(word: str) -> None:
    others = ASKING - {word}
    for seed in range(60):
        assert slip(word, Random(seed)) not in others


def test_slips_that_could_be_read_as_another_word_are_not_made() -> None:
    assert not is_safe("more", "less")
    assert not is_safe("lower", "loser") or "loser" not in ASKING
    assert not is_safe("darker", "darken")
    assert not is_safe("brighten", "brighter")
    assert is_safe("brightness", "brigthness")


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_a_slip_changes_letters_and_not_the_number_of_words(seed: int) -> None:
    text = "increase the brightness and saturation slightly"
    assert len(slip(text, Random(seed)).split()) == len(text.split())


def test_typing_varies_spelling_and_capitals() -> None:
    texts = {typed("make the colours warmer. please", Random(seed)) for seed in range(300)}
    assert {
        "make the colors warmer. please",
        "Make the colors warmer. Please",
        "Make the colours warmer. Please",
    } <= texts
    assert any(text.isupper() for text in texts)
