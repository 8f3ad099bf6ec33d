"""Samples and datasets, and the parts their readers share: lists of entries, photo folders, unique names."""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError
from ..image import READABLE_SUFFIXES, Image, open_image, open_regular_file, read_regular_file
from ..language import Intent

# Samples and datasets, and digests of their photos.

# One sample type for all datasets: a pair of photos and the requests that lead from one to the other.

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Sample:
    """A pair and its requests; photos are read when asked for.

    `name` is unique in its dataset. `intents` are what the requests ask for, where that is known (None where
    not); `unanswerable` says what no global operation can do about it. `labels` are the publisher's own.
    """

    name: str
    split: str
    before: Path
    after: Path
    requests: tuple[str, ...] = ()
    intents: tuple[Intent, ...] | None = None
    unanswerable: str | None = None
    labels: Mapping[str, object] = field(default_factory=dict, hash=False)

    def photos(self) -> tuple[Image, Image]:
        """Before and after; an ImageError names the file that cannot be read."""
        return open_image(self.before), open_image(self.after)


@dataclass(frozen=True)
class Problem:
    """A sample, file or line that was left out, and why; `reason` is the same for all of a kind."""

    name: str
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Dataset:
    """The usable samples of a dataset, in its own order, and what was left out."""

    root: Path
    layout: str
    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...] = ()

    def split(self, name: str) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.split == name)

    @property
    def left_out(self) -> dict[str, tuple[Problem, ...]]:
        """The problems by reason, the most frequent first."""
        found: dict[str, list[Problem]] = {}
        for problem in self.problems:
            found.setdefault(problem.reason, []).append(problem)
        by_count = sorted(found.items(), key=lambda item: -len(item[1]))
        return {reason: tuple(problems) for reason, problems in by_count}

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that say what the samples are: names, splits, requests, sizes of files.

        Where the dataset lies does not matter, and pixels are not read.
        """
        digest = hashlib.sha256()
        for sample in self.samples:
            sizes = [_file_size(sample.before), _file_size(sample.after)]
            facts = [sample.name, sample.split, sample.requests, sizes]
            digest.update(json.dumps(facts).encode("ascii"))
        return digest.hexdigest()[:12]


def _file_size(path: Path) -> int:
    """In bytes; -1 where there is no file."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # the latter for a name that no file can have
        return -1


# Which photo it is, whatever its name.


def hash_file(path: Path) -> str:
    """Of the bytes of a file."""
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Lists of entries as datasets are published in JSON, and the photo files they name.

# JSON lists of entries, as datasets are published; a broken entry costs only itself.
#
# Knows files and fields, not what they mean.

_BROKEN_JSON = "broken JSON"
_decoder = json.JSONDecoder()


class UnusableError(Exception):
    """An entry that cannot be used; becomes a Problem of that name, or else of the entry's place."""

    def __init__(self, reason: str, detail: str = "", name: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail, self.name = reason, detail, name

    def at(self, place: str) -> Problem:
        return Problem(self.name or place, self.reason, self.detail)


@dataclass(frozen=True)
class DatasetEntry:
    """The fields of one element of a list, and where it stands."""

    place: str
    fields: Mapping[str, object]

    def text(self, key: str) -> str:
        """A field that has to be a text."""
        value = self.fields.get(key)
        if not is_text(value):
            raise UnusableError("a field is missing or no text", f"{key!r} is {_shorten_value(value)}")
        return str(value)


@dataclass(frozen=True)
class EntryList:
    """A list as far as it could be read; None stands for an element that could not.

    Of a file that is not `whole`, places in the list are not known for sure.
    """

    found: tuple[DatasetEntry | None, ...]
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


def read_entries(path: Path, key: str) -> EntryList:
    """The objects in a file's list; `key` is a field every entry has, by which one is told from its parts."""
    name = f"{path.parent.name}/{path.name}"
    try:
        text = read_regular_file(path).decode("utf-8-sig", errors="surrogateescape")
    except OSError as error:
        return EntryList((), (Problem(name, "the file cannot be read", error.strerror or str(error)),), False)
    try:
        elements = json.loads(text)
    except (ValueError, RecursionError):
        return _salvage_entries(text, name, key)
    if not isinstance(elements, list):
        return EntryList((), (Problem(name, "the file is not a JSON list", type(elements).__name__),), False)
    return _check_elements(elements, name)


def _check_elements(elements: list[object], name: str) -> EntryList:
    found: list[DatasetEntry | None] = []
    problems = []
    for number, element in enumerate(elements, start=1):
        place = f"{name}, entry {number}"
        if isinstance(element, dict):
            found.append(DatasetEntry(place, element))
        else:
            found.append(None)
            problems.append(Problem(place, "not an object with fields", _shorten_value(element)))
    return EntryList(tuple(found), tuple(problems))


def _salvage_entries(text: str, name: str, key: str) -> EntryList:
    found: list[DatasetEntry] = []
    problems = []
    ends = [place for place, character in enumerate(text) if character == "\n"]
    for start, element in _find_objects(text, key):
        line = bisect_left(ends, start)
        place = f"{name}, line {line + 1}, column {start - (ends[line - 1] if line else -1)}"
        if element is None:
            problems.append(Problem(place, _BROKEN_JSON, repr(text[start : start + 40])))
        else:
            found.append(DatasetEntry(place, element))
    if not found and not problems:
        problems.append(Problem(name, "the file is empty"))
    return EntryList(tuple(found), tuple(problems), whole=False)


def _find_objects(text: str, key: str) -> Iterator[tuple[int, dict[str, object] | None]]:
    """Objects with that key and where each begins; for a stretch that is none, None and where that begins."""
    position, lost = _skip_separators(text, 0), False
    while position < len(text):
        try:
            element, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            element, end = None, position + 1
        if isinstance(element, dict) and key in element:
            yield position, element
            position, lost = _skip_separators(text, end), False
            continue
        if not lost:
            yield position, None
        opening = text.find("{", position + 1)
        position, lost = (len(text) if opening < 0 else opening), True


def _skip_separators(text: str, position: int) -> int:
    """Past blanks, commas and the brackets of the list."""
    while position < len(text) and text[position] in " \t\r\n,[]":
        position += 1
    return position


def read_entry_indices(path: Path, count: int) -> tuple[frozenset[int] | None, tuple[Problem, ...]]:
    """A published list of places, from 0, in a list of `count` entries; None where there is none to go by."""
    name = f"{path.parent.name}/{path.name}"
    if not path.is_file():
        return None, ()
    try:
        places = json.loads(read_regular_file(path))
    except (OSError, ValueError, RecursionError) as error:
        return None, (Problem(name, _BROKEN_JSON, str(error)),)
    if not isinstance(places, list):
        return None, (Problem(name, "the file is not a JSON list", type(places).__name__),)
    good, bad = set(), []
    for place in places:
        if type(place) is int and 0 <= place < count:
            good.add(place)
        else:
            bad.append(Problem(name, "not the place of an entry", _shorten_value(place)))
    return frozenset(good), tuple(bad)


def find_split_files(
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


def _shorten_value(value: object) -> str:
    return "absent" if value is None else f"{value!r:.60}"


# A folder of photos, looked into once: which file is meant by a name. Opens none of them.


class PhotoFolder:
    """The photos of a folder by name, or by stem where the suffix is another than stated.

    Where photos are not `needed`, one that is absent is taken to be where it would have been.
    """

    def __init__(self, folder: Path, *, needed: bool = True) -> None:
        self.folder, self.needed = folder, needed
        self.problems: list[Problem] = []
        self._by_stem: dict[str, list[str]] = {}
        for name in list_photo_names(folder):
            self._by_stem.setdefault(Path(name).stem, []).append(name)

    def find(self, name: str) -> Path | None:
        """The photo of that name; else the one of that stem."""
        names = self._by_stem.get(Path(name).stem, [])
        if not names:
            return None
        if name not in names and len(names) > 1:
            self._tell(Path(name).stem, names)
        return self.folder / (name if name in names else names[0])

    def pair(self, before: str, after: str, name: str) -> tuple[Path, Path]:
        """The two photos of the sample of that name."""
        return self._photo(before, "before", name), self._photo(after, "after", name)

    def _photo(self, file: str, side: str, name: str) -> Path:
        found = self.find(file)
        if found is None and self.needed:
            raise UnusableError(f"the photo {side} the edit is missing", f"{self.folder.name}/{file}", name)
        return found or self.folder / Path(file).name

    def _tell(self, stem: str, names: list[str]) -> None:
        problem = describe_duplicates(f"{self.folder.name}/{stem}", names)
        if problem not in self.problems:
            self.problems.append(problem)


def describe_duplicates(name: str, names: list[str]) -> Problem:
    """The first is taken, the others are left out."""
    return Problem(name, "several photos of one name", f"{', '.join(names)}; the first is used")


def list_photo_names(folder: Path) -> Iterator[str]:
    """Names of readable kinds in a folder, sorted; none where there is no folder."""
    return (name for name in list_file_names(folder) if Path(name).suffix.lower() in READABLE_SUFFIXES)


def list_file_names(folder: Path) -> list[str]:
    """Names of all files in a folder that are not hidden, sorted; none where there is no folder."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as found:
        return sorted(entry.name for entry in found if not entry.name.startswith(".") and entry.is_file())


# Names that are unique in their dataset, from names that are only nearly so.


class UniqueNames:
    """Gives out each name once; "a", "a#2", "a#3" where several samples share one."""

    def __init__(self) -> None:
        self._given: dict[str, list[tuple[object, ...]]] = {}

    def unique(self, name: str, *facts: object) -> str:
        """A name for a sample; one that agrees with an earlier one in all `facts` is that one again."""
        earlier = self._given.setdefault(name, [])
        if facts in earlier:
            raise UnusableError("the same entry again", name=name)
        earlier.append(facts)
        return name if len(earlier) == 1 else f"{name}#{len(earlier)}"
