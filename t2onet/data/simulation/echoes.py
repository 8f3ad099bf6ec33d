"""Real requests as they come, with a wish that they could have been said for.

`sentences.py` goes from a wish to words; this goes from words to a wish, so that what people ask for together
comes up together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...language import Attribute
from .mining import Phrases, Sense
from .wish import COLOURS, ChangeKind, DrawnWish, Flavour, PhotoChange
from .wishes import CLASSES, Class, Draw, classes_of, undone

AMOUNTS = {"little": (0.36, 0.7), "plain": (0.8, 1.12), "much": (1.6, 2.4)}
"""Ranges of amounts by the class of the amount words."""
UNANSWERABLE = 0.2
"""Share of requests that no change of the whole photo can answer."""
COMPLAINTS = 0.25
"""Share of requests that are met by mending a photo, not by changing a good one."""
_KINDS = {
    Attribute.LIGHTNESS: ChangeKind.EXPOSURE,
    Attribute.CONTRAST: ChangeKind.CONTRAST,
    Attribute.COLOURFULNESS: ChangeKind.CHROMA,
    Attribute.WARMTH: ChangeKind.TEMPERATURE,
    Attribute.REDNESS: ChangeKind.TINT,
    Attribute.SHARPNESS: ChangeKind.SHARPNESS,
}


@dataclass(frozen=True)
class Echoes:
    """Senses of real requests by the classes they ask for, and matters, each with its share."""

    phrases: Phrases
    senses: dict[Class, tuple[list[Sense], np.ndarray]]
    matters: tuple[list[str], np.ndarray]

    def draw(self, rng: np.random.Generator, tally: Counter[Class]) -> tuple[Draw, str]:
        """A request and its wish: now and then one that cannot be answered.

        Of the others one for the class that was drawn least so far. Within a class, senses come up by the
        square root of how often people have them, and so do matters.
        """
        if self.matters[0] and rng.random() < UNANSWERABLE:
            return self._unanswerable(rng)
        least = min(tally[c] for c in self.senses)
        rarest = [c for c in self.senses if tally[c] == least]
        senses, shares = self.senses[rarest[rng.integers(len(rarest))]]
        sense = senses[rng.choice(len(senses), p=shares)]
        texts = self.phrases.asked[sense]
        changes = tuple(_changes(sense, rng))
        tally.update(classes_of(DrawnWish(Flavour.ASK, changes).intents))
        return _drawn(changes, rng), texts[rng.integers(len(texts))]

    def _unanswerable(self, rng: np.random.Generator) -> tuple[Draw, str]:
        names, shares = self.matters
        matter = names[rng.choice(len(names), p=shares)]
        texts = self.phrases.unanswerable[matter]
        return Draw(DrawnWish(Flavour.UNANSWERABLE, matter=matter)), texts[rng.integers(len(texts))]


def echoes(phrases: Phrases) -> Echoes:
    """Of all requests that were surely understood."""
    senses: dict[Class, tuple[list[Sense], np.ndarray]] = {}
    for wanted in CLASSES:
        found = [s for s in phrases.asked if wanted in {(a, sign) for a, sign, _ in s[0]}]
        if found:
            senses[wanted] = found, _shares([len(phrases.asked[sense]) for sense in found])
    matters = list(phrases.unanswerable)
    return Echoes(phrases, senses, (matters, _shares([len(phrases.unanswerable[m]) for m in matters])))


def _shares(counts: Sequence[int]) -> np.ndarray:
    """By square roots."""
    roots = np.array(counts, float) ** 0.5
    shares: np.ndarray = roots / max(roots.sum(), 1e-9)
    return shares


def _drawn(changes: tuple[PhotoChange, ...], rng: np.random.Generator) -> Draw:
    mends = not any(change.kind is ChangeKind.MONOCHROME for change in changes) and rng.random() < COMPLAINTS
    if mends:
        return Draw(DrawnWish(Flavour.DEFECT, changes), before=undone(changes))
    return Draw(DrawnWish(Flavour.ASK, changes), after=changes)


def _changes(sense: Sense, rng: np.random.Generator) -> Iterator[PhotoChange]:
    """A colour that is named, where it asks for just this; the usual change of each attribute left."""
    intents, named = sense
    left = {(attribute, sign): size for attribute, sign, size in sorted(intents)}
    for colour in sorted(named & COLOURS.keys()):
        for change in (PhotoChange(ChangeKind.COLOUR, sign, colour=colour) for sign in (1, -1)):
            wanted = classes_of(change.intents)
            if left.keys() >= set(wanted):
                sizes = [left.pop(c) for c in wanted]
                yield replace(change, amount=_amount(sizes[0], rng))
    for (attribute, sign), size in left.items():
        yield _usual(attribute, sign, named, _amount(size, rng))


def _usual(attribute: Attribute, sign: int, named: frozenset[str], amount: float) -> PhotoChange:
    if attribute is Attribute.COLOURFULNESS and sign < 0 and ChangeKind.MONOCHROME in named:
        return PhotoChange(ChangeKind.MONOCHROME, -1)
    kind = _KINDS[attribute]
    if kind is ChangeKind.EXPOSURE:
        kind = next((k for k in (ChangeKind.SHADOWS, ChangeKind.HIGHLIGHTS) if k in named), kind)
    return PhotoChange(kind, sign, amount)


def _amount(size: str, rng: np.random.Generator) -> float:
    return round(float(rng.uniform(*AMOUNTS[size])), 2)
