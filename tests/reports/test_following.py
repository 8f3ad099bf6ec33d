"""Following a request, judged on single answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from t2onet.language import Attribute, Intent
from t2onet.reports.following import (
    AMOUNTS,
    COMPOUND,
    FLAGGED,
    IN_ORDER,
    MISSPELT,
    NEARER,
    UNREQUESTED,
    VAGUE,
    WRONGLY,
    amount_rows,
    judged,
    request_rows,
)
from t2onet.reports.labelled import Kind
from t2onet.reports.systems import Made, Question, open_system

from .made import BRIGHTER, SENTENCES, WARMER, Scripted, brightened, label, some_cases

CASE, OTHER, *_ = some_cases(4)
LIGHTER, DARKER = Made(brightened(CASE.before, 0.2)), Made(brightened(CASE.before, -0.2))
DECLINED = Made(CASE.before, declined=True)


def test_what_was_asked_for_is_followed() -> None:
    found = judged(label("brighter", BRIGHTER), CASE, LIGHTER)
    assert (found["more lightness"], found[WRONGLY]) == (1, 0)
    assert found[UNREQUESTED] > 0
    assert MISSPELT not in found
    assert COMPOUND not in found


def test_the_other_way_is_not() -> None:
    assert judged(label("brighter", BRIGHTER), CASE, DARKER)["more lightness"] == 0
    darker = label("darker", Intent(Attribute.LIGHTNESS, -1))
    assert judged(darker, CASE, DARKER)["less lightness"] == 1


def test_a_compound_request_is_all_or_nothing() -> None:
    both = label("brighter and warmer", BRIGHTER, WARMER)
    found = judged(both, CASE, Made(brightened(CASE.before, 0.2) * np.float32([1, 1, 1.3])[:, None, None]))
    assert (found["more lightness"], found["more warmth"], found[COMPOUND]) == (1, 0, 0)
    warm = brightened(CASE.before, 0.2) * np.float32([1, 1, 0.7])[:, None, None]
    found = judged(replace(both, typo=True), CASE, Made(warm))
    assert (found["more lightness"], found["more warmth"]) == (1, 1)
    assert (found[COMPOUND], found[MISSPELT]) == (1, 1)


def test_declining_changes_nothing_whatever_picture_comes_with_it() -> None:
    found = judged(label("brighter", BRIGHTER), CASE, LIGHTER._replace(declined=True))
    assert found == {WRONGLY: 1, "more lightness": 0, UNREQUESTED: 0}


def test_unanswerable_requests_are_to_be_declined() -> None:
    crop = label("crop it", kind=Kind.UNANSWERABLE)
    assert judged(crop, CASE, DECLINED) == {FLAGGED: 1}
    assert judged(crop, CASE, LIGHTER) == {FLAGGED: 0}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (LIGHTER, {WRONGLY: 0, VAGUE: 1, NEARER: 1}),
        (DARKER, {WRONGLY: 0, VAGUE: 1, NEARER: 0}),
        (Made(CASE.before), {WRONGLY: 0, VAGUE: 0, NEARER: 0}),
        (DECLINED, {WRONGLY: 1, VAGUE: 0, NEARER: 0}),
    ],
)
def test_vague_requests_want_something_done_and_better_the_right_thing(
    made: Made, expected: dict[str, float]
) -> None:
    """The expert of these cases brightens."""
    assert judged(label("make it pop", kind=Kind.VAGUE), CASE, made) == expected


def test_every_request_meets_as_many_photos_drawn_by_the_seed() -> None:
    system = Scripted(lambda question: Made(question.picture))
    rows = list(request_rows(system, SENTENCES, some_cases(4), manner="expert", each=3, seed=5))
    assert [row.request for row in rows] == [one.name for one in SENTENCES for _ in range(3)]
    assert all(len({row.photo for row in rows[at : at + 3]}) == 3 for at in range(0, len(rows), 3))
    assert {row.manner for row in rows} == {question.manner for question in system.asked} == {"expert"}
    assert [row.photo for row in request_rows(system, SENTENCES, some_cases(4), each=3, seed=5)] == [
        row.photo for row in rows
    ]


def test_rules_bring_amounts_in_order() -> None:
    rows = list(amount_rows(open_system("keywords"), some_cases(2)))
    assert len(rows) == 2 * len(AMOUNTS)
    assert {row.figures[IN_ORDER] for row in rows} == {1}


def test_equal_amounts_are_not_in_order() -> None:
    def brighter(question: Question) -> Made:
        return Made(brightened(question.picture, 0.2))

    assert {row.figures[IN_ORDER] for row in amount_rows(Scripted(brighter), [OTHER])} == {0}
