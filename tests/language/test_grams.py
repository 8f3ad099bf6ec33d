"""Requests as hashed pieces of words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from t2onet.language.grams import BUCKETS, LONGEST, PIECES, pieces, spelt, words


@given(st.lists(st.text(max_size=400), max_size=4))
def test_any_text_becomes_rows_of_words(requests: list[str]) -> None:
    table, told = spelt(requests)
    assert table.shape[1] == PIECES
    assert len(told) == len(requests)
    assert 1 <= told.shape[1] <= LONGEST
    assert told.max(initial=0) < len(table)
    assert table.min() >= 0
    assert table.max() < BUCKETS
    assert not table[0].any()
    assert (table[1:, 0] > 0).all()


def test_words_come_back_as_their_pieces() -> None:
    table, told = spelt(["brighter, please", "please"])
    for request, row in zip(("brighter, please", "please"), told, strict=True):
        found = [tuple(table[number][table[number] > 0]) for number in row if number]
        assert found == [pieces(word) for word in words(request)]


def test_a_misspelt_word_shares_pieces_with_the_right_one() -> None:
    right, wrong, other = (set(pieces(word)) for word in ("saturation", "satturation", "contrast"))
    assert len(right & wrong) > 5 * len(right & other)


def test_numbers_do_not_depend_on_the_process() -> None:
    assert pieces("warm")[0] == 12775


def test_of_a_long_request_beginning_and_end_are_read() -> None:
    told = words("warmer " + "so " * 500 + "sharper")
    assert (len(told), told[0], told[-1]) == (LONGEST, "warmer", "sharper")


def test_what_cannot_be_seen_splits_no_word() -> None:
    for unseen in ("\u00ad", "\u200b", "\u202e", "\ufeff", "\udcff"):
        assert words(f"bright{unseen}er, please") == ["brighter", "please"]
    assert words("brighter\x00and\twarmer") == ["brighter", "and", "warmer"]


def test_nothing_said_is_no_word() -> None:
    table, told = spelt(["", "🙂"])
    assert table.shape == (1, PIECES)
    np.testing.assert_array_equal(told, np.zeros((2, 1)))
