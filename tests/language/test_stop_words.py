"""Words that can be reasons, and words that cannot."""

from __future__ import annotations

import pytest

from t2onet.language.stop_words import says


@pytest.mark.parametrize(
    "word", ["make", "the", "it", "a", "of", "this", "photo", "please", "and", "+", "%", "!"]
)
def test_words_of_every_request_say_nothing(word: str) -> None:
    assert not says(word)


@pytest.mark.parametrize("word", ["brighter", "less", "more", "bit", "not", "without", "50", "dog", "wärmer"])
def test_all_others_do(word: str) -> None:
    assert says(word)
