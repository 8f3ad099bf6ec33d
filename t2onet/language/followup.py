"""What a sentence said after an edit means: take it back, more or less of it, or a request of its own.

Only words are read here; which steps of a recipe are meant, and whether any is, shows where the recipe is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from .followup_words import (
    ABSOLUTE,
    ENDS,
    FILLERS,
    PART_OF,
    PERCENT,
    PLAINER,
    REDO,
    RESTART,
    SAID,
    SHARES,
    TAKEN_BACK,
    UNDO,
)
from .intent import Intent
from .keywords import keywords
from .limits import GENTLY, limited
from .terms import AMOUNTS

MORE, LESS = 1.5, 0.6
"""What plain `more` and `less` multiply by; `a bit` and `a lot` are powers of them, by their amounts."""
_MOST = 4.0
"""The largest factor that a figure can ask for."""
_LONG = 400
"""Characters after which nobody speaks of an edit, but tells a story."""
_FILLERS = frozenset(FILLERS.split())
_WAYS = {"more": 1, "less": -1}


class Move(StrEnum):
    """What is to be done with the edit as it is."""

    UNDO = "undo"
    REDO = "redo"
    RESTART = "restart"
    SCALE = "scale"
    ASK = "ask"


_MOVES = {Move.RESTART: RESTART, Move.UNDO: UNDO, Move.REDO: REDO}


@dataclass(frozen=True)
class FollowUp:
    """One thing that is meant, and the part of the sentence that said it.

    SCALE without intents is more or less of the last change, by `sign` and `amount`. With intents it is about
    whatever carries their attributes. A `share` that was named (`half`, 0 to take it back) is all there is to
    know: sign and amounts do not matter then.
    """

    move: Move
    text: str
    sign: int = 0
    amount: float = 1.0
    share: float | None = None
    intents: tuple[Intent, ...] = ()


def factor(sign: int, amount: float) -> float:
    """What more (+1) or less (-1) by an amount multiplies by; an amount of 1 is the plain word."""
    return math.pow(MORE if sign > 0 else LESS, amount)


def followups(sentence: str) -> tuple[FollowUp, ...]:
    """What a sentence means, part by part: `too much, and sharpen it` is two things.

    Parts that speak of the edit itself are told apart as long as they come first; the rest is one request.
    """
    if len(sentence) > _LONG:
        return (FollowUp(Move.ASK, sentence),)
    return tuple(_parts(sentence))


def _parts(rest: str) -> Iterator[FollowUp]:
    """One after the other; what says nothing after the first is not heard."""
    said = any(letter.isalnum() for letter in rest)
    while said:
        first, after = _first(rest)
        meant = _about_the_edit(first.strip())
        if meant is None:
            yield _about_the_photo(rest.strip())
            return
        yield meant
        rest, said = after, bool(_telling(_plain(after)))


def _first(text: str) -> tuple[str, str]:
    """The first clause that says anything, and the rest."""
    for end in ENDS.finditer(text):
        if _telling(_plain(text[: end.start()])):
            return text[: end.start()], text[end.end() :]
    return text, ""


def _lowered(text: str) -> str:
    return text.lower().replace("’", "'").replace("'", "")


def _plain(text: str) -> str:
    """Words and figures alone."""
    return " ".join(re.findall(r"[\w.]*[\w%]", _lowered(text)))


def _telling(said: str) -> list[str]:
    return [word for word in said.split() if word not in _FILLERS]


def _about_the_edit(clause: str) -> FollowUp | None:
    """A clause that names nothing of the photo: undo, start over, more, less, half of that."""
    said = _plain(clause)
    for move, pattern in _MOVES.items():
        if pattern.fullmatch(said):
            return FollowUp(move, clause)
    share, said = _share(said)
    for pattern, word in SAID:
        said = pattern.sub(word, said)
    words = _telling(said)
    ways = {_WAYS[word] for word in words if word in _WAYS}
    strange = any(word not in AMOUNTS and word not in _WAYS for word in words)
    if strange or len(ways) > 1 or (not ways and share is None):
        return None
    sign = ways.pop() if ways else 0
    if share is not None:
        return FollowUp(Move.SCALE, clause, share=_of_all(share, sign))
    return FollowUp(Move.SCALE, clause, sign, _amount(words))


def _amount(words: list[str]) -> float:
    told = [AMOUNTS[word] for word in words if word in AMOUNTS]
    return max(told, key=lambda amount: abs(amount - 1.0), default=1.0)


def _share(said: str) -> tuple[float | None, str]:
    """A share that was named (`half` is .5, `30 %` is .3), and what else was said."""
    for pattern, share in SHARES:
        if pattern.search(said):
            return share, pattern.sub(" ", said)
    if percent := PERCENT.search(said):
        return float(percent.group(1)) / 100, PERCENT.sub(" ", said)
    return None, said


def _of_all(share: float, sign: int) -> float:
    """`half of that` is .5, `50 % more` 1.5, `30 % less` .7."""
    return min(max(1 + sign * share, 0.0) if sign else share, _MOST)


def _about_the_photo(text: str) -> FollowUp:
    """Attributes that are to be more or less than now; anything else is a request of its own.

    So is what says what must stay as it is: who answers requests holds to it.
    """
    within = limited(text)
    if within.limits:
        return FollowUp(Move.ASK, text)
    said = _lowered(within.request)
    for pattern, plainer in PLAINER:
        said = pattern.sub(plainer, said)
    if taken := TAKEN_BACK.match(said):
        return _scale(text, f"reduce {said[taken.end() :]}", 0.0)
    if PART_OF.match(said):
        share, rest = _share(said)
        return _scale(text, f"reduce {rest}", share)
    if ABSOLUTE.search(said):
        return FollowUp(Move.ASK, text)
    found = _scale(text, said, None)
    if not within.gentle:
        return found
    return replace(found, intents=tuple(replace(one, amount=one.amount * GENTLY) for one in found.intents))


def _scale(text: str, said: str, share: float | None) -> FollowUp:
    reading = keywords(said)
    if not reading.intents or not reading.confident:
        return FollowUp(Move.ASK, text)
    return FollowUp(Move.SCALE, text, share=share, intents=reading.intents)
