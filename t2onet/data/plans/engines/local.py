"""Planning in processes of this machine, one thread each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice

from ....errors import DataError
from ....executor import cores
from ..work import Outcome, Task, Work, plan_pair, warm

AHEAD = 2
"""Tasks handed out for each worker, so that none waits for its next."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class LocalEngine:
    """`workers` processes, by default as many as there are cores; `work` is what they do with a task."""

    workers: int | None = None
    work: Work = plan_pair

    def run(self, tasks: Iterable[Task]) -> Generator[Outcome, None, None]:
        waiting = iter(tasks)
        first = next(waiting, None)
        if first is None:  # no process is started where there is nothing to do
            return
        with _one_thread_each():
            yield from self._run(chain([first], waiting))

    def _run(self, waiting: Iterator[Task]) -> Generator[Outcome, None, None]:
        workers = self.workers or cores()
        crew = _Crew(workers, self.work)
        running: dict[Future[Outcome], Task] = {}
        try:
            while True:
                room = AHEAD * workers - len(running)
                running |= {crew.submit(task): task for task in islice(waiting, room)}
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                if any(map(_died, done)):
                    done, _ = wait(running)
                for future in done:
                    yield crew.outcome(future, running.pop(future))
        finally:
            crew.dismiss()


class _Crew:
    """Processes that are replaced when one of them dies."""

    def __init__(self, workers: int, work: Work) -> None:
        self._workers = workers
        self._work = work
        self._pool = _pool(workers)
        self._alone: ProcessPoolExecutor | None = None
        try:
            self._pool.submit(warm).result()
        except BrokenProcessPool:
            raise DataError(
                "the processes that plan end as soon as they start; a script that plans keeps its own work "
                "under `if __name__ == '__main__':`"
            ) from None

    def submit(self, task: Task) -> Future[Outcome]:
        try:
            return self._pool.submit(self._work, task)
        except BrokenProcessPool:
            self.dismiss()
            self._pool = _pool(self._workers)
            return self._pool.submit(self._work, task)

    def outcome(self, future: Future[Outcome], task: Task) -> Outcome:
        """Of a future that is done; what was under way when a process died is tried once more, alone."""
        if not _died(future):
            return future.result()
        self._alone = self._alone or _pool(1)
        again = self._alone.submit(self._work, task)
        if not _died(again):
            return again.result()
        self._alone = None
        return Outcome(task, None, "the process that planned it died twice; perhaps it needs more memory")

    def dismiss(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._alone is not None:
            self._alone.shutdown()
            self._alone = None


def _died(future: Future[Outcome]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare)


def _prepare() -> None:
    """In a new worker: Ctrl-C is for the driver, and a worker ends when its driver does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_driver, daemon=True).start()


def _end_with_driver() -> None:
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Numerical libraries of processes started meanwhile keep to one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
