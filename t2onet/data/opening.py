"""Open a folder as a dataset, and find photos that cannot be read."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Protocol

import PIL.Image

from ..errors import DataError
from ..image import RAW_SUFFIXES, open_regular_file
from ..image.formats import PILLOW_FORMATS, is_heic
from . import gier, ma5k, pairs
from .dataset import SPLITS, Dataset, Problem, Sample

# Photos that cannot be read, found without decoding any: a file's head tells most of it.

_HEAD_BYTES = 320
"""Bytes that tell HEIC from AVIF."""


def drop_unreadable(dataset: Dataset) -> Dataset:
    """The dataset without samples whose photos are absent, empty, or begin like no photo; each file once.

    A photo that is damaged further in is found when it is read (`Sample.photos`).
    """
    fault_of = cache(_find_fault)
    kept: list[Sample] = []
    problems = list(dataset.problems)
    for sample in dataset.samples:
        faults = [(path, fault) for path in (sample.before, sample.after) if (fault := fault_of(path))]
        if faults:
            path, fault = faults[0]
            problems.append(Problem(sample.name, f"a photo that {fault}", f"{path.parent.name}/{path.name}"))
        else:
            kept.append(sample)
    if not kept:
        raise DataError(f"{dataset.root} has no sample whose photos can be read, of {len(dataset.samples)}.")
    return replace(dataset, samples=tuple(kept), problems=tuple(problems))


def _find_fault(path: Path) -> str:
    """What is wrong with a photo, by its head; nothing where nothing is.

    Of HEIC and camera RAW, which Pillow does not know, only an empty file is found.
    """
    try:
        with open_regular_file(path) as file:
            head = file.read(_HEAD_BYTES)
        if not head:
            return "is empty"
        if path.suffix.lower() in RAW_SUFFIXES or is_heic(head):
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on odd metadata and large photos
            with PIL.Image.open(path, formats=PILLOW_FORMATS) as photo:
                return "is too small" if min(photo.size) < 2 else ""
    except FileNotFoundError:
        return "is missing"
    except Exception:  # Pillow raises many kinds on bad bytes
        return "cannot be read"


# The door for datasets: a folder in, a Dataset out, or one clear DataError.


class _DatasetReader(Protocol):
    def __call__(
        self, root: Path, splits: Collection[str] | None = None, *, photos: bool = True
    ) -> Dataset: ...


@dataclass(frozen=True)
class DatasetLayout:
    """A way in which datasets lie in a folder."""

    name: str
    looks_for: str
    recognises: Callable[[Path], bool]
    read: _DatasetReader


LAYOUTS = {
    module.NAME: DatasetLayout(module.NAME, module.LOOKS_FOR, module.recognises, module.read)
    for module in (ma5k, gier, pairs)
}


def open_dataset(
    folder: str | PathLike[str],
    layout: str | None = None,
    splits: Collection[str] | None = None,
    *,
    photos: bool = True,
) -> Dataset:
    """The usable samples of a folder and what was left out; no photo is read.

    Without `layout` the folder is recognised by what lies in it; without `splits` all of them are read. With
    `photos=False` samples whose photos are absent stay in, for work on language alone.
    """
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"{root} is not a folder; give the folder of a dataset.")
    wanted = None if splits is None else _check_splits([splits] if isinstance(splits, str) else splits)
    chosen = _recognize_layout(root) if layout is None else _get_layout(layout)
    dataset = chosen.read(root, wanted, photos=photos)
    if not dataset.samples:
        raise DataError(
            f"{root} has no usable sample of {chosen.name}: {_explain_empty(dataset, chosen, photos)}."
        )
    return dataset


def _check_splits(splits: Collection[str]) -> tuple[str, ...]:
    for split in splits:
        if split not in SPLITS:
            raise DataError(
                f"there is no split {split!r}{_suggest_name(split, SPLITS)}; use {', '.join(SPLITS)}."
            )
    if not splits:
        raise DataError(f"no split was asked for; use {', '.join(SPLITS)}, or None for all.")
    return tuple(splits)


def _get_layout(layout: str) -> DatasetLayout:
    if layout not in LAYOUTS:
        raise DataError(
            f"there is no layout {layout!r}{_suggest_name(layout, LAYOUTS)}; use {', '.join(LAYOUTS)}."
        )
    return LAYOUTS[layout]


def _recognize_layout(root: Path) -> DatasetLayout:
    for layout in LAYOUTS.values():
        if layout.recognises(root):
            return layout
    looked = "; ".join(f"{layout.looks_for} ({layout.name})" for layout in LAYOUTS.values())
    raise DataError(f"{root} is laid out like no dataset that is known; looked for {looked}.")


def _explain_empty(dataset: Dataset, layout: DatasetLayout, photos: bool) -> str:
    reasons = [f"{reason} ({len(found)})" for reason, found in dataset.left_out.items()]
    hint = ["without photos, requests can still be read: photos=False"] if photos and reasons else []
    return "; ".join([*reasons[:4], f"looked for {layout.looks_for}", *hint])


def _suggest_name(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f" (perhaps {near[0]}?)" if near else ""
