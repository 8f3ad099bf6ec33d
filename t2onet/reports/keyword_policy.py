"""The baseline: rules read the request, and each attribute has one fixed edit.

What a network is measured against. It has no idea what a photo looks like.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..language import Attribute, Intent
from ..language.grams import words
from ..language.keywords import keywords
from ..operations.curves import PIECES
from ..policy import EDIT, Answer, Thought

_CHANNELS = {Attribute.WARMTH: (1.0, 0.2, -1.0), Attribute.REDNESS: (1.0, -1.0, 0.6)}
"""How red, green and blue move for a cast, at an amount of 1 in units of `_CAST`."""
_CAST = 0.1
_NUMBERS = {
    Attribute.LIGHTNESS: ("brightness", 0.25),
    Attribute.CONTRAST: ("contrast", 0.3),
    Attribute.COLOURFULNESS: ("saturation", 0.3),
    Attribute.SHARPNESS: ("sharpness", 0.4),
}
_VAGUE = (Intent(Attribute.CONTRAST, 1, 0.7), Intent(Attribute.COLOURFULNESS, 1, 0.7))


class KeywordPolicy:
    """Answers requests by rules."""

    side = 128

    def answer(self, picture: np.ndarray, request: str, manner: str) -> Answer:
        reading = keywords(request)
        if reading.unanswerable:
            return Answer("unanswerable", tuple(words(request)))
        intents = reading.intents or (_VAGUE if reading.vague else ())
        return Answer(EDIT, tuple(words(request)), tuple(_thoughts(intents)))


def _thoughts(intents: tuple[Intent, ...]) -> Iterator[Thought]:
    for intent in intents:
        moved = intent.sign * intent.amount
        if intent.attribute in _CHANNELS:
            yield Thought("color", _curves(intent.attribute, moved))
        else:
            name, unit = _NUMBERS[intent.attribute]
            yield Thought(
                name, (max(-0.9, unit * moved) if name != "sharpness" else max(-0.25, unit * moved),)
            )


def _curves(attribute: Attribute, moved: float) -> tuple[float, ...]:
    """A power curve for each channel: white and black stay, the middle moves."""
    knots = np.linspace(0, 1, PIECES + 1)
    rises = []
    for part in _CHANNELS[attribute]:
        curve = knots ** (2.0 ** (-part * moved * 4 * _CAST))
        rises += (np.diff(curve) * PIECES).tolist()
    return tuple(float(np.clip(rise, 0.02, 8.0)) for rise in rises)
