"""Planning that is killed: drivers by SIGKILL, workers of both engines, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from t2onet.data import Dataset
from t2onet.data.plans import DatasetPlans, LocalEngine, PlanSettings, plan_dataset
from t2onet.data.plans.engines import TASKS_PER_WORKER, PlanOutcome, PlanTask, run_task
from t2onet.data.plans.store import PlanStore
from tests.conftest import PATIENCE, ROOT
from tests.data.journal import HOLD, JOURNAL
from tests.data.small_set import SIDE, InThisProcess, small_set

PAIRS = 10
WORKERS = 2
SETTINGS = PlanSettings(SIDE)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there"),
]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return small_set(tmp_path / "photos", PAIRS)


class Run:
    """A process that plans the small set, and the journal that its workers keep."""

    def __init__(self, engine: str, folder: Path, more: int | None = None) -> None:
        """With `more`, only so many more pairs are finished."""
        self.journal = folder / "journal"
        self.journal.touch()
        self.starts = len(self.lines("start")) + (more or 0)
        hold = {} if more is None else {HOLD: str(self.starts)}
        arguments = (engine, folder / "photos", str(PAIRS), folder / "plans")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.data.journal", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), JOURNAL: str(self.journal), **hold},
            stderr=subprocess.PIPE,
        )

    def lines(self, event: str) -> list[list[str]]:
        return [line.split() for line in self.journal.read_text().splitlines() if line.startswith(event)]

    def wait_until(self, reached: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not reached():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, "nothing happens"
            time.sleep(0.001)

    def finish(self) -> None:
        _, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, errors.decode()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def contents(folder: Path, dataset: Dataset) -> dict[str, object]:
    return {
        sample.name: planned for sample, planned in DatasetPlans(folder, dataset.samples, SETTINGS).items()
    }


def keys_on_disk(folder: Path) -> set[str]:
    return {key.hex() for key in PlanStore(folder)._positions}


def is_gone(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_killed_runs_come_to_the_same_plans(dataset: Dataset, tmp_path: Path) -> None:
    """Two drivers and a Ray worker are killed at random points; then Ray does the rest."""
    plan_dataset(dataset, tmp_path / "undisturbed", engine=InThisProcess(), settings=SETTINGS)
    rng = np.random.default_rng(0)
    started_before, saved_before = Counter[str](), set[str]()
    for last in (False, True):
        run = Run("local", tmp_path, int(rng.integers(2, 5)))
        run.wait_until(lambda run=run: len(run.lines("start")) >= run.starts)
        if last:
            run.wait_until(lambda: any(path.stat().st_size for path in (tmp_path / "plans").glob("*.jsonl")))
        time.sleep(rng.uniform(0, 0.1))
        run.kill()
        workers = {pid for _, _, pid in run.lines("start")}
        end = time.monotonic() + PATIENCE
        while not all(map(is_gone, workers)):  # workers end with their driver
            assert time.monotonic() < end
            time.sleep(0.01)
        check_starts(run, started_before, saved_before)
        saved_before = keys_on_disk(tmp_path / "plans")
        started_before = Counter(key for _, key, _ in run.lines("start"))
    assert 0 < len(saved_before) < PAIRS

    run = Run("ray", tmp_path)
    known = len(run.lines("start"))
    run.wait_until(lambda: len(run.lines("start")) > known)
    os.kill(int(run.lines("start")[-1][2]), signal.SIGKILL)
    run.finish()
    check_starts(run, started_before, saved_before)

    assert contents(tmp_path / "plans", dataset) == contents(tmp_path / "undisturbed", dataset)
    assert len(contents(tmp_path / "plans", dataset)) == PAIRS
    starts = len(run.lines("start"))
    assert PAIRS < starts <= PAIRS + 3 * TASKS_PER_WORKER * WORKERS


def check_starts(run: Run, started_before: Counter[str], saved_before: set[str]) -> None:
    """Nothing that lay on disk when the run began was planned again in it."""
    started = Counter(key for _, key, _ in run.lines("start")) - started_before
    assert not saved_before & set(started)


# ---- workers of the local engine that die


def dies_on_the_second(task: PlanTask) -> PlanOutcome:
    if task.name == "pair-001":
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task)


def test_a_pair_that_kills_its_worker_is_told(dataset: Dataset, tmp_path: Path) -> None:
    few = Dataset(dataset.root, dataset.layout, dataset.samples[:6])
    engine = LocalEngine(WORKERS, dies_on_the_second)
    tally = plan_dataset(few, tmp_path / "plans", engine=engine, settings=SETTINGS)
    assert [problem.name for problem in tally.problems] == ["pair-001"]
    assert "died twice" in tally.problems[0].reason
    assert tally.new == 5


SCRIPT = """
from pathlib import Path
from t2onet.data.plans import PlanSettings, plan_dataset
from tests.data.small_set import small_set
plan_dataset(small_set(Path({photos!r}), 2), {plans!r}, settings=PlanSettings(64))
"""


def test_a_script_without_a_guard_is_told_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(photos=str(tmp_path / "photos"), plans=str(tmp_path / "plans")))
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "under `if __name__ == '__main__':`" in done.stderr.splitlines()[-1]
