"""One sample type for all datasets: a pair of photos and the requests that lead from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..image import Image, open_image
from ..language import Intent


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
    labels: Mapping[str, object] = field(default_factory=dict)

    def photos(self) -> tuple[Image, Image]:
        """Before and after."""
        return open_image(self.before), open_image(self.after)


@dataclass(frozen=True)
class Problem:
    """A sample, file or line that was left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Dataset:
    """The usable samples of a dataset, in its own order, and what was left out."""

    root: Path
    layout: str
    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...] = ()

    def split(self, name: str) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.split == name)
