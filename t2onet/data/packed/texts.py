"""Requests that go along without photos."""

from __future__ import annotations

from collections.abc import Iterator

from ..sample import Dataset
from .model import Text


def texts_of(dataset: Dataset, packed: Dataset) -> Iterator[Text]:
    """The requests of `dataset` whose photos are not `packed` with theirs."""
    pairs = {(sample.name, sample.before, sample.after) for sample in packed.samples}
    for sample in dataset.samples:
        if (sample.name, sample.before, sample.after) not in pairs:
            yield Text(
                name=sample.name,
                split=sample.split,
                requests=sample.requests,
                intents=sample.intents,
                unanswerable=sample.unanswerable,
                labels=sample.labels,
                source=dataset.layout,
            )
