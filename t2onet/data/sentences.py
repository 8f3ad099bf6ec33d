"""Simulated requests, made of the phrases in `data/phrases`, with the wishes they state marked word by word.

All phrases are our own, so a reader trained on these sentences alone is free of the datasets' terms.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from ..language.wishes import CHANGES, COMMANDS, FOREIGN, RANGES, Amount, Direction, Role, Wish
from .clauses import add_clause
from .marks import MarkedSentence
from .phrasing import DIRECTED, PhraseWriter, star_last

_COUNTS = {1: 0.46, 2: 0.31, 3: 0.16, 4: 0.07}
"""How often a sentence has so many clauses."""
_END_MARKS = (".", "!", "?", "...", ".", ".")
_COMMON_LETTERS = "etaoinsrhl"


class SentenceMaker:
    """Draws sentences; the same seed draws the same ones."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def draw(self) -> MarkedSentence:
        """One sentence."""
        writer = PhraseWriter(self._random)
        kind = self._random.random()
        next(add for end, add in _KINDS if kind < end)(writer)
        _finish(writer)
        return writer.sentence


def _add_clauses(writer: PhraseWriter) -> None:
    """Clauses and limits, perhaps with an opening, a goal and a closing."""
    frames = writer.frames
    (count,) = writer.random.choices(list(_COUNTS), list(_COUNTS.values()))
    if writer.chance(0.35):
        writer.add_fillers(writer.pick(frames["openings"]))
    for number in range(count):
        if number:
            _add_join(writer)
        if number and writer.chance(0.22):
            _add_limit(writer)
        else:
            add_clause(writer)
    if writer.chance(0.1):
        _add_join(writer)
        _add_limit(writer)
    if writer.chance(0.04) and writer.sentence.wishes:
        writer.sentence.text += writer.pick(("", ",", ","))
        writer.add_whole(Wish("less", role=Role.LIMIT), writer.pick(frames["gently"]))
    if writer.chance(0.12):
        writer.add_fillers(writer.pick(frames["goals"]))
    if writer.chance(0.15):
        writer.add_fillers(writer.pick(frames["closings"]))


def _add_join(writer: PhraseWriter) -> None:
    join = writer.pick(writer.frames["joins"]).strip()
    if join not in (",", ".", ";"):
        writer.add_fillers(join)
    elif writer.sentence.text:
        writer.sentence.text += join


def _add_limit(writer: PhraseWriter) -> None:
    """Something to respect: "keep the colours", "without blowing the highlights", "but not darker"."""
    form = writer.pick(
        ("except_part", "keep", "not_more", "keep_part", "part", "not_up", "not_down", "keep_part")
    )
    if form in ("keep", "not_up", "not_down"):
        _add_limit_of_change(writer, form)
    elif form == "not_more":
        _add_limit_of_becoming(writer)
    elif form == "part":
        _add_limit_of_zone(writer)
    else:
        _add_spared_part(writer, form)


def _add_limit_of_change(writer: PhraseWriter, form: str) -> None:
    """ "Keep the contrast", "without raising the contrast", "without losing contrast"."""
    what = writer.pick([what for what in CHANGES if writer.changes[what]["nouns"]][:7])
    direction = {"keep": Direction.FIX, "not_up": Direction.UP, "not_down": Direction.DOWN}[form]
    noun = writer.pick(writer.changes[what]["nouns"])
    verbs = writer.parts["verbs"]
    values = {"upping": writer.pick(verbs["raising"]), "raise": writer.pick(verbs["raise"])}
    _fill_limit(writer, Wish(what, direction), writer.pick(writer.frames[form]), noun, values)


def _add_limit_of_becoming(writer: PhraseWriter) -> None:
    """ "But not darker"."""
    what, direction = writer.draw_change(), writer.pick(DIRECTED)
    if entries := writer.list_entries(what, direction, "adjectives"):
        frame = writer.pick(writer.frames["not_more"])
        _fill_limit(writer, Wish(what, direction), frame, writer.pick(entries))


def _add_limit_of_zone(writer: PhraseWriter) -> None:
    """ "Without blowing out the highlights", "don't crush the blacks"."""
    direction = Direction.UP if writer.chance(0.6) else Direction.DOWN
    zone = writer.pick(("highlights", "whites") if direction is Direction.UP else ("shadows", "blacks"))
    values = {"the": writer.draw_name(zone)}
    frame = writer.pick(writer.frames[f"part_{direction.value}"])
    _fill_limit(writer, Wish("lightness", direction, where=zone), frame, values=values)


def _add_spared_part(writer: PhraseWriter, form: str) -> None:
    """ "Leave the sky alone", "everything except the reds"."""
    where = writer.draw_part()
    if form == "except_part" and writer.chance(0.5):
        where = writer.pick(RANGES)
    values = {"the": star_last(writer.draw_name(where))}
    frame = writer.pick(writer.frames[form])
    _fill_limit(writer, Wish("other", Direction.FIX, where=where), frame, values=values)


def _fill_limit(
    writer: PhraseWriter, wish: Wish, frame: str, entry: str = "", values: dict[str, str] | None = None
) -> None:
    if writer.claim(wish.what, wish.where):
        writer.fill(frame, [writer.start_wish(replace(wish, role=Role.LIMIT))], entry, values)


def _add_command(writer: PhraseWriter) -> None:
    """What is said to the program: "undo that", "a bit more"."""
    what = writer.pick(COMMANDS)
    phrase = writer.pick(writer.talk["commands"][what])
    around = writer.talk["around_commands"]
    amount = Amount.PLAIN
    if what in ("more", "less"):
        if any(word in phrase for word in around["little"]):
            amount = Amount.LITTLE
        elif any(word in phrase for word in around["much"]):
            amount = Amount.MUCH
    if writer.chance(0.2):
        writer.add_fillers(writer.pick(around["openings"]))
    writer.add_whole(Wish(what, amount=amount), phrase)
    if writer.chance(0.15):
        writer.add_fillers(writer.pick(around["closings"]))


def _add_nothing(writer: PhraseWriter) -> None:
    writer.add_fillers(writer.pick(writer.talk["nothing"]["phrases"]).replace("*", ""))


def _add_foreign(writer: PhraseWriter) -> None:
    writer.add_whole(Wish(FOREIGN), writer.pick(writer.talk["foreign"]["phrases"]))


def _add_question(writer: PhraseWriter) -> None:
    """About a change: "why is it darker now?"."""
    what = writer.draw_change()
    direction = writer.pick(DIRECTED)
    if entries := writer.list_entries(what, direction, "adjectives"):
        wish = writer.start_wish(Wish(what, direction, role=Role.QUESTION))
        writer.fill(writer.pick(writer.frames["question"]), [wish], writer.pick(entries))
    else:
        writer.add_whole(Wish("question"), writer.pick(writer.talk["commands"]["question"]))


_KINDS: tuple[tuple[float, Callable[[PhraseWriter], None]], ...] = (
    (0.1, _add_command),
    (0.14, _add_nothing),
    (0.155, _add_foreign),
    (0.19, _add_question),
    (1.0, _add_clauses),
)
"""Kinds of sentences, each with the end of its share of the interval from 0 to 1."""


def _finish(writer: PhraseWriter) -> None:
    """Add end marks, capital letters and typing errors; drop wishes and amounts that no word states."""
    sentence = writer.sentence
    sentence.wishes = [wish for wish in sentence.wishes if wish.head]
    for marked in sentence.wishes:
        if not marked.says_amount and marked.wish.what not in ("more", "less"):
            marked.wish = replace(marked.wish, amount=Amount.PLAIN)
    if writer.chance(0.3):
        sentence.text += writer.pick(_END_MARKS)
    if writer.chance(0.45):
        sentence.text = sentence.text[:1].upper() + sentence.text[1:]
    elif writer.chance(0.05):
        sentence.text = sentence.text.upper()
    if writer.chance(0.2):
        _mistype(writer)


def _mistype(writer: PhraseWriter) -> None:
    """Mistype a letter inside a word, and move the spans along."""
    text = writer.sentence.text
    words = list(re.finditer(r"[A-Za-z]{5,}", text))
    if not words:
        return
    match = writer.pick(words)
    at = writer.random.randrange(match.start() + 1, match.end() - 1)
    kind = writer.pick(("drop", "drop", "swap", "double", "wrong"))
    new = {
        "drop": "",
        "swap": text[at + 1] + text[at],
        "double": text[at] * 2,
        "wrong": writer.pick(_COMMON_LETTERS),
    }[kind]
    end = at + 2 if kind == "swap" else at + 1
    writer.sentence.text = text[:at] + new + text[end:]
    shift = len(new) - (end - at)

    def move(span: tuple[int, int]) -> tuple[int, int]:
        return (span[0] + shift * (span[0] > at), span[1] + shift * (span[1] > at))

    for wish in writer.sentence.wishes:
        wish.head = move(wish.head) if wish.head else None
        wish.spans = [move(span) for span in wish.spans]
