"""Plan all pairs of a dataset: skip what is stored, store what is new, keep totals."""

from __future__ import annotations

import heapq
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..dataset import Dataset, Problem, Sample
from .engines import Engine, LocalEngine, PlanTask
from .store import PlanKeyBuilder, PlanSettings, PlanStore, StoredPlan

PAPER_COSTS = (0.1202, 0.0136)
"""Mean L1 before and after planning that the paper reports for MA5k-Req."""
MAX_RANKED = 4
"""Plans kept as the best, and as the worst."""


class RankedPlan(NamedTuple):
    """A sample and its plan, ordered by cost and then by `number`."""

    cost: float
    number: int
    sample: Sample
    planned: StoredPlan


@dataclass
class PlanTotals:
    """Counts and sums over pairs, each counted once.

    `new` were planned in this run, in `seconds`; `failed` have no plan. `problems` are of samples, which may
    share a pair.
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
    _worst: list[RankedPlan] = field(default_factory=list)
    _best: list[RankedPlan] = field(default_factory=list)

    def add(self, sample: Sample, planned: StoredPlan) -> None:
        self.pairs += 1
        self.start_sum += planned.start_cost
        self.cost_sum += planned.cost
        first, last = self.working_sums
        self.working_sums = (first + planned.costs[0], last + planned.costs[-1])
        self.lengths[len(planned.recipe)] += 1
        self.operations.update({step.operation for step in planned.recipe.steps})
        push_bounded(self._worst, RankedPlan(planned.cost, self.pairs, sample, planned))
        if planned.recipe.steps:
            push_bounded(self._best, RankedPlan(-planned.cost, -self.pairs, sample, planned))

    @property
    def start_cost(self) -> float:
        """Mean difference on the photos themselves, without the plans."""
        return self.start_sum / max(1, self.pairs)

    @property
    def cost(self) -> float:
        """Mean difference on the photos themselves, with the plans."""
        return self.cost_sum / max(1, self.pairs)

    @property
    def working_costs(self) -> tuple[float, float]:
        """Mean difference at the working size, without and with the plans."""
        first, last = self.working_sums
        return first / max(1, self.pairs), last / max(1, self.pairs)

    @property
    def rate(self) -> float:
        """New pairs a second."""
        return self.new / self.seconds if self.seconds else 0.0

    @property
    def operations_by_count(self) -> list[tuple[str, int]]:
        """Operations with the number of plans that use them, the most frequent first, then by name."""
        return sorted(self.operations.items(), key=lambda item: (-item[1], item[0]))

    @property
    def best(self) -> list[RankedPlan]:
        """Lowest cost first, without the worst ones and plans without steps."""
        worst = {shown.number for shown in self.worst}
        return [shown for shown in sorted(self._best, reverse=True) if -shown.number not in worst]

    @property
    def worst(self) -> list[RankedPlan]:
        """Highest cost first; of few pairs at most half, so that some are left as the best."""
        count = max(self.pairs // 2, self.pairs - len(self._best))
        return sorted(self._worst, reverse=True)[:count]


def push_bounded(heap: list[RankedPlan], shown: RankedPlan) -> None:
    """Push onto a heap that keeps the `MAX_RANKED` largest."""
    (heapq.heappushpop if len(heap) >= MAX_RANKED else heapq.heappush)(heap, shown)


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Raise a Ctrl-C that arrives inside at the end, so that what is written is also counted.

    Has no effect outside the main thread, which alone receives interrupts.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    missed: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *event: missed.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if missed:
            before(*missed[0])


PlanProgressCallback = Callable[[int, PlanTotals], None]
"""Called after each sample, with the number of samples done."""


def plan_dataset(
    dataset: Dataset,
    cache: str | Path,
    *,
    engine: Engine | None = None,
    settings: PlanSettings | None = None,
    progress: PlanProgressCallback | None = None,
) -> PlanTotals:
    """Plan every pair of `dataset` into the folder `cache`.

    Pairs in the cache are not planned again, and a pair that several samples share is planned once.
    `engine` is by default one process for each core. `progress` is called after each sample.
    """
    store = PlanStore.open_for_writing(Path(cache))
    with closing(store):
        run = _PlanRun(dataset.samples, store, settings or PlanSettings(), progress)
        run.totals.damage += store.damage
        run.run(engine or LocalEngine())
    return run.totals


class _PlanRun:
    """One pass over the samples."""

    def __init__(
        self,
        samples: Sequence[Sample],
        store: PlanStore,
        settings: PlanSettings,
        progress: PlanProgressCallback | None,
    ) -> None:
        self.samples = samples
        self.store = store
        self.settings = settings
        self.totals = PlanTotals()
        self._progress = progress
        self._done = 0
        self._running: dict[str, list[Sample]] = {}
        self._settled: dict[str, str] = {}
        self._failed: set[tuple[Path, Path]] = set()

    def run(self, engine: Engine) -> None:
        start = time.monotonic()
        with closing(engine.run(self._iterate_tasks())) as outcomes:
            for outcome in outcomes:
                with defer_interrupts():
                    if outcome.planned is not None:
                        self.store.add(outcome.task.key.plan, outcome.planned)
                        self.totals.new += 1
                        self.totals.seconds = time.monotonic() - start
                    self._settle(outcome.task.key.plan, outcome.planned, outcome.problem)

    def _iterate_tasks(self) -> Iterator[PlanTask]:
        """Pairs that are not planned yet, each once; made as the engine consumes them."""
        keys = PlanKeyBuilder(self.settings)
        for sample in self.samples:
            try:
                key = keys.build(sample)
            except OSError as error:
                self._finish(sample, f"{error.filename} cannot be read ({error.strerror})")
                continue
            if key.plan in self._settled:
                self._finish(sample, self._settled[key.plan])
            elif key.plan in self._running:
                self._running[key.plan].append(sample)
            else:
                self._running[key.plan] = [sample]
                if key.plan in self.store:
                    self._settle(key.plan, self.store[key.plan])
                else:
                    yield PlanTask(sample.name, key, sample.before, sample.after, self.settings)

    def _settle(self, key: str, planned: StoredPlan | None, problem: str = "") -> None:
        """Finish a pair, and all samples seen so far that share it."""
        samples = self._running.pop(key)
        self._settled[key] = problem
        if planned is not None:
            self.totals.add(samples[0], planned)
        for sample in samples:
            self._finish(sample, problem)

    def _finish(self, sample: Sample, problem: str) -> None:
        if problem:
            self.totals.problems.append(Problem(sample.name, problem))
            self._failed.add((sample.before, sample.after))
            self.totals.failed = len(self._failed)
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self.totals)
