"""The door for datasets: a folder in, a Dataset out, or one clear DataError."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Protocol

from ..errors import DataError
from . import gier, ma5k, pairs
from .sample import SPLITS, Dataset


class _Read(Protocol):
    def __call__(
        self, root: Path, splits: Collection[str] | None = None, *, photos: bool = True
    ) -> Dataset: ...


@dataclass(frozen=True)
class Layout:
    """A way in which datasets lie in a folder."""

    name: str
    looks_for: str
    recognises: Callable[[Path], bool]
    read: _Read


LAYOUTS = {
    module.NAME: Layout(module.NAME, module.LOOKS_FOR, module.recognises, module.read)
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
    wanted = None if splits is None else _checked_splits([splits] if isinstance(splits, str) else splits)
    chosen = _recognised(root) if layout is None else _named(layout)
    dataset = chosen.read(root, wanted, photos=photos)
    if not dataset.samples:
        raise DataError(f"{root} has no usable sample of {chosen.name}: {_why(dataset, chosen, photos)}.")
    return dataset


def _checked_splits(splits: Collection[str]) -> tuple[str, ...]:
    for split in splits:
        if split not in SPLITS:
            raise DataError(f"there is no split {split!r}{_near(split, SPLITS)}; use {', '.join(SPLITS)}.")
    if not splits:
        raise DataError(f"no split was asked for; use {', '.join(SPLITS)}, or None for all.")
    return tuple(splits)


def _named(layout: str) -> Layout:
    if layout not in LAYOUTS:
        raise DataError(f"there is no layout {layout!r}{_near(layout, LAYOUTS)}; use {', '.join(LAYOUTS)}.")
    return LAYOUTS[layout]


def _recognised(root: Path) -> Layout:
    for layout in LAYOUTS.values():
        if layout.recognises(root):
            return layout
    looked = "; ".join(f"{layout.looks_for} ({layout.name})" for layout in LAYOUTS.values())
    raise DataError(f"{root} is laid out like no dataset that is known; looked for {looked}.")


def _why(dataset: Dataset, layout: Layout, photos: bool) -> str:
    reasons = [f"{reason} ({len(found)})" for reason, found in dataset.left_out.items()]
    hint = ["without photos, requests can still be read: photos=False"] if photos and reasons else []
    return "; ".join([*reasons[:4], f"looked for {layout.looks_for}", *hint])


def _near(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f" (perhaps {near[0]}?)" if near else ""
