"""The runs behind a table's rows: trained if they are not there, gone on with if they were stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ...data.packed.model import INDEX
from ...data.recorded.answers import about_answers
from ...errors import DataError, TrainingError
from .commands import ANSWERS, BEST, CHECKPOINT, WORDS, packed_at, packing
from .model import Row, Run


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


def trained(runs: Iterable[Run], place: Place, say: Callable[[str], None]) -> None:
    """Train what has no weights or was stopped; without a packed set, take things as they are."""
    if place.data is None:
        return
    waiting = [run for run in runs if not finished(place.runs / run.name)]
    for run in waiting:
        _check_set(run, place.data)
    for number, run in enumerate(waiting, start=1):
        say(f"training {run.name}, {number} of {len(waiting)}")
        _train(run, place, place.data)


def finished(folder: Path) -> bool:
    """Whether a run is at its end, by its checkpoint; weights or answers alone were brought, and are."""
    if not (folder / CHECKPOINT).is_file():
        return source_of(folder) is not None
    told = _metadata(folder / CHECKPOINT)
    progress, loop = json.loads(told["progress"]), json.loads(told["settings"])["loop"]
    waited = progress["iteration"] - progress["best_iteration"]
    return bool(progress["iteration"] >= loop["iterations"] or 0 < loop["patience"] <= waited)


def weights_in(folder: Path) -> Path | None:
    """The best weights of a run, if it has any."""
    return folder / BEST if (folder / BEST).is_file() else None


def source_of(folder: Path) -> Path | None:
    """What a run can be measured by: its best weights, or else its answers, in its folder or beside it."""
    found = (folder / BEST, folder / ANSWERS, folder.with_name(f"{folder.name}.zip"))
    return next((path for path in found if path.is_file()), None)


def _check_set(run: Run, data: Path) -> None:
    """Before hours are spent on other runs."""
    if not (packed_at(data, run.plans) / INDEX).is_file():
        how = " && ".join(packing(run.plans, Path("DATASET"), Path("plans"), data))
        make = f"make it so: {how}" if run.plans.name else "`t2o data pack` makes one"
        raise DataError(
            f"{run.name} learns from {packed_at(data, run.plans)}, which is no packed set; {make}"
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
    if (path := source_of(runs / row.run.name)) is not None:
        told |= _told_by_answers(path) if path.suffix == ".zip" else _told_by_weights(path)
        told["finished"] = finished(runs / row.run.name)
    return told


def _told_by_weights(path: Path) -> dict[str, Any]:
    kept, checkpoint = _metadata(path), path.with_name(CHECKPOINT)
    settings = json.loads(_metadata(checkpoint)["settings"]) if checkpoint.is_file() else None
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


def _metadata(path: Path) -> dict[str, str]:
    """Of a file of tensors, without these."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise DataError(f"opening weights needs safetensors: pip install 't2onet[train]' ({error})") from None
    try:
        with safe_open(path, "np") as file:
            return file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read as weights: {error}") from None
