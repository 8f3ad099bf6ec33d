"""Real requests labelled by reading them: what each asks for, the held-out test of following a request.

The sentences belong to their datasets and are not shipped: a label points at its sentence and carries the
start of its SHA-256, so that a changed file is noticed. How the labels were made: docs/following.md.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..image import read_regular
from ..language import Intent
from ..language.intent import intent_of


class Kind(StrEnum):
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
    kind: Kind
    intents: tuple[Intent, ...]
    typo: bool
    mixed: bool

    @property
    def name(self) -> str:
        return f"{self.dataset} {self.split} {self.index} {self.field}"


def labelled_requests() -> tuple[LabelledRequest, ...]:
    """All labels, in the order of their datasets."""
    table = resources.files(__package__).joinpath("labelled_requests.csv").read_text(encoding="utf-8")
    return tuple(_label(row) for row in csv.DictReader(table.splitlines()))


def texts(
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
        path = folder / _FILES[label.dataset].format(split=label.split)
        if path not in files:
            files[path] = _entries(path)
        found[label] = _sentence(label, files[path], path).strip()
    return found


_FILES = {"ma5k-req": "annotations/{split}_sess_1.json", "gier": "splits/{split}_sess_3.json"}


def digest(text: str) -> str:
    """The first 8 hexadecimal digits of the SHA-256 of a sentence as its file has it."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _label(row: Mapping[str, str]) -> LabelledRequest:
    return LabelledRequest(
        dataset=row["dataset"],
        split=row["split"],
        index=int(row["index"]),
        field=row["field"],
        digest=row["sha256"],
        kind=Kind(row["kind"]),
        intents=tuple(intent_of(ask) for ask in row["asks"].split()),
        typo=row["typo"] == "1",
        mixed=row["note"] == "mixed",
    )


def _entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(read_regular(path))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read, and labelled requests point into it: {error}.") from error
    if not isinstance(entries, list):
        raise DataError(f"{path} holds no list of entries; labelled requests point into the published file.")
    return entries


def _sentence(label: LabelledRequest, entries: list[Any], path: Path) -> str:
    key, _, position = label.field.partition(".")
    try:
        value = entries[label.index][key]
        text = value[int(position)] if position else value
    except (LookupError, TypeError) as error:
        raise DataError(f"{path} has no {label.name}; use the file as published.") from error
    if not isinstance(text, str) or digest(text) != label.digest:
        raise DataError(
            f"{path} has another sentence at {label.name} than was labelled; use the file as published."
        )
    return text
