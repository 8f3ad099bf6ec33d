"""The samples that systems are measured on: photos, targets and requests, small, and read once for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data import Dataset, Problem, Sample
from ..editor import small
from ..errors import DataError, T2OError
from ..image import open_image
from ..metrics.attributes import measure

Told = Callable[[str, int, int], None]
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
        found: np.ndarray = measure(self.before.astype(np.float64))
        return found

    def change(self, made: np.ndarray) -> np.ndarray:
        """(6,) by which the attributes of what was made differ from the photo's."""
        return np.asarray(measure(made.astype(np.float64)) - self.measured)


def quiet(what: str, done: int, count: int) -> None:
    """Tells nobody."""


def cases(
    dataset: Dataset,
    split: str,
    side: int,
    count: int | None = None,
    *,
    seed: int = 0,
    problems: list[Problem] | None = None,
    told: Told = quiet,
) -> list[Case]:
    """Samples of a split, all or some drawn by the seed; what cannot be read is added to `problems`."""
    samples: Sequence[Sample] = dataset.split(split)
    if count is not None and count < len(samples):
        order = np.random.default_rng(seed).permutation(len(samples))[:count]
        samples = [samples[at] for at in sorted(order)]
    found, lost = [], []
    for number, sample in enumerate(samples, start=1):
        try:
            found.append(_case(sample, side))
        except T2OError as error:
            lost.append(Problem(sample.name, str(error)))
        told("reading photos", number, len(samples))
    if not found:
        why = f": {lost[0].reason}" if lost else ""
        raise DataError(f"{dataset.root} has no pair of the split {split} that can be used{why}")
    if problems is not None:
        problems.extend(lost)
    return found


def _case(sample: Sample, side: int) -> Case:
    before, after = (small(open_image(path), side) for path in (sample.before, sample.after))
    return Case(sample.name, before, after, sample.requests[0] if sample.requests else "")
