"""What a packed set holds, and how its words become lines of JSON and come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...language import Attribute, Intent
from ..sample import Sample

INDEX = "index.json"
FORMAT, VERSION = "t2onet packed set", 1
PHOTOS, SAMPLES, TEXTS = "photos/", "samples-", "texts-"
"""How the entries of a shard begin, by what they hold."""
PHOTOS_OF = "photos_of"
"""Where the index of a set without photos says whose it shows."""


@dataclass(frozen=True)
class Words:
    """What was asked for, as in a sample of a dataset; `labels` are the publisher's."""

    name: str
    split: str
    requests: tuple[str, ...]
    intents: tuple[Intent, ...] | None
    unanswerable: str | None
    labels: Mapping[str, Any]


@dataclass(frozen=True)
class Text(Words):
    """Requests without photos; `source` is the layout of the dataset they come from."""

    source: str


@dataclass(frozen=True)
class PackedSample(Words):
    """Requests with photos, which are rows of `PackedSet.photos`.

    `plan` is plain data: {"steps": [{"operation", "parameters"}], "start_cost", "cost", "costs"}, or None.
    """

    before: int
    after: int
    plan: dict[str, Any] | None


W = TypeVar("W", bound=Words)


@dataclass(frozen=True)
class PackedSet:
    """`photos` are (P, size, size, 3) uint8, each once; `before` and `after` say which belong to a sample."""

    photos: NDArray[np.uint8]
    samples: tuple[PackedSample, ...]
    texts: tuple[Text, ...]

    @property
    def before(self) -> NDArray[np.int64]:
        """(N,) rows of `photos`."""
        return np.array([sample.before for sample in self.samples], np.int64)

    @property
    def after(self) -> NDArray[np.int64]:
        """(N,) rows of `photos`."""
        return np.array([sample.after for sample in self.samples], np.int64)

    def split(self, name: str) -> NDArray[np.int64]:
        """The numbers of the samples in a split."""
        return np.array([at for at, sample in enumerate(self.samples) if sample.split == name], np.int64)


def words_to_data(words: Words | Sample) -> dict[str, Any]:
    """As plain data for JSON."""
    intents = words.intents
    return {
        "name": words.name,
        "split": words.split,
        "requests": list(words.requests),
        "intents": None if intents is None else [[i.attribute.value, i.sign, i.amount] for i in intents],
        "unanswerable": words.unanswerable,
        "labels": dict(words.labels),
    }


def from_data(kind: type[W], data: dict[str, Any]) -> W:
    """Such words from plain data."""
    wanted = data["intents"]
    known = None if wanted is None else tuple(Intent(Attribute(a), sign, size) for a, sign, size in wanted)
    return kind(**{**data, "requests": tuple(data["requests"]), "intents": known})
