"""Wishes about the frame: which way it turns, and what a ratio leaves."""

from __future__ import annotations

import pytest

from t2onet.editor.geometry import make_geometry
from t2onet.language.quantities import Quantity, Unit
from t2onet.language.wishes import Wish


@pytest.mark.parametrize(
    ("words", "degrees"),
    [
        ("rotate clockwise", 90),
        ("rotate counterclockwise", 270),
        ("rotate counter clockwise", 270),
        ("rotate anti clockwise", 270),
        ("turn left", 270),
        ("turn upside down", 180),
    ],
)
def test_words_say_which_way(words: str, degrees: int) -> None:
    assert make_geometry(Wish("rotate", words=tuple(words.split())), 1.5) == ("rotate", degrees)
    stated = Wish("rotate", words=tuple(words.split()), quantity=Quantity(90, Unit.DEGREES))
    if degrees != 180:
        assert make_geometry(stated, 1.5) == ("rotate", degrees)


@pytest.mark.parametrize(
    ("ratio", "aspect", "kept"),
    [(16 / 9, 1.5, 16 / 9), (16 / 9, 2 / 3, 9 / 16), (9 / 16, 1.5, 9 / 16), (1.0, 1.5, 1.0)],
)
def test_an_upright_ratio_is_upright_and_others_turn_with_the_photo(
    ratio: float, aspect: float, kept: float
) -> None:
    made = make_geometry(Wish("crop", quantity=Quantity(ratio, Unit.RATIO)), aspect)
    assert made is not None
    edges = made[1]
    assert isinstance(edges, dict)
    width, height = edges["right"] - edges["left"], edges["bottom"] - edges["top"]
    assert width * aspect / height == pytest.approx(kept)
    assert max(width, height) == pytest.approx(1)
