"""Samples and datasets, and the parts their readers share: lists of entries, photo folders, unique names."""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError
from ..image import Image, has_readable_suffix, open_image, open_regular_file, read_regular_file
from ..language import Intent

SPLITS = ("train", "val", "test")
_BROKEN_JSON = "broken JSON"
_decoder = json.JSONDecoder()


@dataclass(frozen=True)
class Sample:
    """A pair of photos and the requests that lead from one to the other; photos are read on demand.

    `name` is unique in its dataset. `intents` are what the requests ask for, None if unknown; `unanswerable`
    names what no global operation can do. `labels` are the publisher's own.
    """

    name: str
    split: str
    before: Path
    after: Path
    requests: tuple[str, ...] = ()
    intents: tuple[Intent, ...] | None = None
    unanswerable: str | None = None
    labels: Mapping[str, object] = field(default_factory=dict, hash=False)

    def open_photos(self) -> tuple[Image, Image]:
        """Open before and after. An ImageError names the file that cannot be read."""
        return open_image(self.before), open_image(self.after)


@dataclass(frozen=True)
class Problem:
    """A sample, file or line that was left out. `reason` is the same text for all problems of a kind."""

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
        """Problems by reason, the most frequent reason first."""
        by_reason: dict[str, list[Problem]] = {}
        for problem in self.problems:
            by_reason.setdefault(problem.reason, []).append(problem)
        by_count = sorted(by_reason.items(), key=lambda item: -len(item[1]))
        return {reason: tuple(problems) for reason, problems in by_count}

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits of a hash over names, splits, requests and file sizes.

        Independent of where the dataset is stored. Pixels are not read.
        """
        digest = hashlib.sha256()
        for sample in self.samples:
            sizes = [_file_size(sample.before), _file_size(sample.after)]
            facts = [sample.name, sample.split, sample.requests, sizes]
            digest.update(json.dumps(facts).encode("ascii"))
        return digest.hexdigest()[:12]


def _file_size(path: Path) -> int:
    """Bytes of a file, or -1 if there is none."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return -1


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class UnusableError(Exception):
    """An entry that cannot be used; it becomes a Problem."""

    def __init__(self, reason: str, detail: str = "", name: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail, self.name = reason, detail, name

    def to_problem(self, location: str) -> Problem:
        """A Problem under the sample's name if it is known, else under its location."""
        return Problem(self.name or location, self.reason, self.detail)


@dataclass(frozen=True)
class DatasetEntry:
    """One element of a published list: its fields, and its location in the file for messages."""

    location: str
    fields: Mapping[str, object]

    def text(self, key: str) -> str:
        """The text in a required field."""
        value = self.fields.get(key)
        if not is_text(value):
            raise UnusableError("a field is missing or not a text", f"{key!r} is {_shorten_value(value)}")
        return str(value)


@dataclass(frozen=True)
class EntryList:
    """The entries of a file, None for elements that could not be read.

    If the file is damaged (not `complete`), positions in the list are not reliable.
    """

    entries: tuple[DatasetEntry | None, ...]
    problems: tuple[Problem, ...] = ()
    complete: bool = True


def is_text(value: object) -> bool:
    """Whether a value is a string that is not blank and was valid UTF-8."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # surrogates, which stand for bytes that are not UTF-8
        return False
    return True


def read_entries(path: Path, key: str) -> EntryList:
    """Read the objects of a JSON list. Each broken object is left out and reported.

    Every entry has the field `key`, which tells entries from objects nested in them in a damaged file.
    """
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
    entries: list[DatasetEntry | None] = []
    problems = []
    for number, element in enumerate(elements, start=1):
        location = f"{name}, entry {number}"
        if isinstance(element, dict):
            entries.append(DatasetEntry(location, element))
        else:
            entries.append(None)
            problems.append(Problem(location, "not an object with fields", _shorten_value(element)))
    return EntryList(tuple(entries), tuple(problems))


def _salvage_entries(text: str, name: str, key: str) -> EntryList:
    entries: list[DatasetEntry] = []
    problems = []
    line_ends = [position for position, character in enumerate(text) if character == "\n"]
    for start, element in _find_objects(text, key):
        line = bisect_left(line_ends, start)
        column = start - (line_ends[line - 1] if line else -1)
        location = f"{name}, line {line + 1}, column {column}"
        if element is None:
            problems.append(Problem(location, _BROKEN_JSON, repr(text[start : start + 40])))
        else:
            entries.append(DatasetEntry(location, element))
    if not entries and not problems:
        problems.append(Problem(name, "the file is empty"))
    return EntryList(tuple(entries), tuple(problems), complete=False)


def _find_objects(text: str, key: str) -> Iterator[tuple[int, dict[str, object] | None]]:
    """Start and value of each object with that key; None in place of a stretch of broken JSON."""
    position, in_broken = _skip_separators(text, 0), False
    while position < len(text):
        try:
            element, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            element, end = None, position + 1
        if isinstance(element, dict) and key in element:
            yield position, element
            position, in_broken = _skip_separators(text, end), False
            continue
        if not in_broken:
            yield position, None
        brace = text.find("{", position + 1)
        position, in_broken = (len(text) if brace < 0 else brace), True


def _skip_separators(text: str, position: int) -> int:
    """The position after blanks, commas and brackets of the list."""
    while position < len(text) and text[position] in " \t\r\n,[]":
        position += 1
    return position


def read_entry_indices(path: Path, count: int) -> tuple[frozenset[int] | None, tuple[Problem, ...]]:
    """Read a published list of indices into a list of `count` entries; None if there is no usable file."""
    name = f"{path.parent.name}/{path.name}"
    if not path.is_file():
        return None, ()
    try:
        indices = json.loads(read_regular_file(path))
    except (OSError, ValueError, RecursionError) as error:
        return None, (Problem(name, _BROKEN_JSON, str(error)),)
    if not isinstance(indices, list):
        return None, (Problem(name, "the file is not a JSON list", type(indices).__name__),)
    valid, problems = set(), []
    for index in indices:
        if type(index) is int and 0 <= index < count:
            valid.add(index)
        else:
            problems.append(Problem(name, "not the index of an entry", _shorten_value(index)))
    return frozenset(valid), tuple(problems)


def find_split_files(
    folder: Path, session: int, splits: Collection[str] | None
) -> tuple[dict[str, Path], list[Problem]]:
    """Published files `{split}_sess_{session}.json` by split, and files whose name is not that of a split.

    A wanted split without a file is a DataError.
    """
    files, problems = {}, []
    for path in sorted(folder.glob(f"*_sess_{session}.json")):
        name = path.name.removesuffix(f"_sess_{session}.json")
        if name in SPLITS:
            files[name] = path
        elif name.split("_")[0] not in SPLITS:
            detail = f"known are {', '.join(SPLITS)}"
            problems.append(Problem(f"{folder.name}/{path.name}", "not the name of a split", detail))
    missing = [split for split in splits or () if split not in files]
    if missing:
        existing = ", ".join(files) or "no split at all"
        raise DataError(f"{folder} has no {missing[0]}_sess_{session}.json; there is {existing}.")
    wanted = splits or SPLITS
    return {split: files[split] for split in SPLITS if split in files and split in wanted}, problems


def _shorten_value(value: object) -> str:
    return "absent" if value is None else f"{value!r:.60}"


class PhotoFolder:
    """The photos of a folder by file name, or by stem if their suffix differs from the published one.

    The folder is listed once and no photo is opened. Unless photos are `required`, a missing photo gets the
    path it would have.
    """

    def __init__(self, folder: Path, *, required: bool = True) -> None:
        self.folder, self.required = folder, required
        self.problems: list[Problem] = []
        self._names_by_stem: dict[str, list[str]] = {}
        for name in list_photo_names(folder):
            self._names_by_stem.setdefault(Path(name).stem, []).append(name)

    def find(self, name: str) -> Path | None:
        """The photo of that file name, else one of the same stem."""
        names = self._names_by_stem.get(Path(name).stem, [])
        if not names:
            return None
        if name not in names and len(names) > 1:
            self._report_duplicates(Path(name).stem, names)
        return self.folder / (name if name in names else names[0])

    def find_pair(self, before: str, after: str, name: str) -> tuple[Path, Path]:
        """The two photos of the sample `name`."""
        return self._find_or_fail(before, "before", name), self._find_or_fail(after, "after", name)

    def _find_or_fail(self, file: str, side: str, name: str) -> Path:
        path = self.find(file)
        if path is None and self.required:
            raise UnusableError(f"the photo {side} the edit is missing", f"{self.folder.name}/{file}", name)
        return path or self.folder / Path(file).name

    def _report_duplicates(self, stem: str, names: list[str]) -> None:
        problem = describe_duplicates(f"{self.folder.name}/{stem}", names)
        if problem not in self.problems:
            self.problems.append(problem)


def describe_duplicates(name: str, names: list[str]) -> Problem:
    """The problem that several files share a stem; the first of `names` is used."""
    return Problem(name, "several photos of one name", f"{', '.join(names)}; the first is used")


def list_photo_names(folder: Path) -> Iterator[str]:
    """Sorted names of the photos in a folder, by their suffixes; none if there is no folder."""
    return filter(has_readable_suffix, list_file_names(folder))


def list_file_names(folder: Path) -> list[str]:
    """Sorted names of the files in a folder that are not hidden; none if there is no folder."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_file())


def make_unique(
    name: str, taken: Collection[str], separator: str = "#", key: Callable[[str], str] = str
) -> str:
    """The name, or the first of name#2, name#3, ... whose key is not `taken`."""
    unique, number = name, 1
    while key(unique) in taken:
        number += 1
        unique = f"{name}{separator}{number}"
    return unique


class UniqueNames:
    """Assigns each sample a name of its own: "a", "a#2", "a#3" if several share one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._seen: set[tuple[object, ...]] = set()

    def assign(self, name: str, *facts: object) -> str:
        """A unique name for a sample. Raises UnusableError for the same name and facts a second time."""
        if (name, *facts) in self._seen:
            raise UnusableError("the same entry again", name=name)
        self._seen.add((name, *facts))
        unique = make_unique(name, self._taken)
        self._taken.add(unique)
        return unique
