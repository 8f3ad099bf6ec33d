"""MA5k-Req as published, and simulated datasets, which are written in the same form.

`annotations/{split}_sess_1.json` is a list of {"input", "output", "request", "request_idx"}; `images/` holds
`NNNN_O.jpg` and the retouches `NNNN_A.jpg` to `NNNN_E.jpg`. A simulated entry lists in "intents" what its
request asks for, as {"attribute", "sign", "amount"}, and may have "unanswerable" or "mood": a vague request
such as "make it moody" has both intents (what its edit does) and a mood.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from pathlib import Path

from ..language import Attribute, Intent
from .dataset import (
    Dataset,
    DatasetEntry,
    PhotoFolder,
    Sample,
    UniqueNames,
    UnusableError,
    find_split_files,
    read_entries,
)

NAME = "ma5k-req"
LOOKS_FOR = "annotations/train_sess_1.json (or val, test) with images/"
_EXPERTS = "ABCDE"
_SESSION = 1
_PUBLISHED_NAME = re.compile(r"(\d+)_([A-Z])")


def recognises(root: Path) -> bool:
    return any((root / "annotations").glob(f"*_sess_{_SESSION}.json"))


def read(root: Path, splits: Collection[str] | None = None, *, photos: bool = True) -> Dataset:
    """One sample for each request; those with missing photos are left out unless `photos` is False."""
    files, problems = find_split_files(root / "annotations", _SESSION, splits)
    folder, names = PhotoFolder(root / "images", required=photos), UniqueNames()
    samples = []
    for split, path in files.items():
        entries = read_entries(path, "input")
        problems.extend(entries.problems)
        for entry in filter(None, entries.entries):
            try:
                samples.append(_to_sample(entry, split, folder, names))
            except UnusableError as error:
                problems.append(error.to_problem(entry.location))
    return Dataset(root, NAME, tuple(samples), (*problems, *folder.problems))


def _to_sample(entry: DatasetEntry, split: str, folder: PhotoFolder, names: UniqueNames) -> Sample:
    before, after, request = entry.text("input"), entry.text("output"), entry.text("request")
    intents = _parse_intents(entry)
    labels = {"expert": _parse_expert(before, after)} if intents is None else _parse_mood(entry)
    name = names.assign(Path(after).stem, before, request)
    return Sample(
        name,
        split,
        *folder.find_pair(before, after, name),
        requests=(request,),
        intents=intents,
        unanswerable=entry.text("unanswerable") if entry.fields.get("unanswerable") is not None else None,
        labels=labels,
    )


def _parse_mood(entry: DatasetEntry) -> dict[str, str]:
    return {"mood": entry.text("mood")} if entry.fields.get("mood") is not None else {}


def _parse_expert(before: str, after: str) -> str:
    """The letter of the expert who retouched the photo."""
    source, target = (_PUBLISHED_NAME.fullmatch(Path(name).stem) for name in (before, after))
    if target is None or target[2] not in _EXPERTS:
        raise UnusableError(
            "unknown expert", f"'output' is {after!r}; experts are {_EXPERTS[0]} to {_EXPERTS[-1]}"
        )
    if source is None or source[1] != target[1]:
        raise UnusableError("the photos are of different names", f"{before!r} and {after!r}")
    return target[2]


def _parse_intents(entry: DatasetEntry) -> tuple[Intent, ...] | None:
    if (intents := entry.fields.get("intents")) is None:
        return None
    try:
        return tuple(_parse_intent(**intent) for intent in intents)  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise UnusableError("intents that are not understood", str(error)) from error


def _parse_intent(attribute: str, sign: int, amount: float = 1.0) -> Intent:
    if sign not in (-1, 1) or not (math.isfinite(amount) and amount > 0):
        raise ValueError(f"sign {sign!r} is not -1 or 1, or amount {amount!r} is not above 0")
    return Intent(Attribute(attribute), int(sign), float(amount))
