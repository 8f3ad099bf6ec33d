"""The published rule for words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.language import tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Increase Brightness.", ["increase", "brightness"]),
        ("  a bit\tmore\nlight ", ["bit", "more", "light"]),
        ("brightness/contrast", ["brightnesscontrast"]),
        ("isn't it?", ["isnt", "it"]),
        ("don’t", []),
        ("add 20% of x2 zoom", ["add", "of", "zoom"]),
        ("café", ["café"]),
        ("", []),
    ],
)
def test_words_are_two_or_more_letters_with_punctuation_deleted(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@given(st.text())
def test_words_are_made_of_letters_and_stay_words(text: str) -> None:
    words = tokens(text)
    assert all(word.isalpha() and len(word) > 1 for word in words)
    assert tokens(" ".join(words)) == [word.lower() for word in words]
