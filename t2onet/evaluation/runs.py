"""Training runs behind a table's rows: train what is missing, resume what was stopped."""

from __future__ import annotations

import glob
import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ..data.packed import INDEX_FILE
from ..data.records import (
    BEST_WEIGHTS_FILE,
    CHECKPOINT_FILE,
    read_answers_source,
    read_run_record,
    read_tensor_metadata,
)
from ..data.words import WORDS_FILE
from ..errors import DataError, TrainingError
from .paper_tables import SEED_INFIX, PaperPlans, PaperRow, PaperRun, PaperTable

# Tables as commands: what trains their systems on another machine, and what plans and packs for that.

"""What training keeps in the folder of a run."""
"""What it finds beside a packed set."""
ANSWERS_FILE = "answers.zip"
"""What the folder of a run may have in the place of weights."""
_TRAIN_MODULE = ("-m", "t2onet.training", "train")


def get_packed_path(data: Path, plans: PaperPlans) -> Path:
    """The packed set with these plans: `data` itself for its own, a folder beside it for others."""
    return data.with_name(f"{data.name}-{plans.name}") if plans.name else data


@dataclass(frozen=True)
class PaperRunCommands:
    """How runs are trained: on what, into which folder, and with what beside their own settings."""

    data: Path
    runs: Path
    settings: tuple[str, ...] = ()
    minutes: float | None = None
    half: bool = False
    python: str = "python"

    def command(self, run: PaperRun) -> list[str]:
        """Begins, goes on or finds nothing left to do."""
        told = [self.python, *_TRAIN_MODULE, run.config, "--data", str(get_packed_path(self.data, run.plans))]
        told += ["--out", str(self.runs / run.name), "--resume"]
        if run.after is not None:
            told += ["--from", str(self.runs / run.after.name / BEST_WEIGHTS_FILE)]
        elif run.plans.name:
            told += ["--words", str(self.data / WORDS_FILE)]
        for setting in (*run.settings, *self.settings):
            told += ["--set", setting]
        if self.minutes is not None:
            told += ["--minutes", f"{self.minutes:g}"]
        return [*told, *(["--half"] if self.half else [])]


def collect_runs(tables: Iterable[PaperTable]) -> list[PaperRun]:
    """All of them, each once and after what it begins with."""
    return list({run.name: run for table in tables for run in table.runs()}.values())


def repeat_runs(runs: Iterable[PaperRun], seeds: int, settings: Sequence[str] = ()) -> list[PaperRun]:
    """Each of them from so many seeds, 0 first; `settings` of all of them must not name one seed."""
    fixed = [setting for setting in settings if setting.partition("=")[0].strip() == "seed"]
    if seeds > 1 and fixed:
        raise TrainingError(
            f"--seeds {seeds} trains each run from {seeds} different seeds, which --set {fixed[0]} would "
            "make one; give one of the two"
        )
    return [run.repeated(seed) for run in runs for seed in range(seeds)]


def build_training_script(
    training: PaperRunCommands, runs: Sequence[PaperRun], at_once: int = 1
) -> Iterator[str]:
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


def build_packing_commands(plans: PaperPlans, dataset: Path, cache: Path, data: Path) -> Iterator[str]:
    """What makes a packed set with such plans, beside `data` and with its photos."""
    split = ["--split", "train"]
    yield shlex.join(["t2o", "data", "plan", str(dataset), "-o", str(cache), *split, *plans.options()])
    pack = ["t2o", "data", "pack", str(dataset), *split, "--plans", str(cache), *plans.options("plan-")]
    yield shlex.join([*pack, "--photos-of", str(data), "-o", str(get_packed_path(data, plans))])


def collect_plans(runs: Iterable[PaperRun]) -> list[PaperPlans]:
    """Those that are not the data's own, each once."""
    return list({run.plans.name: run.plans for run in runs if run.plans.name}.values())


# The runs behind a table's rows: trained if they are not there, gone on with if they were stopped.


@dataclass(frozen=True)
class PaperRunOptions:
    """Where runs lie, and how they are trained: not at all without `data`, a packed set."""

    runs: Path
    data: Path | None = None
    settings: tuple[str, ...] = ()
    """Of every run, beside its own."""
    minutes: float | None = None
    cpu: bool = False
    stream: TextIO | None = None
    """Where training tells how it goes; stdout by default."""


@dataclass(frozen=True)
class PaperRunProgress:
    """How many iterations of a run were done, and how many were asked for, as far as is known."""

    done: int | None
    asked: int | None
    ended: bool = False
    """Whether none was better for as long as its patience."""
    at_least: bool = False
    """Whether more may have been done: weights know their own iteration and not the last one."""

    @property
    def finished(self) -> bool | None:
        """None where that cannot be known."""
        if self.ended or (self.done is not None and self.asked is not None and self.done >= self.asked):
            return True
        return None if self.at_least else False

    def __str__(self) -> str:
        done, asked = ("unknown" if count is None else str(count) for count in (self.done, self.asked))
        return f"{'at least ' * self.at_least}{done} of {asked}{', by patience' * self.ended}"


def train_missing_runs(runs: Iterable[PaperRun], place: PaperRunOptions, say: Callable[[str], None]) -> None:
    """Train what has no weights or was stopped; without a packed set, take things as they are."""
    if place.data is None:
        return
    waiting = [run for run in runs if not is_finished(place.runs / run.name)]
    for run in waiting:
        _check_packed_set(run, place.data)
        _check_resumable(place.runs / run.name)
    for number, run in enumerate(waiting, start=1):
        say(f"training {run.name}, {number} of {len(waiting)}")
        _train_run(run, place, place.data)


def is_finished(folder: Path) -> bool:
    """Whether a run is known to have done all the iterations it was asked for, or to have lost patience."""
    progress = read_progress(folder)
    return progress is not None and progress.finished is True


def read_progress(folder: Path) -> PaperRunProgress | None:
    """By its checkpoint or record; without these, by what its best weights or its answers tell."""
    if (record := read_run_record(folder)) is not None:
        return _parse_progress(record)
    if (path := find_run_file(folder)) is None:
        return None
    if path.suffix == ".zip":
        about = read_answers_source(path)
        if about.get("progress") and about.get("settings"):
            return _parse_progress(about)
        loop = (about.get("settings") or {}).get("loop", {})
        return PaperRunProgress(about.get("iteration"), loop.get("iterations"), at_least=True)
    kept = read_tensor_metadata(path)
    done, asked = (int(kept[name]) if name in kept else None for name in ("iteration", "iterations"))
    return PaperRunProgress(done, asked, at_least=True)


def _parse_progress(record: Mapping[str, Any]) -> PaperRunProgress:
    progress, loop = record["progress"], record["settings"]["loop"]
    waited = progress["iteration"] - progress["best_iteration"]
    return PaperRunProgress(progress["iteration"], loop["iterations"], ended=0 < loop["patience"] <= waited)


def find_weights(folder: Path) -> Path | None:
    """The best weights of a run, if it has any."""
    return folder / BEST_WEIGHTS_FILE if (folder / BEST_WEIGHTS_FILE).is_file() else None


def find_run_file(folder: Path) -> Path | None:
    """What a run can be measured by: its best weights, or else its answers, in its folder or beside it."""
    found = (folder / BEST_WEIGHTS_FILE, folder / ANSWERS_FILE, folder.with_name(f"{folder.name}.zip"))
    return next((path for path in found if path.is_file()), None)


def find_run_files(run: PaperRun, runs: Path) -> dict[str, Path]:
    """What a run and its repetitions from other seeds can be measured by, by the names of their folders."""
    beside = {path.name.removesuffix(".zip") for path in runs.glob(f"{glob.escape(run.name)}{SEED_INFIX}*")}
    seeds = sorted(int(seed) for name in beside if (seed := name.rpartition(SEED_INFIX)[2]).isdigit())
    names = (run.name, *(run.repeated(seed).name for seed in seeds if seed))
    return {name: path for name in names if (path := find_run_file(runs / name)) is not None}


def _check_packed_set(run: PaperRun, data: Path) -> None:
    """Before hours are spent on other runs."""
    if not (get_packed_path(data, run.plans) / INDEX_FILE).is_file():
        how = " && ".join(build_packing_commands(run.plans, Path("DATASET"), Path("plans"), data))
        make = f"make it so: {how}" if run.plans.name else "`t2o data pack` makes one"
        raise DataError(
            f"{run.name} learns from {get_packed_path(data, run.plans)}, which is no packed set; {make}"
        )


def _check_resumable(folder: Path) -> None:
    """Unfinished weights without a checkpoint can neither go on nor count as finished."""
    source = find_run_file(folder)
    if source is not None and not (folder / CHECKPOINT_FILE).is_file():
        raise TrainingError(
            f"{source} is of a run that stopped after {read_progress(folder)} iterations and has no "
            "checkpoint to go on from; measure it as it is with --load-only, or remove it to train again"
        )


def _train_run(run: PaperRun, place: PaperRunOptions, data: Path) -> None:
    try:
        from ..training import train
    except ImportError as error:
        needed = "training needs torch, Accelerate and safetensors: pip install 't2onet[train]'"
        raise TrainingError(f"{needed} ({error})") from None
    start = None if run.after is None else place.runs / run.after.name / BEST_WEIGHTS_FILE
    words = data / WORDS_FILE if start is None and (data / WORDS_FILE).is_file() else None
    train(
        run.config,
        get_packed_path(data, run.plans),
        place.runs / run.name,
        assignments=(*run.settings, *place.settings),
        words=words,
        start=start,
        resume=True,
        minutes=place.minutes,
        cpu=place.cpu,
        stream=place.stream,
    )


def describe_row(row: PaperRow, runs: Path) -> dict[str, Any]:
    """What stands behind a row, so that its figures can be followed to a file."""
    if row.run is None:
        mode = {"mode": row.mode} if row.mode else {}
        return {"system": row.system, **mode} if row.system else {}
    told: dict[str, Any] = {
        "run": row.run.name,
        "config": row.run.config,
        "settings": list(row.run.settings),
        "plans": row.run.plans.name or "of the data",
    }
    found = {
        name: _describe_answers(path) if path.suffix == ".zip" else _describe_weights(path)
        for name, path in find_run_files(row.run, runs).items()
    }
    told |= found.pop(row.run.name, {})
    if found:
        told["repeated"] = found
    if (progress := read_progress(runs / row.run.name)) is not None:
        told |= {"iterations": str(progress), "finished": progress.finished}
    return told


def _describe_weights(path: Path) -> dict[str, Any]:
    kept, record = read_tensor_metadata(path), read_run_record(path.parent)
    settings = None if record is None else record["settings"]
    return {
        "weights": hashlib.sha256(path.read_bytes()).hexdigest()[:12],
        "iteration": int(kept["iteration"]) if "iteration" in kept else None,
        "held-out figures": json.loads(kept.get("figures", "{}")),
        **_describe_schedule(settings),
    }


def _describe_answers(path: Path) -> dict[str, Any]:
    about = read_answers_source(path)
    told = {name: about.get(name) for name in ("weights", "iteration")}
    return {
        **told,
        "held-out figures": about.get("figures"),
        **_describe_schedule(about.get("settings")),
        "answers to": about.get("questions"),
    }


def _describe_schedule(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """How long, how fast and from which seed a run learned, where that is kept."""
    return {} if settings is None else {"trained with": settings["loop"]}
