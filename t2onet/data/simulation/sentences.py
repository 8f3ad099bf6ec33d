"""A wish put into words, the way people ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from ...errors import DataError
from ...language import Attribute
from .grammar import asking, clauses, degrees, manner, matters, moods
from .grammar.clauses import ChangeWords, words_for
from .grammar.degrees import Band
from .grammar.engine import PhraseChoice, Speaker, phrases
from .grammar.matters import MATTERS
from .grammar.moods import MOODS
from .mining import Phrases
from .surface import ended, typed
from .wish import COLOUR, DrawnWish, Flavour

__all__ = ["MATTERS", "MOODS", "request"]

MINED_SHARE = 0.3
"""How often a real sentence is used where one that fits is at hand."""
LONGEST = 300
"""Characters of a request."""


def request(wish: DrawnWish, rng: np.random.Generator, mined: Phrases | None = None) -> str:
    """A sentence that asks for `wish`; `rng` gives one draw, so that pictures do not depend on words."""
    chance = Random(int(rng.integers(2**63)))
    if mined is not None and chance.random() < MINED_SHARE and (real := mined.pick(wish, chance)):
        return real
    for _ in range(20):
        text = typed(_SAY[wish.flavour](wish, _speaker(chance)), chance)
        if 1 <= len(text) <= LONGEST:
            return text
    raise DataError(
        f"a wish of {len(wish.changes)} changes cannot be said in {LONGEST} characters; ask for fewer at once"
    )


def _speaker(chance: Random) -> Speaker:
    speaker = Speaker(chance, manner.LEXICON)
    speaker.own["photo"] = phrases(speaker.say(manner.PHOTO))
    return speaker


def _ask(wish: DrawnWish, speaker: Speaker) -> str:
    words = [words_for(change) for change in wish.changes]
    speaker.rng.shuffle(words)
    if not wish.untouched and all(word.touch for word in words) and speaker.chance(0.15):
        return _around(_restrained(words, speaker), speaker)
    if len(words) == 1 or speaker.chance(0.85):
        return _around(_asked(words, speaker, wish), speaker)
    middle = speaker.rng.randint(1, len(words) - 1)
    first = _asked(words[:middle], speaker).rstrip(_MARKS)
    told = f"{first}{speaker.say(_TURN)}{_asked(words[middle:], speaker)}"
    return _around(_keeping(told, wish, speaker), speaker)


_MARKS = ".!? "
_TURN = phrases(". ^6|. Also ^3|. Then |, and also |. After that, |, then |. And |; |. Plus, ")


def _asked(words: list[ChangeWords], speaker: Speaker, wish: DrawnWish | None = None) -> str:
    """One sentence that asks for all of `words`, now and then with what for; what must stay, inside it."""
    text, question = asking.asked(words, speaker)
    if speaker.chance(0.1) and (goal := speaker.pick(words).near.goal):
        text = f"{text} {speaker.say(goal)}"
    elif speaker.chance(0.05):
        text = f"{text} {speaker.say(manner.ASIDES)}"
    if wish is not None:
        text = _keeping(text, wish, speaker, inside=True)
    return ended(text, speaker.rng, question=question)


def _restrained(words: list[ChangeWords], speaker: Speaker) -> str:
    """`warmer, but not too much`: a small amount, said as a plain one and its limit."""
    text, question = asking.asked([replace(word, band=Band.PLAIN) for word in words], speaker)
    state = words[0].near.state if len(words) == 1 else None
    limit = (
        f"not too {speaker.say(state)}" if state and speaker.chance(0.25) else speaker.say(manner.RESTRAINED)
    )
    return ended(f"{text}{speaker.say(_YET)}{limit}", speaker.rng, question=question)


_YET = phrases(" but ^5|, but ^6|, ^3| - | though, ")


def _defect(wish: DrawnWish, speaker: Speaker) -> str:
    """What is wrong, and often what to do about it."""
    words = [words_for(change) for change in wish.changes]
    speaker.rng.shuffle(words)
    cut = speaker.rng.randint(1, len(words))
    complaints = [clauses.complaint(word, speaker) for word in words[:cut]]
    left = [word for word, told in zip(words, complaints, strict=False) if told is None] + words[cut:]
    told = speaker.say(_AND).join(complaint for complaint in complaints if complaint)
    if not told:
        return _ask(wish, speaker)
    speaker.own.setdefault("known", asking.IT)
    told += _remedy(left, words, speaker)
    return _around(_keeping(told, wish, speaker), speaker, story=0.25)


def _remedy(left: list[ChangeWords], words: list[ChangeWords], speaker: Speaker) -> str:
    """What follows a complaint: what has not been said yet; else, now and then, the same as a request."""
    if left:
        return speaker.say(_SO) + _asked(left, speaker)
    roll = speaker.rng.random()
    if roll < 0.3:
        return speaker.say(_SO) + _asked(words, speaker)
    if roll < 0.6:
        mend = speaker.say(manner.MENDING)
        question = mend.startswith(("can", "could", "any", "is"))
        return speaker.say(_SO) + ended(mend, speaker.rng, question=question)
    return ended("", speaker.rng)


_AND = phrases(" and ^5|, ^3|. |, and |; ")
_SO = phrases(". ^6|, ^5| - ^2|; |! |... ")


def _vague(wish: DrawnWish, speaker: Speaker) -> str:
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


def _framed(order: str, speaker: Speaker) -> asking.Told:
    return asking.framed(lambda ing: asking.gerund(order) if ing else order, speaker)


def _mood_compared(choice: PhraseChoice, band: Band, speaker: Speaker) -> asking.Told:
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
    return f"{text}{speaker.say(asking.TERSE)}", False


def _unanswerable(wish: DrawnWish, speaker: Speaker) -> str:
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

_SAY: dict[Flavour, Callable[[DrawnWish, Speaker], str]] = {
    Flavour.ASK: _ask,
    Flavour.DEFECT: _defect,
    Flavour.VAGUE: _vague,
    Flavour.UNANSWERABLE: _unanswerable,
}


def _keeping(text: str, wish: DrawnWish, speaker: Speaker, *, inside: bool = False) -> str:
    """With what must stay as it is: inside the sentence, or after it."""
    if not wish.untouched:
        return text
    names = _kept_names(wish.untouched, speaker)
    if inside and len(wish.untouched) == 1 and speaker.chance(0.4):
        return f"{text} {speaker.say(manner.WITHOUT_MAKING[wish.untouched[0]])}"
    speaker.own["kept"] = phrases(asking.listed(names, speaker))
    if inside:
        return f"{text}{speaker.pick([' ', ' ', ', '])}{speaker.say(manner.KEEPING_AFTER)}"
    return f"{text.rstrip(_MARKS)}{speaker.say(_BUT)}{ended(speaker.say(manner.KEEPING), speaker.rng)}"


def _kept_names(untouched: Sequence[Attribute], speaker: Speaker) -> list[str]:
    """What must stay, by name; all that makes up colour by one."""
    every = set(COLOUR) <= set(untouched)
    single = [attribute for attribute in untouched if not (every and attribute in COLOUR)]
    names = [speaker.say(manner.NOUNS[attribute]) for attribute in single]
    return [*names, speaker.say(manner.COLOURS)] if every else names


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
