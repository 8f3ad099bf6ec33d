"""The paper's ablations of planning, over any pairs, beside the paper's own figures.

Each table has a forward search with our solver or, as in the paper, with Nelder-Mead, and what a joint
fit of all parameters makes of the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from ..errors import DataError
from ..planning import L1, JointFit, Node, Search
from ..planning.path import Picture
from ..planning.search import FIXED_ORDER, Order
from ..planning.solvers import solver as find_solver
from .table import Table
from .tables.model import PaperTable, Plans
from .tables.paper import MAXIMUM_STEPS, OPERATION_SETS, SINGLE_OPERATIONS

Pictures = tuple[Picture, Picture]
"""Before and after, (3, H, W) float32."""

Set = tuple[tuple[str, ...], Order, float]
"""Operations, the order they are taken in, and the paper's figure."""

PAPER_INPUT = 0.1202
FORWARD, JOINT, PAPER = "forward search", "and refined jointly", "paper (its train split)"


def _sets(table: PaperTable) -> dict[str, Set]:
    """Of the rows that the paper plans with."""
    return {row.title: _set(row.run.plans, row.planning) for row in table.rows if row.run and row.planning}


def _set(plans: Plans, figure: float) -> Set:
    order = "free" if plans.way == "beam" else plans.way
    return plans.operations or FIXED_ORDER, cast(Order, order), figure


class Tally:
    """Costs of every column, pair by pair."""

    def __init__(self, paper: Mapping[str, float]) -> None:
        self.paper = paper
        self.inputs: list[float] = []
        self.forward: dict[str, list[float]] = {column: [] for column in paper}
        self.joint: dict[str, list[float]] = {column: [] for column in paper}

    def add(self, column: str, node: Node, before: Picture, cost: L1) -> None:
        self.forward[column].append(node.cost)
        self.joint[column].append(JointFit(before, cost).fit(node.path).cost if node.path else node.cost)

    def table(self, title: str, solver: str) -> Table:
        rows = {
            FORWARD: tuple(map(_mean, (self.inputs, *self.forward.values()))),
            JOINT: tuple(map(_mean, (self.inputs, *self.joint.values()))),
            PAPER: (PAPER_INPUT, *self.paper.values()),
        }
        pairs = "one pair" if len(self.inputs) == 1 else f"{len(self.inputs)} pairs"
        notes = (
            f"Mean absolute difference from the target over {pairs}; beam 3, tolerance .01.",
            f"Forward search: solver {solver}. The paper's figures are those of its own pairs, five experts.",
        )
        return Table(title, ("input", *self.paper), rows, notes)


def operation_sets(pairs: Iterable[Pictures], solver: str = "fast") -> Table:
    """Sets 1 to 5 of the paper."""
    return _over_sets(_sets(OPERATION_SETS), pairs, solver).table(
        "Planning with different operation sets", solver
    )


def single_operations(pairs: Iterable[Pictures], solver: str = "fast") -> Table:
    """Each operation alone."""
    return _over_sets(_sets(SINGLE_OPERATIONS), pairs, solver).table(
        "Planning with a single operation", solver
    )


def maximum_steps(pairs: Iterable[Pictures], solver: str = "fast") -> Table:
    """At most one step, at most two, ..., at most six."""
    figures = {row.title: row.planning for row in MAXIMUM_STEPS.rows if row.planning}
    tally = Tally(figures)
    for before, after in pairs:
        cost = L1(after)
        tally.inputs.append(cost(before))
        nodes = list(Search(cost, find_solver(solver), FIXED_ORDER, steps=len(figures)).stages(before))
        for number, title in enumerate(figures, start=1):
            tally.add(title, nodes[min(number, len(nodes) - 1)], before, cost)
    return tally.table("Planning with at most so many steps", solver)


def _over_sets(sets: Mapping[str, Set], pairs: Iterable[Pictures], solver: str) -> Tally:
    tally = Tally({column: figure for column, (_, _, figure) in sets.items()})
    for before, after in pairs:
        cost = L1(after)
        tally.inputs.append(cost(before))
        for column, (names, order, _) in sets.items():
            search = Search(cost, find_solver(solver), names, order=order, seed=len(tally.inputs))
            tally.add(column, search.run(before), before, cost)
    return tally


def _mean(figures: Sequence[float]) -> float:
    return float(np.mean(figures))


Ablation = Callable[[Iterable[Pictures], str], Table]
"""From pairs and the name of a solver to a table."""

ABLATIONS: dict[str, Ablation] = {
    "operation-sets": operation_sets,
    "single-operations": single_operations,
    "maximum-steps": maximum_steps,
}


def ablation(name: str) -> Ablation:
    if name not in ABLATIONS:
        raise DataError(f"there is no table {name!r}; there are {', '.join(ABLATIONS)}")
    return ABLATIONS[name]
