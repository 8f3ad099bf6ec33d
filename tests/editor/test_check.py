"""The search for the amount of a change, and what is measured while it is made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.editor.check import Checker, find_amount
from t2onet.editor.measures import Measure
from t2onet.editor.policy import make_thumbnail
from t2onet.editor.realize import MOST_SHARES, realize
from t2onet.language.wishes import Amount, Direction, Wish
from tests.conftest import open_example


@given(power=st.floats(0.7, 2), scale=st.floats(5, 60), target=st.floats(5, 30))
def test_a_growing_effect_is_brought_to_its_target(power: float, scale: float, target: float) -> None:
    amount = find_amount(lambda amount: scale * amount**power, target, 0.12, 1.0, 0.05 * target)
    reached = scale * amount**power
    assert 0 <= amount <= 1
    assert reached == pytest.approx(min(target, scale), rel=0.1)


def test_nothing_is_taken_where_more_is_less() -> None:
    assert find_amount(lambda amount: -amount, 1.0, 0.2, 1.0, 0.1) == 0
    assert find_amount(lambda _: 5.0, 1.0, 0.2, 1.0, 0.1) == 0, "side effects of others reach it"


def test_an_effect_that_turns_back_stops_where_it_is_nearest() -> None:
    amount = find_amount(lambda amount: amount - 4 * amount**2, 1.0, 0.1, 1.0, 0.02)
    assert amount == pytest.approx(0.1)


@pytest.mark.parametrize("amount", Amount)
def test_an_amount_in_words_goes_no_further_than_its_share(amount: Amount) -> None:
    for what in ("contrast", "colour", "warmth", "lightness"):
        for change in realize(Wish(what, Direction.UP, amount)):
            assert change.most <= MOST_SHARES[amount]
            if change.operation == "exposure":
                assert change.move((0.0,), change.most) == (pytest.approx(2 * MOST_SHARES[amount]),)


def test_a_warmer_photo_that_gets_brighter_has_a_step_of_its_own_for_it() -> None:
    picture = make_thumbnail(open_example("sunset", 256), 128)
    wishes = [Wish("lightness", Direction.UP), Wish("warmth", Direction.UP)]
    checker = Checker(picture)
    changes = [change for wish in wishes for change in realize(wish, pivot=checker.pivot)]
    checked = checker.solve(changes)
    balance = next(step for step in checked.recipe.steps if step.operation == "white_balance")
    assert balance.parameters[0] > 0
    assert all(effect is not None and effect > 1 for effect in checked.effects)


def test_what_may_move_is_not_held_back() -> None:
    picture = make_thumbnail(open_example("meadow", 256), 128)
    changes = list(realize(Wish("warmth", Direction.UP, Amount.MUCH)))
    colour = Measure("colour", 0)
    held, excused = (Checker(picture).solve(changes, (), {colour: movers}) for movers in ((), ("warmth",)))
    assert [step.operation for step in excused.recipe.steps] == ["white_balance"]
    assert "saturation" in {step.operation for step in held.recipe.steps}
    assert np.allclose(excused.recipe.steps[0].parameters[1], 0)
