"""A small dataset of real pictures: edits of the example photos, outside what the operations can do."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import PIL.Image

from bench.pairs import made
from t2onet.data import Dataset, Problem, Sample
from t2onet.data.plans.engines import PlanOutcome, PlanTask, run_task
from t2onet.language import Attribute, Intent

SIDE = 64


MOST = 12
"""Pairs that a set can have."""


@cache
def _pixels() -> list[tuple[np.ndarray, np.ndarray]]:
    return [(_small(before), _small(after)) for before, after in made(MOST)]


def _small(picture: np.ndarray) -> np.ndarray:
    levels = np.round(255 * picture).astype(np.uint8).transpose(1, 2, 0)
    return np.asarray(PIL.Image.fromarray(levels).resize((SIDE, SIDE), PIL.Image.Resampling.BOX))


def small_set(folder: Path, count: int) -> Dataset:
    """`count` pairs as files in `folder`, the last quarter of them for validation."""
    folder.mkdir(exist_ok=True)
    samples = []
    for number in range(count):
        paths = [folder / f"{number:03}-{side}.png" for side in ("before", "after")]
        for at, path in enumerate(paths):
            if not path.exists():
                PIL.Image.fromarray(_pixels()[number][at]).save(path)
        split = "train" if number < 0.75 * count else "val"
        wanted = (Intent(Attribute.LIGHTNESS, 1, 0.5),) if number % 2 else None
        asked = (f"make number {number} brighter",)
        samples.append(Sample(f"pair-{number:03}", split, *paths, asked, wanted))
    return Dataset(folder, "pairs", tuple(samples))


class InThisProcess:
    """The smallest engine; it remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def run(self, tasks: Iterable[PlanTask]) -> Generator[PlanOutcome, None, None]:
        for task in tasks:
            self.given.append(task.name)
            yield run_task(task)


def open_small_set(
    folder: Path, layout: str | None = None, splits: Iterable[str] | None = None, *, photos: bool = True
) -> Dataset:
    """In the place of `open_dataset`: what `small_set` wrote to a folder."""
    found = small_set(Path(folder), len(list(Path(folder).glob("*-before.png"))))
    kept = [sample for sample in found.samples if splits is None or sample.split in splits]
    problems = () if photos else (Problem("pair-999", "it is not there"),)
    return replace(found, samples=tuple(kept), problems=problems)
