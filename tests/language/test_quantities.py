"""Numbers of sentences, with their signs and units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.language.quantities import Unit, find_quantities
from t2onet.language.reader import clean_text


@pytest.mark.parametrize(
    ("sentence", "value", "unit", "sign", "words"),
    [
        ("darker by 1/3 stop", 1 / 3, Unit.STOPS, 0, "1/3 stop"),
        ("half a stop brighter", 0.5, Unit.STOPS, 0, "half a stop"),
        ("a third of a stop", 1 / 3, Unit.STOPS, 0, "a third of a stop"),
        ("two thirds of a stop", 2 / 3, Unit.STOPS, 0, "two thirds of a stop"),
        ("one and a half stops", 1.5, Unit.STOPS, 0, "one and a half stops"),
        ("one stop and a half", 1.5, Unit.STOPS, 0, "one stop and a half"),
        ("minus a stop and a third", 4 / 3, Unit.STOPS, -1, "minus a stop and a third"),
        ("one and two thirds stops", 5 / 3, Unit.STOPS, 0, "one and two thirds stops"),
        ("five thousand five hundred kelvin", 5500.0, Unit.KELVIN, 0, "five thousand five hundred kelvin"),
        ("seventeen percent", 17.0, Unit.PERCENT, 0, "seventeen percent"),
        ("tint minus a hundred and twenty-five", 125.0, Unit.NONE, -1, "minus a hundred and twenty-five"),
        ("1 1/2 stops darker", 1.5, Unit.STOPS, 0, "1 1/2 stops"),
        ("by ½ stop", 0.5, Unit.STOPS, 0, "½ stop"),
        ("another third of a stop", 1 / 3, Unit.STOPS, 0, "third of a stop"),
        ("zero point six stops", 0.6, Unit.STOPS, 0, "zero point six stops"),
        ("one point two five", 1.25, Unit.NONE, 0, "one point two five"),
        ("one more stop", 1.0, Unit.STOPS, 0, "one more stop"),
        ("a stop", 1.0, Unit.STOPS, 0, "a stop"),
        ("+1EV", 1.0, Unit.STOPS, 1, "+1EV"),
        ("- 1 ev", 1.0, Unit.STOPS, -1, "- 1 ev"),
        ("0,5 stops", 0.5, Unit.STOPS, 0, "0,5 stops"),
        ("−0.7 EV", 0.7, Unit.STOPS, -1, "−0.7 EV"),
        ("20 % more", 20.0, Unit.PERCENT, 0, "20 %"),
        ("thirty percent", 30.0, Unit.PERCENT, 0, "thirty percent"),
        ("20-30%", 25.0, Unit.PERCENT, 0, "20-30%"),
        ("twice as bright", 2.0, Unit.FACTOR, 0, "twice"),
        ("half as saturated", 0.5, Unit.FACTOR, 0, "half as"),
        ("cut it in half", 0.5, Unit.FACTOR, 0, "in half"),
        ("1.5x", 1.5, Unit.FACTOR, 0, "1.5x"),
        ("5500 K", 5500.0, Unit.KELVIN, 0, "5500 K"),
        ("white balance 5500", 5500.0, Unit.KELVIN, 0, "5500"),
        ("rotate 2 degrees", 2.0, Unit.DEGREES, 0, "2 degrees"),
        ("crop to 16:9", 16 / 9, Unit.RATIO, 0, "16:9"),
        ("contrast+10", 10.0, Unit.NONE, 1, "+10"),
        ("highlights -30", 30.0, Unit.NONE, -1, "-30"),
        ("ten points", 10.0, Unit.NONE, 0, "ten points"),
        ("take a quarter of the saturation out", 25.0, Unit.PERCENT, 0, "a quarter of the"),
        ("highlights all the way down", 100.0, Unit.PERCENT, 0, "all the way"),
        ("crop it square", 1.0, Unit.RATIO, 0, "square"),
        ("half of that", 0.5, Unit.FACTOR, 0, "half of that"),
        ("30 % of that", 0.3, Unit.FACTOR, 0, "30 %"),
        ("undo the last two", 2.0, Unit.NONE, 0, "last two"),
        ("vibrance thirty", 30.0, Unit.NONE, 0, "thirty"),
        ("dehaze plus twenty", 20.0, Unit.NONE, 0, "plus twenty"),
        ("tint minus eight", 8.0, Unit.NONE, -1, "minus eight"),
        ("highlights to minus forty five", 45.0, Unit.NONE, -1, "minus forty five"),
        ("minus half a stop", 0.5, Unit.STOPS, -1, "minus half a stop"),
        ("I meant minus 20", 20.0, Unit.NONE, -1, "minus 20"),
        ("saturation up by a quarter", 25.0, Unit.PERCENT, 0, "a quarter"),
        ("pull it down two thirds of a stop", 2 / 3, Unit.STOPS, 0, "two thirds of a stop"),
        ("a third less contrast", 100 / 3, Unit.PERCENT, 0, "a third"),
        ("brighten, max half a stop", 0.5, Unit.STOPS, 0, "half a stop"),
        ("half a stop max", 0.5, Unit.STOPS, 0, "half a stop"),
        ("clarity to the max", 100.0, Unit.PERCENT, 0, "to the max"),
        ("at half strength", 0.5, Unit.FACTOR, 0, "half strength"),
        ("make that half", 0.5, Unit.FACTOR, 0, "that half"),
    ],
)
def test_a_number_is_read_with_its_unit_and_sign(
    sentence: str, value: float, unit: Unit, sign: int, words: str
) -> None:
    (quantity,) = find_quantities(sentence)
    assert (quantity.value, quantity.unit, quantity.sign) == (pytest.approx(value), unit, sign)
    assert sentence[quantity.start : quantity.end] == words


@pytest.mark.parametrize(
    "sentence",
    [
        "one of them",
        "half",
        "a bit more",
        "the 70s look",
        "1/0",
        "a quarter, sky",
        "make these two darker",
        "bring all three up",
    ],
)
def test_other_uses_of_number_words_are_no_numbers(sentence: str) -> None:
    assert find_quantities(sentence) == []


def test_a_list_of_settings() -> None:
    found = find_quantities("exposure +0.3, contrast +10, highlights -30, shadows +40")
    assert [quantity.signed for quantity in found] == [0.3, 10.0, -30.0, 40.0]


@given(st.text(max_size=60))
def test_any_text_gives_numbers_in_order_or_none(text: str) -> None:
    found = find_quantities(text)
    ends = [edge for quantity in found for edge in (quantity.start, quantity.end)]
    assert ends == sorted(ends)
    assert all(0 <= edge <= len(text) for edge in ends)


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("1½ stops darker", 1.5),
        ("2⅓ stops", 7 / 3),
        ("5,500 K", 5500.0),
        ("+1,000", 1000.0),
        ("1,5 stops", 1.5),
    ],
)
def test_mixed_fractions_and_thousands(sentence: str, value: float) -> None:
    for text in (sentence, clean_text(sentence)):
        (quantity,) = find_quantities(text)
        assert quantity.value == pytest.approx(value)
