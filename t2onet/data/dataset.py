"""Samples and datasets, and digests of their photos."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..image import Image, open_image, open_regular_file
from ..language import Intent

# One sample type for all datasets: a pair of photos and the requests that lead from one to the other.

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Sample:
    """A pair and its requests; photos are read when asked for.

    `name` is unique in its dataset. `intents` are what the requests ask for, where that is known (None where
    not); `unanswerable` says what no global operation can do about it. `labels` are the publisher's own.
    """

    name: str
    split: str
    before: Path
    after: Path
    requests: tuple[str, ...] = ()
    intents: tuple[Intent, ...] | None = None
    unanswerable: str | None = None
    labels: Mapping[str, object] = field(default_factory=dict, hash=False)

    def photos(self) -> tuple[Image, Image]:
        """Before and after; an ImageError names the file that cannot be read."""
        return open_image(self.before), open_image(self.after)


@dataclass(frozen=True)
class Problem:
    """A sample, file or line that was left out, and why; `reason` is the same for all of a kind."""

    name: str
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Dataset:
    """The usable samples of a dataset, in its own order, and what was left out."""

    root: Path
    layout: str
    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...] = ()

    def split(self, name: str) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.split == name)

    @property
    def left_out(self) -> dict[str, tuple[Problem, ...]]:
        """The problems by reason, the most frequent first."""
        found: dict[str, list[Problem]] = {}
        for problem in self.problems:
            found.setdefault(problem.reason, []).append(problem)
        by_count = sorted(found.items(), key=lambda item: -len(item[1]))
        return {reason: tuple(problems) for reason, problems in by_count}

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that say what the samples are: names, splits, requests, sizes of files.

        Where the dataset lies does not matter, and pixels are not read.
        """
        digest = hashlib.sha256()
        for sample in self.samples:
            sizes = [_file_size(sample.before), _file_size(sample.after)]
            facts = [sample.name, sample.split, sample.requests, sizes]
            digest.update(json.dumps(facts).encode("ascii"))
        return digest.hexdigest()[:12]


def _file_size(path: Path) -> int:
    """In bytes; -1 where there is no file."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # the latter for a name that no file can have
        return -1


# Which photo it is, whatever its name.


def hash_file(path: Path) -> str:
    """Of the bytes of a file."""
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
