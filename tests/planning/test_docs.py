"""What the docs say of planning is what the code does."""

from __future__ import annotations

import inspect

import pytest

from t2onet.operations import REFERENCE_SHORT_SIDE
from t2onet.planning import local, masked, planner, segments
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
        f"differ by more than {decimal(segments.VISIBLE_PIXEL_CHANGE)}",
        f"at least {masked._EXPLAINED_SHARE:.0%} of the difference".replace("%", " %"),
        f"at least {decimal(masked._INVISIBLE_DIFFERENCE)}",
        f"less than {decimal(masked._MIN_EDGE_CORRELATION)}",
        f"at most {masked.MASK_SAMPLE:,} pixels of the mask",
        f"within {local.MAX_SIMPLIFICATION_LOSS:.0%} of the best".replace("%", " %"),
        f"{default(local.plan_local, 'steps')} steps, beam {default(local.plan_local, 'beam')}",
        f"below {decimal(local.plan_local.__kwdefaults__['tolerance'])}, or no step",
        f"takes away {local._MIN_TRIAL_GAIN_SHARE:.0%} of the whole difference".replace("%", " %"),
        f"less than {local.MIN_GAIN_SHARE:.0%} is dropped".replace("%", " %"),
        f"softened by {masked.PLANNED_MASK_FEATHER:g} pixels at a short side of {REFERENCE_SHORT_SIDE}",
    ],
)
def test_local_planning_differs_as_told(words: str) -> None:
    assert words in (ROOT / "docs" / "local.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        f"(`EPSILON`, {decimal(planner.EPSILON)})",
        f"after a random choice; {default(plan, 'random_beam')} by default",
        f"its width; {default(plan, 'beam')} is that of the published code",
        f"{', '.join(planner.FIXED_ORDER)} (`FIXED_ORDER`)",
    ],
)
def test_the_forward_search_differs_as_told(words: str) -> None:
    assert words in (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
