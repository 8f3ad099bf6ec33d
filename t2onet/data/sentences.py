"""Simulated requests, made of the phrases in `data/phrases`, with the wishes they state marked word by word.

All phrases are our own, so a reader trained on these sentences alone is free of the datasets' terms.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from ..language.wishes import (
    CHANGES,
    COMMANDS,
    FOREIGN,
    HUES,
    PLACES,
    RANGES,
    WHOLE,
    ZONES,
    Amount,
    Direction,
    Role,
    Wish,
)
from .clauses import add_clause
from .marks import MarkedSentence
from .phrasing import DIRECTED, PhraseWriter, star_last
from .variations import mistype

_COUNTS = {1: 0.46, 2: 0.31, 3: 0.16, 4: 0.07}
"""How often a sentence has so many clauses."""
_OPPOSITE = {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}
_END_MARKS = (".", "!", "?", "...", ".", ".")


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
    if writer.chance(0.4):
        writer.add_fillers(writer.pick(frames["openings"]))
    if writer.chance(0.06):
        _add_limit(writer)
        writer.add_join(writer.pick(frames["after_limits"]))
    join = writer.pick(frames["joins"])
    for number in range(count):
        if number and writer.chance(0.22):
            _join(writer, writer.pick(frames["limit_joins"]), _add_limit)
            continue
        join = join if writer.chance(0.5) else writer.pick(frames["joins"])
        _join(writer, join if number else "", add_clause)
    if writer.chance(0.12):
        _join(writer, writer.pick(frames["limit_joins"]), _add_limit)
    if writer.chance(0.06) and writer.sentence.wishes:
        _add_gently(writer)
    if writer.chance(0.12):
        writer.add_join(writer.pick(("", "", ",", ".", ";")))
        writer.add_fillers(writer.pick(frames["goals"]))
    if writer.chance(0.15):
        writer.add_fillers(writer.pick(frames["closings"]))


def _add_gently(writer: PhraseWriter) -> None:
    """That the wishes should go less far: "don't overdo it", or of "brighter" "but not too bright"."""
    last = writer.sentence.wishes[-1].wish
    writer.sentence.text += writer.pick(("", ",", ","))
    complaints: list[str] = []
    if last.role is Role.ASK and last.where == WHOLE and last.direction in DIRECTED:
        complaints = writer.list_entries(last.what, _OPPOSITE[last.direction], "complaints")
    wish = Wish("less", role=Role.LIMIT)
    if complaints and writer.chance(0.5):
        frame = writer.pick(writer.frames["not_too"])
        writer.fill(frame, [writer.start_wish(wish)], writer.pick(complaints))
    else:
        writer.add_whole(wish, writer.pick(writer.frames["gently"]))


def _join(writer: PhraseWriter, join: str, add: Callable[[PhraseWriter], None]) -> None:
    """Add a clause after a join, or neither where the clause turns out to be empty."""
    before = writer.sentence.text
    writer.add_join(join)
    joined = writer.sentence.text
    add(writer)
    if writer.sentence.text == joined:
        writer.sentence.text = before


def _add_limit(writer: PhraseWriter) -> None:
    """Something to respect: "keep the colours", "without blowing the highlights", "but not darker"."""
    limits = (
        (2, _add_limit_of_change),
        (1, _add_limit_of_becoming),
        (1, _add_limit_of_complaint),
        (0.4, _add_limit_of_hue),
        (1, _add_limit_of_zone),
        (3, _add_spared_part),
    )
    weights, adders = zip(*limits, strict=True)
    writer.random.choices(adders, weights)[0](writer)


def _add_limit_of_change(writer: PhraseWriter) -> None:
    """ "Keep the contrast", "without raising the contrast", "without losing contrast", "no vignette"."""
    form = writer.pick(("keep", "keep", "not_up", "not_down"))
    whats = [what for what in CHANGES if writer.changes[what]["nouns"]]
    what = writer.pick(whats if form == "not_up" else whats[:7])
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


def _add_limit_of_complaint(writer: PhraseWriter) -> None:
    """What the photo should not become: "but not too dark", "neither too warm nor too soft"."""
    frame = writer.pick(writer.frames["not_become"])
    before, _, after = frame.partition("{other}")
    for part in (before, after):
        drawn = [(what, way) for what in CHANGES for way in DIRECTED]
        drawn = [one for one in drawn if writer.list_entries(*one, "complaints")]
        what, direction = writer.pick(drawn)
        if "{complaint}" in part:
            entry = writer.pick(writer.list_entries(what, direction, "complaints"))
            _fill_limit(writer, Wish(what, _OPPOSITE[direction]), part, entry)


def _add_limit_of_hue(writer: PhraseWriter) -> None:
    """ "Don't let the whites go yellow"."""
    hue, where = writer.pick(HUES), writer.pick((WHOLE, WHOLE, *ZONES, "skin"))
    frames = [one for one in writer.frames["not_hue"] if where == WHOLE or "{it}" in one]
    values = {"word": star_last(writer.pick(writer.parts["hues"][hue]))}
    _fill_limit(writer, Wish("cast", Direction.UP, where=where, hue=hue), writer.pick(frames), values=values)


def _add_limit_of_zone(writer: PhraseWriter) -> None:
    """ "Without blowing out the highlights", "don't crush the blacks"."""
    direction = Direction.UP if writer.chance(0.6) else Direction.DOWN
    zone = writer.pick(("highlights", "whites") if direction is Direction.UP else ("shadows", "blacks"))
    values = {"the": writer.draw_name(zone)}
    frame = writer.pick(writer.frames[f"part_{direction.value}"])
    _fill_limit(writer, Wish("lightness", direction, where=zone), frame, values=values)


def _add_spared_part(writer: PhraseWriter) -> None:
    """ "Leave the sky alone", "everything except the reds"."""
    form = writer.pick(("except_part", "keep_part", "keep_part"))
    where = writer.pick((*ZONES, *ZONES, *RANGES, "skin", "skin", "skin", "face", *PLACES))
    if form == "except_part" and writer.chance(0.3):
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
    look = writer.pick(list(writer.looks["looks"]))
    phrase = writer.pick(writer.talk["commands"][what]).replace("{look}", look)
    around = writer.talk["around_commands"]
    amount = Amount.PLAIN
    if what in ("more", "less"):
        if any(word in phrase for word in around["little"]):
            amount = Amount.LITTLE
        elif any(word in phrase for word in around["much"]):
            amount = Amount.MUCH
    if writer.chance(0.25):
        writer.add_fillers(writer.pick(around["openings"]))
    writer.add_whole(Wish(what, amount=amount), phrase)
    if what in ("undo", "reset", "reverse", "more", "less") and writer.chance(0.2):
        _join(writer, writer.pick(around["joins"]), add_clause)
    if writer.chance(0.15):
        writer.add_fillers(writer.pick(around["closings"]))


def _add_ellipsis(writer: PhraseWriter) -> None:
    """The last change once more, elsewhere or by another number: "and the blues too", "no, 20"."""
    frames = writer.talk["ellipsis"]
    if writer.chance(0.65):
        where = writer.pick((*RANGES, *ZONES))
        wish = writer.start_wish(Wish("more", where=where))
        writer.fill(writer.pick(frames["parts"]), [wish], values={"the": star_last(writer.draw_name(where))})
    elif writer.chance(0.6):
        writer.fill(writer.pick(frames["numbers"]), [writer.start_wish(Wish("more"))])
    else:  # small numbers are stops
        direction = writer.pick(DIRECTED)
        number = ("+" if direction is Direction.UP else "-") + writer.pick(frames["stops"])
        values = {"number": number, "count": number}
        writer.fill(
            writer.pick(frames["numbers"]), [writer.start_wish(Wish("lightness", direction))], values=values
        )


def _add_nothing(writer: PhraseWriter) -> None:
    writer.add_fillers(writer.pick(writer.talk["nothing"]["phrases"]).replace("*", ""))


def _add_foreign(writer: PhraseWriter) -> None:
    writer.add_whole(Wish(FOREIGN), writer.pick(writer.talk["foreign"]["phrases"]))


def _add_question(writer: PhraseWriter) -> None:
    """About a change: "why is it darker now?", "why is it so dark?", "did the contrast go up?"."""
    what = writer.draw_change()
    direction = writer.pick(DIRECTED)
    wish = Wish(what, direction, role=Role.QUESTION)
    form = writer.pick(("adjectives", "adjectives", "complaints", "nouns", "hues"))
    entries = writer.list_entries(what, direction, form)
    if form == "hues":
        hue = writer.pick(HUES)
        values = {"word": star_last(writer.pick(writer.parts["hues"][hue]))}
        wish = Wish("cast", Direction.UP, role=Role.QUESTION, hue=hue)
        writer.fill(writer.pick(writer.frames["question_hue"]), [writer.start_wish(wish)], values=values)
    elif entries:
        if form == "complaints":  # what it is, rather than what it should become
            wish = replace(wish, direction=_OPPOSITE[direction])
        name = {"adjectives": "question", "complaints": "question_complaint", "nouns": "question_noun"}[form]
        writer.fill(writer.pick(writer.frames[name]), [writer.start_wish(wish)], writer.pick(entries))
    else:
        writer.add_whole(Wish("question"), writer.pick(writer.talk["commands"]["question"]))


_KINDS: tuple[tuple[float, Callable[[PhraseWriter], None]], ...] = (
    (0.1, _add_command),
    (0.115, _add_ellipsis),
    (0.15, _add_nothing),
    (0.165, _add_foreign),
    (0.205, _add_question),
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
    if writer.chance(0.3) and not sentence.text.endswith(_END_MARKS):
        sentence.text += writer.pick(_END_MARKS)
    if writer.chance(0.45):
        sentence.text = sentence.text[:1].upper() + sentence.text[1:]
    elif writer.chance(0.05):
        sentence.text = sentence.text.upper()
    if writer.chance(0.2):
        mistype(writer.sentence, writer.random)
