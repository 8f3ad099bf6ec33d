"""Pairs of the train split that are kept back to choose weights by, so that the val split stays unseen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.packed import PackedSet
from ..errors import DataError
from .seeds import order

HELD = 300
"""Pairs kept back, unless a setting says otherwise."""
_STREAM = 7


class Parts(NamedTuple):
    """Numbers of samples of the train split."""

    train: NDArray[np.int64]
    held: NDArray[np.int64]


def parted(data: PackedSet, held: int, seed: int) -> Parts:
    """The train split in two; at most half of it is kept back."""
    numbers = data.split("train")
    if len(numbers) < 2:
        raise DataError("the train split has fewer than two pairs; there is nothing to learn from")
    shuffled = numbers[order(len(numbers), seed, _STREAM)]
    few = min(held, len(numbers) // 2)
    return Parts(shuffled[few:], shuffled[:few])
