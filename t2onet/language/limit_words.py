"""The clauses `limits` knows, as patterns built from the words `keywords` knows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .terms import COLOURS, STATES, TERMS

LOSING = frozenset(
    {
        "lose",
        "losing",
        "less",
        "reduce",
        "reducing",
        "lower",
        "lowering",
        "kill",
        "killing",
        "wash",
        "washing",
    }
)
"""What must not become less after one of these may become more."""
_PLACES = frozenset({"highlights", "highlight", "whites", "daylight", "fill_"})
"""Parts of a photo, which nothing measures apart."""


def _any(words: Iterable[str]) -> str:
    """A pattern for any of these words, in either spelling."""
    longest_first = sorted(set(words) - _PLACES, key=lambda word: (-len(word), word))
    return "|".join(longest_first).replace("color", "colou?r").replace("gray", "gr[ae]y")


_NOUN = _any(
    [word for word, (_, sign, by_verb) in TERMS.items() if by_verb and sign > 0]
    + ["tint", "reds", "white balance", "color temperature", "color saturation", "color balance"]
)
_QUALITY = _any([*STATES, *COLOURS, *(word for word, (_, _, by_verb) in TERMS.items() if not by_verb)])
_THE = r"(?:(?:the|its|any|all|of|my|more|same|original|current|natural|overall|level of) )*"
_NOUNS = rf"{_THE}(?:{_NOUN})(?: levels?)?(?:(?:, | )(?:(?:and|or|nor) )?{_THE}(?:{_NOUN}))*"
_IT = r"(?:it|this|that|things|everything|the (?:photo|picture|image|shot|whole thing|colou?rs?))"
_VERY = r"(?:(?:look|any|too|more|overly|be|become|get|appear|that|very) )*"
_QUALITIES = rf"{_VERY}(?:{_QUALITY})(?: or (?:too )?(?:{_QUALITY}))*"
_NOT = r"(?:without|not|never|don'?t|do not|avoid|no)"
_CHANGE = (
    r"(?:chang|touch|affect|alter|modify|adjust|influenc|disturb|ruin|harm|mess)(?:e|ing)?(?: with| up)?"
)
_LOSE = r"(?:los|reduc|lower|kill|wash)(?:e|ing)?(?: out)?"
_STAYING = (
    r"(?: (?:just )?(?:as (?:it|they|that) (?:is|are|was|were)|as[ -]is|alone|(?:the )?same|unchanged"
    r"|untouched|the way (?:it|they) (?:is|are)|like (?:it is|that|they are)|intact|natural))?"
)
_HELD = (
    rf"{_NOT} (?:{_CHANGE}|{_LOSE}) {_NOUNS}",
    rf"{_NOT} (?:mak|let|hav)(?:e|t?ing)? {_IT} {_QUALITIES}",
    rf"{_NOT} (?:it )?(?:get|becom|turn|go)(?:e|t?ing)? {_QUALITIES}",
    rf"{_NOT} over-?(?:saturat|expos|sharpen)\w*(?: {_IT})?",
    rf"(?<!and )not (?:the (?:{_NOUN})|(?:(?:any|too|overly) )*(?:{_QUALITY}))",
    rf"(?P<staying>keep(?:ing)? {_IT} {_QUALITIES})",
    rf"(?:keep|leav|preserv|maintain|retain)(?:e|ing)? {_NOUNS}{_STAYING}",
    rf"{_NOUNS} (?:should|must|needs? to|has to|have to|can) (?:stay|remain|be kept){_STAYING}",
    rf"(?:no changes? to|hands off|with (?:the )?same) {_NOUNS}",
)
"""About attributes of the photo."""
_LITTLE = (
    r"(?:not|nothing|don'?t (?:make|do) it) (?:by )?(?:too|overly) (?:much|strong(?:ly)?|heav(?:y|ily)|far"
    r"|hard|extreme|intense(?:ly)?|drastic(?:ally)?|dramatic(?:ally)?|obvious)"
    r"|(?:without|not|don'?t|do not) (?:over-?do(?:ing)? it|go(?:ing)? overboard)"
)
"""About the amount."""
_BEFORE = (
    r"(?:^ *|[,;.!?] *| - | (?=(?:but|and|while|whilst|though|just|yet|without|with)\b))"
    r"(?:(?:but|and|while|whilst|though|just|yet|only|please|also|still|then) )*"
)
_AFTER = (
    r"(?: (?:please|though|either|at all|too|thanks|thank you|thx|ty))*"
    r"(?= *(?:$|[.,;!?])| - | (?:and|but|while|then)\b)"
)
CLAUSE = re.compile(
    rf"{_BEFORE}(?P<said>(?P<little>{_LITTLE})|{'|'.join(_HELD)}){_AFTER}",
    re.IGNORECASE,
)
"""A limit, with what joins it to the rest of the sentence; single blanks are taken for granted."""
JOINS = re.compile(r"^[ ,;.!?-]*(?:(?:but|and|then|just|also)\b[ ,]*)*|[ ,;-]+$", re.IGNORECASE)
"""What may be left at the ends of the rest."""
