"""One sentence that asks for several changes at once, in one of the forms people use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..wish import ChangeKind
from . import clauses, degrees, manner
from .clauses import ChangeWords
from .engine import Speaker, phrases

Told = tuple[str, bool]
"""A sentence without its last mark, and whether it is a question."""


def asked(words: list[ChangeWords], speaker: Speaker) -> Told:
    """In whichever form has words for all of them."""
    for _ in range(6):
        told = speaker.pick(_FORMS)(words, speaker)
        if told is not None:
            return told
    return _ordered(words, speaker)


def _ordered(words: list[ChangeWords], speaker: Speaker) -> Told:
    return framed(lambda ing: _orders(words, speaker, ing=ing), speaker)


def framed(order: Callable[[bool], str], speaker: Speaker) -> Told:
    """An order as an order, a wish or a question; `order` gives it plain, or as a gerund."""
    roll = speaker.rng.random()
    if roll < 0.38:
        return order(False), False
    if roll < 0.48:
        return f"{order(False)} {speaker.say(_PLEASE)}", False
    if roll < 0.72:
        return speaker.say(manner.ORDERING) + order(False), False
    if roll < 0.95:
        return speaker.say(manner.ASKING) + order(False), True
    return speaker.say(manner.ASKING_ING) + order(True), True


_PLEASE = phrases("please^5|pls|plz|, please^2")


def _orders(words: list[ChangeWords], speaker: Speaker, *, ing: bool = False) -> str:
    """`brighten it and add a bit of contrast`."""
    ways = [_each_ordered, _each_ordered, _made, _given, _turned]
    parts = None
    while parts is None:
        parts = speaker.pick(ways)(words, speaker)
    if ing:
        parts = [gerund(part) for part in parts]
    return _joined(parts, words, speaker)


def _each_ordered(words: list[ChangeWords], speaker: Speaker) -> list[str] | None:
    mixed = len({word.band for word in words}) > 1
    parts = []
    for at, word in enumerate(words):
        early = mixed and at > 0 and words[at - 1].plain
        parts.append(clauses.order(word, speaker, early=early))
        speaker.own.setdefault("known", IT)
    return parts


def _made(words: list[ChangeWords], speaker: Speaker) -> list[str] | None:
    """`make it warmer and a bit brighter`."""
    return [speaker.say(manner.MAKING) + _comparatives(words, speaker)]


def _given(words: list[ChangeWords], speaker: Speaker) -> list[str] | None:
    nouns = _nouns(words, speaker)
    return None if nouns is None else [speaker.say(_GIVE) + nouns]


_GIVE = phrases("give <it> ^6|make ^2|use |apply |let <it> have |go for ")


def _turned(words: list[ChangeWords], speaker: Speaker) -> list[str] | None:
    """`increase the brightness, contrast and saturation a bit`: same verb, same amount."""
    if len(words) < 2 or not _alike(words):
        return None
    up = [word.near.quantity for word in words]
    down = [word.far.quantity for word in words]
    table, quantities = (manner.RAISE, up) if all(up) else (manner.LOWER, down)
    if not all(quantities):
        return None
    names = listed([speaker.say(quantity) for quantity in quantities], speaker)
    verb = f"{speaker.say(table)} {speaker.say(_THE)}"
    text = f"{verb}{names}"
    band = words[0].band
    if speaker.chance(0.3):
        return [f"{speaker.say(degrees.BEFORE_VERB[band])} {text}".strip()]
    return [f"{text} {speaker.say(degrees.after_verb(band, words[0].change.sign))}"]


_THE = phrases("the ^3|")
IT = phrases("it")


def _compared(words: list[ChangeWords], speaker: Speaker) -> Told | None:
    """`I want it a bit brighter`, `brighter please`."""
    roll = speaker.rng.random()
    if roll < 0.25:
        return f"{_comparatives(words, speaker)}{speaker.say(TERSE)}", False
    if roll < 0.55:
        return speaker.say(manner.WANTING_IT) + _comparatives(words, speaker), False
    if roll < 0.82:
        return speaker.say(manner.SHOULD_BE) + _comparatives(words, speaker), False
    return speaker.say(manner.COULD_IT) + _comparatives(words, speaker), True


TERSE = phrases("^4| please^3| pls| plz|, thanks| image| <photo>|, that's all| for sure")


def _comparatives(words: list[ChangeWords], speaker: Speaker) -> str:
    """Plain ones first: `a bit warmer and brighter` could mean a bit of both."""
    speaker.own.setdefault("known", IT)
    words = sorted(words, key=lambda word: not word.plain)
    shared = len(words) > 1 and _alike(words) and not words[0].plain and speaker.chance(0.3)
    parts = [clauses.compared(word, speaker, bare=shared and at > 0) for at, word in enumerate(words)]
    return _joined(parts, words, speaker)


def _nouned(words: list[ChangeWords], speaker: Speaker) -> Told | None:
    """`it could use a bit more contrast`."""
    nouns = _nouns(words, speaker)
    if nouns is None:
        return None
    roll = speaker.rng.random()
    if roll < 0.25:
        return f"{nouns}{speaker.say(TERSE)}", False
    if roll < 0.55:
        return speaker.say(manner.WANTING) + nouns, False
    if roll < 0.85:
        return speaker.say(manner.HAVING) + nouns, False
    return speaker.say(_CAN_HAVE) + nouns, True


_CAN_HAVE = phrases("""can [we|I] have |could I get |can you give it |could you give it |how about |
can I get |may I have """)


def _nouns(words: list[ChangeWords], speaker: Speaker) -> str | None:
    parts = [clauses.noun(word, speaker) for word in words]
    speaker.own.setdefault("known", IT)
    return _joined([part for part in parts if part], words, speaker) if all(parts) else None


def _tagged(words: list[ChangeWords], speaker: Speaker) -> Told | None:
    """`+contrast -saturation`."""
    parts = [clauses.tag(word, speaker) for word in words]
    if not all(parts):
        return None
    return speaker.pick([", ", " ", ", ", "; "]).join(part for part in parts if part), False


def _done(words: list[ChangeWords], speaker: Speaker) -> Told | None:
    """`it needs to be brightened a bit`, `the contrast should be increased`."""
    parts = []
    for word in words:
        part = clauses.passive(word, speaker)
        if part is None:
            return None
        parts.append(part)
        speaker.own.setdefault("known", IT)
    text = _joined(parts, words, speaker)
    return text, text.startswith(("can ", "could "))


_FORMS: tuple[Callable[[list[ChangeWords], Speaker], Told | None], ...] = (
    *((_ordered,) * 12),
    *((_compared,) * 5),
    *((_nouned,) * 4),
    *((_done,) * 2),
    _tagged,
)
"""As often as each is used."""


def _joined(parts: list[str], words: Sequence[ChangeWords], speaker: Speaker) -> str:
    """Clauses in a row; `but` where the second goes the other way."""
    if (
        len(parts) == 2
        and len(words) == 2
        and words[0].change.sign != words[1].change.sign
        and speaker.chance(0.3)
    ):
        return f"{parts[0]}{speaker.say(_OTHER_WAY)}{parts[1]}"
    return listed(parts, speaker)


_OTHER_WAY = phrases(" but ^5|, but ^2| yet | but also ")


def listed(parts: list[str], speaker: Speaker) -> str:
    if len(parts) == 1:
        return parts[0]
    joint = speaker.say(_JOINT)
    inner = " and " if joint == " and " and speaker.chance(0.2) else ", "
    return f"{inner.join(parts[:-1])}{joint}{parts[-1]}"


_JOINT = phrases(" and ^9|, and ^2|, ^3| & | plus | and also | as well as ")


def _alike(words: Sequence[ChangeWords]) -> bool:
    """Whether all are wanted to the same degree, and none as a figure or without one."""
    return len({word.band for word in words}) == 1 and all(
        word.change.spoken is None and word.change.kind is not ChangeKind.MONOCHROME for word in words
    )


_DOUBLED = frozenset(
    {
        "cut",
        "get",
        "put",
        "drop",
        "dim",
        "let",
        "set",
        "step",
        "strip",
        "trim",
        "crop",
        "up",
        "flip",
        "swap",
        "slim",
    }
)


_VERBS_IN_LY = frozenset({"apply", "supply", "multiply"})
_BEFORE_VERBS = frozenset({"just", "also", "please", "pls", "plz"})


def gerund(order: str) -> str:
    """`brighten it` as `brightening it`; what comes before the verb stays as it is."""
    verb, _, rest = order.strip().partition(" ")
    if rest and ((verb.endswith("ly") and verb not in _VERBS_IN_LY) or verb in _BEFORE_VERBS):
        return f"{verb} {gerund(rest)}"
    if verb in _DOUBLED:
        verb += verb[-1]
    elif verb.endswith("e") and not verb.endswith("ee"):
        verb = verb[:-1]
    return f"{verb}ing {rest}"
