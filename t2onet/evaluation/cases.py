"""What systems are measured on: photos with targets and requests, pairs to plan, and labelled requests.

Labels of published datasets were made by reading their requests (docs/following.md). The sentences belong to
their datasets and are not shipped: a label points at its sentence and carries the start of its SHA-256, so
that a changed file is noticed. Simulated datasets carry their own labels; other datasets have none.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset, Problem, Sample, ma5k
from ..editor import make_thumbnail
from ..errors import DataError, T2OError
from ..image import open_image, read_regular_file
from ..language.wishes import Intent, parse_intent
from ..metrics.attributes import measure_attributes
from ..planning.pictures import Picture, open_photo_pair

EvaluationProgress = Callable[[str, int, int], None]
"""Called with the name of a task, how many of its items are done, and how many there are."""
PAIR_SHORT_SIDE = 128
"""Short side of the paper's pictures, in pixels."""
SIMULATED = "simulated"
"""The `dataset` of labels that come from a simulation."""
MAX_SIMULATED = 500
"""The most labelled requests taken from a simulated split, about as many as were labelled one by one."""
_SPLIT_FILES = {"ma5k-req": "annotations/{split}_sess_1.json", "gier": "splits/{split}_sess_3.json"}


def ignore_progress(task: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Case:
    """A photo, its target, both (3, side, side), and the request between them."""

    name: str
    before: np.ndarray
    after: np.ndarray
    request: str

    @cached_property
    def attributes(self) -> np.ndarray:
        """(6,) attributes of the photo."""
        attributes: np.ndarray = measure_attributes(self.before.astype(np.float64))
        return attributes

    def measure_change(self, output: np.ndarray) -> np.ndarray:
        """(6,) attributes of an output (3, side, side) minus those of the photo."""
        return np.asarray(measure_attributes(output.astype(np.float64)) - self.attributes)


def read_cases(
    dataset: Dataset,
    split: str,
    side: int,
    count: int | None = None,
    *,
    seed: int = 0,
    problems: list[Problem] | None = None,
    progress: EvaluationProgress = ignore_progress,
) -> list[Case]:
    """Read the samples of a split, or `count` drawn by the seed; unreadable ones are added to `problems`."""
    samples: Sequence[Sample] = dataset.split(split)
    if count is not None and count < len(samples):
        order = np.random.default_rng(seed).permutation(len(samples))[:count]
        samples = [samples[index] for index in sorted(order)]
    cases, unreadable = [], []
    for number, sample in enumerate(samples, start=1):
        try:
            cases.append(_read_case(sample, side))
        except T2OError as error:
            unreadable.append(Problem(sample.name, str(error)))
        progress("reading photos", number, len(samples))
    if not cases:
        reason = f": {unreadable[0].reason}" if unreadable else ""
        raise DataError(f"{dataset.root} has no usable pair in the split {split}{reason}")
    if problems is not None:
        problems.extend(unreadable)
    return cases


def _read_case(sample: Sample, side: int) -> Case:
    before, after = (make_thumbnail(open_image(path), side) for path in (sample.before, sample.after))
    return Case(sample.name, before, after, sample.requests[0] if sample.requests else "")


def choose_pairs(samples: Sequence[Sample], count: int | None, seed: int = 0) -> list[tuple[Path, Path]]:
    """Before and after files, each pair once whatever its number of requests: `count` in a seeded order."""
    pairs = sorted({(sample.before, sample.after) for sample in samples})
    if not pairs:
        raise DataError("no sample of the dataset has both photos; give one with before and after")
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [pairs[index] for index in order[:count]]


def read_pairs(
    pairs: Sequence[tuple[Path, Path]], problems: list[Problem]
) -> Iterator[tuple[Picture, Picture]]:
    """(3, H, W) before and after of each pair; unusable pairs are added to `problems`."""
    for before, after in pairs:
        try:
            yield open_photo_pair(before, after).working_pictures(PAIR_SHORT_SIDE)
        except T2OError as error:
            problems.append(Problem(before.name, str(error)))


class RequestKind(StrEnum):
    """What can be done about a request."""

    EDIT = "edit"
    """It asks for at least one attribute of the whole photo."""
    VAGUE = "vague"
    """It asks for a better photo without naming an attribute and a direction."""
    UNANSWERABLE = "unanswerable"
    """No global operation can answer it."""


@dataclass(frozen=True)
class LabelledRequest:
    """A pointer to a sentence and what it asks for.

    `field` is a key of the entry `index` (from 0) of the split's file, with a dot before a position in a
    list: `expert_summary.2`. `mixed` requests ask for something unanswerable besides their intents.
    """

    dataset: str
    split: str
    index: int
    field: str
    digest: str
    kind: RequestKind
    intents: tuple[Intent, ...]
    typo: bool
    mixed: bool

    @property
    def name(self) -> str:
        return f"{self.dataset} {self.split} {self.index} {self.field}"


def read_labels() -> tuple[LabelledRequest, ...]:
    """All labels of published requests, in the order of their datasets."""
    table = resources.files(__package__).joinpath("labelled_requests.csv").read_text(encoding="utf-8")
    return tuple(_parse_label(row) for row in csv.DictReader(table.splitlines()))


def _parse_label(row: Mapping[str, str]) -> LabelledRequest:
    return LabelledRequest(
        dataset=row["dataset"],
        split=row["split"],
        index=int(row["index"]),
        field=row["field"],
        digest=row["sha256"],
        kind=RequestKind(row["kind"]),
        intents=tuple(parse_intent(ask) for ask in row["asks"].split()),
        typo=row["typo"] == "1",
        mixed=row["note"] == "mixed",
    )


def read_labelled_sentences(
    dataset: Dataset, split: str, gier: Path | None = None
) -> dict[LabelledRequest, str]:
    """The labelled requests of a split and, if its folder is given, those of GIER.

    The stored labels belong to the published MA5k-Req; simulated samples carry theirs; other datasets have
    none.
    """
    labels = [label for label in read_labels() if label.split == split]
    if is_published_ma5k_req(dataset):
        return read_sentences(labels, dataset.root, gier)
    samples = dataset.split(split)
    stride = max(1, -(-len(samples) // MAX_SIMULATED))
    return dict(_label_simulated(split, samples[::stride])) | read_sentences(labels, None, gier)


def is_published_ma5k_req(dataset: Dataset) -> bool:
    """Whether a dataset in the layout of MA5k-Req has most of the sentences that were labelled there."""
    if dataset.layout != ma5k.NAME:
        return False
    labels = [label for label in read_labels() if label.dataset == ma5k.NAME]
    files = {
        split: _get_split_file(dataset.root, ma5k.NAME, split) for split in {label.split for label in labels}
    }
    entries = {split: _read_entries(path) for split, path in files.items() if path.is_file()}
    texts = ((label, _find_text(label, entries.get(label.split, []))) for label in labels)
    matches = sum(text is not None and digest_sentence(text) == label.digest for label, text in texts)
    return 2 * matches > len(labels)


def _label_simulated(split: str, samples: Iterable[Sample]) -> Iterator[tuple[LabelledRequest, str]]:
    """Labels of the samples whose intents are known; `field` is the sample's name."""
    for index, sample in enumerate(samples):
        if sample.intents is None or not sample.requests:
            continue
        text = sample.requests[0]
        kind = RequestKind.EDIT
        if sample.unanswerable is not None and not sample.intents:
            kind = RequestKind.UNANSWERABLE
        elif "mood" in sample.labels or not sample.intents:
            kind = RequestKind.VAGUE
        label = LabelledRequest(
            dataset=SIMULATED,
            split=split,
            index=index,
            field=sample.name,
            digest=digest_sentence(text),
            kind=kind,
            intents=sample.intents if kind is RequestKind.EDIT else (),
            typo=False,
            mixed=kind is RequestKind.EDIT and sample.unanswerable is not None,
        )
        yield label, text.strip()


def read_sentences(
    labels: Iterable[LabelledRequest], ma5k_req: Path | None, gier: Path | None
) -> dict[LabelledRequest, str]:
    """The sentence of each label, without surrounding space, in the order given.

    The paths are the folders of the two datasets; labels of a dataset without a folder are skipped.
    """
    folders = {"ma5k-req": ma5k_req, "gier": gier}
    files: dict[Path, list[Any]] = {}
    sentences = {}
    for label in labels:
        if (folder := folders[label.dataset]) is None:
            continue
        path = _get_split_file(folder, label.dataset, label.split)
        if path not in files:
            files[path] = _read_entries(path)
        sentences[label] = _get_sentence(label, files[path], path).strip()
    return sentences


def _get_split_file(folder: Path, dataset: str, split: str) -> Path:
    return folder / _SPLIT_FILES[dataset].format(split=split)


def digest_sentence(text: str) -> str:
    """The first 8 hexadecimal digits of the SHA-256 of a sentence as its file has it."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _read_entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(read_regular_file(path))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read, and labelled requests point into it: {error}.") from error
    if not isinstance(entries, list):
        raise DataError(f"{path} holds no list of entries; labelled requests point into the published file.")
    return entries


def _get_sentence(label: LabelledRequest, entries: list[Any], path: Path) -> str:
    if (text := _find_text(label, entries)) is None:
        raise DataError(f"{path} has no {label.name}; use the file as published.")
    if digest_sentence(text) != label.digest:
        raise DataError(
            f"{path} has another sentence at {label.name} than was labelled; use the file as published."
        )
    return text


def _find_text(label: LabelledRequest, entries: list[Any]) -> str | None:
    """The text that a label points at, or None."""
    key, _, position = label.field.partition(".")
    try:
        value = entries[label.index][key]
        text = value[int(position)] if position else value
    except (LookupError, TypeError):
        return None
    return text if isinstance(text, str) else None
