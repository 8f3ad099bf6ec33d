"""Requests that people read one by one: what each asks for, and which of its words state which wish.

The requests are those of the train splits of MA5k-Req and GIER. The sentences stay there: `judged.csv` has
digests of them, which are of no use without the datasets. How they were read: docs/following.md.

A judgement is a list of attributes with signs. Marks are finer: those of several wishes are separated by
semicolons, and each is written as `what direction [amount] [where=..] [hue=..] [role=..] [verb=..]
@head,other,words`, where numbers count the words between spaces. A dash means that nothing is asked for.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path

from ..errors import DataError
from ..language.wishes import (
    HUES,
    WHATS,
    WHERES,
    WHOLE,
    Amount,
    Direction,
    Intent,
    Role,
    Verb,
    Wish,
    parse_intent,
)

_DIRECTIONS = {"+": Direction.UP, "-": Direction.DOWN, "=": Direction.FIX, ".": Direction.NONE}
_FIELDS = ("request", "expert_summary", "amateur_summary")
_FOLDERS = ("ma5k-req/annotations", "gier/splits")
"""Where both datasets have requests."""
_PUNCTUATION = ",.;:!?"


@dataclass
class MarkedWish:
    """A wish and where it is stated: the span of its head and those of its other words."""

    wish: Wish
    look: str = ""
    says_amount: bool = False
    head: tuple[int, int] | None = None
    spans: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class MarkedSentence:
    """A sentence under construction, or finished: its text and its wishes."""

    text: str = ""
    wishes: list[MarkedWish] = field(default_factory=list)

    def add(self, word: str, owners: Sequence[MarkedWish] = (), *, head: bool = False) -> None:
        """Append a word that belongs to some wishes; `head` says what they are about."""
        if self.text and not self.text.endswith((" ", "(")) and word[0] not in _PUNCTUATION:
            self.text += " "
        start = len(self.text)
        self.text += word
        end = start + len(word.rstrip(_PUNCTUATION))
        for wish in owners:
            if head and wish.head is None:
                wish.head = (start, end)
            elif end > start:
                wish.spans.append((start, end))


HELD = "0"
"""Requests whose digest begins so, one in sixteen, are not for training: weights are chosen by them."""


@dataclass(frozen=True)
class Meaning:
    """What a request asks for; all empty where that is unclear.

    `matter` is what no change of the whole photo can do; beside intents it is asked for besides.
    """

    intents: tuple[Intent, ...] = ()
    vague: bool = False
    matter: str = ""


def digest(text: str) -> str:
    """The first 10 hexadecimal digits of the SHA-256 of the words: case, spaces and the end do not matter."""
    words = " ".join(text.lower().split()).strip(" .!")
    return hashlib.sha256(words.encode()).hexdigest()[:10]


def read_requests(data: Path, split: str) -> dict[str, str]:
    """The requests of a split of MA5k-Req and GIER, by digest; `data` has both datasets."""
    found: dict[str, str] = {}
    for path in sorted(path for folder in _FOLDERS for path in (data / folder).glob(f"{split}*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            values = [row.get(name) for name in _FIELDS] if isinstance(row, dict) else []
            for text in [
                text for value in values for text in (value if isinstance(value, list) else [value])
            ]:
                if isinstance(text, str):
                    found.setdefault(digest(text), text)
    return found


@cache
def judgements() -> dict[str, Meaning]:
    """What each request asks for, by digest."""
    return {
        row["sha256"]: Meaning(
            tuple(parse_intent(ask) for ask in row["asks"].split()), row["vague"] == "1", row["matter"]
        )
        for row in _read_rows()
    }


@cache
def read_marks() -> dict[str, str]:
    """The marks of each request that has some, by digest."""
    return {row["sha256"]: row["wishes"] for row in _read_rows() if row["wishes"]}


def _read_rows() -> Iterator[dict[str, str]]:
    return csv.DictReader(_read_training_file("judged.csv").splitlines())


def parse_marks(text: str, marks: str) -> MarkedSentence:
    """A request with its marks."""
    sentence = MarkedSentence(text)
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    for part in marks.split(";"):
        if part.strip() in ("", "-"):
            continue
        mark, _, numbers = part.partition("@")
        head, *others = [spans[int(number)] for number in numbers.split(",")]
        sentence.wishes.append(MarkedWish(_parse_wish(mark), head=head, spans=others))
    return sentence


_TAG = re.compile(r"/(\d)(\*?)")
_JOINED = "~"
"""Before a word that follows the last one without a space."""


def read_written() -> list[MarkedSentence]:
    """The sentences of `phrases/written.txt`, with their marks."""
    lines = (line.strip() for line in _read_training_file("phrases", "written.txt").splitlines())
    return [parse_written(line) for line in lines if line and not line.startswith("#")]


def _read_training_file(*path: str) -> str:
    """A file that only training a reader needs, which installations do not have."""
    file = resources.files(__package__).joinpath(*path)
    if not file.is_file():
        raise DataError(f"{path[-1]} is not installed; train and measure readers from a clone of t2onet")
    return file.read_text(encoding="utf-8")


def parse_written(line: str) -> MarkedSentence:
    """A sentence whose words carry the numbers of their wishes: `lift/1 the shadows/1* | 1 lightness + ...`.

    A star marks the head of a wish; a look follows its wish as `look=NAME`. A word that begins with ~ has no
    space before it: `contrast/1* ~/ ~saturation/2*`.
    """
    tagged, *marks = line.split(" | ")
    wishes: dict[int, MarkedWish] = {}
    for mark in marks:
        numbered, _, look = mark.partition(" look=")
        number, _, wish = numbered.strip().partition(" ")
        wishes[int(number)] = MarkedWish(_parse_wish(wish), look.strip())
    sentence = MarkedSentence(wishes=list(wishes.values()))
    for word in tagged.split():
        tags = _TAG.findall(word)
        plain = _TAG.sub("", word.removeprefix(_JOINED))
        space = " " if sentence.text and not word.startswith(_JOINED) else ""
        start = len(sentence.text) + len(space)
        sentence.text = f"{sentence.text}{space}{plain}"
        span = (start, start + len(plain.rstrip(_PUNCTUATION)))
        for number, star in tags:
            if star:
                wishes[int(number)].head = span
            else:
                wishes[int(number)].spans.append(span)
    if missing := [number for number, wish in wishes.items() if wish.head is None]:
        raise ValueError(f"wish {missing[0]} has no head in {line!r}")
    return sentence


def _parse_wish(mark: str) -> Wish:
    what, direction, *rest = mark.split()
    named = dict(one.split("=") for one in rest if "=" in one)
    amount = next((Amount(one) for one in rest if "=" not in one), Amount.PLAIN)
    where, hue = named.get("where", WHOLE), named.get("hue", "")
    if what not in WHATS or where not in WHERES or (hue and hue not in HUES):
        raise ValueError(f"a wish is marked as {mark.strip()!r}, which the reader does not know")
    if what == "look" and direction == "-":  # of an old print, whose brown is to go
        what, hue = "cast", "orange"
    role, verb = Role(named.get("role", Role.ASK)), Verb(named.get("verb", Verb.CHANGE))
    return Wish(what, _DIRECTIONS[direction], amount, where, hue, role, verb)
