"""What the docs say of planning is what the code does."""

from __future__ import annotations

import inspect

import pytest

from t2onet.operations import REFERENCE_SHORT_SIDE
from t2onet.planning import local, places, planner, segments
from t2onet.planning.planner import plan
from tests.conftest import ROOT


def default(function: object, name: str) -> object:
    return inspect.signature(function).parameters[name].default  # type: ignore[arg-type]


def decimal(value: float) -> str:
    """.02, as the docs write it."""
    return f"{value:g}".removeprefix("0")


@pytest.mark.parametrize(
    "words",
    [
        f"the {local.MASK_LIMIT} (`mask_limit`)",
        f"differ by more than {decimal(segments.VISIBLE_PIXEL_CHANGE)} (`CHANGED`)",
        f"at least {places._EXPLAINED_SHARE:.0%} of the difference (`_CLOSE`)".replace("%", " %"),
        f"at least {decimal(places._INVISIBLE_DIFFERENCE)} (`_INVISIBLE`)",
        f"less than {decimal(places._MIN_EDGE_CORRELATION)} (`_ALIKE`)",
        f"at most {places.MASK_SAMPLE:,} pixels of the mask (`SAMPLE`)",
        f"within {local.MAX_SIMPLIFICATION_LOSS:.0%} of the best (`NEARLY`)".replace("%", " %"),
        f"{default(local.plan_local, 'steps')} steps, beam {default(local.plan_local, 'beam')}",
        f"below {decimal(local.plan_local.__kwdefaults__['tolerance'])}, or no step",
        f"takes away {local._MIN_TRIAL_GAIN_SHARE:.0%} of the whole difference (`_TRIED`)".replace("%", " %"),
        f"less than {local.MIN_GAIN_SHARE:.0%} is dropped (`WORTH`)".replace("%", " %"),
        f"softened by {places.PLANNED_MASK_FEATHER:g} pixels at a short side of {REFERENCE_SHORT_SIDE} "
        "(`FEATHER`)",
    ],
)
def test_local_planning_differs_as_told(words: str) -> None:
    assert words in (ROOT / "docs" / "local.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        f"(`EPSILON`, {decimal(planner.EPSILON)})",
        f"after a random choice; {default(plan, 'random_beam')} by default",
        f"its size; {default(plan, 'beam')} is that of the code",
        f"{', '.join(planner.FIXED_ORDER)} (`FIXED_ORDER`)",
    ],
)
def test_the_forward_search_differs_as_told(words: str) -> None:
    assert words in (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
