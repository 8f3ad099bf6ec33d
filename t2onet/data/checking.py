"""Photos that cannot be read, found without decoding any: a file's head tells most of it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import PIL.Image

from ..errors import DataError
from ..image import RAW_SUFFIXES, heic, open_regular
from ..image.reading import NAMES
from .sample import Dataset, Problem, Sample

_FORMATS = tuple(NAMES.upper().split(", "))
_HEAD = 320
"""Bytes that tell HEIC from AVIF."""


def checked(dataset: Dataset) -> Dataset:
    """The dataset without samples whose photos are absent, empty, or begin like no photo; each file once.

    A photo that is damaged further in is found when it is read (`Sample.photos`).
    """
    fault_of = cache(_fault)
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


def _fault(path: Path) -> str:
    """What is wrong with a photo, by its head; nothing where nothing is.

    Of HEIC and camera RAW, which Pillow does not know, only an empty file is found.
    """
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
        if not head:
            return "is empty"
        if path.suffix.lower() in RAW_SUFFIXES or heic.looks_like(head):
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on odd metadata and large photos
            with PIL.Image.open(path, formats=_FORMATS) as photo:
                return "is too small" if min(photo.size) < 2 else ""
    except FileNotFoundError:
        return "is missing"
    except Exception:  # Pillow raises many kinds on bad bytes
        return "cannot be read"
