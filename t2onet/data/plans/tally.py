"""What planning a dataset came to: sums and counts that grow by one plan at a time."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from ..sample import Problem, Sample
from .record import Planned

PAPER = (0.1202, 0.0136)
"""Mean L1 before and after planning that the paper reports for MA5k-Req."""
SHOWN = 4
"""The most plans that are kept as the best, and as the worst."""


class Shown(NamedTuple):
    """A sample and its plan, ordered by cost; `number` settles draws."""

    cost: float
    number: int
    sample: Sample
    planned: Planned


@dataclass
class Tally:
    """Of pairs, each counted once. `new` were planned in this run, in `seconds`; `failed` have no plan.

    `problems` are of samples, which may share a pair.
    """

    pairs: int = 0
    new: int = 0
    seconds: float = 0.0
    start_sum: float = 0.0
    cost_sum: float = 0.0
    working_sums: tuple[float, float] = (0.0, 0.0)
    lengths: Counter[int] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    problems: list[Problem] = field(default_factory=list)
    damage: list[Problem] = field(default_factory=list)
    _worst: list[Shown] = field(default_factory=list)
    _best: list[Shown] = field(default_factory=list)

    def add(self, sample: Sample, planned: Planned) -> None:
        self.pairs += 1
        self.start_sum += planned.start_cost
        self.cost_sum += planned.cost
        first, last = self.working_sums
        self.working_sums = (first + planned.costs[0], last + planned.costs[-1])
        self.lengths[len(planned.recipe)] += 1
        self.operations.update({step.operation for step in planned.recipe.steps})
        keep(self._worst, Shown(planned.cost, self.pairs, sample, planned))
        if planned.recipe.steps:
            keep(self._best, Shown(-planned.cost, -self.pairs, sample, planned))

    @property
    def start_cost(self) -> float:
        """On the photos themselves, without the plans."""
        return self.start_sum / max(1, self.pairs)

    @property
    def cost(self) -> float:
        """On the photos themselves, with the plans."""
        return self.cost_sum / max(1, self.pairs)

    @property
    def working_costs(self) -> tuple[float, float]:
        """Before and after, at the working size."""
        first, last = self.working_sums
        return first / max(1, self.pairs), last / max(1, self.pairs)

    @property
    def rate(self) -> float:
        """New pairs a second."""
        return self.new / self.seconds if self.seconds else 0.0

    @property
    def operations_by_count(self) -> list[tuple[str, int]]:
        """Those in most plans first, and in the order of names where as many use them."""
        return sorted(self.operations.items(), key=lambda item: (-item[1], item[0]))

    @property
    def best(self) -> list[Shown]:
        """Lowest cost first, none of the worst; pairs that need no step are no plans to look at."""
        worst = {shown.number for shown in self.worst}
        return [shown for shown in sorted(self._best, reverse=True) if -shown.number not in worst]

    @property
    def worst(self) -> list[Shown]:
        """Highest cost first; of few pairs no more than half, so that there is a best, too."""
        count = max(self.pairs // 2, self.pairs - len(self._best))
        return sorted(self._worst, reverse=True)[:count]


def keep(heap: list[Shown], shown: Shown) -> None:
    """Among the largest, in a heap of bounded size."""
    (heapq.heappushpop if len(heap) >= SHOWN else heapq.heappush)(heap, shown)
