"""Planning on a Ray cluster, or on one that is started on this machine for the purpose.

The photos are read by the workers, so their folder has the same path on all machines.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ....errors import DataError
from ..work import Outcome, Task, Work, plan_pair, warm
from .local import AHEAD

_RETRIES = 3
"""Times that a task is done again because its worker died."""


@dataclass(frozen=True)
class RayEngine:
    """`address` is that of a cluster ("auto" finds one); without it a local one of `workers` is started."""

    address: str | None = None
    workers: int | None = None
    work: Work = plan_pair

    def run(self, tasks: Iterable[Task]) -> Generator[Outcome, None, None]:
        waiting = iter(tasks)
        first = next(waiting, None)
        if first is None:  # no cluster is started where there is nothing to do
            return
        ray = _ray()
        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        try:
            yield from self._run(ray, chain([first], waiting))
        finally:
            if ours:
                ray.shutdown()

    def _run(self, ray: Any, waiting: Iterator[Task]) -> Generator[Outcome, None, None]:
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)
        work = remote(self.work)
        try:
            ray.get(remote(warm).remote())
        except ray.exceptions.RayError as error:
            raise DataError(
                f"the cluster cannot plan ({type(error).__name__}); install t2onet on all its machines"
            ) from None
        room = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        running: dict[Any, Task] = {}
        try:
            while True:
                running |= {work.remote(task): task for task in islice(waiting, room - len(running))}
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1)
                for reference in done:
                    yield _outcome(ray, reference, running.pop(reference))
        finally:
            for reference in running:
                ray.cancel(reference)

    def _connect(self, ray: Any) -> None:
        """Connect without Ray's log output, its web page and its usage reports to its makers."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address is None:
            ray.init("local", num_cpus=self.workers, include_dashboard=False, **quiet)
            return
        try:
            ray.init(self.address, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise DataError(f"there is no Ray cluster at {self.address} ({error})") from None


def _outcome(ray: Any, reference: Any, task: Task) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Outcome(task, None, f"its worker died {_RETRIES + 1} times ({type(error).__name__})")
    return outcome


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise DataError(
            "the engine 'ray' needs an extra: pip install 't2onet[cluster]'; the engine 'local' needs none"
        ) from None
    return ray
