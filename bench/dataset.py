"""Planning a whole dataset on two processes: pairs a second, costs, and memory as the dataset grows."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.pairs import DATA
from t2onet import Recipe
from t2onet.data import Dataset, Sample
from t2onet.data.plans import LocalEngine, StoredPlan, plan_dataset
from t2onet.data.plans.engines import PlanOutcome, PlanTask
from t2onet.data.plans.run import PAPER_COSTS

PAIRS = int(os.environ.get("T2O_BENCH_PAIRS", "100000"))
WORKERS = 2


def main() -> None:
    if DATA.is_dir():
        few, every = _in_a_process("real", min(200, PAIRS)), _in_a_process("real", PAIRS)
        minutes, rate = every["seconds"] / 60, every["pairs"] / every["seconds"]
        print(f"  MA5k-Req train, {every['pairs']} pairs on {WORKERS} processes: {minutes:.1f} minutes,")
        print(f"    {rate:.1f} pairs a second; {every['problems']} not planned")
        print(f"    mean L1 on the photos {every['start_cost']:.4f} -> {every['cost']:.4f}")
        print("    at 128 pixels {:.4f} -> {:.4f}".format(*every["working_costs"]))
        print("    the paper {:.4f} -> {:.4f}".format(*PAPER_COSTS))
        for run in (few, every):
            print(f"    peak memory with {run['pairs']:5} pairs: {_memory(run)}")
    else:
        print("  MA5k-Req: not here; see docs/planning.md for where it is looked for")
    for count in (1_000, 10_000):
        run = _in_a_process("pretended", count)
        print(f"  peak memory with {count:6} samples whose plans are pretended: {_memory(run)}")


def _memory(run: dict[str, Any]) -> str:
    return f"driver {run['driver']:.0f} MB, the larger worker {run['worker']:.0f} MB"


def _in_a_process(kind: str, count: int) -> dict[str, Any]:
    """Of its own, so that its peak memory is of this run alone."""
    command = [sys.executable, "-m", "bench.dataset", kind, str(count)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _run(kind: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        dataset = _real(count) if kind == "real" else _pretended(Path(folder), count)
        engine = LocalEngine(WORKERS) if kind == "real" else LocalEngine(WORKERS, pretend)
        start = time.perf_counter()
        tally = plan_dataset(dataset, Path(folder) / "plans", engine=engine)
        seconds = time.perf_counter() - start
    told = {
        "pairs": tally.pairs,
        "seconds": seconds,
        "problems": len(tally.problems),
        "start_cost": tally.start_cost,
        "cost": tally.cost,
        "working_costs": tally.working_costs,
        "driver": _peak(),
        "worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }
    print(json.dumps(told))


def _peak() -> float:
    """Of this process in MB; ru_maxrss would count what its parent held when it started it."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def _real(count: int) -> Dataset:
    entries = json.loads((DATA / "annotations" / "train_sess_1.json").read_text())
    names = sorted({Path(entry["input"]).stem.split("_")[0] for entry in entries})[:count]
    photos = [(DATA / "images" / f"{name}_O.webp", DATA / "images" / f"{name}_C.webp") for name in names]
    samples = [Sample(name, "train", *pair) for name, pair in zip(names, photos, strict=True)]
    return Dataset(DATA, "ma5k-req", tuple(samples))


def _pretended(folder: Path, count: int) -> Dataset:
    """Files that stand for photos, all different."""
    samples = []
    for number in range(count):
        path = folder / f"{number:06}"
        path.write_bytes(b"%d" % number)
        samples.append(Sample(f"{number:06}", "train", path, path, (f"make photo {number} a bit brighter",)))
    return Dataset(folder, "pairs", tuple(samples))


def pretend(task: PlanTask) -> PlanOutcome:
    """A plan of the usual size without the planning, so that only the handling is measured."""
    steps = [("brightness", 0.1), ("tone", [1.1] * 8), ("color", [1.1] * 24), ("contrast", 0.1)]
    return PlanOutcome(task, StoredPlan(Recipe.from_steps(steps), 0.1, 0.01, (0.1, 0.05, 0.03, 0.02, 0.01)))


if __name__ == "__main__":
    from bench import dataset  # noqa: PLW0406  so that workers find `pretend` by this name

    dataset._run(sys.argv[1], int(sys.argv[2]))
