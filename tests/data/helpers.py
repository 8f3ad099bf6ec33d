"""Small datasets, written by hand into a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"


def photos(folder: Path, *names: str) -> None:
    """A photo of 6 x 4 pixels under each name, each of a grey of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        pixels = np.full((4, 6, 3), 10 * number, np.uint8)
        PIL.Image.fromarray(pixels).save(folder / name)


def write(path: Path, content: Any) -> Path:
    """A file of those bytes, that text, or that JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(content)
    return path


def request(number: str, expert: str = "C", text: str = "brighter", **fields: object) -> dict[str, object]:
    """An entry of MA5k-Req."""
    return {"input": f"{number}_O.jpg", "output": f"{number}_{expert}.jpg", "request": text, **fields}


def ma5k(root: Path, entries: Any, split: str = "train", names: Iterable[str] = ()) -> Path:
    """MA5k-Req with one split; the photos of number 1 by expert C are always there."""
    photos(root / "images", "0001_O.jpg", "0001_C.jpg", *names)
    write(root / "annotations" / f"{split}_sess_1.json", entries)
    return root


def edit(name: str, **fields: object) -> dict[str, object]:
    """An entry of GIER; NaN as published."""
    whole = {
        "input": f"{name}_{name}.jpg",
        "output": f"{name}_out.jpg",
        "request": "Please fix",
        "detailed_request": float("nan"),
        "dataset": "reddit",
        "operator": {"brightness": {"local": False, "ids": []}},
        "expert_summary": ["brighten"],
        "amateur_summary": ["more light", "lighter please"],
    }
    return {**whole, **fields}


def gier(root: Path, entries: Any, split: str = "train", names: Iterable[str] = ("a",)) -> Path:
    photos(root / "images", *(f"{name}_{side}.jpg" for name in names for side in (name, "out")))
    write(root / "splits" / f"{split}_sess_3.json", entries)
    return root


def pairs(root: Path, names: Iterable[str], requests: Any = None) -> Path:
    for side in ("before", "after"):
        photos(root / side, *names)
    if requests is not None:
        write(root / "requests.csv", requests)
    return root
