"""The paper's ablations of planning, on edits outside the operation space."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from t2onet.evaluation.compare import ResultTable
from t2onet.evaluation.reproduce import ABLATIONS, FORWARD_TITLE, JOINT_TITLE, PAPER_INPUT_L1, PAPER_TITLE
from t2onet.planning import ForwardSearch, L1Cost
from t2onet.planning.planner import FIXED_ORDER
from t2onet.planning.solvers import find_solver
from tests.planning.scenes import scene


@cache
def pairs() -> list[tuple[np.ndarray, np.ndarray]]:
    befores = [scene(48, seed) for seed in range(4)]
    return [(before, grade_picture(before, seed)) for seed, before in enumerate(befores)]


def grade_picture(picture: np.ndarray, seed: int) -> np.ndarray:
    """Exposure, a filmic curve, a tint and chroma, as no single operation does them."""
    rng = np.random.default_rng(seed)
    light = picture.astype(np.float64) ** 2.2 * 2 ** rng.uniform(0.3, 1)
    light *= np.exp(rng.normal(0, 0.15, 3))[:, None, None]
    shown = (light / (light + 0.5) * 1.5).clip(0, 1) ** (1 / 2.2)
    grey = shown.mean(axis=0)
    return np.ascontiguousarray((grey + 1.8 * (shown - grey)).clip(0, 1), np.float32)


@cache
def table(name: str) -> ResultTable:
    return ABLATIONS[name](pairs(), "fast")


@pytest.mark.slow
@pytest.mark.parametrize("name", ABLATIONS)
def test_every_table_stands_beside_the_papers_figures(name: str) -> None:
    made = table(name)
    assert list(made.rows) == [FORWARD_TITLE, JOINT_TITLE, PAPER_TITLE]
    assert {len(row) for row in made.rows.values()} == {len(made.columns)}
    assert made.rows[PAPER_TITLE][0] == PAPER_INPUT_L1
    inputs = float(np.mean([L1Cost(after)(before) for before, after in pairs()]))
    assert made.rows[FORWARD_TITLE][0] == made.rows[JOINT_TITLE][0] == pytest.approx(inputs)


def test_operation_sets_are_ordered_as_in_the_paper() -> None:
    _, brightness, scalars, fixed, _, full = table("operation-sets").rows[FORWARD_TITLE]
    assert brightness > scalars > fixed >= full


def test_more_steps_never_cost_more() -> None:
    costs = table("maximum-steps").rows[FORWARD_TITLE]
    assert list(costs) == sorted(costs, reverse=True)


def test_at_most_n_steps_is_a_search_of_n_steps() -> None:
    _, *costs = table("maximum-steps").rows[FORWARD_TITLE]
    for number in (1, 3):
        found = [
            ForwardSearch(L1Cost(after), find_solver("fast"), FIXED_ORDER, steps=number).run(before).cost
            for before, after in pairs()
        ]
        assert costs[number - 1] == pytest.approx(np.mean(found))


@pytest.mark.parametrize("name", ABLATIONS)
def test_a_joint_fit_is_never_worse(name: str) -> None:
    rows = table(name).rows
    for forward, joint in zip(rows[FORWARD_TITLE], rows[JOINT_TITLE], strict=True):
        assert joint <= forward + 1e-9
