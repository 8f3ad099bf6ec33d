"""What a picture is drawn from, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...data import Dataset, Sample
from ...data.contact import chosen
from ...errors import DataError
from ..cases import Case, cases
from ..sheets import PAIRS, PHOTOS, Asked, of_cases, of_photos
from ..systems import SIDE
from ..tables.runs import weights_in

Files = Mapping[str, bytes]
"""Contents by names."""


@dataclass(frozen=True)
class Wish:
    """Photos of a dataset, or `photos` of one's own; runs, and results of tables."""

    dataset: Dataset
    runs: Path
    results: Path
    photos: Sequence[Path] = ()
    request: str = ""
    split: str = "val"
    count: int = 4
    seed: int = 0
    narrow: bool = False

    def samples(self, count: int) -> list[Sample]:
        """By chance, of the split or, where it has none, of all."""
        return chosen(self.dataset.split(self.split) or self.dataset.samples, count, self.seed)

    @cached_property
    def cases(self) -> list[Case]:
        return cases(self.dataset, self.split, SIDE, self.count, seed=self.seed)

    @property
    def asked(self) -> list[Asked]:
        """The photos to show, each with a request: the one that was given, or its own."""
        own = self.photos[: self.count]
        found = of_photos(own, SIDE) if own else of_cases(self.cases, self.count)
        return [one._replace(request=self.request, target=None) for one in found] if self.request else found

    @property
    def sheet(self) -> str:
        """What a picture of these photos is called."""
        return PHOTOS if self.photos else PAIRS

    def weights(self, run: str) -> Path:
        """Of a run that the picture cannot do without."""
        if (path := weights_in(self.runs / run)) is None:
            raise DataError(f"there are no weights in {self.runs / run}; train that run, or give --runs DIR")
        return path
