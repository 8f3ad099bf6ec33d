"""How much: amounts as words and figures, one table for each place in a sentence where they can stand."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from .engine import PhraseChoice, phrases


class Band(Enum):
    """Amounts that share their words; the value is where the band ends."""

    HINT = 0.35
    TOUCH = 0.75
    PLAIN = 1.15
    FAIR = 1.45
    LOT = 2.5
    EXTREME = float("inf")

    @classmethod
    def of(cls, amount: float) -> Band:
        return next(band for band in cls if amount <= band.value)


Words = dict[Band, PhraseChoice]


def _table(*rows: str) -> Words:
    return {band: phrases(row) for band, row in zip(Band, rows, strict=True)}


BEFORE_VERB = _table(
    "ever so slightly|very slightly|just slightly|barely|minimally",
    "slightly^6|gently|lightly|subtly|just slightly|somewhat|modestly",
    "^9|moderately",
    "noticeably|clearly|visibly|markedly",
    """significantly^4|greatly^3|dramatically^2|substantially|considerably|strongly|heavily|really^2|
    seriously|vastly""",
    "massively|drastically|extremely|hugely|radically|insanely|brutally",
)
"""*Slightly* brighten it."""

AFTER_VERB = _table(
    """just a hair|the tiniest bit|a teeny bit|a tiny bit^3|a smidge|just barely|a very small amount|
    a teensy bit|ever so slightly^2|a hair|by a tiny amount|a wee bit|a tiny amount|very slightly""",
    """a bit^6|a little^6|a little bit^5|slightly^5|a touch^2|a tad^3|just a little^2|just a bit^2|
    a notch|just a touch|somewhat|a small amount|by a bit|a smidgen|a tad bit|by a little|a few points|
    by a small amount|just a tad|a slight amount""",
    "^24|some^2|moderately|by a moderate amount|a medium amount",
    """quite a bit^3|a fair amount^2|a good bit|noticeably^2|a fair bit^2|by a good amount|a good amount|
    to a noticeable degree""",
    """a lot^8|a great deal^2|alot|by a lot^2|a ton|big time|significantly^3|a whole lot|loads|greatly|
    by a large amount|quite a lot|very much|dramatically^2|considerably|substantially|a bunch|lots|
    by a great deal|by a significant amount|strongly""",
    """as much as possible^3|to the max^2|as far as it will go|like crazy|massively|all the way|
    to the extreme|insanely|drastically^2|as much as you can^2|by a huge amount|extremely^2|
    an insane amount|to the maximum|as far as you can""",
)
"""Brighten it *a bit*."""

_DOWN = AFTER_VERB | {
    Band.EXTREME: phrases("drastically^3|massively^2|extremely^2|by a huge amount^2|like crazy|insanely")
}


def after_verb(band: Band, sign: int) -> PhraseChoice:
    """How much, after a verb; of less, without the words for the end of the scale, where nothing is left."""
    return (_DOWN if sign < 0 else AFTER_VERB)[band]


COMPARED = _table(
    """a hair|ever so slightly|the tiniest bit|a smidgen|a tiny bit^3|very slightly|just a hair|
    a teeny bit|only just""",
    """a bit^8|a little^8|slightly^6|a touch^2|a tad^3|a little bit^4|somewhat^2|just a bit|
    just a little|a notch|marginally|a wee bit|a tad bit|a shade""",
    "",
    "noticeably^3|quite a bit^3|visibly|clearly|a fair bit^2|a good bit|moderately|markedly",
    """much^6|a lot^6|way^3|far^2|significantly^3|considerably^2|so much|loads|a great deal|
    substantially|really|a whole lot|dramatically""",
    """massively|hugely|drastically|insanely|way way|ten times|a million times|enormously|ridiculously|
    a hell of a lot|so so much""",
)
"""*A bit* brighter."""

MORE = _table(
    """a hint of^2|just a hint of|the tiniest bit of|a tiny bit of^2|a tiny bit more^2|a whisper of|
    just a dash of|a hint more""",
    """a bit more^6|a little more^5|slightly more^3|a touch of^3|a touch more^2|a bit of^3|
    a little bit of^2|a little bit more^2|a tad more|a dash of|a bit extra|somewhat more|a tad bit more|
    just a bit more|a small amount of""",
    "more^12|some^3|some more^3|extra|additional|some extra",
    "quite a bit more^2|noticeably more|a fair bit more|a fair amount of|visibly more",
    """a lot more^5|much more^4|lots of|way more^3|far more^2|a lot of^3|tons of|plenty of|
    significantly more^2|loads of|a ton of|loads more|so much more""",
    """an insane amount of|massively more|a huge amount of|insanely more|a crazy amount of|way way more|
    the maximum amount of|as much as possible of the""",
)
"""*A bit more* contrast."""

LESS = _table(
    "a hair less|the tiniest bit less|a tiny bit less^2|ever so slightly less|very slightly less",
    """a bit less^5|a little less^5|slightly less^4|a touch less|a tad less^2|somewhat less|
    a little bit less^2|just a bit less""",
    "less^8|reduced",
    "noticeably less^2|quite a bit less^2|visibly less|a fair bit less|a good deal less",
    """much less^4|a lot less^4|way less^3|far less^2|significantly less^2|considerably less|
    a whole lot less|so much less|dramatically less""",
    """drastically less^3|massively less^2|way way less^2|hugely less|insanely less|radically less|
    a hell of a lot less|many times less""",
)
"""*A bit less* contrast. Even the strongest edit leaves about half, so no word says that all goes."""

TOO = _table(
    "a hair too|a tiny bit too^2|ever so slightly too|a tiny bit|very slightly|just a tiny bit",
    """a bit^5|a little^5|a bit too^5|a little too^4|slightly^3|slightly too^2|a touch too|kinda|kind of|
    somewhat^2|sort of|a tad^2|a tad too|a little bit too|a little bit|just a bit too""",
    "too^9|^2|just too|overly|too^3",
    "quite^2|pretty^2|rather^2|fairly|noticeably too|noticeably|quite a bit too",
    """way too^5|much too^2|very^4|really^3|far too^3|so^3|so very|really really|awfully|terribly|
    waaay too|very very|significantly too""",
    """extremely^2|insanely|ridiculously|unbelievably|super^2|crazy|incredibly^2|horribly|absurdly|
    extremely|painfully""",
)
"""It is *a bit too* dark."""

TOO_MUCH = _table(
    "a tiny bit too much|a hair too much|the tiniest bit too much",
    "a bit too much^3|slightly too much^2|a little too much^3|a touch too much|a tad too much",
    "too much^5|an excess of",
    "quite a lot of|a fair bit too much|noticeably too much|rather too much",
    "way too much^3|far too much^2|so much^2|an awful lot of|much too much",
    "an insane amount of|a ridiculous amount of|an unbelievable amount of",
)
"""There is *too much* light."""

CAST = _table(
    "the faintest|a very faint|a barely visible|a very slight",
    "a slight^3|a faint^2|a bit of a^2|a subtle|a little bit of a",
    "a^6|an ugly|a nasty|this weird|an annoying|an unwanted|this",
    "a noticeable|a clear|a visible|quite a",
    "a strong^3|a heavy^2|a really strong|a horrible|a terrible|a huge|a very strong|a really nasty",
    "an extreme|an insane|an unbelievable|an overwhelming|a massive",
)
"""There is *a nasty* yellow cast."""

FLAWED = _table(
    "a tiny bit|ever so slightly|very slightly|a hair",
    "a bit^4|slightly^4|a little^4|somewhat^2|a tad|kind of|a little bit",
    "",
    "quite^2|noticeably|fairly|rather|pretty",
    "badly|very^3|really^3|heavily|seriously|so^2|terribly|severely|quite badly",
    "totally^2|completely^2|utterly|hopelessly|extremely^2|insanely|ridiculously|beyond belief",
)
"""It is *badly* underexposed."""

_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 0.5: "half a"}


@lru_cache(maxsize=1024)
def figure(value: float, unit: str) -> PhraseChoice:
    """An amount said as a figure, such as `two stops`."""
    if unit in {"percent", "%"}:
        return phrases(f"{value:g}%^4|{value:g} percent^3|{value:g} %|{value:g} per cent")
    if unit not in {"stop", "stops", "ev", "EV"}:
        return phrases(f"{value:g} {unit}")
    noun = "stop" if value <= 1 else "stops"
    spoken = [f"{value:g} {noun}^3", f"{value:g} EV", f"{value:g}EV"]
    if value in _NUMBERS:
        spoken.append(f"{_NUMBERS[value]} {noun}^3")
    if value == 0.5:
        spoken.append("half a stop^2|1/2 stop")
    if value == 1.5:
        spoken.append("one and a half stops^2|a stop and a half")
    if value == 1:
        spoken.append("a stop^2|a full stop")
    return phrases("|".join(spoken))
