"""A simulated dataset on disk, laid out as MA5k-Req: `annotations/{train,val}_sess_1.json` and `images/`.

An entry has the published fields (input, output, request) and what only a simulation knows: its intents, its
flavour, its changes, and for an unanswerable request what it is about.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DataError, ImageError, OutputError
from ...image import image_from_array, open_image, write_atomically
from ...image.files import write_folder_atomically
from ..dataset import Problem, Sample
from ..opening import open_dataset
from .draw import draw_batch
from .mining import Labels, Phrases, mine
from .wish import DrawnWish
from .wishes import Class

Say = Callable[[DrawnWish, np.random.Generator], str]
"""Puts a wish into words."""

PER_PHOTO = 5
_TOGETHER = 16
"""Samples computed at once, which bounds the memory."""
_QUALITY = 95


@dataclass(frozen=True)
class Simulated:
    """How many samples were written to each split, and the photos that could not be read."""

    counts: dict[str, int]
    problems: tuple[Problem, ...]


@dataclass
class _SimulationRun:
    """What is carried from photo to photo."""

    place: Path
    say: Say
    size: int
    draws: np.random.Generator
    words: np.random.Generator
    tally: Counter[Class] = field(default_factory=Counter)
    entries: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    problems: dict[Path, Problem] = field(default_factory=dict)

    @property
    def written(self) -> int:
        return sum(map(len, self.entries.values()))


def phrases_in(folder: Path) -> Phrases:
    """The requests of a dataset, to be said again; its photos may be absent."""
    samples = open_dataset(folder, photos=False).samples
    return mine((request, _labels(sample)) for sample in samples for request in sample.requests)


def _labels(sample: Sample) -> Labels | None:
    operators: Any = sample.labels.get("operators", ())
    return {operator.name: {"local": operator.local} for operator in operators} or None


def simulate(
    photos: Sequence[Path],
    folder: Path,
    say: Say,
    *,
    count: int | None = None,
    seed: int = 0,
    size: int = 256,
    val: float = 0.1,
    progress: Callable[[int], None] = lambda written: None,
) -> Simulated:
    """Write `count` samples, by default five a photo, shared out evenly over the photos that can be read.

    `val` is the share of photos whose samples are set apart for validation, `size` the most pixels of a short
    side. The same photos, seed and sizes give the same bytes. Nothing is left behind on failure.
    """
    count = _checked(photos, count, size, val)
    draws, words, splits = np.random.default_rng(seed).spawn(3)
    split = _splits(len(photos), val, splits)
    _check_place(folder)
    with write_folder_atomically(folder) as place:
        for part in ("images", "annotations"):
            (place / part).mkdir()
        run = _SimulationRun(place, say, size, draws, words)
        while run.written < count:
            _pass(run, dict(zip(photos, split, strict=True)), count, progress)
        for name, entries in run.entries.items():
            lines = ",\n".join(json.dumps(entry) for entry in entries)
            path = place / "annotations" / f"{name}_sess_1.json"
            write_atomically(path, f"[\n{lines}\n]\n".encode(), overwrite=False)
    return Simulated({name: len(run.entries[name]) for name in run.entries}, tuple(run.problems.values()))


def _checked(photos: Sequence[Path], count: int | None, size: int, val: float) -> int:
    if not photos:
        raise DataError("there are no photos to simulate requests for; give photos or folders")
    if len(set(photos)) < len(photos):
        raise DataError("a photo is given twice; give each once, so that no split has what another has")
    if size < 16:
        raise DataError(f"a short side of {size} pixels shows no edit; give at least 16")
    if not 0 <= val < 1:
        raise DataError(f"a validation share of {val:g} is not possible; give 0 to less than 1")
    if count is not None and count < 1:
        raise DataError(f"{count} samples make no dataset; give at least 1")
    return PER_PHOTO * len(photos) if count is None else count


def _splits(count: int, val: float, rng: np.random.Generator) -> list[str]:
    """The split of each photo; where a share is set apart and there are two photos, neither is empty."""
    apart = round(val * count) if not val or count < 2 else min(max(1, round(val * count)), count - 1)
    chosen = set(rng.permutation(count)[:apart].tolist())
    return ["val" if number in chosen else "train" for number in range(count)]


def _check_place(folder: Path) -> None:
    if folder.exists():
        raise OutputError(f"{folder} exists already; give another folder")
    if not folder.parent.is_dir():
        raise OutputError(f"{folder}: there is no folder {folder.parent}; create it first")


def _pass(run: _SimulationRun, splits: dict[Path, str], count: int, progress: Callable[[int], None]) -> None:
    """Each photo once, with its share of what is still to be written; unreadable ones pass theirs on."""
    usable = [path for path in splits if path not in run.problems]
    for number, path in enumerate(usable):
        try:
            photo = _photo(path, run.size)
        except ImageError as error:
            run.problems[path] = Problem(str(path), str(error))
            continue
        share = ceil((count - run.written) / (len(usable) - number))
        for start in range(0, share, _TOGETHER):
            _write(run, photo, path, splits[path], min(_TOGETHER, share - start))
            progress(run.written)
    if len(run.problems) == len(splits):
        first = next(iter(run.problems.values()))
        if len(splits) == 1:
            raise DataError(f"the photo cannot be read: {first.reason}")
        raise DataError(f"none of the {len(splits)} photos can be read; of the first: {first.reason}")


def _photo(path: Path, size: int) -> np.ndarray:
    image = open_image(path).to_srgb().resize(size)
    return np.ascontiguousarray(image.pixels.transpose(2, 0, 1), np.float32) / np.float32(255)


def _write(run: _SimulationRun, photo: np.ndarray, source: Path, split: str, count: int) -> None:
    pictures = draw_batch(np.broadcast_to(photo, (count, *photo.shape)), run.draws, run.tally)
    for before, after, wish in zip(*pictures, strict=True):
        names = [f"{run.written:06d}_{role}.jpg" for role in ("before", "after")]
        for name, picture in zip(names, (before, after), strict=True):
            pixels = np.ascontiguousarray((picture * 255 + 0.5).astype(np.uint8).transpose(1, 2, 0))
            image_from_array(pixels).save(run.place / "images" / name, quality=_QUALITY)
        entry = _entry(names, run.say(wish, run.words), wish) | {"source": source.name}
        run.entries.setdefault(split, []).append(entry)


def _entry(names: Sequence[str], request: str, wish: DrawnWish) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "input": names[0],
        "output": names[1],
        "request": request,
        "intents": [asdict(intent) for intent in wish.intents],
        "flavour": wish.flavour,
        "changes": [asdict(change) for change in wish.changes],
        "untouched": list(wish.untouched),
    }
    optional = {"mood": wish.mood, "unanswerable": wish.matter}
    return entry | {name: text for name, text in optional.items() if text}
