"""Simulated items: a wish, said in a sentence, and the edit that fulfils it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...data.simulation.echoes import Echoes
from ...data.simulation.moods import FAULTS
from ...data.simulation.sentences import request
from ...data.simulation.strengths import strengths
from ...data.simulation.wish import Flavour, Kind, Wish
from ...data.simulation.wishes import FLAVOURS, Class, Draw, chosen, classes_of, drawn
from ...metrics.attributes import ORDER as ATTRIBUTES
from .item import EXPERT_USES, LITERAL, UNNAMED, VERDICTS, Item, framed, used

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
ECHOED = 0.5
"""Share of items that begin with a real request, where there are some."""


@dataclass(frozen=True)
class Literal:
    """`photos` are rows to draw from, `finished` those of them that leave nothing to mend."""

    photos: NDArray[np.int64]
    finished: NDArray[np.int64]
    echoes: Echoes | None = None

    def items(self, rng: np.random.Generator, count: int) -> Iterator[Item]:
        """Classes of attribute and sign come up evenly, among made-up requests and among real ones."""
        phrases = None if self.echoes is None else self.echoes.phrases
        made: Counter[Class] = Counter()
        real: Counter[Class] = Counter()
        for _ in range(count):
            if self.echoes is not None and rng.random() < ECHOED:
                yield self._item(*self.echoes.draw(rng, real), rng)
            else:
                draw = drawn(chosen(FLAVOURS, rng), rng, made)
                made.update(classes_of(draw.wish.intents))
                yield self._item(draw, request(draw.wish, rng, phrases), rng)

    def _item(self, draw: Draw, text: str, rng: np.random.Generator) -> Item:
        mends = draw.wish.mood in FAULTS
        row = int(rng.choice(self.finished if mends else self.photos))
        return Item(
            photo=row,
            target=row,
            text=text,
            manner=LITERAL,
            used=_used(draw.wish, mends),
            strengths=strengths(draw.before or draw.after),
            spoils=bool(draw.before),
            asked=_asked(draw.wish),
            verdict=_verdict(draw.wish),
            frame=framed(rng, 0.0),
        )


def _verdict(wish: Wish) -> int:
    if wish.flavour is not Flavour.UNANSWERABLE:
        return 0
    return VERDICTS.index(wish.matter) if wish.matter in VERDICTS else UNNAMED


def _used(wish: Wish, mends: bool) -> NDArray[np.float32]:
    names = {name for change in wish.changes for name in OPERATIONS[change.kind]}
    if mends:
        names = {*EXPERT_USES, *(names & {"sharpness"})}
    return used(names)


def _asked(wish: Wish) -> list[float]:
    signs = [0.0] * len(ATTRIBUTES)
    for intent in wish.intents:
        signs[ATTRIBUTES[intent.attribute]] = intent.sign * intent.amount**0.5
    return signs
