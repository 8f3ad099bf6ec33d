"""A request read by rules: the plain baseline a network must beat, and the labeller of real sentences.

Words are looked up one by one; what goes up or down is taken from the nearest verb before them. It reads
plain requests well and stories badly; `confident` says which of the two it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from .intent import Attribute, Intent
from .terms import (
    AMOUNTS,
    COLOURS,
    COMPLAINING,
    DOWN,
    FILLERS,
    IMPOSSIBLE,
    JOINED,
    KEEPING,
    LOCAL,
    NAMES,
    NEUTRAL,
    SPELLINGS,
    STATES,
    TERMS,
    UP,
    VAGUE,
    WANTING,
    WEAK,
)


@dataclass(frozen=True)
class KeywordReading:
    """What a request seems to ask for.

    `confident` is set where nearly every word was understood and nothing contradicts.
    """

    intents: tuple[Intent, ...] = ()
    untouched: tuple[Attribute, ...] = ()
    unanswerable: bool = False
    vague: bool = False
    confident: bool = False


@dataclass
class _Notes:
    """What has been gathered from the clauses so far."""

    intents: list[Intent] = field(default_factory=list)
    untouched: list[Attribute] = field(default_factory=list)
    impossible: bool = False
    local: bool = False
    keeping: bool = False
    complaining: bool = False
    vague: bool = False
    known: int = 0
    strange: int = 0


_CLAUSES = re.compile(r"[.,;!?:\n]+|\b(?:and|but|then|plus|also|while|yet)\b|(?=\bwithout\b)|&| - ")
_GOALS = re.compile(
    r"\b(?:so (?:that |the |it |its |i |we |you |they |there )|in order to\b"
    r"|to (?:simulate|show|reveal|see|look like|define|bring out the details)\b)[^.,;!?]*"
)
_TOKENS = re.compile(r"[+-]?\d+(?:\.\d+)?|[a-z_]+|[%+]|(?<![a-z])-(?=[a-z ]|$)")


def keywords(request: str) -> KeywordReading:
    """Read a request by its words."""
    text = _plain(request)
    notes = _read(_GOALS.sub(" ", text))
    return _concluded(notes if notes.intents else _read(text))


def _plain(request: str) -> str:
    """In small letters, American spelling, with expressions of several words made one."""
    text = request.lower().replace("’", "'").replace("'", "")
    for pattern, replacement in JOINED:
        text = pattern.sub(replacement, text)
    return text


def _read(text: str) -> _Notes:
    notes = _Notes()
    direction = 0
    for clause in _CLAUSES.split(text):
        tokens = [_respelt(token) for token in _TOKENS.findall(clause)]
        direction = _read_clause(tokens, direction, notes)
    return notes


@lru_cache(maxsize=16384)
def _respelt(token: str) -> str:
    """A known word for one that is a letter away from it."""
    if token in SPELLINGS or token in _KNOWN or len(token) < 6:
        return SPELLINGS.get(token, token)
    near = {_SHORTENED[short] for short in _shortened(token) if short in _SHORTENED}
    return near.pop() if len(near) == 1 else token


def _shortened(word: str) -> set[str]:
    """The word, and what is left of it without one of its letters."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _read_clause(tokens: list[str], direction: int, notes: _Notes) -> int:
    """Note what one clause says; `direction` is what the clause before left standing, and is handed on."""
    known = [token for token in tokens if token in _KNOWN or token[-1].isdigit()]
    meant = [token for token in tokens if token in TERMS or token in COLOURS or token in STATES]
    names = [NAMES[token] for token in tokens if token in NAMES]
    if KEEPING & set(tokens) or (notes.keeping and names and not (UP | DOWN | WANTING) & set(tokens)):
        notes.untouched += names
        notes.keeping = True
        return 0
    notes.keeping = False
    if IMPOSSIBLE & set(tokens) or _takes_away_a_thing(tokens):
        notes.impossible = True
        return 0
    notes.local |= bool((meant or NEUTRAL & set(tokens)) and LOCAL & set(tokens))
    notes.vague |= bool(VAGUE & set(tokens))
    if not meant:
        return _last_direction(tokens) or direction
    notes.known += len(known)
    notes.strange += len(tokens) - len(known)
    scan = _Scan(tokens, direction, notes.complaining)
    notes.complaining = scan.complaint
    notes.intents += scan.intents(_amount(tokens))
    return scan.direction


def _takes_away_a_thing(tokens: list[str]) -> bool:
    """`remove the lamp post`: a verb that takes away or adds, and nothing photographic after it."""
    at = next((at for at, token in enumerate(tokens) if token in {"remove", "add", "put", "insert"}), None)
    if at is None:
        return False
    after = tokens[at + 1 :]
    return bool(set(after) - FILLERS) and not any(token in _PHOTOGRAPHIC for token in after)


class _Scan:
    """One clause from left to right."""

    def __init__(self, tokens: list[str], direction: int, complaining: bool) -> None:
        self.tokens = tokens
        asked = WANTING & set(tokens)
        self.direction = 0 if asked else direction
        begun = complaining and not (asked or (UP | DOWN) & set(tokens))
        self.complaint = begun or (bool(COMPLAINING & set(tokens)) and not asked)
        self.cast = bool({"cast", "tint", "tinge"} & set(tokens))

    def intents(self, amount: float) -> Iterator[Intent]:
        for at, token in enumerate(self.tokens):
            if token in UP or token in DOWN:
                self.direction = 1 if token in UP else -1
            for attribute, sign in self._meant(at, token):
                yield Intent(attribute, sign, amount)

    def _meant(self, at: int, token: str) -> Iterable[tuple[Attribute, int]]:
        if token in STATES:
            attribute, sign = STATES[token]
            return ((attribute, sign * self._turn(at)),)
        if token in COLOURS:
            turn = self._turn(at, colour=True)
            meanings = COLOURS[token][:1] if self.cast else COLOURS[token]
            return tuple((attribute, sign * turn) for attribute, sign in meanings) if turn else ()
        if token not in TERMS:
            return ()
        attribute, sign, needs_verb = TERMS[token]
        if not needs_verb:
            self.direction = 0
            return ((attribute, -sign if self._reversed(at) else sign),)
        turn = self.direction or (self._weak if self.complaint else 0)
        return ((attribute, sign * turn),) if turn else ()

    @property
    def _weak(self) -> int:
        """What a complaint about a quantity wants: more where it is too weak."""
        return 1 if WEAK & set(self.tokens) else -1

    def _reversed(self, at: int) -> bool:
        """`less contrasty`, `darker than I would like`."""
        if self.tokens[at] == "monochrome":
            return False
        than = bool(COMPLAINING & set(self.tokens)) and "than" in self.tokens[at + 1 : at + 2]
        return than or bool(_REVERSING & set(self.tokens[max(at - 3, 0) : at]))

    def _turn(self, at: int, *, colour: bool = False) -> int:
        """Whether a quality at `at` is wanted (1) or not (-1); 0 where that is not said."""
        before = self.tokens[max(at - 4, 0) : at]
        if "too" in before or "so" in before[-1:]:
            return -1
        said = next((word for word in reversed(before) if word in _ADDING or word in _REVERSING), None)
        if said:
            return 1 if said in _ADDING else -1
        if self.complaint:
            return self._weak if colour else -1
        if not colour or self.tokens[at].endswith("er"):
            return 1
        return self.direction or (1 if WANTING & set(self.tokens) else 0)


_ADDING = frozenset({"more", "add", "give", "increase", "raise"})
_REVERSING = frozenset({"less", "not", "isnt", "reduce", "remove", "undo", "lower"})


def _last_direction(tokens: list[str]) -> int:
    found = [1 if token in UP else -1 for token in tokens if token in UP or token in DOWN]
    return found[-1] if found else 0


def _amount(tokens: list[str]) -> float:
    """How much a clause asks for: by its figure, else by its strongest word."""
    for at, token in enumerate(tokens[:-1]):
        if token[-1].isdigit() and (scale := _UNITS.get(tokens[at + 1])):
            return max(min(abs(float(token)) / scale, 4.0), 0.1)
    told = [AMOUNTS[token] for token in tokens if token in AMOUNTS]
    return max(told, key=lambda amount: abs(amount - 1.0)) if told else 1.0


_UNITS = {"stop": 1.0, "stops": 1.0, "ev": 1.0, "percent": 20.0, "%": 20.0}
"""How many of each make a plain request."""


def _concluded(notes: _Notes) -> KeywordReading:
    signs: dict[Attribute, set[int]] = {}
    for intent in notes.intents:
        signs.setdefault(intent.attribute, set()).add(intent.sign)
    kept = {intent.attribute: intent for intent in notes.intents if len(signs[intent.attribute]) == 1}
    impossible = notes.impossible or notes.local
    clean = len(kept) == len(signs) and notes.strange <= notes.known // 3 and notes.known < _LONG
    intents = () if impossible else tuple(kept.values())
    vague = notes.vague and not kept and not impossible
    return KeywordReading(
        intents=intents,
        untouched=tuple(dict.fromkeys(name for name in notes.untouched if name not in signs)),
        unanswerable=impossible,
        vague=vague,
        confident=(notes.impossible and not kept) if impossible else vague or (bool(kept) and clean),
    )


_LONG = 40
"""Words after which a request is a story."""
_PHOTOGRAPHIC = TERMS.keys() | COLOURS.keys() | STATES.keys() | NAMES.keys() | VAGUE
_KNOWN = _PHOTOGRAPHIC | UP | DOWN | AMOUNTS.keys() | FILLERS | KEEPING | COMPLAINING | WANTING | LOCAL
_SHORTENED = {short: word for word in sorted(_PHOTOGRAPHIC) if len(word) > 5 for short in _shortened(word)}
"""What typing errors are looked up in."""
