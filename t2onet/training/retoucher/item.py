"""One thing to learn: a photo, a request and what should come of it, without pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...data.simulation.sentences import MATTERS
from ...data.simulation.strengths import COLUMNS
from ...metrics.attributes import ORDER as ATTRIBUTES
from ...models.retoucher.network import MANNERS, ORDER

VERDICTS = ("edit", *MATTERS)
"""What a request turns out to be: an edit, or a matter that no operation can answer."""
UNNAMED = -1
"""The verdict on a request that cannot be answered, where it is not known which matter it is."""
LITERAL, EXPERT = MANNERS.index("literal"), MANNERS.index("expert")
EXPERT_USES = ("color", "saturation", "tone")
"""Operations with which an expert's picture is approached."""
WHOLE = (1.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Item:
    """`photo` and `target` are rows of the photos; `strengths` an edit of `photo`.

    Where the edit `spoils`, it gives the picture to begin with, and `target` is where to get; else the photo
    itself is to begin with, and the edited one where to get. `asked` are signed roots of the amounts in which
    attributes are asked for, `used` 0 or 1 for each operation. `towards` is how far the picture to begin with
    has been moved to the target beforehand. `frame` is how much of a side is shown, where its middle is moved
    to, in shares of half a side, and -1 if mirrored. `real` items are pairs of photographs, others are
    simulated.
    """

    photo: int
    target: int
    text: str
    manner: int
    used: NDArray[np.float32]
    strengths: NDArray[np.float64]
    spoils: bool = False
    asked: Sequence[float] = (0.0,) * len(ATTRIBUTES)
    verdict: int = 0
    real: bool = False
    frame: tuple[float, float, float, float] = WHOLE
    towards: float = 0.0


def used(names: Sequence[str] | set[str]) -> NDArray[np.float32]:
    """Which operations of the order are among `names`."""
    return np.array([name in names for name in ORDER], np.float32)


def framed(rng: np.random.Generator, crop: float) -> tuple[float, float, float, float]:
    """A frame at random that leaves out up to `crop` of each side, mirrored or not."""
    share = 1 - crop * rng.random()
    x, y = (1 - share) * (2 * rng.random(2) - 1)
    return float(share), float(x), float(y), float(rng.choice((-1.0, 1.0)))


def untouched() -> NDArray[np.float64]:
    """Strengths that change nothing."""
    return np.zeros(len(COLUMNS))
