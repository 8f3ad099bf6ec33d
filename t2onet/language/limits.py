"""What a request holds back: `without changing the colours`, `but not darker`, `not too much`.

Such clauses are found by their form and taken out of what is left to be read; a clause of any other form, or
about anything that cannot be measured, stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .intent import Attribute
from .keywords import keywords
from .limit_words import CLAUSE, JOINS, LOSING
from .terms import AMOUNTS, COLOURS, NAMES, STATES, TERMS

GENTLY = 0.5
"""What is left of a plain amount that must not be too much."""
_LONG = 1000
"""Characters after which limits are no longer looked for."""
_EVERY_COLOUR = (Attribute.COLOURFULNESS, Attribute.WARMTH, Attribute.REDNESS)
_QUALITIES = {
    **{word: ((attribute, sign),) for word, (attribute, sign, by_verb) in TERMS.items() if not by_verb},
    **COLOURS,
    **{word: (meaning,) for word, meaning in STATES.items()},
}
"""What each word for a quality is more or less of."""
_OVERDONE = {"saturat": Attribute.COLOURFULNESS, "expos": Attribute.LIGHTNESS, "sharp": Attribute.SHARPNESS}


@dataclass(frozen=True)
class Limit:
    """An attribute that must not become more (+1) or less (-1) than it is, or neither (0)."""

    attribute: Attribute
    sign: int = 0


@dataclass(frozen=True)
class Limited:
    """A request without its limits, the limits, the words that said them, and whether little is wanted."""

    request: str
    limits: tuple[Limit, ...] = ()
    said: tuple[str, ...] = ()
    gentle: bool = False


def limited(request: str) -> Limited:
    """What is left to be read of a request, and what it is held to.

    What the rest asks for is not held back but wanted gently: `warmer, but not too warm`. A request of limits
    alone is left as it is.
    """
    if len(request) > _LONG:
        return Limited(request)
    plain = " ".join(request.replace("’", "'").split())
    found = [
        (clause, tuple(_limits(clause["said"], bool(clause["staying"])))) for clause in CLAUSE.finditer(plain)
    ]
    rest = _without(plain, [clause.span() for clause, _ in found])
    if not found or not any(letter.isalnum() for letter in rest):
        return Limited(request)
    asked = {(intent.attribute, intent.sign) for intent in keywords(rest).intents}
    about = {attribute for attribute, _ in asked}
    limits = tuple(dict.fromkeys(limit for _, limits in found for limit in limits))
    wanted = any((limit.attribute, limit.sign) in asked for limit in limits)
    return Limited(
        request=rest,
        limits=tuple(limit for limit in limits if limit.attribute not in about),
        said=tuple(clause["said"] for clause, _ in found),
        gentle=(wanted or any(clause["little"] for clause, _ in found)) and not _small(rest),
    )


def _without(request: str, spans: list[tuple[int, int]]) -> str:
    """The text outside of `spans`, without what joined them to it."""
    kept, at = [], 0
    for begin, end in spans:
        kept.append(request[at:begin])
        at = end
    return JOINS.sub("", "".join([*kept, request[at:]]))


def _small(request: str) -> bool:
    """Whether a word for a small amount is there already."""
    return any(AMOUNTS.get(word, 1.0) < 1 for word in re.findall(r"\w+", request.lower()))


def _limits(said: str, staying: bool) -> Iterator[Limit]:
    """`staying` is said of a quality that must not be lost."""
    words = re.findall(
        r"\w+", said.lower().replace("colour", "color").replace("white balance", "temperature")
    )
    way = -1 if staying or LOSING & set(words) else 1 if "more" in words else 0
    for word in words:
        if word in ("color", "colors"):
            yield from (Limit(attribute, way) for attribute in _EVERY_COLOUR[: 1 if way else 3])
        elif word.startswith("over"):
            yield from (Limit(attribute, 1) for stem, attribute in _OVERDONE.items() if stem in word)
        elif word in NAMES or word in _QUALITIES:
            yield from _held(word, way)


def _held(word: str, way: int) -> Iterator[Limit]:
    """`darker` keeps lightness from falling, `contrast` keeps it as it is, `losing contrast` from falling."""
    if word not in _QUALITIES:
        yield Limit(NAMES[word], way)
        return
    for attribute, sign in _QUALITIES[word]:
        if NAMES.get(word, attribute) is attribute:
            yield Limit(attribute, -sign if way < 0 else sign)
