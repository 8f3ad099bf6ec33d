"""Wishes drawn at random: evenly over attributes and signs; flavours, amounts and figures in stated shares.

Knows no pixels: whether a photo can show a wish is found out in `draw.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ...language import Attribute, Intent
from .grammar.matters import MATTERS
from .moods import FAULTS, MOODS
from .strengths import amount_of
from .wish import COLOURS, ChangeKind, DrawnWish, Flavour, PhotoChange

T = TypeVar("T")
Class = tuple[Attribute, int]
"""An attribute and a sign: what following is averaged over."""

CLASSES: tuple[Class, ...] = tuple((attribute, sign) for attribute in Attribute for sign in (1, -1))
FLAVOURS = {Flavour.ASK: 0.58, Flavour.DEFECT: 0.2, Flavour.VAGUE: 0.12, Flavour.UNANSWERABLE: 0.1}
CHANGES = {1: 0.6, 2: 0.28, 3: 0.12}
"""How many changes are wanted together."""
AMOUNTS = {
    (0.25, 0.35): 0.05,
    (0.36, 0.7): 0.27,
    (0.8, 1.12): 0.38,
    (1.2, 1.42): 0.08,
    (1.6, 2.4): 0.16,
    (2.6, 3.2): 0.06,
}
"""Ranges of amounts: a hint, a touch, plainly, fairly, a lot, extremely."""
MENDS = 0.5
"""Share of vague wishes that want the photo mended; the others want a mood."""
FAULTY = {2: 0.6, 3: 0.4}
"""How many faults such a photo has."""
PARTS = {"local_light": 0.15, "recolour_object": 0.15}
"""Shares of unanswerable wishes that want a part of the photo changed; other matters share the rest."""
_MATTERS = dict.fromkeys(MATTERS, (1 - sum(PARTS.values())) / (len(MATTERS) - len(PARTS))) | PARTS
FIGURES, EXPOSURE_FIGURES = 0.1, 0.3
"""Share of changes, and of exposures, whose amount is said as a figure."""
STOPS = (0.3, 0.5, 1.0, 1.5, 2.0)
PERCENT = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 75.0)
LEAST, MOST = 0.25, 3.2
"""Amounts a figure may stand for: visible, and not a wreck."""

KINDS: dict[Attribute, dict[ChangeKind, float]] = {
    Attribute.LIGHTNESS: {ChangeKind.EXPOSURE: 0.6, ChangeKind.SHADOWS: 0.2, ChangeKind.HIGHLIGHTS: 0.2},
    Attribute.CONTRAST: {ChangeKind.CONTRAST: 1.0},
    Attribute.COLOURFULNESS: {ChangeKind.CHROMA: 0.75, ChangeKind.MONOCHROME: 0.25},
    Attribute.WARMTH: {ChangeKind.TEMPERATURE: 0.6, ChangeKind.COLOUR: 0.4},
    Attribute.REDNESS: {ChangeKind.TINT: 0.5, ChangeKind.COLOUR: 0.5},
    Attribute.SHARPNESS: {ChangeKind.SHARPNESS: 1.0},
}
"""By which changes an attribute is asked for, in what shares."""


@dataclass(frozen=True)
class Draw:
    """A wish, and the edits that turn a photo into its before and its after."""

    wish: DrawnWish
    before: tuple[PhotoChange, ...] = ()
    after: tuple[PhotoChange, ...] = ()


def chosen(shares: dict[T, float], rng: np.random.Generator) -> T:
    return list(shares)[rng.choice(len(shares), p=list(shares.values()))]


def drawn(
    flavour: Flavour, rng: np.random.Generator, tally: Counter[Class], avoided: Collection[Class] = ()
) -> Draw:
    """A wish of this flavour; for the classes that were drawn least so far, but for those avoided."""
    if flavour is Flavour.UNANSWERABLE:
        return Draw(DrawnWish(flavour, matter=chosen(_MATTERS, rng)))
    if flavour is Flavour.VAGUE:
        return _vague(rng)
    changes = tuple(_changes(flavour, rng, tally, avoided))
    if flavour is Flavour.DEFECT:
        return Draw(DrawnWish(flavour, changes), before=undone(changes))
    return Draw(DrawnWish(flavour, changes), after=changes)


def classes_of(intents: Sequence[Intent]) -> list[Class]:
    return [(intent.attribute, intent.sign) for intent in intents]


def _vague(rng: np.random.Generator) -> Draw:
    mood = str(rng.choice(list(FAULTS if rng.random() < MENDS else MOODS)))
    extent = float(rng.uniform(0.7, 1.3))
    if mood in MOODS:
        changes = _scaled(MOODS[mood], extent)
        return Draw(DrawnWish(Flavour.VAGUE, changes, mood=mood), after=changes)
    faults = _scaled(_compatible(FAULTS[mood], chosen(FAULTY, rng), rng), extent)
    return Draw(DrawnWish(Flavour.VAGUE, undone(faults), mood=mood), before=faults)


def _compatible(faults: Sequence[PhotoChange], count: int, rng: np.random.Generator) -> list[PhotoChange]:
    """Some of the faults, each of another kind."""
    kinds: dict[ChangeKind, PhotoChange] = {}
    for index in rng.permutation(len(faults)):
        kinds.setdefault(faults[index].kind, faults[index])
    return list(kinds.values())[:count]


def _scaled(changes: Sequence[PhotoChange], extent: float) -> tuple[PhotoChange, ...]:
    return tuple(
        change
        if change.kind is ChangeKind.MONOCHROME
        else replace(change, amount=round(change.amount * extent, 2))
        for change in changes
    )


def undone(changes: Sequence[PhotoChange]) -> tuple[PhotoChange, ...]:
    return tuple(replace(change, sign=-change.sign) for change in changes)


def _changes(
    flavour: Flavour, rng: np.random.Generator, tally: Counter[Class], avoided: Collection[Class]
) -> Iterator[PhotoChange]:
    """One to three changes that ask for different attributes."""
    counted, taken = Counter(tally), set[Attribute]()
    for _ in range(chosen(CHANGES, rng)):
        wanted = _least(counted, taken, avoided, rng)
        if wanted is None:
            return
        change = _change(wanted, flavour, taken, rng)
        counted.update(classes_of(change.intents))
        taken.update(intent.attribute for intent in change.intents)
        if change.kind is ChangeKind.MONOCHROME:
            taken.update((Attribute.WARMTH, Attribute.REDNESS))
        yield change


def _least(
    counted: Counter[Class],
    taken: set[Attribute],
    avoided: Collection[Class],
    rng: np.random.Generator,
) -> Class | None:
    open_classes = [c for c in CLASSES if c[0] not in taken and c not in avoided]
    if not open_classes:
        return None
    least = min(counted[c] for c in open_classes)
    rarest = [c for c in open_classes if counted[c] == least]
    return rarest[rng.integers(len(rarest))]


def _change(wanted: Class, flavour: Flavour, taken: set[Attribute], rng: np.random.Generator) -> PhotoChange:
    attribute, sign = wanted
    kind = chosen(KINDS[attribute], rng)
    if kind is ChangeKind.MONOCHROME:
        if sign < 0 and flavour is Flavour.ASK and not taken:
            return PhotoChange(kind, -1)
        kind = ChangeKind.CHROMA
    if kind is ChangeKind.COLOUR:
        options = [c for c in _colours(wanted) if taken.isdisjoint(i.attribute for i in c.intents)]
        change = options[rng.integers(len(options))]
    else:
        change = PhotoChange(kind, sign)
    figures = EXPOSURE_FIGURES if kind is ChangeKind.EXPOSURE else FIGURES
    if flavour is Flavour.ASK and rng.random() < figures:
        return _with_figure(change, rng)
    low, high = chosen(AMOUNTS, rng)
    return replace(change, amount=round(float(rng.uniform(low, high)), 2))


def _colours(wanted: Class) -> list[PhotoChange]:
    """More or less of each named colour that asks for this."""
    changes = [PhotoChange(ChangeKind.COLOUR, sign, colour=colour) for colour in COLOURS for sign in (1, -1)]
    return [change for change in changes if wanted in classes_of(change.intents)]


def _with_figure(change: PhotoChange, rng: np.random.Generator) -> PhotoChange:
    in_stops = change.kind is ChangeKind.EXPOSURE and rng.random() < 0.5
    unit, figures = ("stops", STOPS) if in_stops else ("percent", PERCENT)
    meant = {figure: amount_of(change.kind, change.sign, figure, unit) for figure in figures}
    usual = [figure for figure, amount in meant.items() if LEAST <= amount <= MOST]
    figure = usual[rng.integers(len(usual))]
    return replace(change, amount=round(meant[figure], 3), spoken=(figure, unit))
