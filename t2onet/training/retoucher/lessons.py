"""Lessons for the network: what is asked of which photo, drawn in worker processes.

A worker knows no pixels: it draws photos, edits and sentences. Pixels are made where the network is.
Everything about lesson number `i` follows from the seed and `i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...data.simulation.strengths import COLUMNS
from ...language.grams import LONGEST, PIECES, spelt
from ...metrics.attributes import ORDER as ATTRIBUTES
from ...models.retoucher.network import ORDER
from .expert import Expert
from .item import Item
from .literal import Literal


@dataclass(frozen=True)
class Lesson:
    """A batch of items as columns, without pixels; see `Item`.

    `pieces` (W, PIECES) and `told` (N, LONGEST) are the requests.
    """

    photo: NDArray[np.int64]
    target: NDArray[np.int64]
    strengths: NDArray[np.float32]
    spoils: NDArray[np.bool_]
    used: NDArray[np.float32]
    asked: NDArray[np.float32]
    verdict: NDArray[np.int64]
    manner: NDArray[np.int64]
    real: NDArray[np.bool_]
    frame: NDArray[np.float32]
    towards: NDArray[np.float32]
    pieces: NDArray[np.int64]
    told: NDArray[np.int64]


@dataclass(frozen=True)
class Lessons:
    """Lesson number `i` is `lessons[i]`: a dataset for torch's loader, without torch.

    Simulated items come first, then real ones; `room` is how many distinct words a lesson has place for.
    """

    literal: Literal
    expert: Expert
    sizes: tuple[int, int]
    room: int
    count: int
    seed: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> Lesson:
        if not 0 <= number < self.count:
            raise IndexError(number)
        rng = np.random.default_rng((self.seed, number))
        simulated, real = self.sizes
        return lesson([*self.literal.items(rng, simulated), *self.expert.items(rng, real)], self.room)


def lesson(items: Sequence[Item], room: int = 0) -> Lesson:
    """Items as columns; with `room` for so many distinct words, words beyond are left out."""
    pieces, told = spelt([item.text for item in items])
    room = room or len(pieces)
    table = np.zeros((room, PIECES), np.int64)
    table[: len(pieces)] = pieces[:room]
    words = np.zeros((len(items), LONGEST), np.int64)
    words[:, : told.shape[1]] = np.where(told < room, told, 0)
    return Lesson(
        photo=np.array([item.photo for item in items]),
        target=np.array([item.target for item in items]),
        strengths=np.array([item.strengths for item in items], np.float32).reshape(-1, len(COLUMNS)),
        spoils=np.array([item.spoils for item in items]),
        used=np.array([item.used for item in items], np.float32).reshape(-1, len(ORDER)),
        asked=np.array([item.asked for item in items], np.float32).reshape(-1, len(ATTRIBUTES)),
        verdict=np.array([item.verdict for item in items]),
        manner=np.array([item.manner for item in items]),
        real=np.array([item.real for item in items]),
        frame=np.array([item.frame for item in items], np.float32).reshape(-1, 4),
        towards=np.array([item.towards for item in items], np.float32),
        pieces=table,
        told=words,
    )
