"""Following a request, judged on single answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from t2onet.evaluation.cases import RequestKind
from t2onet.evaluation.measure import (
    AMOUNT_REQUESTS,
    AMOUNTS_IN_ORDER,
    COMPOUND_FOLLOWED,
    MISSPELT_FOLLOWED,
    UNANSWERABLE_FLAGGED,
    UNREQUESTED,
    VAGUE_ANSWERED,
    VAGUE_NEARER,
    WRONGLY_FLAGGED,
    measure_amounts,
    measure_requests,
    score_answer,
)
from t2onet.evaluation.systems import Question, SystemAnswer
from t2onet.language import Attribute, Intent
from tests.evaluation.helpers import (
    BRIGHTER,
    SENTENCES,
    WARMER,
    Scripted,
    brighten,
    follow_words,
    label,
    some_cases,
)

CASE, OTHER, *_ = some_cases(4)
LIGHTER, DARKER = SystemAnswer(brighten(CASE.before, 0.2)), SystemAnswer(brighten(CASE.before, -0.2))
DECLINED = SystemAnswer(CASE.before, declined=True)


def test_what_was_asked_for_is_followed() -> None:
    found = score_answer(label("brighter", BRIGHTER), CASE, LIGHTER)
    assert (found["more lightness"], found[WRONGLY_FLAGGED]) == (1, 0)
    assert found[UNREQUESTED] > 0
    assert MISSPELT_FOLLOWED not in found
    assert COMPOUND_FOLLOWED not in found


def test_the_other_way_is_not() -> None:
    assert score_answer(label("brighter", BRIGHTER), CASE, DARKER)["more lightness"] == 0
    darker = label("darker", Intent(Attribute.LIGHTNESS, -1))
    assert score_answer(darker, CASE, DARKER)["less lightness"] == 1


def test_a_compound_request_is_all_or_nothing() -> None:
    both = label("brighter and warmer", BRIGHTER, WARMER)
    found = score_answer(
        both, CASE, SystemAnswer(brighten(CASE.before, 0.2) * np.float32([1, 1, 1.3])[:, None, None])
    )
    assert (found["more lightness"], found["more warmth"], found[COMPOUND_FOLLOWED]) == (1, 0, 0)
    warm = brighten(CASE.before, 0.2) * np.float32([1, 1, 0.7])[:, None, None]
    found = score_answer(replace(both, typo=True), CASE, SystemAnswer(warm))
    assert (found["more lightness"], found["more warmth"]) == (1, 1)
    assert (found[COMPOUND_FOLLOWED], found[MISSPELT_FOLLOWED]) == (1, 1)


def test_declining_changes_nothing_whatever_picture_comes_with_it() -> None:
    found = score_answer(label("brighter", BRIGHTER), CASE, LIGHTER._replace(declined=True))
    assert found == {WRONGLY_FLAGGED: 1, "more lightness": 0, UNREQUESTED: 0}


def test_unanswerable_requests_are_to_be_declined() -> None:
    crop = label("crop it", kind=RequestKind.UNANSWERABLE)
    assert score_answer(crop, CASE, DECLINED) == {UNANSWERABLE_FLAGGED: 1}
    assert score_answer(crop, CASE, LIGHTER) == {UNANSWERABLE_FLAGGED: 0}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (LIGHTER, {WRONGLY_FLAGGED: 0, VAGUE_ANSWERED: 1, VAGUE_NEARER: 1}),
        (DARKER, {WRONGLY_FLAGGED: 0, VAGUE_ANSWERED: 1, VAGUE_NEARER: 0}),
        (SystemAnswer(CASE.before), {WRONGLY_FLAGGED: 0, VAGUE_ANSWERED: 0, VAGUE_NEARER: 0}),
        (DECLINED, {WRONGLY_FLAGGED: 1, VAGUE_ANSWERED: 0, VAGUE_NEARER: 0}),
    ],
)
def test_vague_requests_want_something_done_and_better_the_right_thing(
    made: SystemAnswer, expected: dict[str, float]
) -> None:
    """The expert of these cases brightens."""
    assert score_answer(label("make it pop", kind=RequestKind.VAGUE), CASE, made) == expected


def test_every_request_meets_as_many_photos_drawn_by_the_seed() -> None:
    system = Scripted(lambda question: SystemAnswer(question.picture))
    rows = list(measure_requests(system, SENTENCES, some_cases(4), mode="expert", each=3, seed=5))
    assert [row.request for row in rows] == [one.name for one in SENTENCES for _ in range(3)]
    assert all(len({row.photo for row in rows[at : at + 3]}) == 3 for at in range(0, len(rows), 3))
    assert {row.mode for row in rows} == {question.mode for question in system.asked} == {"expert"}
    assert [row.photo for row in measure_requests(system, SENTENCES, some_cases(4), each=3, seed=5)] == [
        row.photo for row in rows
    ]


def test_a_system_brings_amounts_in_order() -> None:
    rows = list(measure_amounts(Scripted(follow_words), some_cases(2)))
    assert len(rows) == 2 * len(AMOUNT_REQUESTS)
    assert {row.figures[AMOUNTS_IN_ORDER] for row in rows} == {1}


def test_equal_amounts_are_not_in_order() -> None:
    def brighter(question: Question) -> SystemAnswer:
        return SystemAnswer(brighten(question.picture, 0.2))

    assert {row.figures[AMOUNTS_IN_ORDER] for row in measure_amounts(Scripted(brighter), [OTHER])} == {0}
