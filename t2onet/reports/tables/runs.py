"""The runs behind a table's rows: trained if they are not there, gone on with if they were stopped."""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ...data.packed.model import INDEX
from ...data.recorded.answers import about_answers
from ...data.run_records import BEST, CHECKPOINT, read_metadata, read_record
from ...errors import DataError, TrainingError
from .commands import ANSWERS, WORDS, packed_at, packing
from .model import SEED, Row, Run


@dataclass(frozen=True)
class Place:
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
class Progress:
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


def trained(runs: Iterable[Run], place: Place, say: Callable[[str], None]) -> None:
    """Train what has no weights or was stopped; without a packed set, take things as they are."""
    if place.data is None:
        return
    waiting = [run for run in runs if not finished(place.runs / run.name)]
    for run in waiting:
        _check_set(run, place.data)
        _check_resumable(place.runs / run.name)
    for number, run in enumerate(waiting, start=1):
        say(f"training {run.name}, {number} of {len(waiting)}")
        _train(run, place, place.data)


def finished(folder: Path) -> bool:
    """Whether a run is known to have done all the iterations it was asked for, or to have lost patience."""
    progress = progress_of(folder)
    return progress is not None and progress.finished is True


def progress_of(folder: Path) -> Progress | None:
    """By its checkpoint or record; without these, by what its best weights or its answers tell."""
    if (record := read_record(folder)) is not None:
        return _recorded_progress(record)
    if (path := source_of(folder)) is None:
        return None
    if path.suffix == ".zip":
        about = about_answers(path)
        if about.get("progress") and about.get("settings"):
            return _recorded_progress(about)
        loop = (about.get("settings") or {}).get("loop", {})
        return Progress(about.get("iteration"), loop.get("iterations"), at_least=True)
    kept = read_metadata(path)
    done, asked = (int(kept[name]) if name in kept else None for name in ("iteration", "iterations"))
    return Progress(done, asked, at_least=True)


def _recorded_progress(record: Mapping[str, Any]) -> Progress:
    progress, loop = record["progress"], record["settings"]["loop"]
    waited = progress["iteration"] - progress["best_iteration"]
    return Progress(progress["iteration"], loop["iterations"], ended=0 < loop["patience"] <= waited)


def weights_in(folder: Path) -> Path | None:
    """The best weights of a run, if it has any."""
    return folder / BEST if (folder / BEST).is_file() else None


def source_of(folder: Path) -> Path | None:
    """What a run can be measured by: its best weights, or else its answers, in its folder or beside it."""
    found = (folder / BEST, folder / ANSWERS, folder.with_name(f"{folder.name}.zip"))
    return next((path for path in found if path.is_file()), None)


def sources_of(run: Run, runs: Path) -> dict[str, Path]:
    """What a run and its repetitions from other seeds can be measured by, by the names of their folders."""
    beside = {path.name.removesuffix(".zip") for path in runs.glob(f"{glob.escape(run.name)}{SEED}*")}
    seeds = sorted(int(seed) for name in beside if (seed := name.rpartition(SEED)[2]).isdigit())
    names = (run.name, *(run.repeated(seed).name for seed in seeds if seed))
    return {name: path for name in names if (path := source_of(runs / name)) is not None}


def _check_set(run: Run, data: Path) -> None:
    """Before hours are spent on other runs."""
    if not (packed_at(data, run.plans) / INDEX).is_file():
        how = " && ".join(packing(run.plans, Path("DATASET"), Path("plans"), data))
        make = f"make it so: {how}" if run.plans.name else "`t2o data pack` makes one"
        raise DataError(
            f"{run.name} learns from {packed_at(data, run.plans)}, which is no packed set; {make}"
        )


def _check_resumable(folder: Path) -> None:
    """Unfinished weights without a checkpoint can neither go on nor count as finished."""
    source = source_of(folder)
    if source is not None and not (folder / CHECKPOINT).is_file():
        raise TrainingError(
            f"{source} is of a run that stopped after {progress_of(folder)} iterations and has no checkpoint "
            "to go on from; measure it as it is with --load-only, or remove it to train again"
        )


def _train(run: Run, place: Place, data: Path) -> None:
    try:
        from ...training import train
    except ImportError as error:
        needed = "training needs torch, Accelerate and safetensors: pip install 't2onet[train]'"
        raise TrainingError(f"{needed} ({error})") from None
    start = None if run.after is None else place.runs / run.after.name / BEST
    words = data / WORDS if start is None and (data / WORDS).is_file() else None
    train(
        run.config,
        packed_at(data, run.plans),
        place.runs / run.name,
        assignments=(*run.settings, *place.settings),
        words=words,
        start=start,
        resume=True,
        minutes=place.minutes,
        cpu=place.cpu,
        stream=place.stream,
    )


def facts_of(row: Row, runs: Path) -> dict[str, Any]:
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
        name: _told_by_answers(path) if path.suffix == ".zip" else _told_by_weights(path)
        for name, path in sources_of(row.run, runs).items()
    }
    told |= found.pop(row.run.name, {})
    if found:
        told["repeated"] = found
    if (progress := progress_of(runs / row.run.name)) is not None:
        told |= {"iterations": str(progress), "finished": progress.finished}
    return told


def _told_by_weights(path: Path) -> dict[str, Any]:
    kept, record = read_metadata(path), read_record(path.parent)
    settings = None if record is None else record["settings"]
    return {
        "weights": hashlib.sha256(path.read_bytes()).hexdigest()[:12],
        "iteration": int(kept["iteration"]) if "iteration" in kept else None,
        "held-out figures": json.loads(kept.get("figures", "{}")),
        **_schedule(settings),
    }


def _told_by_answers(path: Path) -> dict[str, Any]:
    about = about_answers(path)
    told = {name: about.get(name) for name in ("weights", "iteration")}
    return {
        **told,
        "held-out figures": about.get("figures"),
        **_schedule(about.get("settings")),
        "answers to": about.get("questions"),
    }


def _schedule(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """How long, how fast and from which seed a run learned, where that is kept."""
    return {} if settings is None else {"trained with": settings["loop"]}
