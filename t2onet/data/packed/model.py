"""What a packed set holds, and how its words become lines of JSON and come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...language import Attribute, Intent

INDEX = "index.json"
FORMAT, VERSION = "t2onet packed set", 1
PHOTOS, SAMPLES, TEXTS = "photos/", "samples-", "texts-"
"""How the entries of a shard begin, by what they hold."""


@dataclass(frozen=True)
class Text:
    """A request without photos. `labels` are its publisher's."""

    request: str
    split: str
    source: str
    labels: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PackedSample:
    """A sample, its photos as rows of `PackedSet.photos`.

    `plan` is plain data: {"steps": [{"operation", "parameters"}], "start_cost", "cost", "costs"}, or None.
    """

    name: str
    split: str
    before: int
    after: int
    requests: tuple[str, ...]
    intents: tuple[Intent, ...] | None
    unanswerable: str | None
    labels: Mapping[str, Any]
    plan: dict[str, Any] | None


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


def intents_to_data(intents: Sequence[Intent] | None) -> list[list[Any]] | None:
    if intents is None:
        return None
    return [[intent.attribute.value, intent.sign, intent.amount] for intent in intents]


def sample_from_data(data: dict[str, Any]) -> PackedSample:
    wanted = data["intents"]
    known = None if wanted is None else tuple(Intent(Attribute(a), sign, size) for a, sign, size in wanted)
    return PackedSample(**{**data, "requests": tuple(data["requests"]), "intents": known})
