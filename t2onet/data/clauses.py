"""Clauses of simulated requests: each function adds one that asks for something, in one of its forms."""

from __future__ import annotations

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
    Direction,
    Wish,
)
from .marks import MarkedWish
from .phrasing import DIRECTED, PhraseWriter, drop_article, split_phrase, star_first, star_last

_FRAMES = {
    "adjectives": "adjective",
    "verbs": "verb",
    "nouns": "noun",
    "complaints": "complaint",
    "sliders": "slider",
}
"""The frames for each form of a change's words."""
_SLIDERS = (
    *((what, WHOLE) for what in ("lightness", "contrast", "colour", "warmth", "sharpness", "clarity")),
    *((what, WHOLE) for what in ("haze", "vignette", "grain", "tint")),
    *(("lightness", zone) for zone in ZONES),
)
_SELF_EXPLAINED = ("brighten", "lighten", "darken", "deepen")
"""Verbs that say what changes in a zone; with others the zone itself says it."""


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
    words = writer.changes[what].get(direction.value, {})
    forms = [form for form in ("adjectives", "verbs", "complaints", "phrases") if words.get(form)]
    if writer.changes[what]["nouns"]:
        forms += ["nouns", "nouns", "sliders"]
    form = writer.pick(forms)
    if form == "phrases":
        return _add_phrase(writer, what, direction)
    wish = writer.start_wish(Wish(what, direction, writer.draw_amount(), where))
    entries = writer.changes[what]["nouns"] if form in ("nouns", "sliders") else words[form]
    frames = [one for one in writer.frames[_FRAMES[form]] if where == WHOLE or "{it}" in one]
    if not frames:
        wish.wish, frames = replace(wish.wish, where=WHOLE), writer.frames[_FRAMES[form]]
    return writer.fill(writer.pick(frames), [wish], writer.pick(entries))


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


def _add_list(writer: PhraseWriter) -> None:
    """Several changes that share a verb: "increase the brightness, contrast and saturation"."""
    direction = writer.pick(DIRECTED)
    form = writer.pick(("nouns", "nouns", "adjectives", "complaints", "verbs"))
    free = [what for what in CHANGES if (what, WHOLE) not in writer.stated]
    whats = [what for what in free if writer.list_entries(what, direction, form)]
    whats = writer.random.sample(whats, min(len(whats), writer.pick((2, 2, 2, 3, 4))))
    if len(whats) < 2:
        return
    amount = writer.draw_amount()
    wishes = [writer.start_wish(Wish(what, direction, amount)) for what in whats]
    writer.stated |= {(what, WHOLE) for what in whats}
    _begin_list(writer, form, wishes)
    for position, wish in enumerate(wishes):
        if position:
            last = position == len(wishes) - 1
            writer.add_fillers(writer.pick(writer.frames["list_joins"]) if last else ",")
        entry = writer.pick(writer.list_entries(wish.wish.what, direction, form))
        writer.add_entry(star_last(entry) if form == "nouns" else entry, [wish])
    if form == "verbs":
        writer.add_fillers(writer.pick(writer.parts["photo"]["objects"]))
    if form in ("nouns", "verbs"):
        writer.add_amount(wishes)


def _begin_list(writer: PhraseWriter, form: str, wishes: list[MarkedWish]) -> None:
    if form == "nouns":
        up = wishes[0].wish.direction is Direction.UP
        verb = writer.pick(writer.parts["verbs"]["up" if up else "down"])
        more = writer.pick(writer.parts["verbs"]["more" if up else "less"])
        writer.add_words(writer.pick((verb, verb, more)), wishes)
        if writer.chance(0.5):
            writer.add_fillers("the")
    elif form == "adjectives":
        writer.add_fillers(writer.pick(writer.frames["before_adjectives"]))
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
    form = writer.random.random()
    if form < 0.3:
        writer.fill(writer.pick(writer.frames["slider"]), [wish], star_last(drop_article(name)))
    elif form < 0.4 and direction is Direction.DOWN and zone in ("highlights", "whites"):
        writer.add_words(writer.pick(writer.parts["verbs"]["recover"]), [wish])
        writer.add_entry(star_last(name), [wish])
    elif form < 0.55:
        writer.add_fillers(writer.pick(writer.frames["before_zones"]))
        add = _add_adjective_after if writer.chance(0.5) else _add_adjective_before
        add(writer, wish, name, words["adjectives"])
    elif form < 0.68:
        writer.add_words(name, [wish])
        writer.add_fillers(writer.pick(writer.frames["after_zones"]))
        writer.add_too([wish])
        own = words["complaints_of_blacks"] if zone == "blacks" and direction is Direction.DOWN else []
        writer.add_entry(writer.pick([*own, *words["complaints"]]), [wish])
    else:
        verb = writer.pick(writer.parts["verbs"][f"zone_{direction.value}"])
        _add_verb(writer, wish, verb, name, is_head=verb.split()[0] in _SELF_EXPLAINED)


def _add_verb(writer: PhraseWriter, wish: MarkedWish, verb: str, name: str, *, is_head: bool) -> None:
    """ "Lift the shadows": the head is the verb or the part."""
    if is_head:
        writer.add_entry(verb, [wish])
        writer.add_words(name, [wish])
    else:
        writer.add_words(verb, [wish])
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


def _add_toned_zone(writer: PhraseWriter) -> None:
    """Colour in tonal zones: "warm highlights, cool shadows", "teal in the shadows"."""
    zones = writer.random.sample(ZONES[:3], writer.pick((1, 2, 2)))
    for number, zone in enumerate(zones):
        if number:
            writer.add_fillers(writer.pick(writer.frames["toned_zone_joins"]))
        if writer.chance(0.4):
            direction = writer.pick(DIRECTED)
            words = writer.parts["zone_words"][direction.value]["warmth"]
            wish = Wish("warmth", direction, writer.draw_amount(), zone)
        else:
            hue = writer.pick(HUES)
            words = writer.parts["hues"][hue]
            wish = Wish("cast", Direction.UP, writer.draw_amount(), zone, hue)
        if not writer.claim(wish.what, zone):
            continue
        name = writer.draw_name(zone)
        frame = writer.pick(writer.frames["toned_zone"])
        values = {"word": star_last(writer.pick(words)), "zone": name, "bare": drop_article(name)}
        writer.fill(frame, [writer.start_wish(wish)], values=values)


def _add_sliders(writer: PhraseWriter) -> None:
    """A list of settings: "exposure +0.3, contrast 10 saturation -5"."""
    chosen = writer.random.sample(_SLIDERS, writer.pick((2, 3, 3, 4, 5)))
    chosen = [one for one in chosen if one not in writer.stated]
    separator = writer.pick(writer.frames["slider_joins"])
    for number, (what, where) in enumerate(chosen):
        if number:
            writer.add_fillers(separator)
        writer.claim(what, where)
        direction = writer.pick(DIRECTED)
        wish = writer.start_wish(Wish(what, direction, where=where))
        name = writer.draw_name(where) if where != WHOLE else writer.pick(writer.changes[what]["nouns"])
        if what == "haze":  # more of this slider is less haze
            name, wish.wish = "dehaze", replace(wish.wish, direction=Direction.UP)
        writer.add_entry(star_last(drop_article(name)), [wish])
        writer.add_number([wish], signed=True)
        if what == "haze":
            wish.wish = replace(wish.wish, direction=Direction.DOWN)


def _add_range(writer: PhraseWriter) -> None:
    """Colour or light of one hue: "boost the blues", "darker greens"."""
    where = writer.pick(RANGES)
    what = writer.pick(("colour", "colour", "lightness"))
    if not writer.claim(what, where):
        return
    direction = writer.pick(DIRECTED)
    name = writer.draw_name(where)
    wish = writer.start_wish(Wish(what, direction, writer.draw_amount(), where))
    words = writer.parts["range_words"][what][direction.value]
    if writer.chance(0.5):
        verb = writer.pick(words["verbs"])
        _add_verb(writer, wish, verb, name, is_head="*" in verb)
    elif writer.chance(0.6):
        writer.add_fillers(writer.pick(writer.frames["before_ranges"]))
        _add_adjective_after(writer, wish, name, words["adjectives"])
    else:
        _add_adjective_before(writer, wish, name, words["adjectives"])


def _add_cast(writer: PhraseWriter) -> None:
    """Towards or away from a colour: "less yellow", "bluer", "remove the green cast"."""
    hue = writer.pick(HUES)
    where = writer.draw_part() if writer.chance(0.3) else WHOLE
    if not writer.claim("cast", hue + where):
        return
    direction = writer.pick(DIRECTED)
    wish = writer.start_wish(Wish("cast", direction, writer.draw_amount(), where, hue))
    word = writer.pick(writer.parts["hues"][hue])
    kind = writer.pick(writer.parts["casts"]["kinds"])
    comparatives = writer.parts["comparatives"].get(hue)
    frames = [
        frame
        for frame in writer.frames[f"cast_{direction.value}"]
        if (comparatives or "{comparative}" not in frame) and (where == WHOLE or "{it}" in frame)
    ]
    frame = writer.pick(frames)
    comparative = writer.pick(comparatives or [""])
    values = {"word": star_last(word), "kind": kind, "comparative": star_last(comparative)}
    writer.fill(frame, [wish], values=values)


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
    what = writer.pick(IMPOSSIBLE)
    where = writer.pick(PLACES) if writer.chance(0.5) else "thing"
    thing = writer.draw_name(where)
    hue, other = writer.random.sample(HUES, 2)
    frame = writer.pick(writer.talk["declined"][what])
    asked = other if "{hue2}" in frame else hue if "{hue}" in frame else ""
    if what in ("replace_background", "blur") and "background" in frame:
        where = "background"
    elif "{thing}" not in frame:
        where = WHOLE
    values = {
        "thing": thing,
        "athing": f"a {drop_article(thing)}",
        "hue": writer.parts["hues"][hue][0],
        "hue2": writer.parts["hues"][other][0],
    }
    writer.fill(star_first(frame), [writer.start_wish(Wish(what, where=where, hue=asked))], values=values)


def _add_geometry(writer: PhraseWriter) -> None:
    what = writer.pick(GEOMETRY)
    writer.add_whole(Wish(what), writer.pick(writer.talk["geometry"][what]))


_CLAUSES: tuple[tuple[float, Callable[[PhraseWriter], None]], ...] = (
    (0.40, _add_change),
    (0.12, _add_list),
    (0.12, _add_zone),
    (0.05, _add_toned_zone),
    (0.04, _add_sliders),
    (0.07, _add_range),
    (0.09, _add_cast),
    (0.06, _add_look),
    (0.025, _add_black_and_white),
    (0.035, _add_auto),
    (0.06, _add_impossible),
    (0.04, _add_geometry),
)
"""How often each is added."""
