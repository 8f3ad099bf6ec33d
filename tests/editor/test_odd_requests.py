"""Odd and hostile requests get an answer or a refusal in one line, never a crash."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import Editor
from t2onet.errors import T2OError
from tests.odd_requests import ODD_REQUESTS

MAX_MESSAGE = 500
"""Characters of a refusal: it does not quote a long request as a whole."""


def test_there_are_three_hundred_different_ones() -> None:
    assert len(set(ODD_REQUESTS)) == len(ODD_REQUESTS) >= 300


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(ODD_REQUESTS)), ids=lambda number: f"request{number}")
def test_an_odd_request_is_answered_or_refused(number: int, pixels: np.ndarray) -> None:
    """As the first request, and as a follow-up to another."""
    editor = Editor(pixels)
    editor_with_edit = Editor(pixels)
    editor_with_edit.ask("brighter")
    for take in (editor.ask, editor_with_edit.follow):
        refusal = ""
        try:
            edit = take(ODD_REQUESTS[number])
        except T2OError as error:
            refusal = str(error)
        if refusal:
            assert len(refusal) <= MAX_MESSAGE
            assert len(refusal.splitlines()) == 1
        else:
            assert edit.explain()
            assert np.asarray(edit.image).shape == pixels.shape
