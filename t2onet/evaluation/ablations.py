"""The paper's ablations of planning, on any pairs, beside the paper's figures.

Each table has the cost of a forward search, with our solver or with Nelder-Mead as in the paper, and the cost
after a joint fit of all parameters of the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from ..planning import ForwardSearch, JointFitter, L1Cost, SearchNode
from ..planning.pictures import Picture
from ..planning.planner import FIXED_ORDER, SearchMethod
from ..planning.solvers import find_solver
from .paper_tables import MAXIMUM_STEPS, OPERATION_SETS, SINGLE_OPERATIONS, PaperPlans, PaperTable
from .table import ResultTable

PicturePair = tuple[Picture, Picture]
"""Before and after, (3, H, W) float32."""

OperationSet = tuple[tuple[str, ...], SearchMethod, float]
"""Operations, the search method, and the paper's cost."""

PAPER_INPUT_L1 = 0.1202
FORWARD_TITLE, JOINT_TITLE, PAPER_TITLE = "forward search", "and refined jointly", "paper (its train split)"


def _collect_sets(table: PaperTable) -> dict[str, OperationSet]:
    """The operation sets of the rows that have a cost in the paper."""
    return {
        row.title: _to_operation_set(row.run.plans, row.planning)
        for row in table.rows
        if row.run and row.planning
    }


def _to_operation_set(plans: PaperPlans, figure: float) -> OperationSet:
    return plans.operations or FIXED_ORDER, cast(SearchMethod, plans.way), figure


class AblationCosts:
    """Costs by column and pair."""

    def __init__(self, paper: Mapping[str, float]) -> None:
        self.paper = paper
        self.inputs: list[float] = []
        self.forward: dict[str, list[float]] = {column: [] for column in paper}
        self.joint: dict[str, list[float]] = {column: [] for column in paper}

    def add(self, column: str, node: SearchNode, before: Picture, cost: L1Cost) -> None:
        self.forward[column].append(node.cost)
        self.joint[column].append(JointFitter(before, cost).fit(node.steps).cost if node.steps else node.cost)

    def build_table(self, title: str, solver: str) -> ResultTable:
        rows = {
            FORWARD_TITLE: tuple(map(_mean, (self.inputs, *self.forward.values()))),
            JOINT_TITLE: tuple(map(_mean, (self.inputs, *self.joint.values()))),
            PAPER_TITLE: (PAPER_INPUT_L1, *self.paper.values()),
        }
        pairs = "one pair" if len(self.inputs) == 1 else f"{len(self.inputs)} pairs"
        notes = (
            f"Mean absolute difference from the target over {pairs}; beam 3, tolerance .01.",
            f"Forward search: solver {solver}. The paper's figures are those of its own pairs, five experts.",
        )
        return ResultTable(title, ("input", *self.paper), rows, notes)


def ablate_operation_sets(pairs: Iterable[PicturePair], solver: str = "fast") -> ResultTable:
    """Sets 1 to 5 of the paper."""
    return _plan_with_sets(_collect_sets(OPERATION_SETS), pairs, solver).build_table(
        "Planning with different operation sets", solver
    )


def ablate_single_operations(pairs: Iterable[PicturePair], solver: str = "fast") -> ResultTable:
    """Each operation alone."""
    return _plan_with_sets(_collect_sets(SINGLE_OPERATIONS), pairs, solver).build_table(
        "Planning with a single operation", solver
    )


def ablate_maximum_steps(pairs: Iterable[PicturePair], solver: str = "fast") -> ResultTable:
    """At most one step, at most two, ..., at most six."""
    figures = {row.title: row.planning for row in MAXIMUM_STEPS.rows if row.planning}
    costs = AblationCosts(figures)
    for before, after in pairs:
        cost = L1Cost(after)
        costs.inputs.append(cost(before))
        nodes = list(ForwardSearch(cost, find_solver(solver), FIXED_ORDER, steps=len(figures)).stages(before))
        for number, title in enumerate(figures, start=1):
            costs.add(title, nodes[min(number, len(nodes) - 1)], before, cost)
    return costs.build_table("Planning with at most so many steps", solver)


def _plan_with_sets(
    sets: Mapping[str, OperationSet], pairs: Iterable[PicturePair], solver: str
) -> AblationCosts:
    costs = AblationCosts({column: figure for column, (_, _, figure) in sets.items()})
    for before, after in pairs:
        cost = L1Cost(after)
        costs.inputs.append(cost(before))
        for column, (names, method, _) in sets.items():
            search = ForwardSearch(cost, find_solver(solver), names, method=method, seed=len(costs.inputs))
            costs.add(column, search.run(before), before, cost)
    return costs


def _mean(figures: Sequence[float]) -> float:
    return float(np.mean(figures))


Ablation = Callable[[Iterable[PicturePair], str], ResultTable]
"""From pairs and the name of a solver to a table."""

ABLATIONS: dict[str, Ablation] = {
    "operation-sets": ablate_operation_sets,
    "single-operations": ablate_single_operations,
    "maximum-steps": ablate_maximum_steps,
}
