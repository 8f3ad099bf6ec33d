"""The plans of a dataset, looked up by its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...errors import DataError
from ..sample import Sample
from .keys import Keys, Settings
from .record import Planned
from .store import Store


class Plans(Mapping[Sample, Planned]):
    """Sample -> its plan, for those that have one; photos are read once to know which plan is theirs.

    `settings` are those the plans were made with. Plans stay on disk until they are asked for.
    """

    def __init__(
        self, cache: str | Path, samples: Sequence[Sample], settings: Settings | None = None
    ) -> None:
        folder = Path(cache)
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder} with plans; `t2o data plan` makes one")
        self._store = Store(folder)
        self.damage = tuple(self._store.damage)
        self._samples: list[Sample] = []
        self._keys: dict[str, str] = {}
        keys = Keys(settings or Settings())
        for sample in samples:
            try:
                key = keys.of(sample).plan
            except OSError:
                continue
            if key in self._store:
                self._samples.append(sample)
                self._keys[sample.name] = key

    def __getitem__(self, sample: Sample) -> Planned:
        return self._store[self._keys[sample.name]]

    def __contains__(self, sample: object) -> bool:
        return isinstance(sample, Sample) and sample.name in self._keys

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)
