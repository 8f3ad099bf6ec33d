"""Training runs behind a table's rows: train missing ones, resume stopped ones, describe finished ones."""

from __future__ import annotations

import glob
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
from ..errors import DataError, TrainingError, needs_extra
from ..language.vocabulary import WORDS_FILE
from ..metrics.distances import short_checksum
from .paper_tables import SEED_INFIX, PaperPlans, PaperRow, PaperRun

ANSWERS_FILE = "answers.zip"
"""Recorded answers, which the folder of a run may have in place of weights."""


@dataclass(frozen=True)
class PaperRunOptions:
    """Where runs are, and how to train them; without `data`, a packed set, nothing is trained."""

    runs: Path
    data: Path | None = None
    settings: tuple[str, ...] = ()
    """`name=value`, for every run."""
    minutes: float | None = None
    cpu: bool = False
    stream: TextIO | None = None
    """Where training reports to; stdout by default."""


@dataclass(frozen=True)
class PaperRunProgress:
    """Iterations done and asked for, as far as known."""

    done: int | None
    asked: int | None
    stopped_early: bool = False
    """Whether validation has not improved for as many iterations as the run's patience."""
    is_minimum: bool = False
    """Whether more may have been done: weights know their own iteration and not the last one."""

    @property
    def is_finished(self) -> bool | None:
        """None if unknown."""
        reached = self.done is not None and self.asked is not None and self.done >= self.asked
        if self.stopped_early or reached:
            return True
        return None if self.is_minimum else False

    def __str__(self) -> str:
        done, asked = ("unknown" if count is None else str(count) for count in (self.done, self.asked))
        return f"{'at least ' * self.is_minimum}{done} of {asked}{', by patience' * self.stopped_early}"


def repeat_runs(runs: Iterable[PaperRun], seeds: int, settings: Sequence[str] = ()) -> list[PaperRun]:
    """Each run from the seeds 0, 1, ...; `settings` of all runs must not fix the seed."""
    fixed = [setting for setting in settings if setting.partition("=")[0].strip() == "seed"]
    if seeds > 1 and fixed:
        raise TrainingError(
            f"--seeds {seeds} trains each run from {seeds} different seeds, which --set {fixed[0]} would "
            "make one; give one of the two"
        )
    return [run.with_seed(seed) for run in runs for seed in range(seeds)]


def train_missing_runs(
    runs: Iterable[PaperRun], options: PaperRunOptions, report: Callable[[str], None]
) -> None:
    """Train runs without weights and resume unfinished ones; do nothing without a packed set."""
    if options.data is None:
        return
    unfinished = [run for run in runs if not is_finished(options.runs / run.name)]
    _check_packed_sets(unfinished, options.data)
    for run in unfinished:
        _check_resumable(options.runs / run.name)
    for number, run in enumerate(unfinished, start=1):
        report(f"training {run.name}, {number} of {len(unfinished)}")
        _train_run(run, options, options.data)


def _check_packed_sets(runs: Iterable[PaperRun], data: Path) -> None:
    """Refuse before hours are spent on training, with the commands that make all missing sets."""
    missing: dict[Path, PaperRun] = {}
    for run in runs:
        path = get_packed_path(data, run.plans)
        if not (path / INDEX_FILE).is_file():
            missing.setdefault(path, run)
    if not missing:
        return
    path, run = next(iter(missing.items()))
    if not run.plans.name:
        raise DataError(f"{run.name} learns from {path}, which is no packed set; `t2o data pack` makes one")
    commands = [line for run in missing.values() for line in build_packing_commands(run.plans, data)]
    raise DataError(
        f"{run.name} learns from {path}, which is no packed set; make what is missing with\n"
        + "\n".join(commands)
    )


def get_packed_path(data: Path, plans: PaperPlans) -> Path:
    """The packed set with these plans: `data` itself for its own, a folder beside it for others."""
    return data.with_name(f"{data.name}-{plans.name}") if plans.name else data


def build_packing_commands(plans: PaperPlans, data: Path) -> Iterator[str]:
    """Shell commands that plan and pack such a set beside `data`, with its photos."""
    if not plans.name:
        return
    dataset, cache, split = "DATASET", "plans", ["--split", "train"]
    yield shlex.join(["t2o", "data", "plan", dataset, "-o", cache, *split, *plans.to_options()])
    pack = ["t2o", "data", "pack", dataset, *split, "--plans", cache, *plans.to_options("plan-")]
    yield shlex.join([*pack, "--photos-of", str(data), "-o", str(get_packed_path(data, plans))])


def _check_resumable(folder: Path) -> None:
    """Unfinished weights without a checkpoint can neither be resumed nor count as finished."""
    source = find_run_file(folder)
    if source is not None and not (folder / CHECKPOINT_FILE).is_file():
        raise TrainingError(
            f"{source} is of a run that stopped after {read_progress(folder)} iterations and has no "
            "checkpoint to resume from; measure it as it is with --load-only, or remove it to train again"
        )


def _train_run(run: PaperRun, options: PaperRunOptions, data: Path) -> None:
    with needs_extra(
        TrainingError, "training needs torch, Accelerate and safetensors", "train", with_cause=True
    ):
        from ..training import train
    start = None if run.starts_from is None else options.runs / run.starts_from.name / BEST_WEIGHTS_FILE
    words = data / WORDS_FILE if start is None and (data / WORDS_FILE).is_file() else None
    train(
        run.config,
        get_packed_path(data, run.plans),
        options.runs / run.name,
        assignments=(*run.settings, *options.settings),
        words=words,
        start=start,
        resume=True,
        minutes=options.minutes,
        cpu=options.cpu,
        stream=options.stream,
    )


def is_finished(folder: Path) -> bool:
    """Whether a run is known to have done all iterations, or to have stopped early."""
    progress = read_progress(folder)
    return progress is not None and progress.is_finished is True


def read_progress(folder: Path) -> PaperRunProgress | None:
    """From the checkpoint or record of a run; else from the metadata of its best weights or its answers."""
    if (record := read_run_record(folder)) is not None:
        return _parse_progress(record)
    if (path := find_run_file(folder)) is None:
        return None
    if path.suffix == ".zip":
        source = read_answers_source(path)
        if source.get("progress") and source.get("settings"):
            return _parse_progress(source)
        loop = (source.get("settings") or {}).get("loop", {})
        return PaperRunProgress(source.get("iteration"), loop.get("iterations"), is_minimum=True)
    metadata = read_tensor_metadata(path)
    done, asked = (int(metadata[name]) if name in metadata else None for name in ("iteration", "iterations"))
    return PaperRunProgress(done, asked, is_minimum=True)


def _parse_progress(record: Mapping[str, Any]) -> PaperRunProgress:
    progress, loop = record["progress"], record["settings"]["loop"]
    since_best = progress["iteration"] - progress["best_iteration"]
    stopped_early = 0 < loop["patience"] <= since_best
    return PaperRunProgress(progress["iteration"], loop["iterations"], stopped_early=stopped_early)


def find_weights(folder: Path) -> Path | None:
    """The best weights of a run, if it has any."""
    return path if (path := folder / BEST_WEIGHTS_FILE).is_file() else None


def find_run_file(folder: Path) -> Path | None:
    """The best weights of a run, or else its recorded answers, in its folder or beside it."""
    paths = (folder / BEST_WEIGHTS_FILE, folder / ANSWERS_FILE, folder.with_name(f"{folder.name}.zip"))
    return next((path for path in paths if path.is_file()), None)


def find_run_files(run: PaperRun, runs: Path) -> dict[str, Path]:
    """`find_run_file` of a run and of its repetitions from other seeds, by the names of their folders."""
    names = {path.name.removesuffix(".zip") for path in runs.glob(f"{glob.escape(run.name)}{SEED_INFIX}*")}
    seeds = sorted(int(seed) for name in names if (seed := name.rpartition(SEED_INFIX)[2]).isdigit())
    folders = (run.name, *(run.with_seed(seed).name for seed in seeds if seed))
    return {name: path for name in folders if (path := find_run_file(runs / name)) is not None}


def describe_row(row: PaperRow, runs: Path) -> dict[str, Any]:
    """The run, settings, weights and progress behind a row, for `systems.json`."""
    if row.run is None:
        mode = {"mode": row.mode} if row.mode else {}
        return {"system": row.system, **mode} if row.system else {}
    description: dict[str, Any] = {
        "run": row.run.name,
        "config": row.run.config,
        "settings": list(row.run.settings),
        "plans": row.run.plans.name or "of the data",
    }
    files = {
        name: _describe_answers(path) if path.suffix == ".zip" else _describe_weights(path)
        for name, path in find_run_files(row.run, runs).items()
    }
    description |= files.pop(row.run.name, {})
    if files:
        description["repeated"] = files
    if (progress := read_progress(runs / row.run.name)) is not None:
        description |= {"iterations": str(progress), "finished": progress.is_finished}
    return description


def _describe_weights(path: Path) -> dict[str, Any]:
    metadata, record = read_tensor_metadata(path), read_run_record(path.parent)
    return {
        "weights": short_checksum(path.read_bytes()),
        "iteration": int(metadata["iteration"]) if "iteration" in metadata else None,
        "held-out figures": json.loads(metadata.get("figures", "{}")),
        **_describe_schedule(None if record is None else record["settings"]),
    }


def _describe_answers(path: Path) -> dict[str, Any]:
    source = read_answers_source(path)
    return {
        "weights": source.get("weights"),
        "iteration": source.get("iteration"),
        "held-out figures": source.get("figures"),
        **_describe_schedule(source.get("settings")),
        "answers to": source.get("questions"),
    }


def _describe_schedule(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Iterations, learning rate and seed, if recorded."""
    return {} if settings is None else {"trained with": settings["loop"]}
