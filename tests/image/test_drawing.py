"""Text in pictures: nothing that was said disappears from it."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.image import drawing
from t2onet.image.drawing import BODY_SIZE, draw_text, to_printable


@pytest.fixture
def only_pillows_font(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without fonts."""
    monkeypatch.setattr(drawing, "_find_fonts", lambda: ("",))


def draw_line(text: str) -> np.ndarray:
    return np.asarray(draw_text(text, BODY_SIZE, 400))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it\u2019s \u201ctoo\u201d dark \u2013 a bit\u2026", 'it\'s "too" dark - a bit...'),
        ("e\u0301claircir", "\u00e9claircir"),
        ("20\u00a0%\u2003more", "20 % more"),
        ("\u2764\ufe0f", "\u2764"),
        ("\udcff.jpg", "\ufffd.jpg"),
        ("a\x00b", "a\ufffdb"),
    ],
)
def test_signs_of_typesetting_become_plain_and_the_rest_stays(text: str, said: str) -> None:
    assert to_printable(text) == said


@pytest.mark.parametrize("letter", ["\u00e9", "\u65e5", "\U0001f600", "\udcff"])
def test_what_the_font_lacks_is_drawn_as_a_box(letter: str, only_pillows_font: None) -> None:
    box = draw_line("a\U0010fffdb")
    assert np.array_equal(draw_line(f"a{letter}b"), box)
    assert not np.array_equal(box, draw_line("ab"))


def test_ascii_is_drawn_in_pillows_own_font_whatever_else_there_is() -> None:
    said = "".join(map(chr, range(33, 127)))
    assert drawing.choose_font(said, BODY_SIZE) is drawing.choose_font("", BODY_SIZE)


def test_the_font_that_has_most_of_a_text_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"": "abc", "accents": "abc\u00e9", "more": "abc\u00e9\u65e5"}
    monkeypatch.setattr(drawing, "_find_fonts", lambda: tuple(known))
    monkeypatch.setattr(drawing, "_has_glyph", lambda name, letter: letter in known[name])
    monkeypatch.setattr(drawing, "_load_font", lambda name, size: name)
    wanted = {"abc": "", "b\u00e9": "accents", "\u65e5 \u00e9": "more", "\U0001f600": ""}
    assert {text: drawing.choose_font(text, BODY_SIZE) for text in wanted} == wanted
