"""JSON lists of entries, as datasets are published; a broken entry costs only itself.

Knows files and fields, not what they mean.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError
from ..image import read_regular
from .sample import SPLITS, Problem

_BROKEN = "broken JSON"
_decoder = json.JSONDecoder()


class UnusableError(Exception):
    """An entry that cannot be used; becomes a Problem of that name, or else of the entry's place."""

    def __init__(self, reason: str, detail: str = "", name: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail, self.name = reason, detail, name

    def at(self, place: str) -> Problem:
        return Problem(self.name or place, self.reason, self.detail)


@dataclass(frozen=True)
class Entry:
    """The fields of one element of a list, and where it stands."""

    place: str
    fields: Mapping[str, object]

    def text(self, key: str) -> str:
        """A field that has to be a text."""
        value = self.fields.get(key)
        if not is_text(value):
            raise UnusableError("a field is missing or no text", f"{key!r} is {_shown(value)}")
        return str(value)


@dataclass(frozen=True)
class Entries:
    """A list as far as it could be read; None stands for an element that could not.

    Of a file that is not `whole`, places in the list are not known for sure.
    """

    found: tuple[Entry | None, ...]
    problems: tuple[Problem, ...] = ()
    whole: bool = True


def is_text(value: object) -> bool:
    """A string with more than blanks in it, of characters that exist (bytes that are not UTF-8 do not)."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_entries(path: Path, key: str) -> Entries:
    """The objects in a file's list; `key` is a field every entry has, by which one is told from its parts."""
    name = f"{path.parent.name}/{path.name}"
    try:
        text = read_regular(path).decode("utf-8-sig", errors="surrogateescape")
    except OSError as error:
        return Entries((), (Problem(name, "the file cannot be read", error.strerror or str(error)),), False)
    try:
        elements = json.loads(text)
    except (ValueError, RecursionError):
        return _salvaged(text, name, key)
    if not isinstance(elements, list):
        return Entries((), (Problem(name, "the file is not a JSON list", type(elements).__name__),), False)
    return _checked(elements, name)


def _checked(elements: list[object], name: str) -> Entries:
    found: list[Entry | None] = []
    problems = []
    for number, element in enumerate(elements, start=1):
        place = f"{name}, entry {number}"
        if isinstance(element, dict):
            found.append(Entry(place, element))
        else:
            found.append(None)
            problems.append(Problem(place, "not an object with fields", _shown(element)))
    return Entries(tuple(found), tuple(problems))


def _salvaged(text: str, name: str, key: str) -> Entries:
    found: list[Entry] = []
    problems = []
    ends = [place for place, character in enumerate(text) if character == "\n"]
    for start, element in _objects(text, key):
        line = bisect_left(ends, start)
        place = f"{name}, line {line + 1}, column {start - (ends[line - 1] if line else -1)}"
        if element is None:
            problems.append(Problem(place, _BROKEN, repr(text[start : start + 40])))
        else:
            found.append(Entry(place, element))
    if not found and not problems:
        problems.append(Problem(name, "the file is empty"))
    return Entries(tuple(found), tuple(problems), whole=False)


def _objects(text: str, key: str) -> Iterator[tuple[int, dict[str, object] | None]]:
    """Objects with that key and where each begins; for a stretch that is none, None and where that begins."""
    position, lost = _next(text, 0), False
    while position < len(text):
        try:
            element, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            element, end = None, position + 1
        if isinstance(element, dict) and key in element:
            yield position, element
            position, lost = _next(text, end), False
            continue
        if not lost:
            yield position, None
        opening = text.find("{", position + 1)
        position, lost = (len(text) if opening < 0 else opening), True


def _next(text: str, position: int) -> int:
    """Past blanks, commas and the brackets of the list."""
    while position < len(text) and text[position] in " \t\r\n,[]":
        position += 1
    return position


def read_places(path: Path, count: int) -> tuple[frozenset[int] | None, tuple[Problem, ...]]:
    """A published list of places, from 0, in a list of `count` entries; None where there is none to go by."""
    name = f"{path.parent.name}/{path.name}"
    if not path.is_file():
        return None, ()
    try:
        places = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        return None, (Problem(name, _BROKEN, str(error)),)
    if not isinstance(places, list):
        return None, (Problem(name, "the file is not a JSON list", type(places).__name__),)
    good, bad = set(), []
    for place in places:
        if type(place) is int and 0 <= place < count:
            good.add(place)
        else:
            bad.append(Problem(name, "not the place of an entry", _shown(place)))
    return frozenset(good), tuple(bad)


def split_files(
    folder: Path, session: int, splits: Collection[str] | None
) -> tuple[dict[str, Path], list[Problem]]:
    """The file of each split that is there, in the usual order, and files named after no split."""
    files, problems = {}, []
    for path in sorted(folder.glob(f"*_sess_{session}.json")):
        name = path.name.removesuffix(f"_sess_{session}.json")
        if name in SPLITS:
            files[name] = path
        elif name.split("_")[0] not in SPLITS:
            detail = f"known are {', '.join(SPLITS)}"
            problems.append(Problem(f"{folder.name}/{path.name}", "not the name of a split", detail))
    absent = [split for split in splits or () if split not in files]
    if absent:
        there = ", ".join(files) or "no split at all"
        raise DataError(f"{folder} has no {absent[0]}_sess_{session}.json; there is {there}.")
    return {
        split: files[split] for split in SPLITS if split in files and split in (splits or SPLITS)
    }, problems


def _shown(value: object) -> str:
    return "absent" if value is None else f"{value!r:.60}"
