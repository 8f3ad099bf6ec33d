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

from ...language import Attribute, Intent
from ...language.keywords import Reading, keywords
from .grammar.degrees import Band
from .grammar.moods import MOODS
from .wish import COLOURS, Flavour, Kind, Wish

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
    "shadows": Kind.SHADOWS,
    "shadow": Kind.SHADOWS,
    "highlights": Kind.HIGHLIGHTS,
    "highlight": Kind.HIGHLIGHTS,
}
_BLACK_AND_WHITE = re.compile(r"black (?:and|&|n) white|\bb ?& ?w\b|gr[ea]yscale|monochrome", re.IGNORECASE)

_TAG = re.compile(r"^\s*\[[^\]]*\]")
"""Requests of some forums begin with a word in brackets."""

Sense = tuple[frozenset[tuple[Attribute, int, str]], frozenset[str]]
"""Attribute, sign and rough amount of each intent; and what is named besides: shadows, a colour, ..."""


@dataclass(frozen=True)
class Phrases:
    """Real requests: `asked` by their sense, `vague` by mood, and those that cannot be answered."""

    asked: Mapping[Sense, tuple[str, ...]]
    vague: Mapping[str, tuple[str, ...]]
    unanswerable: tuple[str, ...] = ()

    def pick(self, wish: Wish, chance: Random) -> str | None:
        """One that asks for just what `wish` does, or None."""
        found = self._fitting(wish)
        return found[int(chance.random() * len(found))] if found else None

    def _fitting(self, wish: Wish) -> tuple[str, ...]:
        if wish.untouched or any(change.spoken for change in wish.changes):
            return ()
        if wish.flavour is Flavour.UNANSWERABLE:
            return () if wish.matter in {"chat", "gibberish"} else self.unanswerable
        if wish.flavour is Flavour.VAGUE:
            return self.vague.get(wish.mood, ())
        return self.asked.get((_rough(wish.intents), _named_by(wish)), ())

    def counts(self) -> dict[str, int]:
        """How many there are of each attribute and sign, vague ones and unanswerable ones."""
        of_sense = Counter({f"{attribute} {sign:+d}": 0 for attribute in Attribute for sign in (1, -1)})
        for (intents, _), texts in self.asked.items():
            for attribute, sign, _ in intents:
                of_sense[f"{attribute} {sign:+d}"] += len(texts)
        vague = sum(map(len, self.vague.values()))
        return {**of_sense, "vague": vague, "unanswerable": len(self.unanswerable)}


def mine(requests: Iterable[tuple[str, Labels | None]]) -> Phrases:
    """Keep the requests that are surely understood; `labels` tell apart what words leave open."""
    asked: dict[Sense, dict[str, None]] = {}
    vague: dict[str, dict[str, None]] = {}
    unanswerable: dict[str, None] = {}
    for text, labels in requests:
        said = " ".join(_TAG.sub("", unescape(text)).split())
        reading = keywords(said)
        if not 1 <= len(said) <= LONGEST or not said.isprintable():
            continue
        if _cannot_be_done(reading, labels):
            unanswerable[said] = None
        elif not reading.confident or reading.untouched or _is_local(labels):
            continue
        elif reading.vague and len(said.split()) <= _SHORT:
            vague.setdefault(_mood_in(said), {})[said] = None
        elif reading.intents:
            asked.setdefault((_rough(reading.intents), _named_in(said)), {})[said] = None
    return Phrases(
        {sense: tuple(texts) for sense, texts in asked.items()},
        {mood: tuple(texts) for mood, texts in vague.items()},
        tuple(unanswerable),
    )


def _cannot_be_done(reading: Reading, labels: Labels | None) -> bool:
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


def _named_by(wish: Wish) -> frozenset[str]:
    """What a request for this wish has to name."""
    kinds = {
        str(change.kind) for change in wish.changes if change.kind in {*_NAMED.values(), Kind.MONOCHROME}
    }
    return frozenset(kinds | {change.colour for change in wish.changes if change.colour})


def _named_in(text: str) -> frozenset[str]:
    words = set(re.findall(r"[a-z]+", text.lower()))
    named = {str(kind) for word, kind in _NAMED.items() if word in words} | (words & COLOURS.keys())
    return frozenset(named | ({str(Kind.MONOCHROME)} if _BLACK_AND_WHITE.search(text) else set()))


def _mood_in(text: str) -> str:
    words = set(re.findall(r"[a-z]+", text.lower()))
    return next((mood for mood in MOODS if mood in words), "better")
