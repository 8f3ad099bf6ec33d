"""Randomness that follows from numbers alone, so that a run resumes exactly where it was."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray


def seed_of(*numbers: int) -> int:
    """A seed of 63 bits for numbers from 0 up."""
    return int(_sequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def generator_of(*numbers: int) -> torch.Generator:
    """A generator on the CPU, so that every device sees the same draws."""
    return torch.Generator().manual_seed(seed_of(*numbers))


def drawn(count: int, size: int, at: int, *numbers: int) -> NDArray[np.int64]:
    """Batch number `at` (from 0) of `size` out of `count`: all come up once before any comes up again."""
    places = np.arange(at * size, (at + 1) * size)
    epochs = {int(epoch): order(count, int(epoch), *numbers) for epoch in np.unique(places // count)}
    return np.array([epochs[int(place // count)][place % count] for place in places], np.int64)


def order(count: int, *numbers: int) -> NDArray[np.int64]:
    """0 .. count - 1 shuffled."""
    return np.random.default_rng(_sequence(numbers)).permutation(count)


def _sequence(numbers: tuple[int, ...]) -> np.random.SeedSequence:
    """NumPy takes (1,) and (1, 0) for the same; their count tells them apart."""
    return np.random.SeedSequence([len(numbers), *numbers])
