"""Clauses of simulated requests about colours: ranges of hue, casts, and colour in tonal zones."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.wishes import HUES, RANGES, WHOLE, ZONES, Direction, Role, Wish
from .marks import MarkedWish
from .phrasing import DIRECTED, PhraseWriter, drop_article, star_last


def add_toned_zone(writer: PhraseWriter) -> None:
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


def add_range(writer: PhraseWriter) -> None:
    """Colour or light of one hue or several: "boost the blues", "darker greens and yellows"."""
    what, direction = writer.pick(("colour", "colour", "colour", "lightness")), writer.pick(DIRECTED)
    wheres = writer.random.sample(RANGES, writer.pick((1, 1, 1, 1, 1, 2, 2, 3)))
    wheres = [where for where in wheres if writer.claim(what, where)]
    if not wheres:
        return
    amount = writer.draw_amount()
    wishes = [writer.start_wish(Wish(what, direction, amount, where)) for where in wheres]
    words = writer.parts["range_words"][what][direction.value]
    form = writer.random.random()
    if form < 0.03 and (own := _get_own_comparatives(writer, wishes[0].wish)):
        values = {"the": star_last(writer.draw_name(wheres[0], plural=True)), "comparative": writer.pick(own)}
        writer.fill(writer.pick(writer.frames["own_range"]), wishes[:1], values=values)
    elif form < 0.33:
        plural = writer.chance(0.3)
        writer.add_words(writer.pick(words["plural_verbs" if plural else "verbs"]), wishes)
        _add_names(writer, wishes, plural=plural)
        if len(wishes) == 1:
            writer.add_amount_or_number(wishes[0])
        else:
            writer.add_amount(wishes)
    elif form < 0.48:
        writer.add_fillers(writer.pick(writer.frames["before_ranges"]))
        _add_names(writer, wishes)
        writer.sentence.text += writer.pick(("", "", "", "", ":"))
        writer.add_amount(wishes)
        writer.add_words(writer.pick(words["adjectives"]), wishes)
    elif form < 0.62:
        writer.add_amount(wishes)
        writer.add_words(writer.pick(words["adjectives"]), wishes)
        _add_names(writer, wishes, bare=True, plural=True)
        if len(wishes) == 1 and writer.chance(0.15):
            writer.add_fillers(writer.pick(writer.frames["only_ranges"]))
            writer.add_words(writer.draw_name(wheres[0], plural=True), wishes)
        else:
            writer.add_fillers(writer.pick(writer.frames["after_ranges"]))
    elif form < 0.8:
        _add_names(writer, wishes)
        writer.add_words(writer.pick(writer.frames["after_zones"]), [])
        writer.add_too(wishes)
        writer.add_words(writer.pick(words["complaints"]), wishes)
        writer.add_words(writer.pick(words["remedies"]), wishes)
    else:
        frame = writer.pick(writer.frames["range"])
        name, kind = writer.draw_name(wheres[0]), writer.pick(words["sliders"])
        hue = _draw_plain_hue(writer, wheres[0])
        values = {"the": name, "kind": star_last(kind), "hue": hue, "bare": drop_article(name)}
        writer.fill(frame, wishes[:1], values=values)


def _get_own_comparatives(writer: PhraseWriter, wish: Wish) -> list[str]:
    """Words for more of a range's own hue: "make the greens greener"."""
    if wish.what != "colour" or wish.direction is not Direction.UP:
        return []
    found: list[str] = writer.parts["comparatives"].get(HUES[RANGES.index(wish.where)], [])
    return [one for one in found if "*" not in one]


def _draw_plain_hue(writer: PhraseWriter, where: str) -> str:
    """The name of a range's hue, as sliders have it."""
    names: list[str] = writer.parts["single_hues"][where]
    return writer.pick([one for one in names if " " not in one])


def _add_names(
    writer: PhraseWriter, wishes: Sequence[MarkedWish], *, bare: bool = False, plural: bool = False
) -> None:
    """The ranges of hue that wishes are about, each the head of its wish."""
    for number, wish in enumerate(wishes):
        if number:
            writer.add_fillers(writer.pick(writer.frames["list_joins"]) if number == len(wishes) - 1 else ",")
        name = writer.draw_name(wish.wish.where, plural=plural)
        writer.add_entry(star_last(drop_article(name) if bare else name), [wish])


def add_opposite_ranges(writer: PhraseWriter) -> None:
    """ "Greens down, oranges up", "lighter blues, darker reds"."""
    first, second = writer.random.sample(RANGES, 2)
    what = writer.pick(("colour", "lightness"))
    words = writer.parts["range_words"][what]
    before = writer.chance(0.5)
    for number, (where, direction) in enumerate(
        zip((first, second), writer.random.sample(DIRECTED, 2), strict=True)
    ):
        if not writer.claim(what, where):
            return
        if number:
            writer.add_fillers(writer.pick(writer.frames["slider_joins"]))
        wish = writer.start_wish(Wish(what, direction, where=where))
        said = writer.pick(words[direction.value]["adjectives"])
        if what == "colour" and not before:
            said = writer.pick(writer.parts["directions"][direction.value])
        if before:
            writer.add_words(said, [wish])
        _add_names(writer, [wish], bare=before or writer.chance(0.6))
        if not before:
            writer.add_words(said, [wish])
    if what == "colour" and not before and writer.chance(0.3):
        writer.add_fillers(writer.pick(writer.frames["after_opposites"]))


def add_part_pair(writer: PhraseWriter) -> None:
    """Two changes of one zone or range: "make the reds darker and richer"."""
    where = writer.pick((*RANGES, *RANGES, *ZONES))
    words, zone_words = writer.parts["range_words"], writer.parts["zone_words"]
    found = []
    for what in ("colour", "lightness") if where in RANGES else ("warmth", "lightness"):
        direction = writer.pick(DIRECTED)
        if where in RANGES:
            adjectives = words[what][direction.value]["adjectives"]
        else:
            adjectives = zone_words[direction.value]["warmth" if what == "warmth" else "adjectives"]
        if not writer.claim(what, where):
            return
        drawn = Wish(what, direction, writer.draw_amount(), where)
        found.append((drawn, star_last(writer.pick(adjectives))))
    writer.random.shuffle(found)
    wishes = [writer.start_wish(drawn) for drawn, _ in found]
    before = writer.chance(0.3)
    if not before:
        writer.add_fillers(writer.pick(writer.frames["before_ranges"]))
        writer.add_words(writer.draw_name(where), wishes)
        writer.sentence.text += writer.pick(("", "", ":", ","))
    for number, (wish, (_, adjective)) in enumerate(zip(wishes, found, strict=True)):
        if number:
            writer.add_fillers(writer.pick(writer.frames["list_joins"]))
        writer.add_amount([wish])
        writer.add_entry(adjective, [wish])
    if before:
        writer.add_words(drop_article(writer.draw_name(where, plural=True)), wishes)


def add_mixer_settings(writer: PhraseWriter) -> None:
    """Several sliders of one hue: "reds: hue +10, saturation -5"."""
    own = writer.random.randrange(len(HUES))
    sliders = writer.random.sample(("hue", "colour", "lightness"), writer.pick((2, 2, 3)))
    if not all(writer.claim("cast" if what == "hue" else what, RANGES[own]) for what in sliders):
        return
    join, name = writer.pick(writer.frames["slider_joins"]), writer.draw_name(RANGES[own])
    drawn = []
    for what in sliders:
        wish = Wish(what, writer.pick(DIRECTED), where=RANGES[own])
        if what == "hue":  # the slider goes towards the next hue
            wish = Wish("cast", wish.direction, where=RANGES[own], hue=HUES[(own + 1) % len(HUES)])
        drawn.append((writer.start_wish(wish), what))
    writer.add_words(drop_article(name), [marked for marked, _ in drawn])
    writer.sentence.text += writer.pick(("", ":", ":", ","))
    for number, (marked, what) in enumerate(drawn):
        if number:
            writer.add_fillers(join)
        names = ["hue"] if what == "hue" else writer.parts["range_words"][what]["up"]["sliders"]
        writer.add_entry(star_last(writer.pick(names)), [marked])
        writer.add_number([marked], signed=True)


def add_hue_shift(writer: PhraseWriter) -> None:
    """A range of hues turned towards another: "push the greens towards yellow", "yellow hue -30"."""
    own = writer.random.randrange(len(HUES))
    where, direction = RANGES[own], writer.pick(DIRECTED)
    if not writer.claim("cast", where):
        return
    form = writer.random.random()
    if form < 0.2:  # the slider goes towards the next hue
        wish = writer.start_wish(Wish("cast", direction, where=where, hue=HUES[(own + 1) % len(HUES)]))
        values = {"hue": _draw_plain_hue(writer, where), "the": writer.draw_name(where)}
        return writer.fill(writer.pick(writer.frames["hue_slider"]), [wish], values=values)
    if form < 0.3:
        side = writer.pick(("warm", "cool"))
        wish = writer.start_wish(
            Wish("cast", Direction.UP, writer.draw_amount(), where, writer.parts["range_turns"][side][where])
        )
        values = {
            "the": writer.draw_name(where),
            "word": writer.pick(writer.parts["range_turns"][f"{side}_words"]),
        }
        values["bare"] = drop_article(values["the"])
        return writer.fill(writer.pick(writer.frames["warm_range"]), [wish], values=values)
    hue = HUES[(own + writer.pick((-2, -1, -1, 1, 1, 2))) % len(HUES)]
    wish = writer.start_wish(Wish("cast", direction, writer.draw_amount(), where, hue))
    comparatives = writer.parts["comparatives"].get(hue)
    frames = [
        one for one in writer.frames[f"hue_{direction.value}"] if comparatives or "{comparative}" not in one
    ]
    values = {
        "the": writer.draw_name(where),
        "own": _draw_plain_hue(writer, where),
        "word": star_last(writer.pick(writer.parts["hues"][hue])),
        "comparative": star_last(writer.pick(comparatives or [""])),
    }
    values["bare"] = drop_article(values["the"])
    return writer.fill(writer.pick(frames), [wish], values=values)


def add_selective_colour(writer: PhraseWriter) -> None:
    """ "Only the red stays, the rest goes grey"."""
    where = writer.pick(RANGES)
    if not writer.claim("black_and_white", WHOLE):
        return
    grey = writer.start_wish(Wish("black_and_white"))
    kept = writer.start_wish(Wish("other", Direction.FIX, where=where, role=Role.LIMIT))
    before, after = writer.pick(writer.frames["selective"]).split("{the}")
    for part, wish in ((before, grey), (writer.draw_name(where), kept), (after, grey)):
        if wish is kept:
            writer.add_entry(star_last(part), [kept])
        elif part.strip():
            writer.fill(part, [grey])


def add_cast(writer: PhraseWriter) -> None:
    """Towards or away from a colour: "less yellow", "bluer", "remove the green cast"."""
    hue = writer.pick(HUES)
    where = writer.draw_part() if writer.chance(0.3) else WHOLE
    if not writer.claim("cast", hue + where):
        return
    direction = writer.pick((Direction.UP, Direction.DOWN, Direction.DOWN))
    wish = writer.start_wish(Wish("cast", direction, writer.draw_amount(), where, hue))
    casts = writer.parts["casts"]
    comparatives = writer.parts["comparatives"].get(hue)
    frames = [
        frame
        for frame in writer.frames[f"cast_{direction.value}"]
        if (comparatives or "{comparative}" not in frame) and (where == WHOLE or "{it}" in frame)
    ]
    values = {
        "word": star_last(writer.pick(writer.parts["hues"][hue])),
        "kind": writer.pick(casts["wanted" if direction is Direction.UP else "unwanted"]),
        "comparative": star_last(writer.pick(comparatives or [""])),
        "lamp": writer.pick(casts["lamps"]),
        "ugly": writer.pick(casts["ugly"]),
        "white": writer.pick(casts["whites"]),
        "simile": writer.pick(writer.parts["hue_similes"][hue]),
        "sick": star_last(writer.pick(writer.parts["hue_sickness"][hue])),
    }
    writer.fill(writer.pick(frames), [wish], values=values)
