"""What a request asks for: wishes, each with its words; and intents, as labels state it.

The tables of wishes are the reader's vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ..operations import Attribute
from .quantities import Quantity

CHANGES = (
    "lightness", "contrast", "colour", "warmth", "tint", "cast", "sharpness", "clarity", "haze", "noise",
    "grain", "vignette", "fade", "punch", "black_and_white",
)  # fmt: skip
"""Changes of light, colour and detail; a cast is towards or away from a hue, punch is contrast and colour."""
DIRECTED_CHANGES = tuple(what for what in CHANGES if what != "black_and_white")
"""Changes that go one way or the other; `Direction.NONE`, the last direction, is not for them."""
STYLES = ("auto", "look")
"""Wishes whose changes come from the photo itself or from a named look."""
GEOMETRY = ("crop", "rotate", "straighten", "flip")
IMPOSSIBLE = (
    "remove", "add", "recolour", "replace_background", "blur", "text", "redraw", "retouch", "move", "resize",
    "other",
)  # fmt: skip
"""What no operation can do."""
COMMANDS = (
    "undo", "redo", "reset", "more", "less", "reverse", "original", "next", "copy", "save", "question",
)  # fmt: skip
"""What is said to the program, about the edit rather than the photo."""
FOREIGN = "foreign"
"""A request in a language that the reader has not learned."""
WHATS = (*CHANGES, *STYLES, *GEOMETRY, *IMPOSSIBLE, *COMMANDS, FOREIGN)

ZONES = ("shadows", "midtones", "highlights", "whites", "blacks")
RANGES = ("reds", "oranges", "yellows", "greens", "aquas", "blues", "purples", "magentas")
PLACES = (
    "sky", "subject", "background", "foreground", "person", "face", "skin", "hair", "vegetation", "water",
    "building", "ground", "top", "bottom", "left", "right", "centre", "edges", "thing", "rest",
)  # fmt: skip
WHOLE = "whole"
WHERES = (WHOLE, *ZONES, *RANGES, *PLACES)
"""Parts of a photo: tonal zones, ranges of hue, and places; a thing is any other object, and the rest is all
that the other wishes are not about."""
HUES = ("red", "orange", "yellow", "green", "aqua", "blue", "purple", "magenta")


class Direction(StrEnum):
    """Which way a wish goes."""

    UP = "up"
    DOWN = "down"
    FIX = "fix"
    """To where it should be, whichever way that is."""
    NONE = "none"


class Amount(StrEnum):
    """How much, where no number is stated."""

    LITTLE = "little"
    PLAIN = "plain"
    MUCH = "much"


class Role(StrEnum):
    """What a wish is there for."""

    ASK = "ask"
    LIMIT = "limit"
    """Something to respect while other wishes are met."""
    QUESTION = "question"
    """The person asks about it."""


class Verb(StrEnum):
    """What a wish does to the changes that were made before."""

    CHANGE = "change"
    """Go on from where the photo is."""
    SET = "set"
    """Move a slider to the stated number: "contrast to 20"."""
    ADD = "add"
    """Add to what was done: "another half stop"."""
    CANCEL = "cancel"
    """Take that change back: "undo the contrast", "reset the shadows"."""
    REPLACE = "replace"
    """Take the place of the last change: "no, I meant the shadows"."""


class Outcome(StrEnum):
    """What became of a wish."""

    DONE = "done"
    KEPT = "kept"
    """A limit that was respected."""
    DECLINED = "declined"


@dataclass(frozen=True)
class Wish:
    """One thing that a request asks for.

    `words` are the words of the request that say so, in order, and `head` is the one that says what changes;
    `start` is where the head begins in the request. `looks` are the nearest looks, best first, with their
    scores. `outcome` and `reason` say what became of the wish, once it was tried.
    """

    what: str
    direction: Direction = Direction.NONE
    amount: Amount = Amount.PLAIN
    where: str = WHOLE
    hue: str = ""
    role: Role = Role.ASK
    verb: Verb = Verb.CHANGE
    quantity: Quantity | None = None
    words: tuple[str, ...] = ()
    head: str = ""
    start: int = 0
    looks: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    outcome: Outcome | None = None
    reason: str = ""


_ATTRIBUTES: dict[str, tuple[tuple[Attribute, int], ...]] = {
    "lightness": ((Attribute.LIGHTNESS, 1),),
    "contrast": ((Attribute.CONTRAST, 1),),
    "colour": ((Attribute.COLOURFULNESS, 1),),
    "warmth": ((Attribute.WARMTH, 1),),
    "tint": ((Attribute.REDNESS, 1),),
    "sharpness": ((Attribute.SHARPNESS, 1),),
    "haze": ((Attribute.CONTRAST, -1),),
    "fade": ((Attribute.CONTRAST, -1),),
    "punch": ((Attribute.CONTRAST, 1), (Attribute.COLOURFULNESS, 1)),
}
"""The attributes that more of a change moves, and which way."""
_HUE_ATTRIBUTES: dict[str, tuple[tuple[Attribute, int], ...]] = {
    "red": ((Attribute.REDNESS, 1),),
    "orange": ((Attribute.WARMTH, 1),),
    "yellow": ((Attribute.WARMTH, 1),),
    "green": ((Attribute.REDNESS, -1),),
    "aqua": ((Attribute.WARMTH, -1),),
    "blue": ((Attribute.WARMTH, -1),),
    "purple": ((Attribute.REDNESS, 1), (Attribute.WARMTH, -1)),
    "magenta": ((Attribute.REDNESS, 1),),
}
"""The attributes that more of a hue must move, and which way."""


def get_attributes(
    what: str, direction: Direction, where: str = WHOLE, hue: str = ""
) -> tuple[tuple[Attribute, int], ...]:
    """The attributes that a wish asks to move, and which way; none for a wish without a direction."""
    if what == "black_and_white":
        return ((Attribute.COLOURFULNESS, -1),)
    sign = {Direction.UP: 1, Direction.DOWN: -1}.get(direction)
    if sign is None:
        return ()
    if what == "colour" and where in RANGES:
        what, hue = "cast", HUES[RANGES.index(where)]
    found = _HUE_ATTRIBUTES[hue] if what == "cast" and hue else _ATTRIBUTES.get(what, ())
    return tuple((attribute, sign * way) for attribute, way in found)


@dataclass(frozen=True)
class Intent:
    """What a label says: more (+1) or less (-1) of an attribute; an amount of 1 is the plain sentence's."""

    attribute: Attribute
    sign: int
    amount: float = 1.0


AMOUNTS: dict[str, float] = {Amount.LITTLE: 0.4, Amount.PLAIN: 1.0, Amount.MUCH: 2.0}
"""The amount of an intent by the class of its amount word: `a bit`, none (or a figure), `a lot`."""


def parse_intent(ask: str) -> Intent:
    """`contrast-:little` as an intent."""
    signed, _, amount = ask.partition(":")
    return Intent(Attribute(signed[:-1]), {"+": 1, "-": -1}[signed[-1]], AMOUNTS[amount or Amount.PLAIN])


TEN_REQUESTS = (
    "Decrease the brightness.",
    "Increase the brightness.",
    "Enhance the color.",
    "Decrease the color.",
    "Improve contrast.",
    "Reduce contrast.",
    "Increase saturation.",
    "Reduce saturation.",
    "Increase the brightness a little.",
    "Increase the brightness a lot.",
)
"""The requests of the paper's appendix, with which it measures whether words matter."""
