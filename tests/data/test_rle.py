"""COCO's run lengths, by hand and back and forth."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from t2onet.data.gier import decode_mask
from t2onet.errors import DataError


def runs_of(mask: np.ndarray) -> list[int]:
    """Down the columns, beginning outside."""
    groups = [(inside, len(list(run))) for inside, run in groupby(mask.T.ravel().tolist())]
    return [0] * (groups[0][0] is True) + [length for _, length in groups]


def pack_runs(runs: list[int]) -> str:
    """Differences from two places before, from the fourth on, as characters of five bits."""
    text = ""
    for place, run in enumerate(runs):
        number = run - runs[place - 2] if place > 2 else run
        while True:
            bits, number = number & 31, number >> 5
            last = number == (-1 if bits & 16 else 0)
            text += chr(48 + bits + (0 if last else 32))
            if last:
                break
    return text


def test_runs_go_down_the_columns_and_begin_outside() -> None:
    mask = decode_mask({"size": [2, 3], "counts": [1, 3, 2]})
    assert mask.tolist() == [[False, True, False], [True, True, False]]
    assert decode_mask({"size": [1, 2], "counts": [0, 2]}).tolist() == [[True, True]]


def test_characters_carry_five_bits_and_differences() -> None:
    # 5 is "5", 2 is "2", 40 = 8 + 32 is "X1"; then 3 - 2 = 1 is "1" and 10 - 40 = -30 = 2 - 32 is "RO"
    mask = decode_mask({"size": [6, 10], "counts": "52X11RO"})
    assert runs_of(mask) == [5, 2, 40, 3, 10]


@given(arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_any_mask_comes_back_from_both_forms(mask: np.ndarray) -> None:
    for counts in (runs_of(mask), pack_runs(runs_of(mask))):
        assert np.array_equal(decode_mask({"size": list(mask.shape), "counts": counts}), mask)


@given(st.lists(st.integers(1, 6000), min_size=4, max_size=8))
def test_long_runs_come_back(runs: list[int]) -> None:
    assert runs_of(decode_mask({"size": [sum(runs), 1], "counts": pack_runs(runs)})) == runs


@pytest.mark.parametrize(
    ("mask", "why"),
    [
        (None, "a mask is"),
        ({"size": [2, 3]}, "counts are a text or a list"),
        ({"counts": [6]}, r"size is \[height, width\]"),
        ({"size": [2, 0], "counts": []}, r"size is \[height, width\]"),
        ({"size": [2, 3.0], "counts": [6]}, r"size is \[height, width\]"),
        ({"size": [10**6, 10**6], "counts": [10**12]}, "more than a photo may have"),
        ({"size": [2, 3], "counts": [5]}, "has runs for 5 pixels"),
        ({"size": [2, 3], "counts": [8, -2]}, "or negative ones"),
        ({"size": [2, 3], "counts": [6.0]}, "whole numbers"),
        ({"size": [2, 3], "counts": "1 5"}, "' ', which does not encode a number"),
        ({"size": [2, 3], "counts": "X"}, "end in the middle of a number"),
        ({"size": [2, 3], "counts": "X" * 99}, "which does not encode a number"),
    ],
)
def test_what_is_no_mask_is_refused(mask: Any, why: str) -> None:
    with pytest.raises(DataError, match=why):
        decode_mask(mask)
