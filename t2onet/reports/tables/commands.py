"""Tables as commands: what trains their systems on another machine, and what plans and packs for that."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...data.run_records import BEST
from ...errors import TrainingError
from .model import PaperTable, Plans, Run

"""What training keeps in the folder of a run."""
WORDS = "words.npz"
"""What it finds beside a packed set."""
ANSWERS = "answers.zip"
"""What the folder of a run may have in the place of weights."""
_TRAIN = ("-m", "t2onet.training")


def packed_at(data: Path, plans: Plans) -> Path:
    """The packed set with these plans: `data` itself for its own, a folder beside it for others."""
    return data.with_name(f"{data.name}-{plans.name}") if plans.name else data


@dataclass(frozen=True)
class Training:
    """How runs are trained: on what, into which folder, and with what beside their own settings."""

    data: Path
    runs: Path
    settings: tuple[str, ...] = ()
    minutes: float | None = None
    half: bool = False
    python: str = "python"

    def command(self, run: Run) -> list[str]:
        """Begins, goes on or finds nothing left to do."""
        told = [self.python, *_TRAIN, run.config, "--data", str(packed_at(self.data, run.plans))]
        told += ["--out", str(self.runs / run.name), "--resume"]
        if run.after is not None:
            told += ["--from", str(self.runs / run.after.name / BEST)]
        elif run.plans.name:
            told += ["--words", str(self.data / WORDS)]
        for setting in (*run.settings, *self.settings):
            told += ["--set", setting]
        if self.minutes is not None:
            told += ["--minutes", f"{self.minutes:g}"]
        return [*told, *(["--half"] if self.half else [])]


def runs_of(tables: Iterable[PaperTable]) -> list[Run]:
    """All of them, each once and after what it begins with."""
    return list({run.name: run for table in tables for run in table.runs()}.values())


def repeated(runs: Iterable[Run], seeds: int, settings: Sequence[str] = ()) -> list[Run]:
    """Each of them from so many seeds, 0 first; `settings` of all of them must not name one seed."""
    fixed = [setting for setting in settings if setting.partition("=")[0].strip() == "seed"]
    if seeds > 1 and fixed:
        raise TrainingError(
            f"--seeds {seeds} trains each run from {seeds} different seeds, which --set {fixed[0]} would "
            "make one; give one of the two"
        )
    return [run.repeated(seed) for run in runs for seed in range(seeds)]


def script(training: Training, runs: Sequence[Run], at_once: int = 1) -> Iterator[str]:
    """Lines for a shell; with several at once, each has a log beside its folder."""
    first = [run for run in runs if run.after is None]
    rest = [run for run in runs if run.after is not None]
    if at_once == 1:
        yield from (shlex.join(training.command(run)) for run in (*first, *rest))
        return
    yield shlex.join(["mkdir", "-p", str(training.runs)])
    for stage in (first, rest):
        for start in range(0, len(stage), at_once):
            for run in stage[start : start + at_once]:
                log = shlex.quote(str(training.runs / f"{run.name}.log"))
                yield f"{shlex.join(training.command(run))} > {log} 2>&1 &"
            yield "wait"


def packing(plans: Plans, dataset: Path, cache: Path, data: Path) -> Iterator[str]:
    """What makes a packed set with such plans, beside `data` and with its photos."""
    split = ["--split", "train"]
    yield shlex.join(["t2o", "data", "plan", str(dataset), "-o", str(cache), *split, *plans.options()])
    pack = ["t2o", "data", "pack", str(dataset), *split, "--plans", str(cache), *plans.options("plan-")]
    yield shlex.join([*pack, "--photos-of", str(data), "-o", str(packed_at(data, plans))])


def plans_of(runs: Iterable[Run]) -> list[Plans]:
    """Those that are not the data's own, each once."""
    return list({run.plans.name: run.plans for run in runs if run.plans.name}.values())
