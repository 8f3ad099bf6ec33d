"""The paper's forward search and its variants."""

from __future__ import annotations

from itertools import cycle, pairwise

import numpy as np
import pytest

from t2onet import operations
from t2onet.planning import ForwardSearch, L1Cost, SearchNode
from t2onet.planning.pictures import apply_step
from t2onet.planning.planner import FIXED_ORDER, SearchMethod
from t2onet.planning.solvers import find_solver
from t2onet.recipe import Step
from tests.planning.scenes import scene


def apply_edit(picture: np.ndarray) -> np.ndarray:
    for step in (Step.from_trusted("brightness", (0.3,)), Step.from_trusted("saturation", (0.5,))):
        picture = apply_step(step, picture)
    return picture


def search(target: np.ndarray, names: list[str] | None = None, **settings: object) -> ForwardSearch:
    return ForwardSearch(L1Cost(target), find_solver("fast"), names or list(operations.PAPER), **settings)  # type: ignore[arg-type]


def test_backtracking_gives_operations_parameters_and_pictures() -> None:
    start = scene()
    node = search(apply_edit(start), ["brightness", "saturation"], tolerance=0.0).run(start)
    trail = node.trace()
    assert [step.operation for step in node.steps] == ["brightness", "saturation"]
    assert np.array_equal(trail[0].picture, start)
    for before, after in pairwise(trail):
        assert after.step is not None
        assert np.array_equal(apply_step(after.step, before.picture), after.picture)
        assert after.cost == pytest.approx(L1Cost(apply_edit(start))(after.picture))
        assert after.cost < before.cost


def test_it_stops_at_the_tolerance() -> None:
    start = scene()
    assert len(search(apply_edit(start), tolerance=0.5).run(start).steps) == 0
    assert len(search(apply_edit(start), tolerance=0.02).run(start).steps) < len(
        search(apply_edit(start), tolerance=0.0).run(start).steps
    )


def test_error_does_not_grow_with_the_steps() -> None:
    start = scene()
    costs = [search(apply_edit(start), tolerance=0.0, steps=steps).run(start).cost for steps in (1, 2, 3, 4)]
    assert costs == sorted(costs, reverse=True)


def test_operations_are_used_once_unless_repeats_are_allowed() -> None:
    start = scene()
    once = search(apply_edit(start), ["tone"], tolerance=0.0, steps=3).run(start)
    again = search(apply_edit(start), ["tone", "brightness"], tolerance=0.0, steps=4, repeats=True).run(start)
    assert len(once.steps) == 1
    assert {step.operation for step in again.steps} <= {"tone", "brightness"}


def test_the_fixed_order_is_kept() -> None:
    start = scene()
    steps = search(apply_edit(start), method="fixed", tolerance=0.0).run(start).steps
    positions = [FIXED_ORDER.index(step.operation) for step in steps]
    assert positions == sorted(positions)


@pytest.mark.parametrize("method", ["beam", "epsilon-greedy"])
def test_a_seed_fixes_the_result(method: SearchMethod) -> None:
    start = scene(32)
    first, second = (
        search(apply_edit(start), method=method, tolerance=0.0, seed=3).run(start) for _ in range(2)
    )
    assert [a.operation for a in first.steps] == [a.operation for a in second.steps]
    assert first.cost == second.cost


def test_epsilon_greedy_sometimes_takes_another_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("t2onet.planning.planner.EPSILON", 1.0)
    start = scene(32)
    firsts = {
        search(apply_edit(start), method="epsilon-greedy", tolerance=0.0, steps=2, seed=seed)
        .run(start)
        .steps[0]
        .operation
        for seed in range(6)
    }
    assert len(firsts) > 1


@pytest.mark.parametrize(("random_beam", "solved"), [(1, [6, 5]), (2, [6, 10])])
def test_a_random_choice_leaves_a_beam_of_its_own(
    monkeypatch: pytest.MonkeyPatch, random_beam: int, solved: list[int]
) -> None:
    """After one picture each of six operations is solved; after a random choice each of the five others."""
    start = scene(32)
    settings = {"method": "epsilon-greedy", "tolerance": 0.0, "steps": 2, "random_beam": random_beam}
    found = search(apply_edit(start), **settings)
    monkeypatch.setattr("t2onet.planning.planner.EPSILON", 1.0)
    monkeypatch.setattr("numpy.random.default_rng", lambda seed: Draws([0, 1]))
    counts = []
    original = ForwardSearch._select

    def select(self: ForwardSearch, nodes: list[SearchNode], rng: np.random.Generator) -> list[SearchNode]:
        counts.append(len(nodes))
        return original(self, nodes, rng)

    monkeypatch.setattr(ForwardSearch, "_select", select)
    found.run(start)
    assert counts == solved


class Draws:
    """Numbers that come up in turn."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = cycle(numbers)

    def random(self) -> float:
        return 0.0

    def integers(self, below: int) -> int:
        return next(self.numbers) % below


def test_a_wider_beam_is_no_worse() -> None:
    start, target = scene(), scene(seed=0) ** 1.3
    narrow, wide = (search(target, beam=beam, tolerance=0.0).run(start).cost for beam in (1, 4))
    assert wide <= narrow + 1e-6
