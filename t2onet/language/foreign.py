"""Whether a request is in another language than English.

Letters of another script say so by themselves. Otherwise words are counted: those of other languages against
those of English; what neither knows, misspelt words above all, counts for nobody, so that without evidence a
request is English.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from .foreign_words import ELISIONS, ENGLISH, ENGLISH_UNACCENTED, OTHERS, SHARED
from .grams import words

_LONG = 5
"""Letters from which a word without its accents is hardly another word."""
_SHARED_WEIGHT = 1 / 2
"""Two words that English has as well are enough."""
_ACCENT_WEIGHT = 1 / 3
"""Three words with an accent are enough; English has its cafés."""


def is_foreign(request: str) -> bool:
    """Whether a request is plainly not in English."""
    told = words(request)
    return _in_other_letters("".join(told)) or _in_other_words(told)


def _in_other_letters(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 0 < len(letters) <= 2 * sum(not _is_latin(letter) for letter in letters)


def _in_other_words(told: list[str]) -> bool:
    """Words of other languages outnumber those of English, or hints add up where there is no English word."""
    english = len(_ENGLISH.intersection(told))
    others = {word for word in told if _is_other(word)}
    hints = sum(_hint(word) for word in {*told} - others)
    return len(others) > english or (english == 0 and hints >= 1)


def _is_other(word: str) -> bool:
    before, apostrophe, after = word.partition("'")
    return bool(_OTHERS & {word, before, after} or (apostrophe and before in _ELISIONS))


def _hint(word: str) -> float:
    """How much a word speaks for another language that is in none of their lists."""
    if word in _SHARED:
        return _SHARED_WEIGHT
    return 0.0 if word.isascii() else _ACCENT_WEIGHT


@cache
def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")


def _plain(word: str) -> str:
    """Without accents: "größer" as "grosser"."""
    apart = unicodedata.normalize("NFD", word.translate(_WHOLE))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _spelt_out(word: str) -> str:
    """With two letters for one: "größer" as "groesser"."""
    return _plain(word.translate(_UMLAUTS))


_WHOLE = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "ł": "l", "ı": "i", "đ": "d"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_LISTED = frozenset(word for language in OTHERS.values() for word in language.split())
_UNACCENTED = frozenset(way(word) for way in (_plain, _spelt_out) for word in _LISTED if len(word) >= _LONG)
_OTHERS = _LISTED | _UNACCENTED - frozenset(ENGLISH_UNACCENTED.split())
"""With accents, and the longer ones as they are typed without."""
_SHARED, _ELISIONS, _ENGLISH = (frozenset(listed.split()) for listed in (SHARED, ELISIONS, ENGLISH))
