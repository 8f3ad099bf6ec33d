"""Simulated requests: sentences made of the phrases in `data/phrases`, with the wishes they state marked word by word.

All phrases are our own, so a reader trained on these sentences alone is free of the datasets' terms.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from ..language.wishes import (
    CHANGES,
    COMMANDS,
    FOREIGN,
    GEOMETRY,
    HUES,
    IMPOSSIBLE,
    PLACES,
    RANGES,
    WHOLE,
    ZONES,
    Amount,
    Direction,
    Role,
    Wish,
)

_FILLERS = frozenset(
    ["a", "an", "the", "it", "its", "it's", "this", "that", "is", "be", "to", "of", "in", "on", "for", "and", "but", "so", "i", "me", "my", "we", "you", "your", "can", "could", "would", "should", "need", "needs", "want", "like", "make", "made", "get", "have", "has", "please", "photo", "image", "picture", "pic", "whole", "entire", "overall", "everything", "scene", "shot", "frame", "there", "these", "those", "with", "as", "at", "or", "if", "by", "let's", "i'd", "just", "then", "also", "now", "was", "one", "thing", "do", "did", "are", "not"]
)
"""Words of frames that say nothing of a wish."""
_ARTICLES = frozenset({"the", "of", "a", "an", "it", "in", "to"})
_LIMIT_WORDS = frozenset({"not", "no", "without", "don't", "keep", "leave"})
_CLAUSES = ((0.46, 1), (0.31, 2), (0.16, 3), (0.07, 4))
_DIRECTED = (Direction.UP, Direction.DOWN)
_NUMBER_WORDS = {Direction.UP: ("up", "more", "higher"), Direction.DOWN: ("down", "less", "lower")}


@dataclass
class MarkedWish:
    """A wish and where it is stated: the span of its head and those of its other words."""

    wish: Wish
    look: str = ""
    says_amount: bool = False
    head: tuple[int, int] | None = None
    spans: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class MarkedSentence:
    """A sentence under construction, or finished: its text and its wishes."""

    text: str = ""
    wishes: list[MarkedWish] = field(default_factory=list)

    def add(self, word: str, owners: Sequence[MarkedWish] = (), *, head: bool = False) -> None:
        """Append a word that belongs to some wishes; `head` says what they are about."""
        if self.text and not self.text.endswith((" ", "(")) and word[0] not in ",.;:!?":
            self.text += " "
        start = len(self.text)
        self.text += word
        end = start + len(word.rstrip(",.;:!?"))
        for wish in owners:
            if head and wish.head is None:
                wish.head = (start, end)
            elif end > start:
                wish.spans.append((start, end))


@cache
def load_phrases(name: str) -> dict[str, Any]:
    """One of the files in `data/phrases`."""
    return tomllib.loads(
        resources.files(__package__).joinpath("phrases", f"{name}.toml").read_text(encoding="utf-8")
    )


def split_phrase(phrase: str, *, last: bool = False) -> list[tuple[str, bool]]:
    """The words of a phrase, and which of them is its head: the starred one, else the first, or the last."""
    words = phrase.split()
    at = next((at for at, word in enumerate(words) if "*" in word), len(words) - 1 if last else 0)
    return [(word.replace("*", ""), position == at) for position, word in enumerate(words)]


class SentenceMaker:
    """Draws sentences; the same seed draws the same ones."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.changes = load_phrases("changes")
        self.parts = load_phrases("parts")
        self.frames = load_phrases("frames")
        self.talk = load_phrases("talk")
        self.looks = load_phrases("looks")

    def draw(self) -> MarkedSentence:
        """One sentence."""
        kind = self.random.random()
        sentence = MarkedSentence()
        if kind < 0.1:
            self._add_talk(sentence)
        elif kind < 0.14:
            phrase = self._pick(self.talk["nothing"]["phrases"])
            for word, _ in split_phrase(phrase):
                sentence.add(word)
        elif kind < 0.155:
            self._add_whole(sentence, Wish(FOREIGN), self._pick(self.talk["foreign"]["phrases"]))
        elif kind < 0.19:
            self._add_question(sentence)
        else:
            self._add_clauses(sentence)
        return self._finish(sentence)

    # ---- one clause

    def _add_clauses(self, sentence: MarkedSentence) -> None:
        count = self._draw_count()
        if self._chance(0.35):
            self._add_fillers(sentence, self._pick(self.frames["openings"]))
        used: set[tuple[str, str]] = set()
        for number in range(count):
            if number:
                self._join(sentence)
            if number and self._chance(0.22):
                self._add_limit(sentence, used)
            else:
                self._add_clause(sentence, used)
        if self._chance(0.1):
            self._join(sentence)
            self._add_limit(sentence, used)
        if self._chance(0.12):
            self._add_fillers(sentence, self._pick(self.frames["goals"]))
        if self._chance(0.15):
            self._add_fillers(sentence, self._pick(self.frames["closings"]))

    def _add_clause(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        kinds: tuple[tuple[float, Callable[[MarkedSentence, set[tuple[str, str]]], None]], ...] = (
            (0.40, self._add_change),
            (0.12, self._add_list),
            (0.09, self._add_zone),
            (0.05, self._add_toned_zone),
            (0.04, self._add_sliders),
            (0.07, self._add_range),
            (0.09, self._add_cast),
            (0.06, self._add_look),
            (0.025, lambda sentence, _: self._add_phrase(sentence, "black_and_white", Direction.NONE)),
            (0.035, lambda sentence, _: self._add_whole(sentence, Wish("auto"), self._pick(self.talk["auto"]["phrases"]))),
            (0.06, lambda sentence, _: self._add_declined(sentence)),
            (0.04, lambda sentence, _: self._add_geometry(sentence)),
        )  # fmt: skip
        weights = [weight for weight, _ in kinds]
        self.random.choices([add for _, add in kinds], weights)[0](sentence, used)

    def _add_change(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """A change in one of its forms: an adjective, a verb, a noun, a complaint, a slider or a whole phrase."""
        what = self._draw_what()
        where = self._draw_where() if self._chance(0.14) else WHOLE
        if (what, where) in used:
            return
        used.add((what, where))
        direction = self._draw_direction(what)
        if direction not in _DIRECTED:
            self._add_phrase(sentence, what, direction)
            return
        words = self.changes[what].get(direction.value, {})
        forms = [form for form in ("adjectives", "verbs", "complaints", "phrases") if words.get(form)]
        if self.changes[what]["nouns"]:
            forms += ["nouns", "nouns", "sliders"]
        form = self._pick(forms)
        if form == "phrases":
            self._add_phrase(sentence, what, direction)
            return
        wish = MarkedWish(Wish(what, direction, self._draw_amount(), where))
        sentence.wishes.append(wish)
        frame = {
            "adjectives": "adjective",
            "verbs": "verb",
            "nouns": "noun",
            "complaints": "complaint",
            "sliders": "slider",
        }
        entries = self.changes[what]["nouns"] if form in ("nouns", "sliders") else words[form]
        frames = [one for one in self.frames[frame[form]] if where == WHOLE or "{it}" in one]
        if not frames:
            wish.wish, frames = replace(wish.wish, where=WHOLE), self.frames[frame[form]]
        self._fill(sentence, self._pick(frames), [wish], self._pick(entries))

    def _add_list(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """Several changes that share a verb: "increase the brightness, contrast and saturation"."""
        direction = self._pick(_DIRECTED)
        form = self._pick(("nouns", "nouns", "adjectives", "complaints", "verbs"))
        whats = [
            what for what in CHANGES if (what, WHOLE) not in used and self._get_entries(what, direction, form)
        ]
        whats = self.random.sample(whats, min(len(whats), self._pick((2, 2, 2, 3, 4))))
        if len(whats) < 2:
            return
        amount = self._draw_amount(numbers=False)
        wishes = [MarkedWish(Wish(what, direction, amount)) for what in whats]
        used |= {(what, WHOLE) for what in whats}
        sentence.wishes += wishes
        if form == "nouns":
            up = self._pick(self.parts["verbs"]["up" if direction is Direction.UP else "down"])
            more = self._pick(self.parts["verbs"]["more" if direction is Direction.UP else "less"])
            self._add_words(sentence, self._pick((up, up, more)), wishes)
            if self._chance(0.5):
                self._add_fillers(sentence, "the")
        elif form == "adjectives":
            self._add_fillers(
                sentence, self._pick(("make it", "", "I want it", "make the photo", "it should be"))
            )
            self._add_amount(sentence, wishes, "adverbs")
        elif form == "complaints":
            self._add_fillers(sentence, self._pick(("it is", "the photo looks", "", "it's", "the image is")))
            self._note_amount(wishes)
            self._add_words(sentence, self._pick(self.parts["amounts"]["too"][amount.value]), wishes)
        for position, wish in enumerate(wishes):
            if position:
                last = position == len(wishes) - 1
                self._add_fillers(sentence, self._pick(("and", "and", ", and", "&")) if last else ",")
            entry = self._pick(self._get_entries(wish.wish.what, direction, form))
            self._add_entry(sentence, self._star_last(entry) if form == "nouns" else entry, [wish])
        if form == "verbs":
            self._add_fillers(sentence, self._pick(self.parts["photo"]["objects"]))
        if form in ("nouns", "verbs"):
            self._add_amount(sentence, wishes, "adverbs")

    def _get_entries(self, what: str, direction: Direction, form: str) -> list[str]:
        words = self.changes[what]
        entries: list[str] = (
            words["nouns"] if form == "nouns" else words.get(direction.value, {}).get(form, [])
        )
        return entries

    def _add_zone(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """Light in a tonal zone: "lift the shadows", "recover the highlights", "blacks -10"."""
        zone = self._pick(ZONES)
        if ("lightness", zone) in used:
            return
        used.add(("lightness", zone))
        direction = self._pick(_DIRECTED)
        phrase = self._pick(self.parts["zones"][zone])
        wish = MarkedWish(Wish("lightness", direction, self._draw_amount(), zone))
        sentence.wishes.append(wish)
        form = self.random.random()
        if form < 0.3:
            bare = phrase.removeprefix("the ")
            self._fill(sentence, self._pick(self.frames["slider"]), [wish], self._star_last(bare))
        elif form < 0.4 and direction is Direction.DOWN and zone in ("highlights", "whites"):
            self._add_words(sentence, self._pick(self.parts["verbs"]["recover"]), [wish])
            self._add_entry(sentence, self._star_last(phrase), [wish])
        elif form < 0.55:
            entries = (
                ("brighter", "lighter", "higher", "more open*")
                if direction is Direction.UP
                else ("darker", "deeper", "lower", "richer")
            )
            self._add_fillers(sentence, self._pick(("make", "I want", "", "let's have")))
            if self._chance(0.5):
                self._add_words(sentence, phrase, [wish])
                self._add_amount(sentence, [wish], "adverbs")
                self._add_entry(sentence, self._pick(entries), [wish])
            else:
                self._add_amount(sentence, [wish], "adverbs")
                self._add_words(sentence, self._pick(entries).replace("*", ""), [wish])
                self._add_entry(sentence, self._star_last(phrase.removeprefix("the ")), [wish])
        elif form < 0.68:
            entries = ("dark", "deep", "black", "blocked up*", "crushed", "low") if direction is Direction.UP else (
                "bright", "light", "blown out*", "hot", "clipped", "washed out*", "burnt out*", "blown", "harsh")  # fmt: skip
            self._add_words(sentence, phrase, [wish])
            self._add_fillers(sentence, self._pick(("are", "look", "seem", "get")))
            self._note_amount([wish])
            self._add_words(
                sentence, self._pick(self.parts["amounts"]["too"][wish.wish.amount.value]), [wish]
            )
            self._add_entry(sentence, self._pick(entries), [wish])
        else:
            verb = self._pick(self.parts["verbs"]["zone_up" if direction is Direction.UP else "zone_down"])
            heads = verb.split()[0] in ("brighten", "lighten", "darken", "deepen")
            if heads:
                self._add_entry(sentence, verb, [wish])
                self._add_words(sentence, phrase, [wish])
            else:
                self._add_words(sentence, verb, [wish])
                self._add_entry(sentence, self._star_last(phrase), [wish])
            self._add_amount_or_number(sentence, wish)

    def _add_toned_zone(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """Colour in tonal zones: "warm highlights, cool shadows", "teal in the shadows"."""
        zones = self.random.sample(ZONES[:3], self._pick((1, 2, 2)))
        for number, zone in enumerate(zones):
            if number:
                self._add_fillers(sentence, self._pick((",", "and", "and", "with", "&", "but")))
            if self._chance(0.4):
                direction = self._pick(_DIRECTED)
                words = (
                    ("warm", "warmer", "golden")
                    if direction is Direction.UP
                    else ("cool", "cooler", "cold", "colder", "chilly")
                )
                wish = MarkedWish(Wish("warmth", direction, self._draw_amount(numbers=False), zone))
            else:
                hue = self._pick(HUES)
                words = self.parts["hues"][hue]
                wish = MarkedWish(Wish("cast", Direction.UP, self._draw_amount(numbers=False), zone, hue))
            if (wish.wish.what, zone) in used:
                continue
            used.add((wish.wish.what, zone))
            sentence.wishes.append(wish)
            phrase = self._pick(self.parts["zones"][zone])
            frame = self._pick(("{slightly} {word} {bare}", "{slightly} {word} {bare}", "{word} in {zone}", "make {zone} {slightly} {word}", "{zone} {slightly} {word}", "push {zone} towards {word}", "tint {zone} {word}", "{zone} in {word}", "add {word} to {zone}", "give {zone} a {word} tone"))  # fmt: skip
            values = {"word": f"{self._pick(words)}*", "zone": phrase, "bare": phrase.removeprefix("the ")}
            self._fill(sentence, frame, [wish], "", values)

    def _add_sliders(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """A list of settings: "exposure +0.3, contrast 10 saturation -5"."""
        names = [
            (what, WHOLE)
            for what in (
                "lightness",
                "contrast",
                "colour",
                "warmth",
                "sharpness",
                "clarity",
                "haze",
                "vignette",
                "grain",
                "tint",
            )
        ]
        names += [("lightness", zone) for zone in ZONES]
        chosen = [one for one in self.random.sample(names, self._pick((2, 3, 3, 4, 5))) if one not in used]
        separator = self._pick((",", ",", "", "", ";", "and", "/"))
        for number, (what, where) in enumerate(chosen):
            if number and separator:
                self._add_fillers(sentence, separator)
            used.add((what, where))
            direction = self._pick(_DIRECTED)
            if what == "haze":
                direction = Direction.DOWN
            wish = MarkedWish(Wish(what, direction, where=where))
            sentence.wishes.append(wish)
            entry = (
                self._star_last(self._pick(self.parts["zones"][where]).removeprefix("the "))
                if where != WHOLE
                else self._star_last(self._pick(self.changes[what]["nouns"]))
            )
            if what == "haze":
                entry = "dehaze"
            self._add_entry(sentence, entry, [wish])
            if what == "haze":
                wish.wish = replace(wish.wish, direction=Direction.UP)
            self._add_number(sentence, [wish], signed=True)
            wish.wish = replace(wish.wish, direction=direction)

    def _add_range(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """Colour or light of one hue: "boost the blues", "darker greens"."""
        where = self._pick(RANGES)
        what = self._pick(("colour", "colour", "lightness"))
        if (what, where) in used:
            return
        used.add((what, where))
        direction = self._pick(_DIRECTED)
        phrase = self._pick(self.parts["ranges"][where])
        wish = MarkedWish(Wish(what, direction, self._draw_amount(), where))
        sentence.wishes.append(wish)
        up = direction is Direction.UP
        words = {
            ("colour", True): ("boost", "saturate*", "bring out", "intensify*", "enhance", "make more vivid*", "strengthen", "pump up", "increase"),
            ("colour", False): ("tone down", "desaturate*", "mute*", "reduce", "calm down", "pull back", "weaken", "decrease", "kill"),
            ("lightness", True): ("brighten*", "lighten*", "lighten up*", "lift"),
            ("lightness", False): ("darken*", "deepen*"),
        }[(what, up)]  # fmt: skip
        adjectives = {
            ("colour", True): ("stronger", "more vivid*", "richer", "more intense*", "more saturated*", "deeper"),
            ("colour", False): ("weaker", "less intense*", "less saturated*", "paler", "more muted*", "duller"),
            ("lightness", True): ("brighter", "lighter"),
            ("lightness", False): ("darker",),
        }[(what, up)]  # fmt: skip
        if self._chance(0.5):
            verb = self._pick(words)
            if "*" in verb:
                self._add_entry(sentence, verb, [wish])
                self._add_words(sentence, phrase, [wish])
            else:
                self._add_words(sentence, verb, [wish])
                self._add_entry(sentence, self._star_last(phrase), [wish])
            self._add_amount_or_number(sentence, wish)
        elif self._chance(0.6):
            self._add_fillers(sentence, self._pick(("make", "I want", "have")))
            self._add_words(sentence, phrase, [wish])
            self._add_amount(sentence, [wish], "adverbs")
            self._add_entry(sentence, self._pick(adjectives), [wish])
        else:
            self._add_amount(sentence, [wish], "adverbs")
            self._add_words(sentence, self._pick(adjectives).replace("*", ""), [wish])
            self._add_entry(sentence, self._star_last(phrase.removeprefix("the ")), [wish])

    def _add_cast(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """Towards or away from a colour: "less yellow", "bluer", "remove the green cast"."""
        hue = self._pick(HUES)
        where = self._draw_where(zones=True) if self._chance(0.3) else WHOLE
        if ("cast", hue + where) in used:
            return
        used.add(("cast", hue + where))
        direction = self._pick(_DIRECTED)
        wish = MarkedWish(Wish("cast", direction, self._draw_amount(numbers=False), where, hue))
        sentence.wishes.append(wish)
        word = self._pick(self.parts["hues"][hue])
        kind = self._pick(("tint", "cast", "tone", "hue", "tinge", "colour", "color", "tones"))
        up = direction is Direction.UP
        frames = (
            ["{more} {word}", "add {some} {word}", "add a {word} {kind}", "give {it} a {word} {kind}", "make {it} {slightly} more {word}", "shift {it} towards {word}", "push {it} towards {word}", "tint {it} {word}", "make {it} {slightly} {comparative}", "{slightly} {comparative}", "{it} should be {slightly} more {word}", "{more} {word} in {it}", "a {word} {kind}", "bring out more {word} in {it}", "{it} isn't {word} enough", "{word} {it}"]
            if up else
            ["less {word}", "{it} is {too} {word}", "{too} {word}", "remove the {word} {kind}", "reduce the {word}", "get rid of the {word} {kind}", "{it} looks {too} {word}", "there is a {word} {kind} in {it}", "take out the {word}", "take some {word} out of {it}", "make {it} {slightly} less {word}", "tone down the {word}", "too much {word}", "{it} has a {word} {kind}", "neutralize the {word} {kind}", "correct the {word} {kind}", "cut the {word}", "less {word} in {it}", "shift {it} away from {word}"]
        )  # fmt: skip
        comparatives = self.parts["comparatives"].get(hue)
        frames = [one for one in frames if comparatives or "comparative" not in one]
        frame = self._pick([one for one in frames if where == WHOLE or "{it}" in one])
        self._fill(
            sentence,
            frame,
            [wish],
            "",
            {"word": f"{word}*", "kind": kind, "comparative": f"{self._pick(comparatives or [''])}*"},
        )

    def _add_look(self, sentence: MarkedSentence, _: object = None) -> None:
        name = self._pick(list(self.looks["looks"]))
        phrase = self._pick([name, *self.looks["looks"][name] * 2])
        wish = MarkedWish(Wish("look", amount=self._draw_amount(numbers=False)), look=name)
        sentence.wishes.append(wish)
        words = split_phrase(phrase, last=True)
        starred = " ".join(word + "*" * is_head for word, is_head in words)
        self._fill(sentence, self._pick(self.looks["frames"]["phrases"]), [wish], "", {"look": starred})

    def _add_declined(self, sentence: MarkedSentence) -> None:
        what = self._pick(IMPOSSIBLE)
        where = self._draw_where(zones=False) if self._chance(0.5) else "thing"
        thing = self._pick(self.parts["places"][where])
        hue, other = self.random.sample(HUES, 2)
        template = self._pick(self.talk["declined"][what])
        wish = MarkedWish(Wish(what, where=where if "{thing}" in template else WHOLE, hue=""))
        if "{hue2}" in template:
            wish.wish = replace(wish.wish, hue=other)
        elif "{hue}" in template:
            wish.wish = replace(wish.wish, hue=hue)
        if what in ("replace_background", "blur") and "background" in template:
            wish.wish = replace(wish.wish, where="background")
        sentence.wishes.append(wish)
        bare = thing.removeprefix("the ")
        values = {
            "thing": thing,
            "athing": f"a {bare}",
            "hue": self.parts["hues"][hue][0],
            "hue2": self.parts["hues"][other][0],
        }
        self._fill(sentence, self._star_first(template), [wish], "", values)

    def _add_geometry(self, sentence: MarkedSentence) -> None:
        what = self._pick(GEOMETRY)
        self._add_whole(sentence, Wish(what), self._pick(self.talk["geometry"][what]))

    def _add_talk(self, sentence: MarkedSentence) -> None:
        what = self._pick(COMMANDS)
        phrase = self._pick(self.talk["commands"][what])
        amount = Amount.PLAIN
        if what in ("more", "less"):
            if any(word in phrase for word in ("bit", "little")):
                amount = Amount.LITTLE
            elif any(word in phrase for word in ("lot", "much less", "way", "twice")):
                amount = Amount.MUCH
        if self._chance(0.2):
            self._add_fillers(
                sentence, self._pick(("please", "no,", "ok,", "hmm,", "sorry,", "well,", "hey,", "and"))
            )
        self._add_whole(sentence, Wish(what, amount=amount), phrase)
        if self._chance(0.15):
            self._add_fillers(sentence, self._pick(("please", "now", "thanks", "again")))

    def _add_question(self, sentence: MarkedSentence) -> None:
        """About a change: "why is it darker now?"."""
        what = self._draw_what()
        direction = self._pick(_DIRECTED)
        entries = self._get_entries(what, direction, "adjectives")
        if not entries:
            return self._add_whole(sentence, Wish("question"), self._pick(self.talk["commands"]["question"]))
        wish = MarkedWish(Wish(what, direction, role=Role.QUESTION))
        sentence.wishes.append(wish)
        frame = self._pick(("why is it {adj} now?", "why did it get {adj}?", "is it {adj} now?", "did you make it {adj}?", "why did you make it {adj}", "how come it's {adj}", "why does it look {adj}?", "what made it {adj}?", "why is {it} {adj}?", "has it become {adj}?"))  # fmt: skip
        self._fill(sentence, frame, [wish], self._pick(entries))
        return None

    def _add_limit(self, sentence: MarkedSentence, used: set[tuple[str, str]]) -> None:
        """Something to respect: "keep the colours", "without blowing the highlights", "but not darker"."""
        form = self._pick(
            ("except", "keep", "not_more", "keep_part", "part", "not_up", "not_down", "keep_part")
        )
        if form in ("keep", "not_up", "not_down"):
            what = self._pick([what for what in CHANGES if self.changes[what]["nouns"]][:7])
            direction = {"keep": Direction.FIX, "not_up": Direction.UP, "not_down": Direction.DOWN}[form]
            wish = MarkedWish(Wish(what, direction, role=Role.LIMIT))
            noun = self._pick(self.changes[what]["nouns"])
            values = {
                "upping": self._pick(("raising", "increasing", "boosting")),
                "raise": self._pick(("raise", "increase", "boost")),
            }
            frame, entry = self._pick(self.frames[form]), noun
        elif form == "not_more":
            what, direction = self._draw_what(), self._pick(_DIRECTED)
            entries = self._get_entries(what, direction, "adjectives")
            if not entries:
                return
            wish = MarkedWish(Wish(what, direction, role=Role.LIMIT))
            frame, entry, values = self._pick(self.frames["not_more"]), self._pick(entries), {}
        else:
            up = self._chance(0.6)
            zones = ("highlights", "whites") if up else ("shadows", "blacks")
            where = self._pick(zones) if form == "part" else self._draw_where(zones=True)
            if form == "except" and self._chance(0.5):
                where = self._pick(RANGES)
            phrase = self._pick(self.parts[_table_of(where)][where])
            if form == "part":
                wish = MarkedWish(
                    Wish("lightness", Direction.UP if up else Direction.DOWN, where=where, role=Role.LIMIT)
                )
                frame, values = self._pick(self.frames["part_up" if up else "part_down"]), {"the": phrase}
            else:
                wish = MarkedWish(Wish("other", Direction.FIX, where=where, role=Role.LIMIT))
                frames = self.frames["except_part" if form == "except" else "keep_part"]
                frame, values = self._pick(frames), {"the": self._star_last(phrase)}
            entry = ""
        if wish.wish.role is Role.LIMIT and (wish.wish.what, wish.wish.where) in used:
            return
        used.add((wish.wish.what, wish.wish.where))
        sentence.wishes.append(wish)
        self._fill(sentence, frame, [wish], entry, values)

    # ---- phrases and frames

    def _add_phrase(self, sentence: MarkedSentence, what: str, direction: Direction) -> None:
        words = self.changes[what]
        phrases = words["fix"] if direction is Direction.FIX else words[direction.value]["phrases"]
        self._add_whole(sentence, Wish(what, direction), self._pick(phrases))

    def _add_whole(self, sentence: MarkedSentence, wish: Wish, phrase: str) -> None:
        marked = MarkedWish(wish)
        sentence.wishes.append(marked)
        for word, is_head in split_phrase(phrase):
            owners = [marked] if is_head or word.lower().strip(",.") not in _FILLERS else []
            sentence.add(word, owners, head=is_head)

    def _fill(
        self,
        sentence: MarkedSentence,
        frame: str,
        wishes: list[MarkedWish],
        entry: str,
        values: dict[str, str] | None = None,
    ) -> None:
        """Add a frame with its places filled; words that say something belong to the wishes."""
        wish = wishes[0].wish
        limit = wish.role is Role.LIMIT
        for part in re.findall(r"\{\w+\}\*?|[^\s{}]+", frame):
            name = part.strip("{}*")
            if not part.startswith("{"):
                starred = "*" in part
                bare = part.replace("*", "").lower().strip(",.")
                belongs = starred or bare not in _FILLERS or (limit and bare in _LIMIT_WORDS)
                sentence.add(part.replace("*", ""), wishes if belongs else (), head=starred)
            elif values and name in values:
                value = self._star_last(values[name]) if part.endswith("*") else values[name]
                if "*" in value:
                    self._add_entry(sentence, value, wishes)
                else:
                    self._add_words(sentence, value, wishes)
            elif name in ("adj", "verb", "noun", "complaint"):
                self._add_entry(sentence, self._star_last(entry) if name == "noun" else entry, wishes)
            else:
                self._fill_small(sentence, name, wishes)

    def _fill_small(self, sentence: MarkedSentence, name: str, wishes: list[MarkedWish]) -> None:
        wish = wishes[0].wish
        up = wish.direction is not Direction.DOWN
        if name in ("it", "the"):
            if wish.where == WHOLE:
                self._add_fillers(sentence, self._pick(self.parts["photo"]["objects"]))
            else:
                self._add_words(sentence, self._pick(self.parts[_table_of(wish.where)][wish.where]), wishes)
        elif name == "up":
            self._add_words(sentence, self._pick(self.parts["verbs"]["up" if up else "down"]), wishes)
        elif name == "more":
            self._add_words(
                sentence,
                self._pick(
                    self.parts["verbs"]["more" if up else "less"][:1] * 6
                    + self.parts["verbs"]["more" if up else "less"]
                ),
                wishes,
            )
        elif name == "direction":
            self._add_words(sentence, self._pick(_NUMBER_WORDS[wish.direction]), wishes)
        elif name == "slightly":
            self._add_amount(sentence, wishes, "adverbs")
        elif name == "some":
            self._add_amount(sentence, wishes, "quantities")
        elif name == "too":
            self._note_amount(wishes)
            self._add_words(sentence, self._pick(self.parts["amounts"]["too"][wish.amount.value]), wishes)
        elif name in ("by", "number"):
            self._add_number(sentence, wishes, signed=name == "number")

    def _add_amount(self, sentence: MarkedSentence, wishes: list[MarkedWish], form: str) -> None:
        amount = wishes[0].wish.amount
        if amount is not Amount.PLAIN:
            self._note_amount(wishes)
            self._add_words(sentence, self._pick(self.parts["amounts"][amount.value][form]), wishes)

    def _note_amount(self, wishes: Sequence[MarkedWish]) -> None:
        for wish in wishes:
            wish.says_amount = True

    def _add_amount_or_number(self, sentence: MarkedSentence, wish: MarkedWish) -> None:
        if wish.wish.amount is Amount.PLAIN and self._chance(0.4):
            self._add_number(sentence, [wish], signed=False)
        else:
            self._add_amount(sentence, [wish], "adverbs")

    def _add_number(self, sentence: MarkedSentence, wishes: list[MarkedWish], *, signed: bool) -> None:
        wish = wishes[0].wish
        value = self._pick((5, 8, 10, 12, 15, 18, 20, 25, 30, 33, 40, 45, 50, 60, 70, 75, 80, 100))
        if wish.what == "lightness" and wish.where == WHOLE and self._chance(0.6):
            number = self._pick(("half a stop", "a stop", "one stop", "two stops", "1/3 stop", "1/2 stop", "2/3 stop", "a third of a stop", "0.5 EV", "1 EV", "0.3", "0.7 stops", "1.5 stops", "one and a half stops", "2 stops", "0.25 EV", "1.3 EV", "a full stop", "a quarter stop"))  # fmt: skip
        elif wish.what == "warmth" and self._chance(0.3):
            number = f"{self._pick((200, 300, 500, 800, 1000))} {self._pick(('K', 'kelvin'))}"
        else:
            number = f"{value}{self._pick((' %', '%', ' percent', '', '', ' points'))}"
        if signed:
            minus = wish.direction is Direction.DOWN
            number = f"{self._pick(('-', '-', '−', '- ') if minus else ('+', '+', '', '+ '))}{number}"
            if not minus and number[0] != "+" and self._chance(0.3):
                number = f"+{number}"
        elif not signed and self._chance(0.8):
            number = f"by {number}"
        for marked in wishes:
            marked.wish = replace(marked.wish, amount=Amount.PLAIN)
        self._add_words(sentence, number, wishes)

    def _add_entry(self, sentence: MarkedSentence, entry: str, wishes: Sequence[MarkedWish]) -> None:
        """The words of an entry; its head is the head of the wishes."""
        for word, is_head in split_phrase(entry):
            sentence.add(word, wishes if is_head or word not in _ARTICLES else (), head=is_head)

    def _add_words(self, sentence: MarkedSentence, words: str, wishes: Sequence[MarkedWish]) -> None:
        for word in words.split():
            sentence.add(word, wishes if word not in _ARTICLES else ())

    def _add_fillers(self, sentence: MarkedSentence, words: str) -> None:
        for word in words.split():
            sentence.add(word)

    def _join(self, sentence: MarkedSentence) -> None:
        joint = self._pick(self.frames["joins"])
        if joint.strip() in (",", ".", ";"):
            if sentence.text:
                sentence.text += joint.strip()
        else:
            self._add_fillers(sentence, joint)

    # ---- draws

    def _draw_what(self) -> str:
        weights = {"lightness": 5, "contrast": 3, "colour": 4, "warmth": 3, "sharpness": 2, "clarity": 1.5, "punch": 1.5, "cast": 0, "black_and_white": 0, "tint": 0.3}  # fmt: skip
        return self.random.choices(CHANGES, [weights.get(what, 1) for what in CHANGES])[0]

    def _draw_direction(self, what: str) -> Direction:
        words = self.changes[what]
        if words.get("fix") and self._chance(0.1):
            return Direction.FIX
        choices = [one for one in _DIRECTED if words.get(one.value) or words["nouns"]]
        if what == "noise":
            choices = [Direction.DOWN]
        return self._pick(choices)

    def _draw_amount(self, *, numbers: bool = True) -> Amount:
        return self.random.choices((Amount.LITTLE, Amount.PLAIN, Amount.MUCH), (0.22, 0.6, 0.18))[0]

    def _draw_where(self, *, zones: bool | None = None) -> str:
        if zones is None:
            zones = self._chance(0.3)
        return self._pick((*ZONES, *PLACES) if zones else PLACES)

    def _draw_count(self) -> int:
        return self.random.choices([count for _, count in _CLAUSES], [weight for weight, _ in _CLAUSES])[0]

    def _pick(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    @staticmethod
    def _star_last(phrase: str) -> str:
        return phrase if "*" in phrase else f"{phrase}*"

    @staticmethod
    def _star_first(phrase: str) -> str:
        return phrase if "*" in phrase else phrase.replace(phrase.split(maxsplit=1)[0], f"{phrase.split(maxsplit=1)[0]}*", 1)

    # ---- how it is written

    def _finish(self, sentence: MarkedSentence) -> MarkedSentence:
        """End marks, capital letters and typing errors; the spans are moved along."""
        sentence.wishes = [wish for wish in sentence.wishes if wish.head]
        for marked in sentence.wishes:
            if not marked.says_amount and marked.wish.what not in ("more", "less"):
                marked.wish = replace(marked.wish, amount=Amount.PLAIN)
        if self._chance(0.3):
            sentence.text += self._pick((".", "!", "?", "...", ".", "."))
        if self._chance(0.45):
            sentence.text = sentence.text[:1].upper() + sentence.text[1:]
        elif self._chance(0.05):
            sentence.text = sentence.text.upper()
        if self._chance(0.2):
            self._mistype(sentence)
        return sentence

    def _mistype(self, sentence: MarkedSentence) -> None:
        words = [match for match in re.finditer(r"[A-Za-z]{5,}", sentence.text)]
        if not words:
            return
        match = self._pick(words)
        at = self.random.randrange(match.start() + 1, match.end() - 1)
        text = sentence.text
        kind = self._pick(("drop", "drop", "swap", "double", "wrong"))
        new = {
            "drop": "",
            "swap": text[at + 1] + text[at],
            "double": text[at] * 2,
            "wrong": self._pick("etaoinsrhl"),
        }[kind]
        end = at + 2 if kind == "swap" else at + 1
        sentence.text = text[:at] + new + text[end:]
        shift = len(new) - (end - at)

        def move(span: tuple[int, int]) -> tuple[int, int]:
            return (span[0] + shift * (span[0] > at), span[1] + shift * (span[1] > at))

        for wish in sentence.wishes:
            wish.head = move(wish.head) if wish.head else None
            wish.spans = [move(span) for span in wish.spans]


def _table_of(where: str) -> str:
    return "zones" if where in ZONES else "ranges" if where in RANGES else "places"
