"""A wish put into words, the way people ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from .grammar import clauses, degrees, manner, matters, moods
from .grammar.clauses import Words, words_for
from .grammar.degrees import Band
from .grammar.engine import Choice, Speaker, phrases
from .grammar.matters import MATTERS
from .grammar.moods import MOODS
from .mining import Phrases
from .surface import ended, typed
from .wish import Flavour, Kind, Wish

__all__ = ["MATTERS", "MOODS", "request"]

MINED_SHARE = 0.3
"""How often a real sentence is used where one that fits is at hand."""
LONGEST = 300
"""Characters of a request."""


def request(wish: Wish, rng: np.random.Generator, mined: Phrases | None = None) -> str:
    """A sentence that asks for `wish`; `rng` gives one draw, so that pictures do not depend on words."""
    chance = Random(int(rng.integers(2**63)))
    if mined is not None and chance.random() < MINED_SHARE and (real := mined.pick(wish, chance)):
        return real
    for _ in range(20):
        text = typed(_SAY[wish.flavour](wish, _speaker(chance)), chance)
        if 1 <= len(text) <= LONGEST:
            return text
    return text[:LONGEST]


def _speaker(chance: Random) -> Speaker:
    speaker = Speaker(chance, manner.LEXICON)
    speaker.own["photo"] = phrases(speaker.say(manner.PHOTO))
    return speaker


# --- sentences of each flavour


def _ask(wish: Wish, speaker: Speaker) -> str:
    words = [words_for(change) for change in wish.changes]
    speaker.rng.shuffle(words)
    if len(words) > 1 and speaker.chance(0.15):
        middle = speaker.rng.randint(1, len(words) - 1)
        parts = [_asked(words[:middle], speaker), _asked(words[middle:], speaker)]
        told = speaker.say(_TURN).join([parts[0].rstrip(".!? "), parts[1]])
    else:
        told = _asked(words, speaker, wish)
        return _around(told, speaker)
    return _around(_keeping(told, wish, speaker), speaker)


_TURN = phrases(". ^6|. Also ^3|. Then |, and also |. After that, |, then |. And |; |. Plus, ")


def _asked(words: list[Words], speaker: Speaker, wish: Wish | None = None) -> str:
    """One sentence that asks for all of `words`."""
    forms = [form for form, weight in _FORMS for _ in range(weight)]
    for _ in range(6):
        told = speaker.pick(forms)(words, speaker)
        if told is not None:
            break
    else:
        told = _ordered(words, speaker)
    text, question = told
    if speaker.chance(0.1) and (goal := speaker.pick(words).near.goal):
        text = f"{text} {speaker.say(goal)}"
    elif speaker.chance(0.05):
        text = f"{text} {speaker.say(manner.ASIDES)}"
    if wish is not None:
        text = _keeping(text, wish, speaker, inside=True)
    return ended(text, speaker.rng, question=question)


Told = tuple[str, bool]
"""A sentence without its last mark, and whether it is a question."""


def _ordered(words: list[Words], speaker: Speaker) -> Told:
    roll = speaker.rng.random()
    if roll < 0.38:
        return _orders(words, speaker), False
    if roll < 0.48:
        return f"{_orders(words, speaker)} {speaker.say(_PLEASE)}", False
    if roll < 0.72:
        return speaker.say(manner.ORDERING) + _orders(words, speaker), False
    if roll < 0.95:
        return speaker.say(manner.ASKING) + _orders(words, speaker), True
    return speaker.say(manner.ASKING_ING) + _orders(words, speaker, ing=True), True


_PLEASE = phrases("please^5|pls|plz|, please^2")


def _orders(words: list[Words], speaker: Speaker, *, ing: bool = False) -> str:
    """`brighten it and add a bit of contrast`."""
    ways = [_each_ordered, _each_ordered, _made, _given, _turned]
    parts = None
    while parts is None:
        parts = speaker.pick(ways)(words, speaker)
    if ing:
        parts = [_gerund(part) for part in parts]
    return _joined(parts, words, speaker)


def _each_ordered(words: list[Words], speaker: Speaker) -> list[str] | None:
    mixed = len({word.band for word in words}) > 1
    parts = []
    for at, word in enumerate(words):
        early = mixed and at > 0 and words[at - 1].plain
        parts.append(clauses.order(word, speaker, early=early))
        speaker.own.setdefault("known", _IT)
    return parts


def _made(words: list[Words], speaker: Speaker) -> list[str] | None:
    """`make it warmer and a bit brighter`."""
    return [speaker.say(manner.MAKING) + _comparatives(words, speaker)]


def _given(words: list[Words], speaker: Speaker) -> list[str] | None:
    nouns = _nouns(words, speaker)
    return None if nouns is None else [speaker.say(_GIVE) + nouns]


_GIVE = phrases("give <it> ^5|use |apply |let <it> have |go for ")


def _turned(words: list[Words], speaker: Speaker) -> list[str] | None:
    """`increase the brightness, contrast and saturation a bit`: same verb, same amount."""
    if len(words) < 2 or not _alike(words):
        return None
    up = [word.near.quantity for word in words]
    down = [word.far.quantity for word in words]
    table, quantities = (manner.RAISE, up) if all(up) else (manner.LOWER, down)
    if not all(quantities):
        return None
    names = _listed([speaker.say(quantity) for quantity in quantities], speaker)
    verb = f"{speaker.say(table)} {speaker.say(_THE)}"
    text = f"{verb}{names}"
    band = words[0].band
    if speaker.chance(0.3):
        return [f"{speaker.say(degrees.BEFORE_VERB[band])} {text}".strip()]
    return [f"{text} {speaker.say(degrees.AFTER_VERB[band])}"]


_THE = phrases("the ^3|")
_IT = phrases("it")


def _compared(words: list[Words], speaker: Speaker) -> Told | None:
    """`I want it a bit brighter`, `brighter please`."""
    roll = speaker.rng.random()
    if roll < 0.25:
        return f"{_comparatives(words, speaker)}{speaker.say(_TERSE)}", False
    if roll < 0.55:
        return speaker.say(manner.WANTING_IT) + _comparatives(words, speaker), False
    if roll < 0.82:
        return speaker.say(manner.SHOULD_BE) + _comparatives(words, speaker), False
    return speaker.say(manner.COULD_IT) + _comparatives(words, speaker), True


_TERSE = phrases("^4| please^3| pls| plz|, thanks| image| <photo>|, that's all| for sure")


def _comparatives(words: list[Words], speaker: Speaker) -> str:
    """Plain ones first: `a bit warmer and brighter` could mean a bit of both."""
    speaker.own.setdefault("known", _IT)
    words = sorted(words, key=lambda word: not word.plain)
    shared = len(words) > 1 and _alike(words) and not words[0].plain and speaker.chance(0.3)
    parts = [clauses.compared(word, speaker, bare=shared and at > 0) for at, word in enumerate(words)]
    return _joined(parts, words, speaker)


def _nouned(words: list[Words], speaker: Speaker) -> Told | None:
    """`it could use a bit more contrast`."""
    nouns = _nouns(words, speaker)
    if nouns is None:
        return None
    roll = speaker.rng.random()
    if roll < 0.25:
        return f"{nouns}{speaker.say(_TERSE)}", False
    if roll < 0.55:
        return speaker.say(manner.WANTING) + nouns, False
    if roll < 0.85:
        return speaker.say(manner.HAVING) + nouns, False
    return speaker.say(_CAN_HAVE) + nouns, True


_CAN_HAVE = phrases("""can [we|I] have |could I get |can you give it |could you give it |how about |
can I get |may I have """)


def _nouns(words: list[Words], speaker: Speaker) -> str | None:
    parts = [clauses.noun(word, speaker) for word in words]
    speaker.own.setdefault("known", _IT)
    return _joined([part for part in parts if part], words, speaker) if all(parts) else None


def _tagged(words: list[Words], speaker: Speaker) -> Told | None:
    """`+contrast -saturation`."""
    parts = [clauses.tag(word, speaker) for word in words]
    if not all(parts):
        return None
    return speaker.pick([", ", " ", ", ", "; "]).join(part for part in parts if part), False


def _done(words: list[Words], speaker: Speaker) -> Told | None:
    """`it needs to be brightened a bit`, `the contrast should be increased`."""
    parts = []
    for word in words:
        part = clauses.passive(word, speaker)
        if part is None:
            return None
        parts.append(part)
        speaker.own.setdefault("known", _IT)
    text = _joined(parts, words, speaker)
    return text, text.startswith(("can ", "could "))


_FORMS: tuple[tuple[Callable[[list[Words], Speaker], Told | None], int], ...] = (
    (_ordered, 12),
    (_compared, 5),
    (_nouned, 4),
    (_done, 2),
    (_tagged, 1),
)


def _defect(wish: Wish, speaker: Speaker) -> str:
    """What is wrong, and often what to do about it."""
    words = [words_for(change) for change in wish.changes]
    speaker.rng.shuffle(words)
    cut = speaker.rng.randint(1, len(words)) if len(words) > 1 else 1
    told = [clauses.complaint(word, speaker) for word in words[:cut]]
    speaker.own.setdefault("known", _IT)
    asked = [word for word, said in zip(words, told, strict=False) if said is None] + words[cut:]
    said = [text for text in told if text]
    if not said:
        return _ask(wish, speaker)
    text = ended(speaker.say(_AND).join(said), speaker.rng)
    if asked:
        text = f"{text.rstrip('.!? ')}{speaker.say(_SO)}{_asked(asked, speaker)}"
    elif speaker.chance(0.3):
        text = f"{text.rstrip('.!? ')}{speaker.say(_SO)}{_asked(words, speaker)}"
    elif speaker.chance(0.45):
        mend = speaker.say(manner.MENDING)
        question = mend.startswith(("can", "could", "any", "is"))
        text = f"{text.rstrip('.!? ')}{speaker.say(_SO)}{ended(mend, speaker.rng, question=question)}"
    return _around(_keeping(text, wish, speaker), speaker, story=0.25)


_AND = phrases(" and ^5|, ^3|. |, and |; ")
_SO = phrases(". ^6|, ^5| - ^2|; |! |... ")


def _vague(wish: Wish, speaker: Speaker) -> str:
    words = moods.mood(wish.mood or "better")
    amounts = [change.amount for change in wish.changes] or [1.0]
    band = Band.of(sum(amounts) / len(amounts))
    roll = speaker.rng.random()
    if roll < 0.4:
        text, question = _framed(speaker.say(words.orders), speaker)
    elif roll < 0.75:
        text, question = _mood_compared(words.compared, band, speaker)
    else:
        text, question = speaker.say(_FEELING) + speaker.say(words.feel), False
    return _around(_keeping(ended(text, speaker.rng, question=question), wish, speaker), speaker, story=0.25)


_FEELING = phrases(
    """I want ^3|give <it> ^5|<it> needs ^3|I'd like ^2|I'm going for ^2|can you give <it> |add ^2|
    <it> could use ^2|go for |I'm after |looking for |^2|aim for |I need <it> to have |
    please give <it> ^2|I'd love """
)


def _framed(order: str, speaker: Speaker) -> Told:
    roll = speaker.rng.random()
    if roll < 0.4:
        return order, False
    if roll < 0.5:
        return f"{order} {speaker.say(_PLEASE)}", False
    if roll < 0.72:
        return speaker.say(manner.ORDERING) + order, False
    if roll < 0.97:
        return speaker.say(manner.ASKING) + order, True
    return speaker.say(manner.ASKING_ING) + _gerund(order), True


def _mood_compared(choice: Choice, band: Band, speaker: Speaker) -> Told:
    text = speaker.say(choice)
    if clauses.is_graded(text):
        text = f"{speaker.say(degrees.COMPARED[band])} {text}"
    roll = speaker.rng.random()
    if roll < 0.55:
        return _framed(speaker.say(manner.MAKING) + text, speaker)
    if roll < 0.75:
        return speaker.say(manner.WANTING_IT) + text, False
    if roll < 0.9:
        return speaker.say(manner.SHOULD_BE) + text, False
    return f"{text}{speaker.say(_TERSE)}", False


def _unanswerable(wish: Wish, speaker: Speaker) -> str:
    matter = wish.matter if wish.matter in MATTERS else speaker.pick(tuple(MATTERS))
    speaker.own.update(matters.NOUNS)
    order = speaker.say(MATTERS[matter])
    if matter in matters.ALONE:
        return ended(order, speaker.rng, question=order.split()[0] in _ASKED)
    if order.split()[0] not in _REMARKS:
        order, question = _framed(order, speaker)
    else:
        question = False
    return _around(ended(order, speaker.rng, question=question), speaker, story=0.2)


_ASKED = frozenset({"what", "what's", "who", "where", "how", "can", "is", "are", "do", "which", "when"})
_REMARKS = frozenset(
    {"the", "it's", "I", "his", "there's", "I'm", "can", "new", "her", "what", "line", "more", "my", "a"}
)

_SAY: dict[Flavour, Callable[[Wish, Speaker], str]] = {
    Flavour.ASK: _ask,
    Flavour.DEFECT: _defect,
    Flavour.VAGUE: _vague,
    Flavour.UNANSWERABLE: _unanswerable,
}


# --- what stands around


def _keeping(text: str, wish: Wish, speaker: Speaker, *, inside: bool = False) -> str:
    """With what must stay as it is: inside the sentence, or after it."""
    if not wish.untouched:
        return text
    names = [speaker.say(manner.NOUNS[attribute]) for attribute in wish.untouched]
    if inside and len(names) == 1 and speaker.chance(0.25):
        return f"{text} {speaker.say(manner.WITHOUT_MAKING[wish.untouched[0]])}"
    speaker.own["kept"] = phrases(_listed(names, speaker))
    if inside:
        return f"{text}{speaker.pick([' ', ' ', ', '])}{speaker.say(manner.KEEPING_AFTER)}"
    return f"{text.rstrip('.!? ')}{speaker.say(_BUT)}{ended(speaker.say(manner.KEEPING), speaker.rng)}"


_BUT = phrases(". ^5|, but ^3|, ^2|. But |. And | and ")


def _around(text: str, speaker: Speaker, story: float = 0.13) -> str:
    """With a greeting, a story and thanks, where people add them."""
    if speaker.chance(story):
        told = speaker.say(manner.STORIES)
        before = f"{told}{speaker.say(_STORY_END)}{text}"
        text = before if speaker.chance(0.8) else f"{_closed(text)} {told}."
    if speaker.chance(0.05):
        text = f"{speaker.say(manner.GREETINGS)} {text}"
    if speaker.chance(0.08):
        gap = " " if text[-1] in ".!?" else speaker.say(_THEN)
        text = f"{text}{gap}{speaker.say(manner.THANKS)}{speaker.say(_LAST)}"
    return text


def _closed(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."


_STORY_END = phrases(". ^6|, ^2|, can you help? |! | and |... | - |. So ")
_THEN = phrases(", ^3| ^3|. ^2|! ")
_LAST = phrases("^5|!^2|.^2| :)|!!")


def _joined(parts: list[str], words: Sequence[Words], speaker: Speaker) -> str:
    """Clauses in a row; `but` where the second goes the other way."""
    if (
        len(parts) == 2
        and len(words) == 2
        and words[0].change.sign != words[1].change.sign
        and speaker.chance(0.3)
    ):
        return f"{parts[0]}{speaker.say(_OTHER_WAY)}{parts[1]}"
    return _listed(parts, speaker)


_OTHER_WAY = phrases(" but ^5|, but ^2| yet | but also ")


def _listed(parts: list[str], speaker: Speaker) -> str:
    if len(parts) == 1:
        return parts[0]
    joint = speaker.say(_JOINT)
    inner = " and " if joint == " and " and speaker.chance(0.2) else ", "
    return f"{inner.join(parts[:-1])}{joint}{parts[-1]}"


_JOINT = phrases(" and ^9|, and ^2|, ^3| & | plus | and also | as well as ")


def _alike(words: Sequence[Words]) -> bool:
    """Whether all are wanted to the same degree, and none as a figure or without one."""
    return len({word.band for word in words}) == 1 and all(
        word.change.spoken is None and word.change.kind is not Kind.MONOCHROME for word in words
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


def _gerund(order: str) -> str:
    verb, _, rest = order.partition(" ")
    if verb in _DOUBLED:
        verb += verb[-1]
    elif verb.endswith("e") and not verb.endswith("ee"):
        verb = verb[:-1]
    return f"{verb}ing {rest}"
