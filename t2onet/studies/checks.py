"""Attention checks: pictures whose stars anybody who looks would know."""

from __future__ import annotations

from enum import StrEnum

from .models import TARGET


class Known(StrEnum):
    """A picture on a check page that no system made for it."""

    WRECKED = "wrecked"
    INPUT = "input"
    TARGET = TARGET


EXPECTED = {Known.WRECKED: (1, 2), Known.INPUT: (1, 3), Known.TARGET: (3, 5)}
"""Stars that show attention: ruined is bad, untouched is not what was asked for, an expert's is not bad."""

ENOUGH = 3
"""Known pictures that someone has rated before they are judged by them."""


def passed(known: str, stars: int) -> bool:
    low, high = EXPECTED[Known(known)]
    return low <= stars <= high
