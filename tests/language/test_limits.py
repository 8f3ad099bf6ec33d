"""What must stay as it is, and what must not be too much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.language import Attribute
from t2onet.language.limits import Limit, limited

L, C, S, W, R, X = Attribute
COLOURS = {(S, 0), (W, 0), (R, 0)}


@pytest.mark.parametrize(
    ("request_", "rest", "limits"),
    [
        ("brighter without changing the colours", "brighter", COLOURS),
        ("more contrast but not darker", "more contrast", {(L, -1)}),
        ("sharper but keep the colours", "sharper", COLOURS),
        ("make it warmer but don't make it brighter", "make it warmer", {(L, 1)}),
        ("keep the colours but make it sharper", "make it sharper", COLOURS),
        ("Without touching the contrast, make it brighter.", "make it brighter.", {(C, 0)}),
        ("brighten it and leave the colors alone", "brighten it", COLOURS),
        ("increase the saturation without making it too bright", "increase the saturation", {(L, 1)}),
        ("make it darker without losing contrast", "make it darker", {(C, -1)}),
        ("darker while keeping the colours the same and sharper", "darker and sharper", COLOURS),
        ("increase contrast. Keep the brightness as is.", "increase contrast.", {(L, 0)}),
        ("more vivid, the brightness should stay the same", "more vivid", {(L, 0)}),
        ("make it pop but keep the white balance", "make it pop", {(W, 0)}),
        ("lighter without washing out the colours", "lighter", {(S, -1)}),
        ("don't change the colours or the contrast, just brighten it", "brighten it", {*COLOURS, (C, 0)}),
        ("make it brighter, but don’t touch the saturation", "make it brighter", {(S, 0)}),
        ("brighter but not warmer", "brighter", {(W, 1)}),
        ("more contrast without making it darker or colder", "more contrast", {(L, -1), (W, -1)}),
        ("brighter with the same contrast", "brighter", {(C, 0)}),
        ("more contrast, but keep it bright", "more contrast", {(L, -1)}),
        ("sharpen it and do not mess with the exposure", "sharpen it", {(L, 0)}),
        ("warm it up, hands off the sharpness", "warm it up", {(X, 0)}),
        ("cooler, but don't let it get dark", "cooler", {(L, -1)}),
        ("more contrast without oversaturating it", "more contrast", {(S, 1)}),
        ("BRIGHTER BUT KEEP THE COLOURS", "BRIGHTER", COLOURS),
        ("soften it   but\nkeep the colours as they are", "soften it", COLOURS),
        ("cooler without making it green", "cooler", {(R, -1)}),
        ("warmer but keep the colours", "warmer", {(S, 0), (R, 0)}),
    ],
)
def test_what_must_stay_is_told_apart_from_what_is_asked(
    request_: str, rest: str, limits: set[tuple[Attribute, int]]
) -> None:
    found = limited(request_)
    assert found.request == rest
    assert set(found.limits) == {Limit(*one) for one in limits}
    assert not found.gentle


@pytest.mark.parametrize(
    ("request_", "rest"),
    [
        ("brighter, but not too much", "brighter"),
        ("warmer, but not too yellow", "warmer"),
        ("warm it up but not too warm", "warm it up"),
        ("brighter but not too bright", "brighter"),
        ("more saturated but don't overdo it", "more saturated"),
        ("cooler, not too much please", "cooler"),
        ("sharper without oversharpening it", "sharper"),
        ("boost the colours without going overboard", "boost the colours"),
        ("add contrast, nothing too extreme", "add contrast"),
    ],
)
def test_not_too_much_is_a_small_amount(request_: str, rest: str) -> None:
    found = limited(request_)
    assert (found.request, found.limits, found.gentle) == (rest, (), True)


def test_what_is_small_already_is_not_made_smaller() -> None:
    assert not limited("a bit brighter but not too much").gentle


@pytest.mark.parametrize(
    "request_",
    [
        "make it brighter",
        "less yellow, not so dark",
        "it's not bright enough",
        "I don't like the yellow",
        "make the numbers clear and not blurry",
        "keep the focus on the baby and brighten",
        "brighten without blowing out the highlights",
        "leave only the dog",
        "keep the colours",
        "don't make it darker",
        "without words " * 200 + "but not darker",
    ],
)
def test_anything_else_is_left_as_it_is(request_: str) -> None:
    found = limited(request_)
    assert (found.request, found.limits, found.gentle) == (request_, (), False)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_read(before: str, after: str) -> None:
    found = limited(f"{before}, without changing the colours, {after}")
    assert len(found.request) <= len(before) + len(after) + 40
