"""Engines that plan many pairs: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...errors import DataError, T2OError
from ...image.codecs import count_cores
from ..dataset import hash_file
from .store import PlanKey, PlanSettings, StoredPlan, hash_pair

if TYPE_CHECKING:
    from ...planning.planner import PlannerSettings

_COST_DECIMALS = 6
"""Decimals of a stored cost."""


@dataclass(frozen=True)
class PlanTask:
    """A pair to plan."""

    name: str
    key: PlanKey
    before: Path
    after: Path
    settings: PlanSettings


@dataclass(frozen=True)
class PlanOutcome:
    """The plan of a task, or the reason why there is none."""

    task: PlanTask
    planned: StoredPlan | None
    problem: str = ""


PlanWork = Callable[[PlanTask], PlanOutcome]


def run_task(task: PlanTask) -> PlanOutcome:
    """Plan one pair; whatever is wrong with it becomes the problem of its outcome."""
    try:
        if hash_pair(hash_file(task.before), hash_file(task.after)) != task.key.content:
            raise DataError("its photos are not those the run began with; plan the dataset again")
        return PlanOutcome(task, _plan_task(task))
    except (T2OError, OSError) as error:
        return PlanOutcome(task, None, str(error))
    except Exception as error:  # one odd pair must not end a run over a hundred thousand
        return PlanOutcome(task, None, f"planning failed on it ({type(error).__name__}: {error})")


def _plan_task(task: PlanTask) -> StoredPlan:
    from ...planning.pictures import open_photo_pair
    from ...planning.planner import plan_pair

    plan = plan_pair(open_photo_pair(task.before, task.after), _make_planner_settings(task))
    start_cost, cost, *costs = (
        round(value, _COST_DECIMALS) for value in (plan.start_cost, plan.cost, *plan.costs)
    )
    return StoredPlan(plan.recipe, start_cost, cost, tuple(costs))


def _make_planner_settings(task: PlanTask) -> PlannerSettings:
    """As in the paper: all operations take part at the working size, and a search is not refined.

    Random choices are seeded by the photos; one thread, since the other cores plan pairs of their own.
    """
    from ...operations import PAPER
    from ...planning.planner import PlannerSettings

    settings = task.settings
    return PlannerSettings(
        operations=settings.operations or PAPER,
        method=settings.way,
        solver=settings.solver,
        steps=settings.steps,
        size=settings.size,
        seed=int(task.key.content[:8], 16),
        detail_last=False,
        threads=1,
    )


def warm_up() -> None:
    """Compile the kernels of planning once, so that workers find them in the cache."""
    from ...planning import plan_pictures

    rng = np.random.default_rng(0)
    picture = rng.random((3, 32, 32)).astype(np.float32)
    plan_pictures(picture, np.ascontiguousarray(picture**1.3 * np.float32(0.9)))


class Engine(Protocol):
    """Runs tasks and yields their outcomes in any order; tasks are taken as workers become free.

    Closing the generator stops the work. Every task has an outcome, even if a worker dies.
    """

    def run(self, tasks: Iterable[PlanTask]) -> Generator[PlanOutcome, None, None]: ...


TASKS_PER_WORKER = 2
"""Tasks queued for each worker, so that none is idle."""
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class LocalEngine:
    """Plans in `workers` processes of this machine, by default one for each core, with one thread each."""

    workers: int | None = None
    work: PlanWork = run_task

    def run(self, tasks: Iterable[PlanTask]) -> Generator[PlanOutcome, None, None]:
        waiting = iter(tasks)
        first = next(waiting, None)
        if first is None:  # start no process without work
            return
        with _limit_threads():
            yield from self._run(chain([first], waiting))

    def _run(self, waiting: Iterator[PlanTask]) -> Generator[PlanOutcome, None, None]:
        workers = self.workers or count_cores()
        pool = _WorkerPool(workers, self.work)
        running: dict[Future[PlanOutcome], PlanTask] = {}
        try:
            while True:
                free = TASKS_PER_WORKER * workers - len(running)
                running |= {pool.submit(task): task for task in islice(waiting, free)}
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                if any(map(_has_died, done)):
                    done, _ = wait(running)
                for future in done:
                    yield pool.get_outcome(future, running.pop(future))
        finally:
            pool.shut_down()


class _WorkerPool:
    """Processes that are replaced when one of them dies."""

    def __init__(self, workers: int, work: PlanWork) -> None:
        self._workers = workers
        self._work = work
        self._pool = _start_pool(workers)
        self._alone: ProcessPoolExecutor | None = None
        try:
            self._pool.submit(warm_up).result()
        except BrokenProcessPool:
            raise DataError(
                "the planning processes end as soon as they start; put the code of a script that plans "
                "under `if __name__ == '__main__':`"
            ) from None

    def submit(self, task: PlanTask) -> Future[PlanOutcome]:
        try:
            return self._pool.submit(self._work, task)
        except BrokenProcessPool:
            self.shut_down()
            self._pool = _start_pool(self._workers)
            return self._pool.submit(self._work, task)

    def get_outcome(self, future: Future[PlanOutcome], task: PlanTask) -> PlanOutcome:
        """The outcome of a finished future; a task whose process died is tried once more, alone."""
        if not _has_died(future):
            return future.result()
        self._alone = self._alone or _start_pool(1)
        again = self._alone.submit(self._work, task)
        if not _has_died(again):
            return again.result()
        self._alone = None
        return PlanOutcome(task, None, "the process that planned it died twice; perhaps it needs more memory")

    def shut_down(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._alone is not None:
            self._alone.shutdown()
            self._alone = None


def _has_died(future: Future[PlanOutcome]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _start_pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare_worker)


def _prepare_worker() -> None:
    """Leave Ctrl-C to the driver, and end when the driver does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_driver, daemon=True).start()


def _end_with_driver() -> None:
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)


@contextmanager
def _limit_threads() -> Iterator[None]:
    """Limit numerical libraries of processes started inside to one thread."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_RETRIES = 3
"""Times that a task is repeated on a Ray cluster because its worker died."""


@dataclass(frozen=True)
class RayEngine:
    """Plans on the Ray cluster at `address` ("auto" finds one); without, starts a local one of `workers`.

    Workers read the photos, so their folder has the same path on all machines.
    """

    address: str | None = None
    workers: int | None = None
    work: PlanWork = run_task

    def run(self, tasks: Iterable[PlanTask]) -> Generator[PlanOutcome, None, None]:
        waiting = iter(tasks)
        first = next(waiting, None)
        if first is None:  # start no cluster without work
            return
        ray = _import_ray()
        owned = not ray.is_initialized()
        if owned:
            self._connect(ray)
        try:
            yield from self._run(ray, chain([first], waiting))
        finally:
            if owned:
                ray.shutdown()

    def _run(self, ray: Any, waiting: Iterator[PlanTask]) -> Generator[PlanOutcome, None, None]:
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)
        work = remote(self.work)
        try:
            ray.get(remote(warm_up).remote())
        except ray.exceptions.RayError as error:
            raise DataError(
                f"the cluster cannot plan ({type(error).__name__}); install t2onet on all its machines"
            ) from None
        limit = TASKS_PER_WORKER * max(1, int(ray.cluster_resources().get("CPU", 1)))
        running: dict[Any, PlanTask] = {}
        try:
            while True:
                running |= {work.remote(task): task for task in islice(waiting, limit - len(running))}
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1)
                for reference in done:
                    yield _fetch_outcome(ray, reference, running.pop(reference))
        finally:
            for reference in running:
                ray.cancel(reference)

    def _connect(self, ray: Any) -> None:
        """Connect without Ray's logs, dashboard and usage reports."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address is None:
            ray.init("local", num_cpus=self.workers, include_dashboard=False, **quiet)
            return
        try:
            ray.init(self.address, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise DataError(f"there is no Ray cluster at {self.address} ({error})") from None


def _fetch_outcome(ray: Any, reference: Any, task: PlanTask) -> PlanOutcome:
    try:
        outcome: PlanOutcome = ray.get(reference)
    except ray.exceptions.RayError as error:
        return PlanOutcome(task, None, f"its worker died {_RETRIES + 1} times ({type(error).__name__})")
    return outcome


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise DataError(
            "the engine 'ray' needs an extra: pip install 't2onet[cluster]'; the engine 'local' needs none"
        ) from None
    return ray
