"""Measure the systems of a table, and judge whether rows differ as in the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..data import Dataset, Problem, gier
from ..metrics.distances import Lpips
from ..metrics.features import LITE0_TITLE, FeatureExtractor
from ..metrics.statistics import IntervalEstimate, PairedDifference
from ..options import MODES
from .cases import EvaluationProgress, ignore_progress
from .compare import Comparison, MeasuredFigures, RunSpread, compare_systems
from .labelled import RequestKind, is_published_ma5k_req, read_labelled_sentences
from .measure import SIGMA_FIGURE
from .paper_tables import PaperFigures, PaperRow, PaperTable
from .runs import find_run_files
from .systems import NAMED_SYSTEMS, FixedModeSystem, RepeatedSystem, System, open_system, open_system_file

# A table's systems opened and measured on a dataset; what has no weights is told and left out.

DATASET_NAMES = {"ma5k-req": "MA5k-Req", "gier": "GIER"}
"""Of datasets that the paper knows, by their layout."""
NO_IMAGES = "not run: images not available"
TEN_REQUEST_PHOTOS = 25
"""About how many photos the paper's ten requests are asked of."""


@dataclass(frozen=True)
class MeasurementOptions:
    """What is measured: pairs of a split (all, or `count`), and labelled requests on `each` photos."""

    split: str = "val"
    count: int | None = None
    each: int = 2
    seed: int = 0
    extractors: Sequence[FeatureExtractor] = ()
    lpips: Lpips | None = None
    gier: Path | None = None
    """Where the labelled requests are that come from there."""
    jobs: int = 1
    """Systems that are measured at once."""


@dataclass(frozen=True)
class TableBlock:
    """A table on one dataset: figures where there are some, and why there are none elsewhere."""

    dataset: str
    rows: tuple[PaperRow, ...]
    comparison: MeasuredFigures | None
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why a row was not run, by its title."""

    @property
    def facts(self) -> Mapping[str, object]:
        return {} if self.comparison is None else self.comparison.facts

    def paper(self, row: PaperRow) -> PaperFigures:
        return row.gier if self.dataset == DATASET_NAMES["gier"] else row.paper

    def estimates(self, row: PaperRow) -> dict[str, IntervalEstimate]:
        """By the names of `Comparison`."""
        found = self.comparison
        if found is None or row.title not in found.names:
            return {}
        at = found.names.index(row.title)
        return {name: one for name, all_ in found.estimates.items() if (one := all_[at]) is not None}

    def differences(self, row: PaperRow) -> dict[str, PairedDifference]:
        """From the first system that was measured, which has none itself."""
        found = self.comparison
        if found is None or row.title not in found.names[1:]:
            return {}
        at = found.names.index(row.title) - 1
        return {name: one for name, all_ in found.differences.items() if (one := all_[at]) is not None}

    def spread(self, row: PaperRow, figure: str) -> RunSpread | None:
        """Between the training runs of a row, where there are several."""
        found = self.comparison
        if found is None or row.title not in found.names or figure not in found.spreads:
            return None
        return found.spreads[figure][found.names.index(row.title)]

    def has(self, figure: str) -> bool:
        """Whether any row has that figure."""
        return self.comparison is not None and figure in self.comparison.estimates


def open_row_systems(
    rows: Iterable[PaperRow], runs: Path, *, narrow: bool = False
) -> tuple[list[System], dict[str, str]]:
    """The systems of rows under their titles, and why others have none."""
    found: list[System] = []
    absent: dict[str, str] = {}
    for row in rows:
        if row.system in NAMED_SYSTEMS:
            found.append(_fix_mode(row, NAMED_SYSTEMS[row.system](row.title)))
        elif row.system:
            found.append(_fix_mode(row, open_system(row.system, narrow=narrow)))
        elif row.run is not None:
            if files := find_run_files(row.run, runs):
                found.append(_fix_mode(row, _open_runs(row.title, files, narrow)))
            else:
                absent[row.title] = f"not run: no weights of {row.run.name}"
    return found, absent


def _open_runs(title: str, files: Mapping[str, Path], narrow: bool) -> System:
    """One system, or several runs of it under their own names."""
    if len(files) == 1:
        return open_system_file(title, *files.values(), narrow=narrow)
    return RepeatedSystem(
        title, tuple(open_system_file(name, path, narrow=narrow) for name, path in files.items())
    )


def _fix_mode(row: PaperRow, system: System) -> System:
    if system.manners and not row.mode:
        raise ValueError(f"{row.title} has modes, and a row is measured in one: give Row(mode=...)")
    return FixedModeSystem(row.title, system, row.mode) if row.mode else system


def create_rows(given: str) -> list[PaperRow]:
    """The rows of a system that `open_system` finds: one, or one for each of its modes."""
    system = open_system(given)
    if not system.manners:
        return [PaperRow(system.name, system=given)]
    return [PaperRow(f"{system.name}, {mode}", system=given, mode=mode) for mode in MODES]


def measure_table(
    table: PaperTable,
    dataset: Dataset,
    runs: Path,
    extent: MeasurementOptions,
    *,
    more: Sequence[PaperRow] = (),
    narrow: bool = False,
    problems: list[Problem] | None = None,
    told: EvaluationProgress = ignore_progress,
) -> tuple[TableBlock, list[System]]:
    """Every system of a table, and `more`; the one that others are compared with comes first."""
    rows = (*table.rows, *more)
    systems, absent = open_row_systems(rows, runs, narrow=narrow)
    systems.sort(key=lambda system: system.name != table.against)
    found = compare_for_table(systems, dataset, extent, problems=problems, told=told)
    return TableBlock(_name_dataset(dataset), rows, found, absent), systems


def _name_dataset(dataset: Dataset) -> str:
    """As the paper calls it, if it is one of the paper's; else the folder's."""
    known = dataset.layout == gier.NAME or is_published_ma5k_req(dataset)
    return DATASET_NAMES[dataset.layout] if known else dataset.root.name


def compare_for_table(
    systems: Sequence[System],
    dataset: Dataset,
    extent: MeasurementOptions,
    *,
    problems: list[Problem] | None = None,
    told: EvaluationProgress = ignore_progress,
) -> Comparison:
    """What tables measure of any systems."""
    labelled = read_labelled_sentences(dataset, extent.split, extent.gier)
    sentences = {label: text for label, text in labelled.items() if label.kind is RequestKind.EDIT}
    return compare_systems(
        systems,
        dataset,
        sentences,
        split=extent.split,
        count=extent.count,
        each=extent.each,
        few=TEN_REQUEST_PHOTOS,
        amounts=False,
        seed=extent.seed,
        extractors=extent.extractors,
        lpips=extent.lpips,
        jobs=extent.jobs,
        problems=problems,
        told=told,
    )


def create_unavailable_block(table: PaperTable) -> TableBlock:
    """GIER without its photos."""
    systems = [row.title for row in table.rows if row.run or row.system]
    return TableBlock(DATASET_NAMES["gier"], table.rows, None, dict.fromkeys(systems, NO_IMAGES))


# Whether rows differ as in the paper, by more than chance.
#
# Two things are left to chance: which pairs are measured, which the interval of a difference tells, and the
# training run. The same config, plans and seed give another network each time on a GPU, so a difference
# between
# two single runs that every pair confirms may still be noise.

SAME_DIRECTION, OTHER_DIRECTION, WITHIN_NOISE = "as in the paper", "the other way", "within noise"
SINGLE_RUN_DEVIATION = {
    "expert: L1": 0.0024,
    "expert: SSIM": 0.0034,
    f"expert: {LITE0_TITLE}": 0.83,
    "expert: FID": 0.89,
    SIGMA_FIGURE: 0.045,
}
"""Standard deviation of a single run, as T2ONet from three seeds has it in results/main/figures.csv."""
_STANDARD_ERRORS = 1.959964
"""Standard errors on either side that hold 95 % of a normal variable."""


def run_variance(figure: str, spread: RunSpread | None) -> float | None:
    """Variance of a row's figure between training runs; None where that is not known.

    From the row's own runs where there are several; otherwise that of a single run of T2ONet.
    """
    if spread is not None:
        return spread.spread**2 / spread.runs
    return SINGLE_RUN_DEVIATION[figure] ** 2 if figure in SINGLE_RUN_DEVIATION else None


def noise_threshold(here: PairedDifference, *variances: float) -> float:
    """What a difference has to exceed: 1.96 standard errors of pairs and training runs together."""
    sampling = (here.high - here.low) / (2 * _STANDARD_ERRORS)
    return _STANDARD_ERRORS * math.sqrt(sampling**2 + sum(variances))


def judge_difference(here: PairedDifference, there: float, *variances: float) -> str:
    """How a difference compares with the paper's, given the variances of both rows between training runs."""
    if not abs(here.value) > noise_threshold(here, *variances):
        return WITHIN_NOISE
    return SAME_DIRECTION if (here.value > 0) == (there > 0) else OTHER_DIRECTION


def explain_verdicts() -> str:
    """The note below a table of verdicts."""
    known = ", ".join(
        f"{name.removeprefix('expert: ')} {spread:g}" for name, spread in SINGLE_RUN_DEVIATION.items()
    )
    return (
        f"Paired, on the same samples. {WITHIN_NOISE.capitalize()}: not beyond 1.96 standard errors of pairs "
        "and training runs together. Standard deviation between runs: that of a row's own runs where it has "
        f"several, otherwise that of T2ONet from three seeds ({known}; results/main)."
    )
