"""All pairs of a dataset through an engine into a cache: what is there already is not planned again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from ..sample import Dataset, Problem, Sample
from .engines import Engine, LocalEngine
from .interrupts import held
from .keys import Keys, Settings
from .record import Planned
from .store import Store
from .tally import Tally
from .work import Task

Told = Callable[[int, Tally], None]
"""Called after each sample, with the number of samples done."""


def plan_dataset(
    dataset: Dataset,
    cache: str | Path,
    *,
    split: str | None = None,
    engine: Engine | None = None,
    settings: Settings | None = None,
    told: Told | None = None,
) -> Tally:
    """Plan every pair of `dataset`, or of one split, into the folder `cache`.

    A pair is planned once, whichever samples share it and however often a run is stopped; `engine` is by
    default one process for each core. `told` follows the progress.
    """
    samples = dataset.samples if split is None else dataset.split(split)
    store = Store.filling(Path(cache))
    with closing(store):
        run = _Run(samples, store, settings or Settings(), told)
        run.tally.damage += store.damage
        run.through(engine or LocalEngine())
    return run.tally


class _Run:
    """One pass over the samples."""

    def __init__(
        self, samples: Sequence[Sample], store: Store, settings: Settings, told: Told | None
    ) -> None:
        self.samples = samples
        self.store = store
        self.settings = settings
        self.tally = Tally()
        self._told = told
        self._done = 0
        self._under_way: dict[str, list[Sample]] = {}
        self._settled: dict[str, str] = {}
        self._failed: set[tuple[Path, Path]] = set()

    def through(self, engine: Engine) -> None:
        start = time.monotonic()
        with closing(engine.run(self._tasks())) as outcomes:
            for outcome in outcomes:
                with held():
                    if outcome.planned is not None:
                        self.store.add(outcome.task.key.plan, outcome.planned)
                        self.tally.new += 1
                        self.tally.seconds = time.monotonic() - start
                    self._settle(outcome.task.key.plan, outcome.planned, outcome.problem)

    def _tasks(self) -> Iterator[Task]:
        """Pairs that are not planned yet, each once, made as the engine asks for them."""
        keys = Keys(self.settings)
        for sample in self.samples:
            try:
                key = keys.of(sample)
            except OSError as error:
                self._finish(sample, f"{error.filename} cannot be read ({error.strerror})")
                continue
            if key.plan in self._settled:
                self._finish(sample, self._settled[key.plan])
            elif key.plan in self._under_way:
                self._under_way[key.plan].append(sample)
            else:
                self._under_way[key.plan] = [sample]
                if key.plan in self.store:
                    self._settle(key.plan, self.store[key.plan])
                else:
                    yield Task(sample.name, key, sample.before, sample.after, self.settings)

    def _settle(self, key: str, planned: Planned | None, problem: str = "") -> None:
        """A pair, and with it all samples met so far that share it."""
        samples = self._under_way.pop(key)
        self._settled[key] = problem
        if planned is not None:
            self.tally.add(samples[0], planned)
        for sample in samples:
            self._finish(sample, problem)

    def _finish(self, sample: Sample, problem: str) -> None:
        if problem:
            self.tally.problems.append(Problem(sample.name, problem))
            self._failed.add((sample.before, sample.after))
            self.tally.failed = len(self._failed)
        self._done += 1
        if self._told is not None:
            self._told(self._done, self.tally)
