"""Clauses of simulated requests: each function adds one that asks for something, in one of its forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ..language.wishes import (
    CHANGES,
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
from .hue_clauses import (
    add_cast,
    add_hue_shift,
    add_mixer_settings,
    add_opposite_ranges,
    add_part_pair,
    add_range,
    add_selective_colour,
    add_toned_zone,
)
from .marks import MarkedWish
from .phrasing import DIRECTED, PhraseWriter, drop_article, split_phrase, star_first, star_last

_FRAMES = {
    "adjectives": "adjective",
    "positives": "positive",
    "negated": "negated",
    "verbs": "verb",
    "nouns": "noun",
    "complaints": "complaint",
    "similes": "simile",
    "sliders": "slider",
}
"""The frames for each form of a change's words."""
_FORMS = ("adjectives", "adjectives", "positives", "verbs", "complaints", "similes", "phrases")
_PREPOSITIONS = ("of", "in", "from", "to", "around", "off", "thing")
"""Words that an object has to follow."""
_PARTICLES = ("up", "down", "off")
_DARK_ZONES, _BRIGHT_ZONES = ("shadows", "blacks"), ("highlights", "whites")


def add_clause(writer: PhraseWriter) -> None:
    """One of the clauses below."""
    weights, adders = zip(*_CLAUSES, strict=True)
    writer.random.choices(adders, weights)[0](writer)


def _add_change(writer: PhraseWriter) -> None:
    """A change in one of its forms: an adjective, a verb, a noun, a complaint, a slider or a whole phrase."""
    what = writer.draw_change()
    where = WHOLE
    if writer.chance(0.14):
        where = writer.draw_part() if writer.chance(0.3) else writer.pick(PLACES)
    if not writer.claim(what, where):
        return
    direction = _draw_direction(writer, what)
    if direction not in DIRECTED:
        return _add_phrase(writer, what, direction)
    forms = [form for form in _FORMS if writer.list_entries(what, direction, form)]
    forms += ["negated"] if writer.list_entries(what, direction, "negated") else []
    if writer.changes[what]["nouns"]:
        forms += ["nouns", "nouns", "sliders"]
    form = writer.pick(forms)
    if form == "phrases":
        return _add_phrase(writer, what, direction)
    wish = writer.start_wish(Wish(what, direction, writer.draw_amount(), where))
    if form == "sliders" and writer.chance(0.15):
        return _add_full_slider(writer, wish, writer.pick(writer.changes[what]["nouns"]))
    entries = writer.list_entries(what, direction, "nouns" if form == "sliders" else form)
    name = "noun_up" if _is_plain_noun(writer, form, direction) else _FRAMES[form]
    frames = [one for one in writer.frames[name] if where == WHOLE or "{it}" in one]
    if not frames:
        wish.wish, frames = replace(wish.wish, where=WHOLE), writer.frames[_FRAMES[form]]
    entry = writer.pick(entries)
    if form == "verbs" and entry.split()[-1] in _PREPOSITIONS:
        frames = [one for one in frames if "{verb} {it}" in one]
    frame = writer.pick(frames)
    if form == "verbs":
        frame, entry = _split_verb(writer, frame, entry)
    writer.fill(frame, [wish], entry)
    if wish.wish.where in PLACES and writer.chance(0.25):
        _add_pronoun(writer, wish.wish)
    return None


def _is_plain_noun(writer: PhraseWriter, form: str, direction: Direction) -> bool:
    """Whether a noun stands without a word for more, as in "a touch of grain"."""
    return form == "nouns" and direction is Direction.UP and writer.chance(0.3)


def _split_verb(writer: PhraseWriter, frame: str, verb: str) -> tuple[str, str]:
    """ "Warm it up" for "warm up it", mostly."""
    first, _, last = verb.rpartition(" ")
    if last in _PARTICLES and "*" not in verb and writer.chance(0.8):
        frame = frame.replace("{verb} {it}", f"{{verb}} {{it}} {last}")
        return frame, first if f"{{it}} {last}" in frame else verb
    return frame, verb


def _add_opposite(writer: PhraseWriter) -> None:
    """What is wanted and what is not: "warmer, not cooler"."""
    what, direction = writer.draw_change(), writer.pick(DIRECTED)
    other = DIRECTED[direction is Direction.UP]
    wanted, unwanted = (writer.list_entries(what, one, "adjectives") for one in (direction, other))
    unwanted = [one for one in unwanted if not one.startswith("not ")]
    if not (wanted and unwanted and writer.claim(what, WHOLE)):
        return
    ask = writer.start_wish(Wish(what, direction))
    limit = writer.start_wish(Wish(what, other, role=Role.LIMIT))
    words = {"{adj}": (ask, wanted), "{other}": (limit, unwanted)}
    for part in re.split(r"({adj}|{other})", writer.pick(writer.frames["opposite"])):
        if part in words:
            wish, entries = words[part]
            writer.add_entry(writer.pick(entries), [wish])
        elif "not" in part.split() and part.strip():
            writer.fill(part, [limit])
        elif part.strip():
            writer.fill(part, [ask])


def _add_pronoun(writer: PhraseWriter, first: Wish) -> None:
    """More about the same part of the photo: "the face is dark, could you make it brighter"."""
    same = writer.chance(0.5)
    what = first.what if same else writer.draw_change()
    direction = first.direction if same else writer.pick(DIRECTED)
    form = writer.pick(("adjectives", "verbs"))
    entries = writer.list_entries(what, direction, form)
    if not entries or not (same or writer.claim(what, first.where)):
        return
    writer.add_fillers(writer.pick(writer.frames["pronoun_joins"]))
    wish = writer.start_wish(Wish(what, direction, writer.draw_amount(), first.where))
    frames = [one for one in writer.frames[_FRAMES[form]] if "{it}" in one]
    values = {"it": writer.pick(writer.parts["photo"]["pronouns"])}
    writer.fill(writer.pick(frames), [wish], writer.pick(entries), values)


def _draw_direction(writer: PhraseWriter, what: str) -> Direction:
    words = writer.changes[what]
    if words.get("fix") and writer.chance(0.1):
        return Direction.FIX
    if what == "noise":
        return writer.pick([Direction.DOWN])
    return writer.pick([one for one in DIRECTED if words.get(one.value) or words["nouns"]])


def _add_phrase(writer: PhraseWriter, what: str, direction: Direction) -> None:
    words = writer.changes[what]
    phrases = words["fix"] if direction is Direction.FIX else words[direction.value]["phrases"]
    writer.add_whole(Wish(what, direction), writer.pick(phrases))


def _add_full_slider(writer: PhraseWriter, wish: MarkedWish, name: str) -> None:
    """As far as it goes: "highlights all the way down"."""
    wish.wish, wish.says_amount = replace(wish.wish, amount=Amount.MUCH), True
    up = wish.wish.direction is Direction.UP
    frame = writer.pick(writer.frames["full_slider_up" if up else "full_slider_down"])
    writer.fill(frame, [wish], star_last(drop_article(name)))


def _add_list(writer: PhraseWriter) -> None:
    """Several changes in a row: "increase the brightness, contrast and saturation", "sharpen and warm it"."""
    form = writer.pick(
        ("nouns", "nouns", "nouns", "adjectives", "adjectives", "complaints", "verbs", "positives")
    )
    wishes = _draw_list(writer, form)
    if len(wishes) < 2:
        return
    writer.sentence.wishes += wishes
    _begin_list(writer, form, wishes)
    join = writer.pick(writer.frames["list_joins"])
    for position, wish in enumerate(wishes):
        if position:
            writer.add_fillers(join if position == len(wishes) - 1 else ",")
        if wish.wish.where != WHOLE:
            entry = star_last(writer.draw_name(wish.wish.where, plural=True))
        else:
            entry = writer.pick(_list_short_entries(writer, wish.wish.what, wish.wish.direction, form))
        writer.add_entry(star_last(entry) if form == "nouns" else entry, [wish])
    if form == "verbs" and writer.chance(0.5):
        writer.add_fillers(writer.pick(writer.parts["photo"]["objects"]))
    if form in ("nouns", "verbs"):
        writer.add_amount(wishes)


def _draw_list(writer: PhraseWriter, form: str) -> list[MarkedWish]:
    """Wishes for a list; what is raised or lowered by one verb goes one way, and may be a zone or a hue."""
    shared, amount = writer.pick(DIRECTED), writer.draw_amount()
    found: dict[str, tuple[str, str, Direction]] = {}
    for what in CHANGES:
        directions = [shared] if form == "nouns" else DIRECTED
        fitting = [one for one in directions if _list_short_entries(writer, what, one, form)]
        if fitting:
            found[what] = (what, WHOLE, writer.pick(fitting))
    if form == "nouns" and writer.chance(0.3):
        for zone in ZONES:
            found[zone] = ("lightness", zone, shared)
        hue = writer.pick(RANGES)
        found[hue] = ("colour", hue, shared)
    free = [one for one in found.values() if one[:2] not in writer.stated]
    drawn = writer.random.sample(free, min(len(free), writer.pick((2, 2, 2, 3, 3, 4))))
    writer.stated |= {(what, where) for what, where, _ in drawn}
    return [MarkedWish(Wish(what, direction, amount, where)) for what, where, direction in drawn]


def _list_short_entries(writer: PhraseWriter, what: str, direction: Direction, form: str) -> list[str]:
    """Entries for a list: none that need an object, and no noise to be raised."""
    if (what, direction, form) == ("noise", Direction.UP, "nouns"):
        return []
    entries = writer.list_entries(what, direction, form)
    return [one for one in entries if form != "verbs" or one.split()[-1] not in _PREPOSITIONS]


def _begin_list(writer: PhraseWriter, form: str, wishes: list[MarkedWish]) -> None:
    if form == "nouns":
        up = wishes[0].wish.direction is Direction.UP
        verbs, way = writer.parts["verbs"], "up" if up else "down"
        if any(wish.wish.where != WHOLE for wish in wishes):
            verb = more = writer.pick(verbs[f"shared_{way}"])
        else:
            verb, more = writer.pick(verbs[way]), writer.pick(verbs["more" if up else "less"])
        writer.add_words(writer.pick((verb, verb, more)), wishes)
        if writer.chance(0.5) and wishes[0].wish.where == WHOLE:
            writer.add_fillers("the")
    elif form in ("adjectives", "positives"):
        writer.add_fillers(writer.pick(writer.frames["before_adjectives"]))
        if form == "adjectives" and wishes[0].wish.what == "lightness" and writer.chance(0.4):
            writer.add_number(wishes[:1], signed=None)  # which is of the first alone
        elif form == "adjectives":
            writer.add_amount(wishes)
    elif form == "complaints":
        writer.add_fillers(writer.pick(writer.frames["before_complaints"]))
        writer.add_too(wishes)


def _add_zone(writer: PhraseWriter) -> None:
    """Light in a tonal zone: "lift the shadows", "recover the highlights", "blacks -10"."""
    zone = writer.pick(ZONES)
    if not writer.claim("lightness", zone):
        return
    direction = writer.pick(DIRECTED)
    name = writer.draw_name(zone)
    wish = writer.start_wish(Wish("lightness", direction, writer.draw_amount(), zone))
    words = writer.parts["zone_words"][direction.value]
    lost = (zone in _DARK_ZONES) if direction is Direction.UP else (zone in _BRIGHT_ZONES)
    form = writer.random.random()
    if form < 0.25:
        writer.fill(writer.pick(writer.frames["slider"]), [wish], star_last(drop_article(name)))
    elif form < 0.31:
        _add_full_slider(writer, wish, name)
    elif form < 0.38 and lost:
        verbs = writer.parts["verbs"]["reveal" if zone in _DARK_ZONES else "recover"]
        writer.add_words(writer.pick(verbs), [wish])
        writer.add_entry(star_last(name), [wish])
        writer.add_amount_or_number(wish)
    elif form < 0.47 and lost:
        frame = writer.pick(writer.frames["recover_dark" if zone in _DARK_ZONES else "recover_bright"])
        writer.fill(frame, [wish], values={"the": star_last(name), "bare": star_last(drop_article(name))})
    elif form < 0.54 and (own := words["own"].get(zone)):
        writer.add_entry(writer.pick(own), [wish])
    elif form < 0.65:
        writer.add_fillers(writer.pick(writer.frames["before_zones"]))
        add = _add_adjective_after if writer.chance(0.5) else _add_adjective_before
        add(writer, wish, name, words["adjectives"])
    elif form < 0.78 and (complaints := words["complaints"].get(zone)):
        writer.add_words(name, [wish])
        writer.add_fillers(writer.pick(writer.frames["after_zones"]))
        writer.add_too([wish])
        writer.add_entry(writer.pick(complaints), [wish])
        writer.add_words(writer.pick(words["remedies"]), [wish])
    else:
        verbs, end = writer.parts["verbs"], "dark" if zone in _DARK_ZONES else "bright"
        named = verbs[f"zone_{direction.value}"]
        writer.add_words(writer.pick([*named, *named, *verbs[f"zone_{direction.value}_{end}"]]), [wish])
        writer.add_entry(star_last(name), [wish])
        writer.add_amount_or_number(wish)


def _add_adjective_after(writer: PhraseWriter, wish: MarkedWish, name: str, adjectives: list[str]) -> None:
    """ "The shadows a bit darker"."""
    writer.add_words(name, [wish])
    writer.add_amount([wish])
    writer.add_entry(writer.pick(adjectives), [wish])


def _add_adjective_before(writer: PhraseWriter, wish: MarkedWish, name: str, adjectives: list[str]) -> None:
    """ "A bit darker shadows"."""
    writer.add_amount([wish])
    writer.add_words(writer.pick(adjectives).replace("*", ""), [wish])
    writer.add_entry(star_last(drop_article(name)), [wish])


def _add_sliders(writer: PhraseWriter) -> None:
    """A list of settings: "exposure +0.3, contrast 10 saturation -5", "blue sat +10"."""
    sliders = writer.parts["sliders"]
    chosen = writer.random.sample(list(sliders), writer.pick((1, 2, 3, 3, 4, 5)))
    separator = writer.pick(writer.frames["slider_joins"])
    order = writer.pick(("after", "after", "after", "before", "directions"))
    written = 0
    for name in chosen:
        what, where = sliders[name]["what"], sliders[name].get("where", WHOLE)
        if (what, where) in writer.stated and name not in _SISTER_SLIDERS:
            continue
        if written:
            writer.add_fillers(separator)
        writer.claim(what, where)
        _add_slider(writer, Wish(what, where=where), writer.pick(sliders[name]["names"]), order)
        written += 1


_SISTER_SLIDERS = ("saturation", "vibrance", "clarity", "texture")
"""Sliders of one change that are often set together."""


def _add_slider(writer: PhraseWriter, drawn: Wish, name: str, order: str) -> None:
    """A slider with its number before or after it, or with a direction, or what the photo should become."""
    what, where = drawn.what, drawn.where
    wish = writer.start_wish(replace(drawn, direction=writer.pick(DIRECTED)))
    reverse = what in ("haze", "noise")  # more of such a slider is less of what it is about
    if reverse:
        wish.wish = replace(wish.wish, direction=Direction.UP)
    adjectives = writer.list_entries(what, wish.wish.direction, "adjectives")
    mark = writer.pick(("", "", "", ":", " ="))
    if where == WHOLE and adjectives and not reverse and writer.chance(0.08):
        writer.add_words(name.replace("*", "") + mark, [wish])
        writer.add_entry(writer.pick(adjectives), [wish])
    elif order == "before":
        writer.add_number([wish], signed=True)
        writer.add_entry(star_last(name), [wish])
    elif order == "directions":
        writer.add_entry(star_last(name), [wish])
        writer.add_words(writer.pick(writer.parts["directions"][wish.wish.direction.value]), [wish])
        writer.add_number([wish], signed=None)
    else:
        writer.add_entry(star_last(name), [wish])
        writer.sentence.text += mark
        writer.add_number([wish], signed=True)
    if reverse:
        wish.wish = replace(wish.wish, direction=Direction.DOWN)


def _add_look(writer: PhraseWriter) -> None:
    name = writer.pick(list(writer.looks["looks"]))
    phrase = writer.pick([name, *writer.looks["looks"][name] * 2])
    wish = writer.start_wish(Wish("look", amount=writer.draw_amount()), look=name)
    starred = " ".join(word + "*" * is_head for word, is_head in split_phrase(phrase, last=True))
    writer.fill(writer.pick(writer.looks["frames"]["phrases"]), [wish], values={"look": starred})


def _add_black_and_white(writer: PhraseWriter) -> None:
    _add_phrase(writer, "black_and_white", Direction.NONE)


def _add_auto(writer: PhraseWriter) -> None:
    writer.add_whole(Wish("auto"), writer.pick(writer.talk["auto"]["phrases"]))


def _add_impossible(writer: PhraseWriter) -> None:
    """What no operation can do: "remove the car", "paint the wall red"."""
    what = writer.pick((*IMPOSSIBLE, "remove", "add", "retouch"))
    where = writer.pick(PLACES) if writer.chance(0.3) else "thing"
    thing = writer.draw_name(where)
    hue, other = writer.random.sample(HUES, 2)
    frame = writer.pick(writer.talk["declined"][what])
    asked = other if "{hue2}*" in frame else hue if "{hue}*" in frame else ""
    if what in ("replace_background", "blur") and "background" in frame:
        where = "background"
    elif "{junk}" in frame or "{garment}" in frame:
        where = "thing"
    elif "{thing}" not in frame:
        where = WHOLE
    values = {
        "thing": thing,
        "athing": f"a {drop_article(thing)}",
        "hue": writer.parts["hues"][hue][0],
        "hue2": writer.parts["hues"][other][0],
        **{name: writer.pick(names) for name, names in writer.talk["objects"].items()},
    }
    writer.fill(star_first(frame), [writer.start_wish(Wish(what, where=where, hue=asked))], values=values)


def _add_geometry(writer: PhraseWriter) -> None:
    what = writer.pick(GEOMETRY)
    writer.add_whole(Wish(what), writer.pick(writer.talk["geometry"][what]))


_CLAUSES: tuple[tuple[float, Callable[[PhraseWriter], None]], ...] = (
    (0.38, _add_change),
    (0.015, _add_opposite),
    (0.11, _add_list),
    (0.11, _add_zone),
    (0.045, add_toned_zone),
    (0.05, _add_sliders),
    (0.08, add_range),
    (0.015, add_opposite_ranges),
    (0.02, add_part_pair),
    (0.008, add_mixer_settings),
    (0.04, add_hue_shift),
    (0.012, add_selective_colour),
    (0.09, add_cast),
    (0.06, _add_look),
    (0.025, _add_black_and_white),
    (0.035, _add_auto),
    (0.09, _add_impossible),
    (0.035, _add_geometry),
)
"""How often each is added."""
