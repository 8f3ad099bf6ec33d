"""Real requests whose words were marked by reading: which words state which wish.

The marks are in `simulation/judged.csv` beside the digests; the sentences stay in their datasets. A mark is
`what direction [amount] [where=..] [hue=..] [role=limit] @head,other,words`, wishes are separated by semicolons,
and numbers count the words between spaces. A dash means that nothing is asked for.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

from ..language.wishes import HUES, WHATS, WHERES, WHOLE, Amount, Direction, Role, Wish
from .sentences import MarkedSentence, MarkedWish

_DIRECTIONS = {"+": Direction.UP, "-": Direction.DOWN, "=": Direction.FIX, ".": Direction.NONE}


@cache
def read_marks() -> dict[str, str]:
    """The marks of each request that has some, by digest."""
    table = resources.files(__package__).joinpath("simulation", "judged.csv").read_text(encoding="utf-8")
    return {row["sha256"]: row["wishes"] for row in csv.DictReader(table.splitlines()) if row["wishes"]}


def parse_marks(text: str, marks: str) -> MarkedSentence:
    """A request with its marks."""
    sentence = MarkedSentence(text)
    spans = _find_word_spans(text)
    for part in marks.split(";"):
        if part.strip() in ("", "-"):
            continue
        said, _, numbers = part.partition("@")
        head, *others = [spans[int(number)] for number in numbers.split(",")]
        sentence.wishes.append(MarkedWish(_parse_wish(said), head=head, spans=others))
    return sentence


def _find_word_spans(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        spans.append((at, at + len(word)))
        at += len(word)
    return spans


def _parse_wish(said: str) -> Wish:
    what, direction, *rest = said.split()
    named = dict(one.split("=") for one in rest if "=" in one)
    amount = next((Amount(one) for one in rest if "=" not in one), Amount.PLAIN)
    where, hue = named.get("where", WHOLE), named.get("hue", "")
    if what not in WHATS or where not in WHERES or (hue and hue not in HUES):
        raise ValueError(f"a wish is marked as {said!r}, which the reader does not know")
    if what == "look" and direction == "-":  # of an old print, whose brown is to go
        what, hue = "cast", "orange"
    return Wish(what, _DIRECTIONS[direction], amount, where, hue, Role(named.get("role", "ask")))
