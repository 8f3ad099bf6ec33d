"""A table's systems opened and measured on a dataset; what has no weights is told and left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...data import Dataset, Problem, gier
from ...metrics.features import Extractor
from ...metrics.intervals import Difference, Estimate
from ...metrics.lpips import Lpips
from ..cases import Told, quiet
from ..comparison import Comparison, compare
from ..figures import MANNERS
from ..labelled import Kind, is_published, labelled_sentences
from ..measured import Measured, Spread
from ..systems import NAMED, OneMode, Repeated, System, from_file, open_system
from .model import Figures, PaperTable, Row
from .runs import sources_of

NAMES = {"ma5k-req": "MA5k-Req", "gier": "GIER"}
"""Of datasets that the paper knows, by their layout."""
NO_IMAGES = "not run: images not available"
TEN_PHOTOS = 25
"""About how many photos the paper's ten requests are asked of."""


@dataclass(frozen=True)
class Extent:
    """What is measured: pairs of a split (all, or `count`), and labelled requests on `each` photos."""

    split: str = "val"
    count: int | None = None
    each: int = 2
    seed: int = 0
    extractors: Sequence[Extractor] = ()
    lpips: Lpips | None = None
    gier: Path | None = None
    """Where the labelled requests are that come from there."""
    jobs: int = 1
    """Systems that are measured at once."""


@dataclass(frozen=True)
class Block:
    """A table on one dataset: figures where there are some, and why there are none elsewhere."""

    dataset: str
    rows: tuple[Row, ...]
    comparison: Measured | None
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why a row was not run, by its title."""

    @property
    def facts(self) -> Mapping[str, object]:
        return {} if self.comparison is None else self.comparison.facts

    def paper(self, row: Row) -> Figures:
        return row.gier if self.dataset == NAMES["gier"] else row.paper

    def estimates(self, row: Row) -> dict[str, Estimate]:
        """By the names of `Comparison`."""
        found = self.comparison
        if found is None or row.title not in found.names:
            return {}
        at = found.names.index(row.title)
        return {name: one for name, all_ in found.estimates.items() if (one := all_[at]) is not None}

    def differences(self, row: Row) -> dict[str, Difference]:
        """From the first system that was measured, which has none itself."""
        found = self.comparison
        if found is None or row.title not in found.names[1:]:
            return {}
        at = found.names.index(row.title) - 1
        return {name: one for name, all_ in found.differences.items() if (one := all_[at]) is not None}

    def spread(self, row: Row, figure: str) -> Spread | None:
        """Between the training runs of a row, where there are several."""
        found = self.comparison
        if found is None or row.title not in found.names or figure not in found.spreads:
            return None
        return found.spreads[figure][found.names.index(row.title)]

    def has(self, figure: str) -> bool:
        """Whether any row has that figure."""
        return self.comparison is not None and figure in self.comparison.estimates


def opened(rows: Iterable[Row], runs: Path, *, narrow: bool = False) -> tuple[list[System], dict[str, str]]:
    """The systems of rows under their titles, and why others have none."""
    found: list[System] = []
    absent: dict[str, str] = {}
    for row in rows:
        if row.system in NAMED:
            found.append(_in_mode(row, NAMED[row.system](row.title)))
        elif row.system:
            found.append(_in_mode(row, open_system(row.system, narrow=narrow)))
        elif row.run is not None:
            if files := sources_of(row.run, runs):
                found.append(_in_mode(row, _of_runs(row.title, files, narrow)))
            else:
                absent[row.title] = f"not run: no weights of {row.run.name}"
    return found, absent


def _of_runs(title: str, files: Mapping[str, Path], narrow: bool) -> System:
    """One system, or several runs of it under their own names."""
    if len(files) == 1:
        return from_file(title, *files.values(), narrow=narrow)
    return Repeated(title, tuple(from_file(name, path, narrow=narrow) for name, path in files.items()))


def _in_mode(row: Row, system: System) -> System:
    if system.manners and not row.mode:
        raise ValueError(f"{row.title} has modes, and a row is measured in one: give Row(mode=...)")
    return OneMode(row.title, system, row.mode) if row.mode else system


def rows_of(given: str) -> list[Row]:
    """The rows of a system that `open_system` finds: one, or one for each of its modes."""
    system = open_system(given)
    if not system.manners:
        return [Row(system.name, system=given)]
    return [Row(f"{system.name}, {mode}", system=given, mode=mode) for mode in MANNERS]


def measured(
    table: PaperTable,
    dataset: Dataset,
    runs: Path,
    extent: Extent,
    *,
    more: Sequence[Row] = (),
    narrow: bool = False,
    problems: list[Problem] | None = None,
    told: Told = quiet,
) -> tuple[Block, list[System]]:
    """Every system of a table, and `more`; the one that others are compared with comes first."""
    rows = (*table.rows, *more)
    systems, absent = opened(rows, runs, narrow=narrow)
    systems.sort(key=lambda system: system.name != table.against)
    found = compared(systems, dataset, extent, problems=problems, told=told)
    return Block(_name(dataset), rows, found, absent), systems


def _name(dataset: Dataset) -> str:
    """As the paper calls it, if it is one of the paper's; else the folder's."""
    known = dataset.layout == gier.NAME or is_published(dataset)
    return NAMES[dataset.layout] if known else dataset.root.name


def compared(
    systems: Sequence[System],
    dataset: Dataset,
    extent: Extent,
    *,
    problems: list[Problem] | None = None,
    told: Told = quiet,
) -> Comparison:
    """What tables measure of any systems."""
    labelled = labelled_sentences(dataset, extent.split, extent.gier)
    sentences = {label: text for label, text in labelled.items() if label.kind is Kind.EDIT}
    return compare(
        systems,
        dataset,
        sentences,
        split=extent.split,
        count=extent.count,
        each=extent.each,
        few=TEN_PHOTOS,
        amounts=False,
        seed=extent.seed,
        extractors=extent.extractors,
        lpips=extent.lpips,
        jobs=extent.jobs,
        problems=problems,
        told=told,
    )


def unavailable(table: PaperTable) -> Block:
    """GIER without its photos."""
    systems = [row.title for row in table.rows if row.run or row.system]
    return Block(NAMES["gier"], table.rows, None, dict.fromkeys(systems, NO_IMAGES))
