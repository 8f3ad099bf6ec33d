"""What a forward search could not know: the steps it found, looked at together.

Steps are chosen one after the other, and where their masks overlap the first ones make up for what comes
later, often with more numbers than needed and in the wrong order. Here all parameters are fitted together, in
other orders too; what the others can do without is dropped, and what a simpler operation does as well is
replaced. Repairs stay where they are: around their holes they change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

import numpy as np

from .. import operations
from .costs import L1
from .masked import LocalStep
from .path import Picture, idle
from .planner import looks_aside
from .segments import Region
from .together import MaskedFit

NEARLY = 0.04
"""Share of a step's gain that a simpler operation or a tighter mask may cost."""
WORTH = 0.08
"""A step stays if it takes away at least this share of what was there to explain."""
_FEW = 3
"""Steps of which all orders are tried; of more, only exchanges of neighbours."""


@dataclass(frozen=True)
class Version:
    """Steps other than repairs, and their mean difference over what was edited."""

    steps: tuple[LocalStep, ...]
    cost: float


def revised(
    steps: Sequence[LocalStep], start: Picture, target: Picture, names: Sequence[str]
) -> list[LocalStep]:
    """Better steps of these operations, in the places of `steps` or fewer; repairs as they are."""
    edits = tuple(step for step in steps if not step.is_repair)
    revision = Revision(steps, start, target, names)
    if not revision.where.any():
        return list(steps)
    found = iter(revision.run(edits).steps)
    kept = [step if step.is_repair else next(found, None) for step in steps]
    return [step for step in kept if step is not None]


@dataclass(frozen=True)
class Revision:
    """One pair, the steps that were found for it, and the operations that may take their places."""

    steps: Sequence[LocalStep]
    start: Picture
    target: Picture
    names: Sequence[str]

    def run(self, edits: tuple[LocalStep, ...]) -> Version:
        """The steps that are worth their place, in their best order."""
        versions = [self._fitted(order) for order in (edits, *_orders(edits))]
        best = self._pruned(min(versions, key=lambda version: version.cost))
        for at in range(len(best.steps) if len(edits) > 1 else 0):
            best = self._simpler(best, at)
        return best

    @cached_property
    def _shares(self) -> dict[int, np.ndarray]:
        return {id(step.place): step.share for step in self.steps}

    @cached_property
    def where(self) -> Region:
        """(H, W): what was edited and not repaired, which is where versions are judged."""
        where = np.zeros(self.start.shape[1:], bool)
        for step in sorted(self.steps, key=lambda step: step.is_repair):
            share = self._shares[id(step.place)]
            where = where & (share == 0) if step.is_repair else where | (share > 0)
        return where

    @cached_property
    def _fits(self) -> dict[int, MaskedFit]:
        """By how many actions look aside: the same pixels, with as many neighbours as those need."""
        return {}

    def _fitted(self, edits: Sequence[LocalStep]) -> Version:
        reach = sum(looks_aside(step.action.operation) for step in edits)
        if reach not in self._fits:
            self._fits[reach] = MaskedFit(self.start, self.target, self.where, reach)
        fit = self._fits[reach]
        shares = [fit.share(self._shares[id(step.place)]) for step in edits]
        found = fit.fit(tuple(step.action for step in edits), shares)
        moved = (replace(s, action=action) for s, action in zip(edits, found.path, strict=True))
        return Version(tuple(moved), found.cost)

    def _pruned(self, best: Version) -> Version:
        """Without the steps that the others can make up for."""
        worth = WORTH * float(L1(self.target)(self.start)) / self.where.mean()
        while best.steps:
            shorter = min(self._shorter(best), key=lambda version: version.cost)
            if shorter.cost > best.cost + worth:
                break
            best = shorter
        return best

    def _shorter(self, best: Version) -> Iterator[Version]:
        for at in range(len(best.steps)):
            yield self._fitted((*best.steps[:at], *best.steps[at + 1 :]))

    def _simpler(self, best: Version, at: int) -> Version:
        """With an operation of fewer numbers at one place, if it does nearly as well."""
        step = best.steps[at]
        names = [name for name in self.names if operations.get(name).size < step.complexity]
        if not names:
            return best
        before, after = best.steps[:at], best.steps[at + 1 :]
        spare = NEARLY * (self._fitted((*before, *after)).cost - best.cost)
        others = [self._fitted((*before, replace(step, action=idle(name)), *after)) for name in names]
        near = [version for version in others if version.cost <= best.cost + spare]
        return min(near, key=lambda v: (v.steps[at].complexity, v.cost)) if near else best


def _orders(edits: tuple[LocalStep, ...]) -> Iterator[tuple[LocalStep, ...]]:
    """Other orders of the same steps."""
    if len(edits) <= _FEW:
        yield from list(permutations(edits))[1:]
        return
    for at in range(len(edits) - 1):
        yield (*edits[:at], edits[at + 1], edits[at], *edits[at + 2 :])
