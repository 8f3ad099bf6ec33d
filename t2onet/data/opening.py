"""Open a folder as a dataset."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Protocol

from ..errors import DataError
from . import gier, ma5k, pairs
from .dataset import SPLITS, Dataset


class _DatasetReader(Protocol):
    def __call__(
        self, root: Path, splits: Collection[str] | None = None, *, photos: bool = True
    ) -> Dataset: ...


@dataclass(frozen=True)
class DatasetLayout:
    """How a kind of dataset is recognised in a folder, and read."""

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
    """Read the samples of a folder, without opening photos.

    `layout` is one of LAYOUTS, by default recognised from the folder; `splits` defaults to all. With
    `photos=False`, samples with missing photos are kept, for work on the requests alone.
    """
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"{root} is not a folder; give the folder of a dataset.")
    if splits is not None:
        splits = _check_splits([splits] if isinstance(splits, str) else splits)
    chosen = _recognize_layout(root) if layout is None else _get_layout(layout)
    dataset = chosen.read(root, splits, photos=photos)
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
        raise DataError(f"`splits` is empty; use {', '.join(SPLITS)}, or None for all.")
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
    patterns = "; ".join(f"{layout.looks_for} ({layout.name})" for layout in LAYOUTS.values())
    raise DataError(f"{root} has the layout of no known dataset; looked for {patterns}.")


def _explain_empty(dataset: Dataset, layout: DatasetLayout, photos: bool) -> str:
    reasons = [f"{reason} ({len(problems)})" for reason, problems in dataset.left_out.items()]
    hint = ["requests alone can be read with photos=False"] if photos and reasons else []
    return "; ".join([*reasons[:4], f"looked for {layout.looks_for}", *hint])


def _suggest_name(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f" (perhaps {near[0]}?)" if near else ""
