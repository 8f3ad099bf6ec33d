"""Words and word pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from t2onet.language.wordpiece import MAX_PIECES, encode_words, normalize_word, split_pieces, split_words

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bright", "##er", "##en", "a", "bit", "#", "n", "##o", ","]
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}


def test_signs_stand_alone() -> None:
    words = split_words("A bit brighter, +0.3!")
    assert [word.text for word in words] == ["A", "bit", "brighter", ",", "+", "0", ".", "3", "!"]
    assert [(word.start, word.end) for word in words[:2]] == [(0, 1), (2, 5)]


def test_the_longest_known_pieces_are_taken() -> None:
    assert list(split_pieces("brighter", VOCABULARY)) == ["bright", "##er"]
    assert list(split_pieces("brighten", VOCABULARY)) == ["bright", "##en"]


def test_a_word_with_unknown_letters_is_unknown() -> None:
    assert list(split_pieces("brightly", VOCABULARY)) == ["[UNK]"]
    assert list(split_pieces("a" * 60, VOCABULARY)) == ["[UNK]"]


def test_letters_are_small_and_without_accents() -> None:
    assert normalize_word("Café") == "cafe"


def test_pieces_know_their_words() -> None:
    numbers, owners = encode_words(split_words("a brighter bit"), VOCABULARY)
    assert numbers == [2, 7, 4, 5, 8, 3]
    assert owners == [-1, 0, 1, 1, 2, -1]


@given(st.text(max_size=400))
def test_any_text_is_encoded_within_the_length(text: str) -> None:
    numbers, owners = encode_words(split_words(text), VOCABULARY)
    assert len(numbers) == len(owners) <= MAX_PIECES + 2
