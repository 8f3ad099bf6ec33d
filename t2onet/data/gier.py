"""GIER as published.

`splits/{split}_sess_3.json` is a list of entries with "input", "output", "request" (as found on the web),
"expert_summary" and "amateur_summary" (requests written for the pair) and "operator", the operations by name,
each with "local" and the "ids" of masks. `images/` holds the photos, `masks/` a list of masks for each input
photo, and `splits/{split}_shapeAlign_sess_3.json` the places of entries whose two photos are of one size.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..image import read_regular
from .entries import Entry, UnusableError, is_text, read_entries, read_places, split_files
from .naming import Names
from .photos import PhotoFolder
from .rle import decode_mask
from .sample import Dataset, Problem, Sample

NAME = "gier"
LOOKS_FOR = "splits/train_sess_3.json (or val, test) with images/"
LOCAL_OPERATIONS = frozenset({"inpaint_obj", "color_bg"})
"""The publisher calls an edit global if it has none of these, whatever "local" says."""
_SESSION = 3
_REQUESTS = ("expert_summary", "amateur_summary")


@dataclass(frozen=True)
class Operator:
    """An operation that the publisher found in an edit, and the masks it is confined to."""

    name: str
    local: bool
    masks: tuple[int, ...] = ()


def recognises(root: Path) -> bool:
    return any((root / "splits").glob(f"*_sess_{_SESSION}.json"))


def read(root: Path, splits: Collection[str] | None = None, *, photos: bool = True) -> Dataset:
    """One sample for each pair; those without their photos are left out unless `photos` is False.

    Labels: "operators", "experts" (how many of the requests are by experts, who come first), "web_request",
    "web_detail" and "source", "global" and "aligned" (before and after are of one size; None where unknown).
    """
    files, problems = split_files(root / "splits", _SESSION, splits)
    folder, names = PhotoFolder(root / "images", needed=photos), Names()
    samples: list[Sample] = []
    for split, path in files.items():
        entries = read_entries(path, "input")
        problems.extend(entries.problems)
        aligned = None
        if entries.whole:
            listed = path.with_name(f"{split}_shapeAlign_sess_{_SESSION}.json")
            aligned, told = read_places(listed, len(entries.found))
            problems.extend(told)
        for place, entry in enumerate(entries.found):
            if entry is None:
                continue
            try:
                problems.extend(_odd_requests(entry))
                known = None if aligned is None else place in aligned
                samples.append(_sample(entry, split, folder, names, known))
            except UnusableError as error:
                problems.append(error.at(entry.place))
    return Dataset(root, NAME, tuple(samples), (*problems, *folder.problems))


def select(
    dataset: Dataset, *, scope: Literal["global", "local"] | None = None, aligned: bool | None = None
) -> Dataset:
    """The samples of global or of local edits, and of photos of one size or not; None takes either.

    The paper's GIER is `aligned=True`.
    """
    if dataset.layout != NAME:
        raise DataError(f"{dataset.root} is of the layout {dataset.layout}; these labels are in {NAME} only.")
    kept = [
        sample
        for sample in dataset.samples
        if (scope is None or sample.labels["global"] == (scope == "global"))
        and (aligned is None or sample.labels["aligned"] == aligned)
    ]
    return replace(dataset, samples=tuple(kept))


def operator_mask(dataset: Dataset, sample: Sample, operation: str) -> NDArray[np.bool_] | None:
    """Where an operation was applied, (H, W) of the photo before; None where it is everywhere."""
    operators = sample.labels["operators"]
    chosen = [found for found in operators if found.name == operation]  # type: ignore[attr-defined]
    if not chosen:
        raise DataError(f"{sample.name} has no operation {operation!r}.")
    if not (chosen[0].local and chosen[0].masks):
        return None
    masks = read_masks(dataset, sample)
    if max(chosen[0].masks) >= len(masks):
        raise DataError(f"{sample.name} has {len(masks)} masks, and {operation} asks for {chosen[0].masks}.")
    union: NDArray[np.bool_] = np.logical_or.reduce([masks[number] for number in chosen[0].masks])
    return union


def read_masks(dataset: Dataset, sample: Sample) -> list[NDArray[np.bool_]]:
    """All masks of a sample's photo, which do not overlap; operators name them by their places."""
    path = dataset.root / "masks" / f"{sample.before.stem}_mask.json"
    try:
        masks = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as masks: {error}.") from error
    if not isinstance(masks, list):
        raise DataError(f"{path} is not a list of masks.")
    try:
        decoded = [decode_mask(mask) for mask in masks]
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if len({mask.shape for mask in decoded}) > 1:
        raise DataError(f"{path} has masks of different sizes; those of one photo have one.")
    return decoded


def _sample(entry: Entry, split: str, folder: PhotoFolder, names: Names, aligned: bool | None) -> Sample:
    before, after = entry.text("input"), entry.text("output")
    operators = _operators(entry)
    experts, amateurs = (tuple(filter(is_text, _list(entry, key))) for key in _REQUESTS)
    if not (experts or amateurs):
        raise UnusableError("no request", name=Path(after).stem)
    name = names.unique(Path(after).stem, before, experts, amateurs)
    labels = {
        "operators": operators,
        "experts": len(experts),
        "web_request": _optional(entry, "request"),
        "web_detail": _optional(entry, "detailed_request"),
        "source": _optional(entry, "dataset"),
        "global": not any(operator.name in LOCAL_OPERATIONS for operator in operators),
        "aligned": aligned,
    }
    return Sample(
        name, split, *folder.pair(before, after, name), requests=(*experts, *amateurs), labels=labels
    )


def _optional(entry: Entry, key: str) -> str | None:
    """None also for NaN, which the publisher writes for nothing."""
    value = entry.fields.get(key)
    return str(value) if is_text(value) else None


def _list(entry: Entry, key: str) -> list[str]:
    given = entry.fields.get(key, [])
    if not isinstance(given, list):
        raise UnusableError("requests that are not a list", f"{key!r} is {given!r:.60}")
    return given


def _odd_requests(entry: Entry) -> list[Problem]:
    given = [request for key in _REQUESTS for request in _list(entry, key) if not is_text(request)]
    return [Problem(entry.place, "a request that is no text", f"{request!r:.60}") for request in given]


def _operators(entry: Entry) -> tuple[Operator, ...]:
    given = entry.fields.get("operator")
    if not isinstance(given, Mapping):
        raise UnusableError("operations that are not understood", f"'operator' is {given!r:.60}")
    return tuple(_operator(name, facts) for name, facts in given.items())


def _operator(name: str, facts: object) -> Operator:
    match facts:
        case {"local": bool(local), "ids": list(ids)} if all(type(n) is int and n >= 0 for n in ids):
            return Operator(name, local, tuple(ids))
    raise UnusableError("operations that are not understood", f"{name!r} is {facts!r:.60}")
