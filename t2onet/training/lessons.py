"""Lessons for the network: simulated requests, drawn in worker processes.

A worker knows no pixels: it draws which photo, which edit and which sentence. Pixels are made where the
network is. Everything about lesson number `i` follows from the seed and `i`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.simulation.mining import Phrases
from ..data.simulation.sentences import MATTERS, request
from ..data.simulation.strengths import COLUMNS, strengths
from ..data.simulation.wish import Flavour, Kind, Wish
from ..data.simulation.wishes import FLAVOURS, Class, Draw, chosen, drawn
from ..language.grams import grams
from ..metrics.attributes import ORDER as ATTRIBUTES
from ..models.retoucher.network import ORDER

VERDICTS = ("edit", *MATTERS)
"""What a request turns out to be: an edit, or a matter that no operation can answer."""

OPERATIONS: dict[Kind, tuple[str, ...]] = {
    Kind.EXPOSURE: ("brightness", "tone"),
    Kind.SHADOWS: ("brightness", "tone", "contrast"),
    Kind.HIGHLIGHTS: ("brightness", "tone", "contrast"),
    Kind.CONTRAST: ("saturation", "tone", "contrast"),
    Kind.CHROMA: ("saturation", "tone"),
    Kind.TEMPERATURE: ("color",),
    Kind.TINT: ("color",),
    Kind.COLOUR: ("color",),
    Kind.SHARPNESS: ("sharpness",),
    Kind.MONOCHROME: ("color", "saturation"),
}
"""The fewest operations that come close to each change (LOG.md: fitted jointly on photos)."""
EXPERT = ("color", "saturation", "tone")
"""Operations with which an expert's picture is approached."""


@dataclass(frozen=True)
class Lesson:
    """A batch of simulated requests, without pixels.

    `photo` (N,) rows; `before` and `after` (N, COLUMNS) strengths of the edits; `used` (N, operations);
    `asked` (N, attributes) signs; `verdict` (N,); `grams` (N, T, PIECES).
    """

    photo: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    used: NDArray[np.float32]
    asked: NDArray[np.float32]
    verdict: NDArray[np.int64]
    grams: NDArray[np.int32]


@dataclass(frozen=True)
class Lessons:
    """Lesson number `i` is `lessons[i]`: a dataset for torch's loader, without torch."""

    photos: Sequence[int]
    size: int
    count: int
    seed: int
    mined: Phrases | None = None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> Lesson:
        if not 0 <= number < self.count:
            raise IndexError(number)
        rng = np.random.default_rng((self.seed, number))
        tally: Counter[Class] = Counter()
        draws = [_drawn(rng, tally) for _ in range(self.size)]
        return Lesson(
            rng.choice(np.asarray(self.photos), self.size),
            np.stack([strengths(draw.before) for draw in draws]).reshape(-1, len(COLUMNS)),
            np.stack([strengths(draw.after) for draw in draws]).reshape(-1, len(COLUMNS)),
            np.stack([_used(draw.wish) for draw in draws]),
            np.stack([_asked(draw.wish) for draw in draws]),
            np.array([_verdict(draw.wish) for draw in draws]),
            grams([request(draw.wish, rng, self.mined) for draw in draws]),
        )


def _drawn(rng: np.random.Generator, tally: Counter[Class]) -> Draw:
    draw = drawn(chosen(FLAVOURS, rng), rng, tally)
    tally.update((intent.attribute, intent.sign) for intent in draw.wish.intents)
    return draw


def _used(wish: Wish) -> NDArray[np.float32]:
    names = {name for change in wish.changes for name in OPERATIONS[change.kind]}
    return np.array([name in names for name in ORDER], np.float32)


def _asked(wish: Wish) -> NDArray[np.float32]:
    signs = np.zeros(len(ATTRIBUTES), np.float32)
    for intent in wish.intents:
        signs[ATTRIBUTES[intent.attribute]] = intent.sign
    return signs


def _verdict(wish: Wish) -> int:
    return VERDICTS.index(wish.matter) if wish.flavour is Flavour.UNANSWERABLE else 0
