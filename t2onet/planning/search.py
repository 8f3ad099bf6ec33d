"""Forward search: operations one after the other, the parameters of each solved as it is tried.

The paper's algorithm. From each picture of the beam every allowed operation is solved; the best results are
the next beam; it ends at the tolerance, at the step limit, or when nothing helps any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .costs import Cost
from .path import Action, Path, Picture
from .solvers import Solver

Order = Literal["free", "fixed", "epsilon-greedy"]

FIXED_ORDER = ("brightness", "contrast", "saturation", "color", "tone", "sharpness")
EPSILON = 0.05
"""How often epsilon-greedy takes a random operation in place of the best."""


@dataclass(frozen=True)
class Node:
    """A picture on the way, and how it was reached."""

    picture: Picture
    cost: float
    action: Action | None = None
    parent: Node | None = None

    def backtracked(self) -> list[Node]:
        """From the start to here."""
        return [*(self.parent.backtracked() if self.parent else ()), self]

    @property
    def path(self) -> Path:
        return tuple(node.action for node in self.backtracked() if node.action is not None)


@dataclass(frozen=True)
class Search:
    """One search and its settings."""

    cost: Cost
    solver: Solver
    operations: Sequence[str]
    beam: int = 3
    steps: int = 6
    tolerance: float = 0.01
    repeats: bool = False
    order: Order = "free"
    seed: int = 0
    random_beam: int = 1
    """The most pictures that epsilon-greedy goes on from after a random choice, in place of the beam."""

    def run(self, start: Picture) -> Node:
        """The best node found; the start itself where nothing helps."""
        return deque(self.stages(start), maxlen=1).pop()

    def stages(self, start: Picture) -> Iterator[Node]:
        """The best node with no step, with at most one, with at most two, ..."""
        rng = np.random.default_rng(self.seed)
        best = Node(start, float(self.cost(start)))
        beam = [best]
        yield best
        for number in range(self.steps):
            if best.cost < self.tolerance:
                return
            reached = [self._reached(node, name) for node in beam for name in self._allowed(node, number)]
            if not reached:
                return
            beam = self._chosen(reached, rng)
            best = min(best, *beam, key=lambda node: node.cost)
            yield best

    def _allowed(self, node: Node, number: int) -> Iterator[str]:
        if self.order == "fixed":
            ranked = sorted(self.operations, key=lambda name: (*FIXED_ORDER, name).index(name))
            yield from ranked[number : number + 1]
            return
        used = () if self.repeats else {action.operation for action in node.path}
        yield from (name for name in self.operations if name not in used)

    def _reached(self, node: Node, name: str) -> Node:
        action = self.solver(name, node.picture, self.cost)
        picture = action.applied(node.picture)
        return Node(picture, float(self.cost(picture)), action, node)

    def _chosen(self, reached: list[Node], rng: np.random.Generator) -> list[Node]:
        ranked = sorted(reached, key=lambda node: node.cost)
        if self.order == "epsilon-greedy" and rng.random() < EPSILON:
            drawn = {int(rng.integers(len(ranked))) for _ in range(self.random_beam)}
            return [ranked[at] for at in sorted(drawn)]
        return ranked[: self.beam]
