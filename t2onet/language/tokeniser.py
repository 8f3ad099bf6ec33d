"""Requests -> words, by the rule of the published vocabularies and word ids."""

from __future__ import annotations

import string

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def tokens(text: str) -> list[str]:
    """Words between blanks, in lower case, ASCII punctuation deleted; only those of two or more letters.

    Deleting joins: "brightness/contrast" is one word and "isn't" is "isnt". A curly apostrophe is not ASCII,
    so "don’t" is no word at all.
    """
    words = (word.lower().translate(_WITHOUT_PUNCTUATION) for word in text.split())
    return [word for word in words if len(word) > 1 and word.isalpha()]
