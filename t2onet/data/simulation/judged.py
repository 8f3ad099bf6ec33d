"""Real requests that were read one by one: what each asks for, found by the digest of its words.

The sentences are those of the train splits of MA5k-Req and GIER and stay there; a row of `judged.csv` is of
no use without them. How they were read: docs/following.md.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ...language.intent import Intent, intent_of

HELD = "0"
"""Judgements whose digest begins so, one in sixteen, are not for training: weights are chosen by them."""


@dataclass(frozen=True)
class Meaning:
    """What a request asks for; all empty where that is unclear.

    `matter` is what no change of the whole photo can do; beside intents it is asked for besides.
    """

    intents: tuple[Intent, ...] = ()
    vague: bool = False
    matter: str = ""


def judged(text: str) -> Meaning | None:
    """What was read in this request, or None if it is not among those that were read."""
    return judgements().get(digest(text))


def held_back(text: str) -> bool:
    """Whether the request was read, and is kept for choosing weights."""
    return (known := digest(text)).startswith(HELD) and known in judgements()


def digest(text: str) -> str:
    """The first 10 hexadecimal digits of the SHA-256 of the words: case, spaces and the end do not matter."""
    words = " ".join(text.lower().split()).strip(" .!")
    return hashlib.sha256(words.encode()).hexdigest()[:10]


@cache
def judgements() -> dict[str, Meaning]:
    """All, by digest."""
    table = resources.files(__package__).joinpath("judged.csv").read_text(encoding="utf-8")
    return {
        row["sha256"]: Meaning(
            tuple(intent_of(ask) for ask in row["asks"].split()), row["vague"] == "1", row["matter"]
        )
        for row in csv.DictReader(table.splitlines())
    }
