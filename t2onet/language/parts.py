"""A request in the parts it asks for one after the other."""

from __future__ import annotations

import re

from .grams import words
from .keywords import keywords

_GOALS = re.compile(
    r"\b(?:so (?:that|the|it|its|i|we|you|they|there|as)|until|till|in order to|as if|like in|if you can"
    r"|if possible|making|to make|to show|to see|to bring out|focusing|especially|instead of)\b[^.;!?\n]*",
    re.IGNORECASE,
)
"""What something is asked for; no request of its own."""
_ENDS = re.compile(
    r"[.,;!?\n]+(?=\s|$)|\s-\s|(?<!\bblack )(?:\b(?:and|but|then|also|plus)\b|(?<=\s)&(?=\s))(?! white\b)",
    re.IGNORECASE,
)
_MOST = 8
"""Parts that are looked at: who asks for more at once tells a story."""


def parts(request: str) -> tuple[str, ...]:
    """What stands between commas, full stops and `and`, without what it is for."""
    found = (part.strip() for part in _ENDS.split(_GOALS.sub(" ", request)))
    return tuple(part for part in found if words(part))


def doubtful(request: str) -> tuple[str, ...]:
    """Of several parts those of two words or more that do not plainly ask for light, colour or detail."""
    several = parts(request)[:_MOST]
    if len(several) < 2:
        return ()
    return tuple(part for part in several if len(words(part)) > 1 and not _plain(part))


def _plain(part: str) -> bool:
    reading = keywords(part)
    return bool(reading.intents) and reading.confident
