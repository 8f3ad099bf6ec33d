"""Write the phrases of `data/phrases` into a sentence, with each word marked by the wishes that it states."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from ..language.wishes import CHANGES, PLACES, RANGES, WHOLE, ZONES, Amount, Direction, Role, Wish
from .marks import MarkedSentence, MarkedWish

Choice = TypeVar("Choice")
DIRECTED = (Direction.UP, Direction.DOWN)
_WEIGHTS = {
    "lightness": 5, "contrast": 3, "colour": 4, "warmth": 3, "sharpness": 2, "clarity": 1.5, "punch": 1.5,
    "cast": 0, "black_and_white": 0, "tint": 0.3,
}  # fmt: skip
"""How often changes are drawn, 1 for the others; a cast and black and white have clauses of their own."""
_ENTRIES = ("adj", "verb", "noun", "complaint", "simile")
"""Places of frames that are filled with the words of a change."""
_AMOUNTS = {Amount.LITTLE: 0.22, Amount.PLAIN: 0.6, Amount.MUCH: 0.18}


@cache
def load_phrases(name: str) -> dict[str, Any]:
    """One of the files in `data/phrases`."""
    path = resources.files(__package__).joinpath("phrases", f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def split_phrase(phrase: str, *, last: bool = False) -> list[tuple[str, bool]]:
    """The words of a phrase, and which of them is its head: the starred one, else the first, or the last."""
    words = phrase.split()
    at = next((at for at, word in enumerate(words) if "*" in word), len(words) - 1 if last else 0)
    return [(word.replace("*", ""), position == at) for position, word in enumerate(words)]


def star_last(phrase: str) -> str:
    """The phrase with its last word as the head, unless a head is marked."""
    return phrase if "*" in phrase else f"{phrase}*"


def star_first(phrase: str) -> str:
    """The phrase with its first word as the head, unless a head is marked."""
    first, space, rest = phrase.partition(" ")
    return phrase if "*" in phrase else f"{first}*{space}{rest}"


def drop_article(phrase: str) -> str:
    """Without "the"."""
    return phrase.removeprefix("the ")


class PhraseWriter:
    """Writes one sentence, with words drawn at random; the same generator draws the same words."""

    def __init__(self, generator: random.Random) -> None:
        self.random = generator
        self.sentence = MarkedSentence()
        self.changes, self.parts, self.frames, self.talk, self.looks = (
            load_phrases(name) for name in ("changes", "parts", "frames", "talk", "looks")
        )
        small = self.parts["small_words"]
        self._fillers, self._articles, self._limit_words = (
            frozenset(small[name]) for name in ("fillers", "articles", "limits")
        )
        self.stated: set[tuple[str, str]] = set()
        """Changes and the parts of the photo for which they were asked."""

    def claim(self, what: str, where: str) -> bool:
        """Note that a change is asked for; False if it was before."""
        new = (what, where) not in self.stated
        self.stated.add((what, where))
        return new

    def start_wish(self, wish: Wish, look: str = "") -> MarkedWish:
        """A wish of the sentence, whose words follow."""
        marked = MarkedWish(wish, look)
        self.sentence.wishes.append(marked)
        return marked

    # ---- draws

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """One of them."""
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability

    def draw_change(self) -> str:
        """A change, common ones more often."""
        return self.random.choices(CHANGES, [_WEIGHTS.get(what, 1) for what in CHANGES])[0]

    def draw_amount(self) -> Amount:
        """Mostly plain."""
        return self.random.choices(list(_AMOUNTS), list(_AMOUNTS.values()))[0]

    def draw_part(self) -> str:
        """A tonal zone or a place."""
        return self.pick((*ZONES, *PLACES))

    def draw_name(self, where: str, *, plural: bool = False) -> str:
        """What a part of the photo is called; a range of hues also by its hue, unless `plural`."""
        table = "zones" if where in ZONES else "ranges" if where in RANGES else "places"
        if where in RANGES and not plural and self.chance(0.4):
            table = "single_hues"
        name: str = self.pick(self.parts[table][where])
        return name

    def draw_photo(self) -> str:
        """What the photo is called, or its rest where a part of it is to be spared."""
        spared = any(one.wish.role is Role.LIMIT and one.wish.where != WHOLE for one in self.sentence.wishes)
        names: list[str] = self.parts["photo"]["rest" if spared and self.chance(0.4) else "objects"]
        return self.pick(names)

    def list_entries(self, what: str, direction: Direction, form: str) -> list[str]:
        """The words of a change in a form: nouns, adjectives, verbs, complaints and the like.

        Negated are the positive words of the opposite: "less bright".
        """
        words = self.changes[what]
        if form == "negated":
            form, direction = "positives", DIRECTED[direction is Direction.UP]
        entries: list[str] = (
            words["nouns"] if form == "nouns" else words.get(direction.value, {}).get(form, [])
        )
        return entries

    # ---- words

    def add_fillers(self, words: str) -> None:
        """Words that belong to no wish."""
        for word in words.split():
            self.sentence.add(word)

    def add_join(self, join: str) -> None:
        """What stands between two clauses, or nothing where no clause was written yet."""
        if self.sentence.text:
            self.add_fillers(join)

    def add_words(self, words: str, wishes: Sequence[MarkedWish]) -> None:
        """Words that belong to wishes, but for articles."""
        for word in words.split():
            self.sentence.add(word, wishes if word not in self._articles else ())

    def add_entry(self, entry: str, wishes: Sequence[MarkedWish]) -> None:
        """The words of an entry; its head is the head of the wishes."""
        for word, is_head in split_phrase(entry):
            self.sentence.add(word, wishes if is_head or word not in self._articles else (), head=is_head)

    def add_whole(self, wish: Wish, phrase: str) -> None:
        """A phrase that is a wish by itself."""
        marked = self.start_wish(wish)
        for word, is_head in split_phrase(phrase):
            belongs = is_head or word.lower().strip(",.") not in self._fillers
            self.sentence.add(word, [marked] if belongs else [], head=is_head)

    def add_amount(self, wishes: Sequence[MarkedWish], form: str = "adverbs") -> None:
        """How much, as adverbs or as quantities before a noun; nothing where the amount is plain."""
        amount = wishes[0].wish.amount
        if amount is not Amount.PLAIN:
            self._note_amount(wishes)
            self.add_words(self.pick(self.parts["amounts"][amount.value][form]), wishes)

    def add_too(self, wishes: Sequence[MarkedWish]) -> None:
        """How much in a complaint: "a bit too"; seldom nothing, for "bright" alone would be a wish."""
        self._note_amount(wishes)
        words = self.parts["amounts"]["too"][wishes[0].wish.amount.value]
        self.add_words(self.pick([word for word in words if word or self.chance(0.2)]), wishes)

    def _note_amount(self, wishes: Sequence[MarkedWish]) -> None:
        for wish in wishes:
            wish.says_amount = True

    def add_amount_or_number(self, wish: MarkedWish) -> None:
        """How much, in words or as a number."""
        if wish.wish.amount is Amount.PLAIN and self.chance(0.4):
            self.add_number([wish], signed=False)
        else:
            self.add_amount([wish])

    def add_number(self, wishes: Sequence[MarkedWish], *, signed: bool | None) -> None:
        """A number with its unit, with a sign or mostly with "by"; without either where `signed` is None."""
        number = self._draw_number(wishes[0].wish)
        if signed:
            minus = wishes[0].wish.direction is Direction.DOWN
            signs = self.parts["numbers"]["minus" if minus else "plus"]
            in_words = number[0].isalpha()
            number = f"{self.pick([sign for sign in signs if sign[-1:] == ' ' or not in_words])}{number}"
            if number[0].isdigit() and not minus and self.chance(0.3):
                number = f"+{number}"
        elif signed is not None and self.chance(0.8):
            number = f"by {number}"
        for marked in wishes:
            marked.wish = replace(marked.wish, amount=Amount.PLAIN)
        self.add_words(number, wishes)

    def _draw_number(self, wish: Wish) -> str:
        numbers = self.parts["numbers"]
        value = self.pick(numbers["values"])
        if wish.what == "lightness" and wish.where == WHOLE and self.chance(0.6):
            return str(self.pick(numbers["stops"]))
        if wish.what == "warmth" and self.chance(0.3):
            return f"{self.pick(numbers['kelvins'])} {self.pick(numbers['kelvin_units'])}"
        if self.chance(0.06):
            return f"{self.pick(numbers['words'])}{self.pick(numbers['word_units'])}"
        return f"{value}{self.pick(numbers['units'])}"

    # ---- frames

    def fill(
        self, frame: str, wishes: Sequence[MarkedWish], entry: str = "", values: dict[str, str] | None = None
    ) -> None:
        """Add a frame with its places filled; words that say something belong to the wishes."""
        limit = wishes[0].wish.role is Role.LIMIT
        for part in re.findall(r"\{\w+\}\*?|[^\s{}]+", frame):
            name = part.strip("{}*")
            if not part.startswith("{"):
                starred = "*" in part
                bare = part.replace("*", "").lower().strip(",.")
                belongs = starred or bare not in self._fillers or (limit and bare in self._limit_words)
                self.sentence.add(part.replace("*", ""), wishes if belongs else (), head=starred)
            elif values and name in values:
                value = star_last(values[name]) if part.endswith("*") else values[name]
                (self.add_entry if "*" in value else self.add_words)(value, wishes)
            elif name in _ENTRIES:
                self.add_entry(star_last(entry) if name == "noun" else entry, wishes)
            else:
                self._fill_small(name, wishes)

    def _fill_small(self, name: str, wishes: Sequence[MarkedWish]) -> None:
        """A place that is filled with small words, by its name."""
        wish = wishes[0].wish
        way = "down" if wish.direction is Direction.DOWN else "up"
        parts = self.parts
        words = {
            "up": parts["verbs"][way],
            "more": (more := parts["verbs"]["more" if way == "up" else "less"])[:1] * 6 + more,
            "direction": parts["directions"][way],
            "off": parts["wrong_amounts"][way],
            "bad": parts["wrong_amounts"][f"bad_{way}"],
            "side": ["right" if way == "up" else "left"],
        }
        if name in words:
            self.add_words(self.pick(words[name]), wishes)
        elif name in ("it", "the"):
            if wish.where == WHOLE:
                self.add_fillers(self.draw_photo())
            else:
                self.add_words(self.draw_name(wish.where), wishes)
        elif name == "slightly":
            self.add_amount(wishes)
        elif name == "some":
            self.add_amount(wishes, "quantities")
        elif name == "too":
            self.add_too(wishes)
        elif name == "sake":
            self.add_fillers(self.pick(self.frames["comparisons"]))
        elif name in ("by", "number", "count"):
            self.add_number(wishes, signed={"by": False, "number": True}.get(name))
