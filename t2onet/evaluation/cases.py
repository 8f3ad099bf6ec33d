"""The photos, targets and requests that systems are measured on, and pairs for planning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ..data import Dataset, Problem, Sample
from ..editor import make_thumbnail
from ..errors import DataError, T2OError
from ..image import open_image
from ..metrics.attributes import measure_attributes
from ..planning.pictures import Picture, open_photo_pair

# The samples that systems are measured on: photos, targets and requests, small, and read once for all.

EvaluationProgress = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, eq=False)
class Case:
    """A photo and its target (3, side, side), and the request between them."""

    name: str
    before: np.ndarray
    after: np.ndarray
    request: str

    @cached_property
    def measured(self) -> np.ndarray:
        """(6,) attributes of the photo."""
        found: np.ndarray = measure_attributes(self.before.astype(np.float64))
        return found

    def change(self, made: np.ndarray) -> np.ndarray:
        """(6,) by which the attributes of what was made differ from the photo's."""
        return np.asarray(measure_attributes(made.astype(np.float64)) - self.measured)


def ignore_progress(what: str, done: int, count: int) -> None:
    """Tells nobody."""


def read_cases(
    dataset: Dataset,
    split: str,
    side: int,
    count: int | None = None,
    *,
    seed: int = 0,
    problems: list[Problem] | None = None,
    told: EvaluationProgress = ignore_progress,
) -> list[Case]:
    """Samples of a split, all or some drawn by the seed; what cannot be read is added to `problems`."""
    samples: Sequence[Sample] = dataset.split(split)
    if count is not None and count < len(samples):
        order = np.random.default_rng(seed).permutation(len(samples))[:count]
        samples = [samples[at] for at in sorted(order)]
    found, lost = [], []
    for number, sample in enumerate(samples, start=1):
        try:
            found.append(_read_case(sample, side))
        except T2OError as error:
            lost.append(Problem(sample.name, str(error)))
        told("reading photos", number, len(samples))
    if not found:
        why = f": {lost[0].reason}" if lost else ""
        raise DataError(f"{dataset.root} has no pair of the split {split} that can be used{why}")
    if problems is not None:
        problems.extend(lost)
    return found


def _read_case(sample: Sample, side: int) -> Case:
    before, after = (make_thumbnail(open_image(path), side) for path in (sample.before, sample.after))
    return Case(sample.name, before, after, sample.requests[0] if sample.requests else "")


# Pairs of a dataset as pictures of one working size.

PAIR_SHORT_SIDE = 128
"""Short side of the paper's pictures."""


def choose_pairs(samples: Sequence[Sample], count: int | None, seed: int = 0) -> list[tuple[Path, Path]]:
    """Each pair of files once, however many requests it has: `count` of them in a seeded order, or all."""
    pairs = sorted({(sample.before, sample.after) for sample in samples})
    if not pairs:
        raise DataError("no sample of the dataset has both photos; give one with before and after")
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [pairs[at] for at in order[:count]]


def read_pairs(
    pairs: Sequence[tuple[Path, Path]], problems: list[Problem], size: int = PAIR_SHORT_SIDE
) -> Iterator[tuple[Picture, Picture]]:
    """(3, H, W) before and after of each; pairs that cannot be used are added to `problems`."""
    for before, after in pairs:
        try:
            yield open_photo_pair(before, after).working_pictures(size)
        except T2OError as error:
            problems.append(Problem(before.name, str(error)))
