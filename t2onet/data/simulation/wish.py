"""What somebody may want of a photo, before it is put into words or into pixels.

A wish is drawn once; `edits.py` turns it into a picture and `sentences.py` into a request, and neither knows
the other. Its intents are the labels of the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import cos, radians, sin

from ...language import Attribute, Intent


class ChangeKind(StrEnum):
    """Photographic changes, each with a sign."""

    EXPOSURE = "exposure"
    CONTRAST = "contrast"
    CHROMA = "chroma"
    TEMPERATURE = "temperature"
    TINT = "tint"
    SHADOWS = "shadows"
    HIGHLIGHTS = "highlights"
    SHARPNESS = "sharpness"
    MONOCHROME = "monochrome"
    COLOUR = "colour"


_ATTRIBUTES = {
    ChangeKind.EXPOSURE: Attribute.LIGHTNESS,
    ChangeKind.SHADOWS: Attribute.LIGHTNESS,
    ChangeKind.HIGHLIGHTS: Attribute.LIGHTNESS,
    ChangeKind.CONTRAST: Attribute.CONTRAST,
    ChangeKind.CHROMA: Attribute.COLOURFULNESS,
    ChangeKind.MONOCHROME: Attribute.COLOURFULNESS,
    ChangeKind.TEMPERATURE: Attribute.WARMTH,
    ChangeKind.TINT: Attribute.REDNESS,
    ChangeKind.SHARPNESS: Attribute.SHARPNESS,
}

COLOUR = (Attribute.COLOURFULNESS, Attribute.WARMTH, Attribute.REDNESS)
"""What `the colours` of a photo are made up of."""
COLOURS = {
    "red": 35.0,
    "orange": 65.0,
    "yellow": 95.0,
    "green": 150.0,
    "teal": 200.0,
    "blue": 270.0,
    "purple": 315.0,
    "pink": 0.0,
}
"""Hue angles in the plane of CIELAB a* (0 degrees) and b* (90 degrees)."""
_FAINT = 0.35
"""A colour whose direction has a smaller part than this along an attribute does not ask for it."""


@dataclass(frozen=True)
class PhotoChange:
    """One photographic change; an amount of 1 is the plain request, `a touch` about .4, `a lot` about 2.

    `spoken` is an amount said as a figure, such as (2, "stops") or (20, "percent").
    """

    kind: ChangeKind
    sign: int
    amount: float = 1.0
    colour: str = ""
    spoken: tuple[float, str] | None = None

    @property
    def intents(self) -> tuple[Intent, ...]:
        """What it asks for. Less of a colour asks for its opposite; monochrome is always less colour."""
        if self.kind is ChangeKind.MONOCHROME:
            return (Intent(Attribute.COLOURFULNESS, -1, self.amount),)
        if self.kind is not ChangeKind.COLOUR:
            return (Intent(_ATTRIBUTES[self.kind], self.sign, self.amount),)
        angle = radians(COLOURS[self.colour])
        parts = ((Attribute.REDNESS, cos(angle)), (Attribute.WARMTH, sin(angle)))
        return tuple(
            Intent(attribute, self.sign if part > 0 else -self.sign, self.amount)
            for attribute, part in parts
            if abs(part) > _FAINT
        )


class Flavour(StrEnum):
    """How a wish comes up."""

    ASK = "ask"
    """Do this."""
    DEFECT = "defect"
    """This is wrong with it: the photo has been degraded, and the changes mend it."""
    VAGUE = "vague"
    """A mood or "make it better", without naming a change."""
    UNANSWERABLE = "unanswerable"
    """Nothing a global operation can do; there are no changes."""


@dataclass(frozen=True)
class DrawnWish:
    """Changes wanted together, and attributes that must stay.

    `mood` names a vague wish ("better", "moody", ...); `matter` what an unanswerable one is about ("crop").
    """

    flavour: Flavour
    changes: tuple[PhotoChange, ...] = ()
    untouched: tuple[Attribute, ...] = ()
    mood: str = ""
    matter: str = ""

    @property
    def intents(self) -> tuple[Intent, ...]:
        """Of all changes; where two disagree on an attribute, neither asks for it."""
        found = [intent for change in self.changes for intent in change.intents]
        signs: dict[Attribute, set[int]] = {}
        for intent in found:
            signs.setdefault(intent.attribute, set()).add(intent.sign)
        kept = {intent.attribute: intent for intent in found if len(signs[intent.attribute]) == 1}
        return tuple(kept.values())
