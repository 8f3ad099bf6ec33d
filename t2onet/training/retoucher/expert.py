"""Real items: photos before and after an expert, and what was asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...data.packed import PackedSet
from ...data.simulation.mining import Phrases
from ...data.simulation.sentences import request
from ...data.simulation.strengths import COLUMNS
from ...data.simulation.wish import Flavour, Wish
from ...language.keywords import keywords
from .item import EXPERT, EXPERT_USES, LITERAL, Item, framed, used

_BETWEEN = (-0.25, 0.6)
VARIATIONS = {"exposure": 0.5, "contrast": 0.15, "temperature": 10.0, "chroma": 0.15}
"""How far an input may be from itself, one deviation, at a `variation` of 1."""


@dataclass(frozen=True)
class Pair:
    """Rows of the photos; requests of its own; all that was asked of that photo, and what is vague of it."""

    before: int
    after: int
    own: tuple[str, ...]
    any: tuple[str, ...]
    vague: tuple[str, ...]


@dataclass(frozen=True)
class Chances:
    """How real items come up."""

    silent: float = 0.2
    """Share whose request is dropped."""
    own: float = 0.7
    """Share of the others whose request is their own, not one that was meant for another expert."""
    echoed: float = 0.6
    """Share of requests that are said in the words of somebody who asked for the same."""
    vague: float = 0.15
    """Share that is asked for vaguely, in manner literal: the whole edit is what was meant."""
    dropped: float = 0.0
    """Share of the words that are left out, so that no sentence can be learned by heart."""
    crop: float = 0.4
    varied: float = 0.5
    """Share whose input is changed a little, as another camera would have it."""
    variation: float = 0.5
    between: float = 0.0
    """Share whose input is moved along the way to the expert's picture, or against it."""


@dataclass(frozen=True)
class Expert:
    """Items from pairs."""

    pairs: Sequence[Pair]
    chances: Chances
    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What others said who asked for the same, by request."""

    def items(self, rng: np.random.Generator, count: int) -> Iterator[Item]:
        for number in rng.integers(len(self.pairs), size=count) if count else ():
            yield self._item(self.pairs[number], rng)

    def _item(self, pair: Pair, rng: np.random.Generator) -> Item:
        vague = rng.random() < self.chances.vague
        return Item(
            photo=pair.before,
            target=pair.after,
            text=_vaguely(pair, rng) if vague else self._said(pair, rng),
            manner=LITERAL if vague else EXPERT,
            used=used(EXPERT_USES),
            strengths=self._variation(rng),
            spoils=True,
            real=True,
            frame=framed(rng, self.chances.crop),
            towards=rng.uniform(*_BETWEEN) if rng.random() < self.chances.between else 0.0,
        )

    def _said(self, pair: Pair, rng: np.random.Generator) -> str:
        if rng.random() < self.chances.silent:
            return ""
        texts = pair.own if rng.random() < self.chances.own else pair.any
        text = texts[rng.integers(len(texts))] if texts else ""
        if (others := self.same.get(text)) and rng.random() < self.chances.echoed:
            text = others[rng.integers(len(others))]
        return " ".join(word for word in text.split() if rng.random() >= self.chances.dropped)

    def _variation(self, rng: np.random.Generator) -> NDArray[np.float64]:
        row = np.zeros(len(COLUMNS))
        if rng.random() < self.chances.varied:
            for name, scale in VARIATIONS.items():
                row[COLUMNS.index(name)] = self.chances.variation * scale * rng.normal()
        return row


def _vaguely(pair: Pair, rng: np.random.Generator) -> str:
    if pair.vague and rng.random() < 0.5:
        return pair.vague[rng.integers(len(pair.vague))]
    return request(Wish(Flavour.VAGUE, mood="better"), rng)


def same_as(phrases: Phrases) -> dict[str, tuple[str, ...]]:
    """All requests of one sense, by each of them."""
    return {text: texts for texts in phrases.asked.values() for text in texts}


def pairs_of(data: PackedSet, numbers: NDArray[np.int64]) -> tuple[Pair, ...]:
    """The samples with these numbers, each with all that was asked of its photo, for whichever expert."""
    asked: dict[str, dict[str, None]] = {}
    for words in (*data.samples, *data.texts):
        asked.setdefault(_photo(words.name), {}).update(dict.fromkeys(words.requests))
    return tuple(_pair(data, number, tuple(asked[_photo(data.samples[number].name)])) for number in numbers)


def _pair(data: PackedSet, number: int, asked: tuple[str, ...]) -> Pair:
    sample = data.samples[number]
    vague = tuple(text for text in asked if keywords(text).vague)
    return Pair(sample.before, sample.after, sample.requests, asked, vague)


def _photo(name: str) -> str:
    """`3254_C` is expert C's version of photo 3254."""
    return name.partition("_")[0]
