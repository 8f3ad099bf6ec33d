"""GIER as published, and its masks.

`splits/{split}_sess_3.json` is a list of entries with "input", "output", "request" (as found on the web),
"expert_summary" and "amateur_summary" (requests written for the pair) and "operator", the operations by name,
each with "local" and the "ids" of masks. `images/` holds the photos, `masks/` a list of masks for each input
photo, and `splits/{split}_shapeAlign_sess_3.json` the indices of entries whose two photos have the same size.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..image import read_regular_file
from ..image.formats import TooLargeError, check_pixel_count
from .dataset import (
    Dataset,
    DatasetEntry,
    PhotoFolder,
    Problem,
    Sample,
    UniqueNames,
    UnusableError,
    find_split_files,
    is_text,
    read_entries,
    read_entry_indices,
)

NAME = "gier"
LOOKS_FOR = "splits/train_sess_3.json (or val, test) with images/"
_LOCAL_OPERATIONS = frozenset({"inpaint_obj", "color_bg"})
"""The publisher counts an edit as global if it has none of these, even if others are marked "local"."""
_SESSION = 3
_REQUEST_FIELDS = ("expert_summary", "amateur_summary")


_ZERO_CHARACTER = 48
"""Code of the character for 0 in packed runs; 64 consecutive characters are used."""
_MAX_BITS = 35
"""The most bits of a number: enough for the pixels of any photo."""


@dataclass(frozen=True)
class GierOperator:
    """An operation of an edit, as labelled by the publisher, and the masks it is confined to."""

    name: str
    local: bool
    masks: tuple[int, ...] = ()


def recognises(root: Path) -> bool:
    return any((root / "splits").glob(f"*_sess_{_SESSION}.json"))


def read(root: Path, splits: Collection[str] | None = None, *, photos: bool = True) -> Dataset:
    """One sample for each pair; those with missing photos are left out unless `photos` is False.

    Labels: "operators", "experts" (number of requests by experts, which come first), "web_request",
    "web_detail" and "source", "global" and "aligned" (both photos have the same size; None if unknown).
    """
    files, problems = find_split_files(root / "splits", _SESSION, splits)
    folder, names = PhotoFolder(root / "images", required=photos), UniqueNames()
    samples: list[Sample] = []
    for split, path in files.items():
        entries = read_entries(path, "input")
        problems.extend(entries.problems)
        aligned = None
        if entries.complete:
            listed = path.with_name(f"{split}_shapeAlign_sess_{_SESSION}.json")
            aligned, index_problems = read_entry_indices(listed, len(entries.entries))
            problems.extend(index_problems)
        for index, entry in enumerate(entries.entries):
            if entry is None:
                continue
            try:
                problems.extend(_find_bad_requests(entry))
                is_aligned = None if aligned is None else index in aligned
                samples.append(_to_sample(entry, split, folder, names, is_aligned))
            except UnusableError as error:
                problems.append(error.to_problem(entry.location))
    return Dataset(root, NAME, tuple(samples), (*problems, *folder.problems))


def select_samples(dataset: Dataset, *, aligned: bool) -> Dataset:
    """Samples with photos of the same size, which the paper uses, or of different sizes."""
    if dataset.layout != NAME:
        raise DataError(f"{dataset.root} has the layout {dataset.layout}; only {NAME} has these labels.")
    samples = tuple(sample for sample in dataset.samples if sample.labels["aligned"] == aligned)
    return replace(dataset, samples=samples)


def read_operator_mask(dataset: Dataset, sample: Sample, operation: str) -> NDArray[np.bool_] | None:
    """The mask of an operation, (H, W) of the photo before; None if it was applied everywhere."""
    operators = sample.labels["operators"]
    chosen = [one for one in operators if one.name == operation]  # type: ignore[attr-defined]
    if not chosen:
        raise DataError(f"{sample.name} has no operation {operation!r}.")
    if not (chosen[0].local and chosen[0].masks):
        return None
    masks = read_masks(dataset, sample)
    if max(chosen[0].masks) >= len(masks):
        raise DataError(f"{sample.name} has {len(masks)} masks, and {operation} refers to {chosen[0].masks}.")
    union: NDArray[np.bool_] = np.logical_or.reduce([masks[number] for number in chosen[0].masks])
    return union


def read_masks(dataset: Dataset, sample: Sample) -> list[NDArray[np.bool_]]:
    """All masks of a sample's photo, which do not overlap; operators refer to them by index."""
    path = dataset.root / "masks" / f"{sample.before.stem}_mask.json"
    try:
        masks = json.loads(read_regular_file(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as masks: {error}.") from error
    if not isinstance(masks, list):
        raise DataError(f"{path} is not a list of masks.")
    try:
        decoded = [decode_mask(mask) for mask in masks]
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if len({mask.shape for mask in decoded}) > 1:
        raise DataError(f"{path} has masks of different sizes; all masks of a photo must have the same.")
    return decoded


def _to_sample(
    entry: DatasetEntry, split: str, folder: PhotoFolder, names: UniqueNames, aligned: bool | None
) -> Sample:
    before, after = entry.text("input"), entry.text("output")
    operators = _parse_operators(entry)
    experts, amateurs = (tuple(filter(is_text, _get_requests(entry, key))) for key in _REQUEST_FIELDS)
    if not (experts or amateurs):
        raise UnusableError("no request", name=Path(after).stem)
    name = names.assign(Path(after).stem, before, experts, amateurs)
    labels = {
        "operators": operators,
        "experts": len(experts),
        "web_request": _get_optional_text(entry, "request"),
        "web_detail": _get_optional_text(entry, "detailed_request"),
        "source": _get_optional_text(entry, "dataset"),
        "global": not any(operator.name in _LOCAL_OPERATIONS for operator in operators),
        "aligned": aligned,
    }
    return Sample(
        name, split, *folder.find_pair(before, after, name), requests=(*experts, *amateurs), labels=labels
    )


def _get_optional_text(entry: DatasetEntry, key: str) -> str | None:
    """The text of a field, or None; the publisher writes NaN for missing texts."""
    value = entry.fields.get(key)
    return str(value) if is_text(value) else None


def _get_requests(entry: DatasetEntry, key: str) -> list[str]:
    requests = entry.fields.get(key, [])
    if not isinstance(requests, list):
        raise UnusableError("requests that are not a list", f"{key!r} is {requests!r:.60}")
    return requests


def _find_bad_requests(entry: DatasetEntry) -> list[Problem]:
    requests = [request for key in _REQUEST_FIELDS for request in _get_requests(entry, key)]
    return [
        Problem(entry.location, "a request that is not a text", f"{request!r:.60}")
        for request in requests
        if not is_text(request)
    ]


def _parse_operators(entry: DatasetEntry) -> tuple[GierOperator, ...]:
    operators = entry.fields.get("operator")
    if not isinstance(operators, Mapping):
        raise UnusableError("operations that are not understood", f"'operator' is {operators!r:.60}")
    return tuple(_parse_operator(name, facts) for name, facts in operators.items())


def _parse_operator(name: str, facts: object) -> GierOperator:
    match facts:
        case {"local": bool(local), "ids": list(ids)} if all(type(n) is int and n >= 0 for n in ids):
            return GierOperator(name, local, tuple(ids))
    raise UnusableError("operations that are not understood", f"{name!r} is {facts!r:.60}")


def decode_mask(mask: object) -> NDArray[np.bool_]:
    """Decode a COCO run-length mask, {"size": [H, W], "counts": runs}, to (H, W) booleans.

    Runs go down the columns and begin with one outside the mask. They are a list of lengths, or a string that
    packs the differences between them.
    """
    if not isinstance(mask, Mapping):
        raise DataError(f'a mask is {{"size": [height, width], "counts": runs}}, not {mask!r:.60}.')
    height, width = _parse_size(mask.get("size"))
    runs = _parse_runs(mask.get("counts"))
    if min(runs, default=0) < 0 or sum(runs) != height * width:
        raise DataError(f"a mask of {height} x {width} has runs for {sum(runs)} pixels, or negative ones.")
    inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(inside, runs).reshape(width, height).T


def _parse_size(size: object) -> tuple[int, int]:
    match size:
        case [int(height), int(width)] if height > 0 and width > 0:
            _check_extent(height, width)
            return height, width
    raise DataError(f"a mask's size is [height, width] in pixels, not {size!r:.60}.")


def _check_extent(height: int, width: int) -> None:
    try:
        check_pixel_count(width, height)
    except TooLargeError as error:
        raise DataError(f"a mask claims to be {error}, more than a photo may have.") from error


def _parse_runs(counts: object) -> Sequence[int]:
    if isinstance(counts, str):
        return _unpack_runs(counts)
    if isinstance(counts, list) and all(type(run) is int for run in counts):
        return counts
    raise DataError(f"a mask's counts are a text or a list of whole numbers, not {counts!r:.60}.")


def _unpack_runs(text: str) -> list[int]:
    """From the fourth number on, each is the difference to the run two places before."""
    runs: list[int] = []
    for number in _decode_numbers(text):
        runs.append(number + runs[-2] if len(runs) > 2 else number)
    return runs


def _decode_numbers(text: str) -> list[int]:
    """Five bits a character, low bits first. Bit 6 means that more follow; bit 5 of the last is the sign."""
    numbers, value, shift = [], 0, 0
    for character in text:
        bits = ord(character) - _ZERO_CHARACTER
        if not 0 <= bits < 64 or shift > _MAX_BITS:
            raise DataError(f"a mask's counts contain {character!r}, which does not encode a number.")
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            numbers.append(value - (1 << shift) if bits & 16 else value)
            value, shift = 0, 0
    if shift:
        raise DataError("a mask's counts end in the middle of a number; the file was cut off.")
    return numbers
