"""Pairs of a dataset as pictures of one working size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..data import Problem, Sample
from ..errors import DataError, T2OError
from ..planning.pairs import paired
from ..planning.path import Picture

SIZE = 128
"""Short side of the paper's pictures."""


def chosen_pairs(samples: Sequence[Sample], count: int | None, seed: int = 0) -> list[tuple[Path, Path]]:
    """Each pair of files once, however many requests it has: `count` of them in a seeded order, or all."""
    pairs = sorted({(sample.before, sample.after) for sample in samples})
    if not pairs:
        raise DataError("no sample of the dataset has both photos; give one with before and after")
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [pairs[at] for at in order[:count]]


def pictures_of(
    pairs: Sequence[tuple[Path, Path]], problems: list[Problem], size: int = SIZE
) -> Iterator[tuple[Picture, Picture]]:
    """(3, H, W) before and after of each; pairs that cannot be used are added to `problems`."""
    for before, after in pairs:
        try:
            yield paired(before, after).at(size)
        except T2OError as error:
            problems.append(Problem(before.name, str(error)))
