"""The paper's forward search and its variants."""

from __future__ import annotations

from itertools import cycle, pairwise

import numpy as np
import pytest

from t2onet import operations
from t2onet.planning import ForwardSearch, L1Cost, SearchNode
from t2onet.planning.pictures import Action
from t2onet.planning.planner import FIXED_ORDER, SearchOrder
from t2onet.planning.solvers import find_solver
from tests.planning.scenes import scene


def edited(picture: np.ndarray) -> np.ndarray:
    for action in (Action("brightness", np.array([0.3])), Action("saturation", np.array([0.5]))):
        picture = action.applied(picture)
    return picture


def search(target: np.ndarray, names: list[str] | None = None, **settings: object) -> ForwardSearch:
    return ForwardSearch(
        L1Cost(target), find_solver("fast"), names or list(operations.operations()), **settings
    )  # type: ignore[arg-type]


def test_backtracking_gives_operations_parameters_and_pictures() -> None:
    start = scene()
    node = search(edited(start), ["brightness", "saturation"], tolerance=0.0).run(start)
    trail = node.backtracked()
    assert [action.operation for action in node.path] == ["brightness", "saturation"]
    assert np.array_equal(trail[0].picture, start)
    for before, after in pairwise(trail):
        assert after.action is not None
        assert np.array_equal(after.action.applied(before.picture), after.picture)
        assert after.cost == pytest.approx(L1Cost(edited(start))(after.picture))
        assert after.cost < before.cost


def test_it_stops_at_the_tolerance() -> None:
    start = scene()
    assert len(search(edited(start), tolerance=0.5).run(start).path) == 0
    assert len(search(edited(start), tolerance=0.02).run(start).path) < len(
        search(edited(start), tolerance=0.0).run(start).path
    )


def test_error_does_not_grow_with_the_steps() -> None:
    start = scene()
    costs = [search(edited(start), tolerance=0.0, steps=steps).run(start).cost for steps in (1, 2, 3, 4)]
    assert costs == sorted(costs, reverse=True)


def test_operations_are_used_once_unless_repeats_are_allowed() -> None:
    start = scene()
    once = search(edited(start), ["tone"], tolerance=0.0, steps=3).run(start)
    again = search(edited(start), ["tone", "brightness"], tolerance=0.0, steps=4, repeats=True).run(start)
    assert len(once.path) == 1
    assert {action.operation for action in again.path} <= {"tone", "brightness"}


def test_the_fixed_order_is_kept() -> None:
    start = scene()
    path = search(edited(start), order="fixed", tolerance=0.0).run(start).path
    places = [FIXED_ORDER.index(action.operation) for action in path]
    assert places == sorted(places)


@pytest.mark.parametrize("order", ["free", "epsilon-greedy"])
def test_a_seed_fixes_the_result(order: SearchOrder) -> None:
    start = scene(32)
    first, second = (search(edited(start), order=order, tolerance=0.0, seed=3).run(start) for _ in range(2))
    assert [a.operation for a in first.path] == [a.operation for a in second.path]
    assert first.cost == second.cost


def test_epsilon_greedy_sometimes_takes_another_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("t2onet.planning.planner.EPSILON", 1.0)
    start = scene(32)
    firsts = {
        search(edited(start), order="epsilon-greedy", tolerance=0.0, steps=2, seed=seed)
        .run(start)
        .path[0]
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
    settings = {"order": "epsilon-greedy", "tolerance": 0.0, "steps": 2, "random_beam": random_beam}
    found = search(edited(start), **settings)
    monkeypatch.setattr("t2onet.planning.planner.EPSILON", 1.0)
    monkeypatch.setattr("numpy.random.default_rng", lambda seed: Draws([0, 1]))
    counts = []
    reached = ForwardSearch._chosen

    def chosen(self: ForwardSearch, nodes: list[SearchNode], rng: np.random.Generator) -> list[SearchNode]:
        counts.append(len(nodes))
        return reached(self, nodes, rng)

    monkeypatch.setattr(ForwardSearch, "_chosen", chosen)
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
