"""Real requests, sorted by what they ask for, to be said again where a wish asks for just that.

The sentences are the user's, given at run time; nothing of them is kept in the package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from random import Random
from typing import TypeVar

from ...language import Attribute, Intent
from ...language.keywords import KeywordReading, keywords
from .grammar.degrees import Band
from .grammar.moods import MOODS
from .judged import Meaning, held_back, judged
from .wish import COLOURS, ChangeKind, DrawnWish, Flavour

K = TypeVar("K")
UNNAMED = "something"
"""The matter of a request of which is only known that it cannot be answered."""
Labels = Mapping[str, Mapping[str, object]]
"""Operators a dataset's publisher says were used, by name, each with whether it was `local`."""

_SHORT = 12
"""Words of a vague request; longer ones go into particulars."""
LONGEST = 200
"""Characters of a real request that is used again; longer ones are stories."""

_IMPOSSIBLE = frozenset(
    {
        *("inpaint_obj", "color_bg", "crop", "rotate", "flip", "deform_obj", "flip_obj", "rotate_obj"),
        *("radial_blur", "facet_blur", "edge", "denoise"),
    }
)
"""GIER's operators that no change of the whole photo can stand for."""
_NAMED = {
    "shadows": ChangeKind.SHADOWS,
    "shadow": ChangeKind.SHADOWS,
    "highlights": ChangeKind.HIGHLIGHTS,
    "highlight": ChangeKind.HIGHLIGHTS,
}
_BLACK_AND_WHITE = re.compile(r"black (?:and|&|n) white|\bb ?& ?w\b|gr[ea]yscale|monochrome", re.IGNORECASE)

_TAG = re.compile(r"^\s*\[[^\]]*\]")
"""Requests of some forums begin with a word in brackets."""

Sense = tuple[frozenset[tuple[Attribute, int, str]], frozenset[str]]
"""Attribute, sign and rough amount of each intent; and what is named besides: shadows, a colour, ..."""


@dataclass(frozen=True)
class Phrases:
    """Real requests: `asked` by their sense, `vague` by mood, and those that cannot be answered by matter.

    The matter is UNNAMED where it is not known which of all it is.
    """

    asked: Mapping[Sense, tuple[str, ...]]
    vague: Mapping[str, tuple[str, ...]]
    unanswerable: Mapping[str, tuple[str, ...]]

    def pick(self, wish: DrawnWish, chance: Random) -> str | None:
        """One that asks for just what `wish` does, or None."""
        found = self._fitting(wish)
        return found[int(chance.random() * len(found))] if found else None

    def _fitting(self, wish: DrawnWish) -> tuple[str, ...]:
        if wish.untouched or any(change.spoken for change in wish.changes):
            return ()
        if wish.flavour is Flavour.UNANSWERABLE:
            return self.unanswerable.get(wish.matter, ())
        if wish.flavour is Flavour.VAGUE:
            return self.vague.get(wish.mood, ())
        return self.asked.get((_rough(wish.intents), _named_by(wish)), ())

    def counts(self) -> dict[str, int]:
        """How many there are of each attribute and sign, vague ones and unanswerable ones."""
        of_sense = Counter({f"{attribute} {sign:+d}": 0 for attribute in Attribute for sign in (1, -1)})
        for (intents, _), texts in self.asked.items():
            for attribute, sign, _ in intents:
                of_sense[f"{attribute} {sign:+d}"] += len(texts)
        vague, unanswerable = (sum(map(len, texts.values())) for texts in (self.vague, self.unanswerable))
        return {**of_sense, "vague": vague, "unanswerable": unanswerable}


def mine(requests: Iterable[tuple[str, Labels | None]]) -> Phrases:
    """Keep the requests that were read one by one, but for those held back, or are surely understood.

    `labels` tell apart what words leave open.
    """
    asked: dict[Sense, dict[str, None]] = {}
    vague: dict[str, dict[str, None]] = {}
    unanswerable: dict[str, dict[str, None]] = {}
    for text, labels in requests:
        said = plain(text)
        if not 1 <= len(said) <= LONGEST or not said.isprintable() or held_back(said):
            continue
        meaning = judged(said) or _understood(said, labels)
        if meaning.intents:
            asked.setdefault((_rough(meaning.intents), _named_in(said)), {})[said] = None
        elif meaning.matter:
            unanswerable.setdefault(meaning.matter, {})[said] = None
        elif meaning.vague and len(said.split()) <= _SHORT:
            vague.setdefault(_mood_in(said), {})[said] = None
    return Phrases(_settled(asked), _settled(vague), _settled(unanswerable))


def plain(text: str) -> str:
    """A request without tags, entities and spare spaces."""
    return " ".join(_TAG.sub("", unescape(text)).split())


def _settled(found: Mapping[K, Mapping[str, None]]) -> dict[K, tuple[str, ...]]:
    return {key: tuple(texts) for key, texts in found.items()}


def _understood(said: str, labels: Labels | None) -> Meaning:
    """What rules surely read in it."""
    reading = keywords(said)
    if _cannot_be_done(reading, labels):
        return Meaning(matter=UNNAMED)
    if not reading.confident or reading.untouched or reading.unanswerable or _is_local(labels):
        return Meaning()
    return Meaning(() if reading.vague else reading.intents, reading.vague)


def _cannot_be_done(reading: KeywordReading, labels: Labels | None) -> bool:
    """By the words; where they leave it open, by labels that hold nothing else."""
    if not reading.unanswerable:
        return False
    if labels is None:
        return reading.confident
    return all(name in _IMPOSSIBLE or label.get("local") for name, label in labels.items())


def _is_local(labels: Labels | None) -> bool:
    return bool(labels) and any(bool(label.get("local")) for label in (labels or {}).values())


def _rough(intents: Iterable[Intent]) -> frozenset[tuple[Attribute, int, str]]:
    return frozenset((intent.attribute, intent.sign, _size(intent.amount)) for intent in intents)


def _size(amount: float) -> str:
    band = Band.of(amount)
    return {Band.HINT: "little", Band.TOUCH: "little", Band.PLAIN: "plain", Band.FAIR: "plain"}.get(
        band, "much"
    )


def _named_by(wish: DrawnWish) -> frozenset[str]:
    """What a request for this wish has to name."""
    kinds = {
        str(change.kind)
        for change in wish.changes
        if change.kind in {*_NAMED.values(), ChangeKind.MONOCHROME}
    }
    return frozenset(kinds | {change.colour for change in wish.changes if change.colour})


def _named_in(text: str) -> frozenset[str]:
    words = set(re.findall(r"[a-z]+", text.lower()))
    named = {str(kind) for word, kind in _NAMED.items() if word in words} | (words & COLOURS.keys())
    return frozenset(named | ({str(ChangeKind.MONOCHROME)} if _BLACK_AND_WHITE.search(text) else set()))


def _mood_in(text: str) -> str:
    words = set(re.findall(r"[a-z]+", text.lower()))
    return next((mood for mood in MOODS if mood in words), "better")
