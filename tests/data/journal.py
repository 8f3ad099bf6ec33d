"""A run of planning as a process of its own, whose workers keep a journal: `python -m tests.data.journal`.

Each worker adds a line when it starts a pair and one when it has finished it. Once there are more starts than
HOLD, pairs are started and not finished, so that a run that is to be killed is never done before that.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from t2onet.data.plans import LocalEngine, PlanSettings, RayEngine, plan_dataset
from t2onet.data.plans.engines import PlanOutcome, PlanTask, run_task
from tests.data.small_set import SIDE, small_set

JOURNAL = "T2O_TEST_JOURNAL"
HOLD = "T2O_TEST_HOLD"
ENGINES = {"local": LocalEngine, "ray": RayEngine}


def plan_and_note(task: PlanTask) -> PlanOutcome:
    note("start", task)
    if HOLD in os.environ and starts() > int(os.environ[HOLD]):
        threading.Event().wait()
    outcome = run_task(task)
    note("end", task)
    return outcome


def starts() -> int:
    return Path(os.environ[JOURNAL]).read_text().count("start ")


def note(event: str, task: PlanTask) -> None:
    line = f"{event} {task.key.plan} {os.getpid()}\n".encode()
    file = os.open(os.environ[JOURNAL], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line)
    os.close(file)


def main(engine: str, photos: str, count: str, cache: str) -> None:
    dataset = small_set(Path(photos), int(count))
    chosen = ENGINES[engine](workers=2, work=plan_and_note)
    tally = plan_dataset(dataset, cache, engine=chosen, settings=PlanSettings(SIDE))
    assert not tally.problems, tally.problems


if __name__ == "__main__":
    from tests.data import journal  # noqa: PLW0406  so that workers find the work by this name

    journal.main(*sys.argv[1:])
