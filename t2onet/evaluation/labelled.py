"""Requests with labels of what they ask for: the held-out test of following a request."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

from ..data import Dataset, Sample, ma5k
from ..errors import DataError
from ..image import read_regular_file
from ..language import Intent
from ..language.intent import intent_of

# Requests with labels of what they ask for: the held-out test of following a request.
#
# Published datasets have labels made by reading their requests. The sentences belong to their datasets and
# are
# not shipped: a label points at its sentence and carries the start of its SHA-256, so that a changed file is
# noticed. How these labels were made: docs/following.md. Simulated datasets carry their own labels, and other
# datasets have none.

SIMULATED = "simulated"
"""The `dataset` of labels that come from a simulation."""
MAX_SIMULATED = 500
"""Labelled requests taken from a simulated split, about as many as were labelled by hand."""


class RequestKind(StrEnum):
    """What can be done about a request."""

    EDIT = "edit"
    """It asks for at least one attribute of the whole photo."""
    VAGUE = "vague"
    """It wishes for a better photo without naming an attribute and a direction."""
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
    """All labels, in the order of their datasets."""
    table = resources.files(__package__).joinpath("labelled_requests.csv").read_text(encoding="utf-8")
    return tuple(_parse_label(row) for row in csv.DictReader(table.splitlines()))


def read_labelled_sentences(
    dataset: Dataset, split: str, gier: Path | None = None
) -> dict[LabelledRequest, str]:
    """The labelled requests of a split and, where its folder is given, those of GIER.

    Labels made by hand belong to the published MA5k-Req; simulated samples carry theirs; other datasets have
    none.
    """
    labels = [label for label in read_labels() if label.split == split]
    if is_published_ma5k_req(dataset):
        return read_sentences(labels, dataset.root, gier)
    samples = dataset.split(split)
    every = max(1, -(-len(samples) // MAX_SIMULATED))
    return dict(_label_simulated(split, samples[::every])) | read_sentences(labels, None, gier)


def is_published_ma5k_req(dataset: Dataset) -> bool:
    """Whether a dataset in the layout of MA5k-Req has most of the sentences that were labelled there."""
    if dataset.layout != ma5k.NAME:
        return False
    labels = [label for label in read_labels() if label.dataset == ma5k.NAME]
    files = {
        split: _get_split_file(dataset.root, ma5k.NAME, split) for split in {label.split for label in labels}
    }
    entries = {split: _read_entries(path) for split, path in files.items() if path.is_file()}
    found = ((label, _find_text(label, entries.get(label.split, []))) for label in labels)
    return 2 * sum(text is not None and digest_sentence(text) == label.digest for label, text in found) > len(
        labels
    )


def _label_simulated(split: str, samples: Iterable[Sample]) -> Iterator[tuple[LabelledRequest, str]]:
    """Labels of the samples that say what their request asks for; `field` is the sample's name."""
    for index, sample in enumerate(samples):
        if sample.intents is None or not sample.requests:
            continue
        text = sample.requests[0]
        kind = RequestKind.EDIT
        if sample.unanswerable is not None and not sample.intents:
            kind = RequestKind.UNANSWERABLE
        elif "mood" in sample.labels or not sample.intents:
            kind = RequestKind.VAGUE
        yield (
            LabelledRequest(
                dataset=SIMULATED,
                split=split,
                index=index,
                field=sample.name,
                digest=digest_sentence(text),
                kind=kind,
                intents=sample.intents if kind is RequestKind.EDIT else (),
                typo=False,
                mixed=kind is RequestKind.EDIT and sample.unanswerable is not None,
            ),
            text.strip(),
        )


def read_sentences(
    labels: Iterable[LabelledRequest], ma5k_req: Path | None, gier: Path | None
) -> dict[LabelledRequest, str]:
    """The sentence of each label, without surrounding space, in the order given.

    The paths are the folders of the two datasets; labels of one that is None are left out.
    """
    folders = {"ma5k-req": ma5k_req, "gier": gier}
    files: dict[Path, list[Any]] = {}
    found = {}
    for label in labels:
        if (folder := folders[label.dataset]) is None:
            continue
        path = _get_split_file(folder, label.dataset, label.split)
        if path not in files:
            files[path] = _read_entries(path)
        found[label] = _get_sentence(label, files[path], path).strip()
    return found


_SPLIT_FILES = {"ma5k-req": "annotations/{split}_sess_1.json", "gier": "splits/{split}_sess_3.json"}


def _get_split_file(folder: Path, dataset: str, split: str) -> Path:
    return folder / _SPLIT_FILES[dataset].format(split=split)


def digest_sentence(text: str) -> str:
    """The first 8 hexadecimal digits of the SHA-256 of a sentence as its file has it."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _parse_label(row: Mapping[str, str]) -> LabelledRequest:
    return LabelledRequest(
        dataset=row["dataset"],
        split=row["split"],
        index=int(row["index"]),
        field=row["field"],
        digest=row["sha256"],
        kind=RequestKind(row["kind"]),
        intents=tuple(intent_of(ask) for ask in row["asks"].split()),
        typo=row["typo"] == "1",
        mixed=row["note"] == "mixed",
    )


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
    """What stands where a label points, or None."""
    key, _, position = label.field.partition(".")
    try:
        value = entries[label.index][key]
        text = value[int(position)] if position else value
    except (LookupError, TypeError):
        return None
    return text if isinstance(text, str) else None
